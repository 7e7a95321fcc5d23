package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/strata-kafka/strata/store/record"
)

const (
	probeSize = 64 << 10
	// probeBudget is how many bytes of checksums a search may compute beyond four times what it looks through; a
	// hostile file could hold a header at each byte.
	probeBudget = 64 << 20
)

// search returns the first byte in [from, to) at which a whole batch with a right checksum begins, or -1. It sets err
// when reading fails.
func (s *Scanner) search(from, to int64) int64 {
	if s.foundNext >= from && s.searched <= from {
		if s.foundNext < to {
			return s.foundNext
		}
		return -1
	}
	if cap(s.probe) < probeSize {
		s.probe = make([]byte, probeSize)
	}
	budget := 4*(s.end-from) + probeBudget
	inner := to < s.end // inside a batch: then only a batch that goes on from it counts
	for pos := from; pos < to && pos+record.PrefixSize <= s.end; {
		b, err := s.read(pos, s.probe[:probeSize])
		if err != nil {
			s.err = err
			return -1
		}
		if len(b) < record.PrefixSize {
			break
		}
		last := min(int64(len(b)-record.PrefixSize)+1, to-pos)
		for i := int64(0); i < last; i++ {
			i = s.candidate(b, i, last)
			if i >= last {
				break
			}
			h, ok := s.plausible(b[i:], pos+i)
			if !ok || inner && h.BaseOffset < s.head.NextOffset() {
				continue
			}
			if budget -= h.Size(); budget < 0 {
				return -1
			}
			sum, err := s.sumAt(pos+i, h.Size(), h.Magic)
			if err != nil {
				s.err = err
				return -1
			}
			if sum == h.CRC {
				if !inner {
					s.searched, s.foundNext = from, pos+i
				}
				return pos + i
			}
		}
		pos += last
	}
	return -1
}

// candidate returns the next i at which the length and the magic could be right.
func (s *Scanner) candidate(b []byte, i, last int64) int64 {
	legacy := s.seen[0] || s.seen[1] || !s.seen[2]
	for ; i < last; i++ {
		m := b[i+16]
		if m > 2 || m < 2 && !legacy {
			continue
		}
		if n := int32(binary.BigEndian.Uint32(b[i+8:])); n >= record.MinLength && b[i] == 0 {
			return i
		}
	}
	return last
}

// plausible tells whether a batch may begin with b at pos.
func (s *Scanner) plausible(b []byte, pos int64) (record.Header, bool) {
	if len(b) < record.HeaderSize && pos+int64(len(b)) < s.end {
		var more [record.HeaderSize]byte
		b, _ = s.read(pos, more[:])
	}
	h, err := record.ParseHeader(b)
	if err != nil || h.Size() > s.end-pos || h.BaseOffset < 0 {
		return h, false
	}
	if h.Magic == 2 && (h.LastOffsetDelta < 0 || h.Count < 0 || int64(h.Count) > int64(h.LastOffsetDelta)+1) {
		return h, false
	}
	return h, true
}

// sumAt computes the checksum of the batch of size bytes at pos, piece by piece.
func (s *Scanner) sumAt(pos, size int64, magic int8) (uint32, error) {
	add, from := record.UpdateCRC, int64(21)
	if magic < 2 {
		add, from = func(sum uint32, b []byte) uint32 { return crc32.Update(sum, crc32.IEEETable, b) }, 16
	}
	if s.piece == nil {
		s.piece = make([]byte, probeSize)
	}
	piece := s.piece
	var sum uint32
	for at := pos + from; at < pos+size; {
		if s.o.Stop != nil {
			if err := s.o.Stop(); err != nil {
				return 0, err
			}
		}
		n := min(int64(len(piece)), pos+size-at)
		b, err := s.read(at, piece[:n])
		if err != nil {
			return 0, err
		}
		if len(b) == 0 {
			break
		}
		sum = add(sum, b)
		at += int64(len(b))
	}
	return sum, nil
}

// read fills b from the file; less comes only at its end.
func (s *Scanner) read(pos int64, b []byte) ([]byte, error) {
	b = b[:max(0, min(int64(len(b)), s.end-pos))]
	if len(b) == 0 {
		return nil, nil
	}
	if s.o.Stop != nil {
		if err := s.o.Stop(); err != nil {
			return nil, err
		}
	}
	n, err := s.r.ReadAt(b, pos)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

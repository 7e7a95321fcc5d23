package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// The LZ4 frame: magic, FLG, BD, maybe content size, maybe dictionary id,
// header checksum; then blocks, each after its length (top bit: stored), each
// maybe with a checksum; an end mark of 0, maybe a content checksum.
const (
	lz4Magic          = 0x184d2204
	lz4Stored         = 1 << 31
	lz4FlgVersion     = 0x40
	lz4FlgIndependent = 0x20
	lz4FlgBlockSum    = 0x10
	lz4FlgSize        = 0x08
	lz4FlgContentSum  = 0x04
	lz4FlgDict        = 0x01
	lz4Window         = 64 << 10
)

// lz4Frame is the descriptor of a frame.
type lz4Frame struct {
	flg      byte
	blockMax int
	size     int // of the descriptor with the frame's magic
}

// unlz4 reads one or more frames. strict refuses a wrong header checksum.
func unlz4(dst, src []byte, strict bool, max int64) ([]byte, error) {
	begin := len(dst)
	if len(src) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	dst = grow(dst, int(min(max, lz4Most(src))), int64(begin)+max)
	for len(src) > 0 {
		fr, err := parseLz4Frame(src, strict)
		if err != nil {
			return nil, err
		}
		src = src[fr.size:]
		if dst, src, err = fr.blocks(dst, src, max-int64(len(dst)-begin)); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// lz4Most is the most that the blocks of the first frame can hold.
func lz4Most(src []byte) (most int64) {
	fr, err := parseLz4Frame(src, false)
	if err != nil {
		return 0
	}
	for p := fr.size; len(src)-p >= 4; {
		word := binary.LittleEndian.Uint32(src[p:])
		n := int(word &^ lz4Stored)
		if word == 0 || n > len(src)-p-4 {
			break
		}
		most += min(int64(fr.blockMax), int64(n)*255)
		p += 4 + n
		if fr.flg&lz4FlgBlockSum != 0 {
			p += 4
		}
	}
	return most
}

func parseLz4Frame(src []byte, strict bool) (lz4Frame, error) {
	if len(src) < 7 {
		return lz4Frame{}, io.ErrUnexpectedEOF
	}
	if m := binary.LittleEndian.Uint32(src); m != lz4Magic {
		return lz4Frame{}, fmt.Errorf("frame magic %#08x", m)
	}
	fr := lz4Frame{flg: src[4], size: 7}
	if fr.flg&0xc0 != lz4FlgVersion || fr.flg&lz4FlgDict != 0 {
		return lz4Frame{}, fmt.Errorf("frame flags %#02x are not supported", fr.flg)
	}
	code := src[5] >> 4 & 7
	if code < 4 {
		return lz4Frame{}, fmt.Errorf("block size code %d", code)
	}
	fr.blockMax = 1 << (8 + 2*code)
	if fr.flg&lz4FlgSize != 0 {
		fr.size += 8
	}
	if len(src) < fr.size {
		return lz4Frame{}, io.ErrUnexpectedEOF
	}
	if sum := byte(xxh32(src[4:fr.size-1]) >> 8); strict && sum != src[fr.size-1] {
		return lz4Frame{}, fmt.Errorf("header checksum %#02x, computed %#02x", src[fr.size-1], sum)
	}
	return fr, nil
}

// blocks decodes up to the end mark and gives back what is behind it.
func (fr lz4Frame) blocks(dst, src []byte, max int64) (out, rest []byte, err error) {
	begin := len(dst)
	for {
		if len(src) < 4 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		word := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if word == 0 {
			break
		}
		n := int(word &^ lz4Stored)
		if n > len(src) || n > fr.blockMax && word&lz4Stored != 0 {
			return nil, nil, fmt.Errorf("block of %d bytes, but %d are left", n, len(src))
		}
		block := src[:n]
		src = src[n:]
		if fr.flg&lz4FlgBlockSum != 0 {
			if len(src) < 4 {
				return nil, nil, io.ErrUnexpectedEOF
			}
			if binary.LittleEndian.Uint32(src) != xxh32(block) {
				return nil, nil, errors.New("block checksum is wrong")
			}
			src = src[4:]
		}
		left := max - int64(len(dst)-begin)
		if word&lz4Stored != 0 {
			if int64(n) > left {
				return nil, nil, ErrTooLarge
			}
			dst = append(grow(dst, n, int64(len(dst))+left), block...)
			continue
		}
		if dst, err = fr.block(dst, begin, block, left); err != nil {
			return nil, nil, err
		}
	}
	if fr.flg&lz4FlgContentSum != 0 {
		if len(src) < 4 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		if binary.LittleEndian.Uint32(src) != xxh32(dst[begin:]) {
			return nil, nil, errors.New("content checksum is wrong")
		}
		src = src[4:]
	}
	return dst, src, nil
}

// block appends one compressed block, of at most left bytes. A dependent one
// may refer to the 64 KiB before it.
func (fr lz4Frame) block(dst []byte, begin int, block []byte, left int64) ([]byte, error) {
	// A block cannot do better than 1 to 255.
	room := min(int64(fr.blockMax), int64(len(block))*255, left)
	dst = grow(dst, int(room), int64(len(dst))+left)
	tail := dst[len(dst) : len(dst)+int(room)]
	var n int
	var err error
	if fr.flg&lz4FlgIndependent != 0 {
		n, err = lz4.UncompressBlock(block, tail)
	} else {
		dict := dst[max(begin, len(dst)-lz4Window):]
		n, err = lz4.UncompressBlockWithDict(block, tail, dict)
	}
	if err != nil {
		if room == left {
			return nil, ErrTooLarge
		}
		return nil, err
	}
	return dst[:len(dst)+n], nil
}

// xxh32 is the 32-bit xxHash with seed 0, which LZ4 frames use.
func xxh32(b []byte) uint32 {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	rot := func(x uint32, n uint) uint32 { return x<<n | x>>(32-n) }
	var h uint32
	n := uint32(len(b))
	if len(b) >= 16 {
		v1, v2, v3, v4 := uint32(p1), uint32(p2), uint32(0), uint32(0)
		v1 += p2
		v4 -= p1
		for len(b) >= 16 {
			v1 = rot(v1+binary.LittleEndian.Uint32(b)*p2, 13) * p1
			v2 = rot(v2+binary.LittleEndian.Uint32(b[4:])*p2, 13) * p1
			v3 = rot(v3+binary.LittleEndian.Uint32(b[8:])*p2, 13) * p1
			v4 = rot(v4+binary.LittleEndian.Uint32(b[12:])*p2, 13) * p1
			b = b[16:]
		}
		h = rot(v1, 1) + rot(v2, 7) + rot(v3, 12) + rot(v4, 18)
	} else {
		h = p5
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = rot(h+binary.LittleEndian.Uint32(b)*p3, 17) * p4
	}
	for _, c := range b {
		h = rot(h+uint32(c)*p5, 11) * p1
	}
	h = (h ^ h>>15) * p2
	h = (h ^ h>>13) * p3
	return h ^ h>>16
}

package partition

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// Read appends to dst the whole batches from the one that holds offset on, as they lie: at most maxBytes of them, but
// always one, and none that begins at or above bound. The first may begin before offset. It does not wait for
// appenders. Nothing is appended at the log's end; errors wrap model.ErrOutOfRange outside of the log.
func (l *Log) Read(dst []byte, offset, bound int64, maxBytes int) ([]byte, error) {
	b, err := l.Bounds()
	if err != nil {
		return dst, err
	}
	if offset < b.Start || offset > b.End {
		return dst, fmt.Errorf("read %s at %d: %w: it reaches from %d to %d", l.o.TP, offset, model.ErrOutOfRange, b.Start, b.End)
	}
	bound = min(bound, b.End)
	if offset >= bound {
		return dst, nil
	}
	l.mu.Lock()
	segs, active := slices.Clone(l.segs), l.active
	l.mu.Unlock()
	i := max(0, sort.Search(len(segs), func(i int) bool { return segs[i].base > offset })-1)
	for ; i < len(segs); i++ {
		out, err := readSegment(dst, l.o.Dir, segs[i].base, active, offset, bound, maxBytes)
		if err != nil {
			return dst, fmt.Errorf("read %s at %d: %w", l.o.TP, offset, err)
		}
		if len(out) > len(dst) {
			return out, nil
		}
	}
	return dst, nil
}

// readSegment reads from one segment; it appends nothing when the segment holds nothing at or above offset.
func readSegment(dst []byte, dir string, base int64, active *segment.Segment, offset, bound int64, maxBytes int) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, layout.FileName(base, layout.KindLog)))
	if err != nil {
		return dst, err
	}
	defer f.Close()
	var pos int64
	if active != nil && active.Base() == base {
		pos = active.Floor(offset)
	} else {
		pos = segment.FloorOf(dir, base, offset)
	}
	var head [record.HeaderSize]byte
	for {
		n, err := f.ReadAt(head[:], pos)
		if n == 0 && errors.Is(err, io.EOF) {
			return dst, nil
		}
		h, perr := record.ParseHeader(head[:n])
		if perr != nil {
			return dst, &model.CorruptError{Path: f.Name(), Pos: pos, What: "no batch", Err: perr}
		}
		if h.BaseOffset >= bound {
			return dst, nil
		}
		if h.LastOffset() >= offset {
			return readBatches(dst, f, pos, h.Size(), bound, maxBytes)
		}
		pos += h.Size()
	}
}

// readBatches appends the whole batches at pos, the first of which has size bytes.
func readBatches(dst []byte, f *os.File, pos, size, bound int64, maxBytes int) ([]byte, error) {
	want := int(max(size, int64(maxBytes)))
	begin := len(dst)
	dst = slices.Grow(dst, want)
	n, err := f.ReadAt(dst[begin:begin+want], pos)
	if err != nil && !errors.Is(err, io.EOF) {
		return dst[:begin], err
	}
	b := dst[begin : begin+n]
	end := 0
	for end < len(b) {
		h, err := record.ParseHeader(b[end:])
		if err != nil || h.BaseOffset >= bound || h.Size() > int64(len(b)-end) || end > 0 && end+int(h.Size()) > maxBytes {
			break
		}
		end += int(h.Size())
	}
	if end == 0 {
		return dst[:begin], &model.CorruptError{Path: f.Name(), Pos: pos, What: "no whole batch"}
	}
	return dst[:begin+end], nil
}

// EpochEnd returns the end of a leader epoch: the epoch itself, or the largest one below it that the log knows, and the
// offset where the next began, the log's end for the newest. Both are -1 where no such epoch is known.
func (l *Log) EpochEnd(epoch int32) (int32, int64, error) {
	epochs, err := l.Epochs()
	if err != nil {
		return -1, -1, err
	}
	for i := len(epochs) - 1; i >= 0; i-- {
		if epochs[i].Epoch > epoch {
			continue
		}
		end := l.known.Load().End
		if i+1 < len(epochs) {
			end = epochs[i+1].Start
		}
		return epochs[i].Epoch, end, nil
	}
	return -1, -1, nil
}

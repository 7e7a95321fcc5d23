package partition

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// Read appends to dst the whole batches from the one that holds offset on, as they lie: at most maxBytes of them, but
// always one, and none that begins at or above bound. The first may begin before offset. It does not wait for
// appenders. Nothing is appended at the log's end; errors wrap model.ErrOutOfRange outside of the log.
func (l *Log) Read(dst []byte, offset, bound int64, maxBytes int) ([]byte, error) {
	s, err := l.Slice(Query{Offset: offset, Max: int64(maxBytes), Whole: true})
	if err != nil {
		return dst, err
	}
	defer s.Close()
	if offset >= bound || s.Size == 0 {
		return dst, nil
	}
	begin := len(dst)
	dst = slices.Grow(dst, int(s.Size))[:begin+int(s.Size)]
	n, err := s.ReadAt(dst[begin:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return dst[:begin], fmt.Errorf("read %s at %d: %w", l.o.TP, offset, err)
	}
	b := dst[begin : begin+n]
	end := 0
	for end < len(b) {
		h, err := record.ParseHeader(b[end:])
		if err != nil || h.BaseOffset >= bound || h.Size() > int64(len(b)-end) {
			break
		}
		end += int(h.Size())
	}
	if end == 0 && n < int(s.Size) {
		return dst[:begin], fmt.Errorf("read %s at %d: %w", l.o.TP, offset, &model.CorruptError{Path: s.h.log.Name(), Pos: s.pos, What: "no whole batch"})
	}
	return dst[:begin+end], nil
}

// EpochEnd returns where a leader epoch ends: the epoch, and the offset where the next one began, the log's end for the
// newest. For one that the log does not know it is the largest one below it; for one before all others, itself and where
// the first began. Both are -1 for an epoch that is yet to come.
func (l *Log) EpochEnd(epoch int32) (int32, int64, error) {
	leader, err := l.LeaderEpoch()
	if err != nil {
		return -1, -1, err
	}
	if epoch == leader {
		return epoch, l.known.Load().End, nil
	}
	if epoch == -1 || epoch > leader {
		return -1, -1, nil
	}
	epochs, err := l.Epochs()
	if err != nil {
		return -1, -1, err
	}
	next, end := -1, l.known.Load().End
	for i := range slices.Backward(epochs) {
		if epochs[i].Epoch <= epoch {
			break
		}
		next, end = i, epochs[i].Start
	}
	switch {
	case next == 0:
		return epoch, end, nil
	case next > 0:
		return epochs[next-1].Epoch, end, nil
	case len(epochs) > 0:
		return epochs[len(epochs)-1].Epoch, end, nil
	}
	return epoch, end, nil
}

// EpochOf returns the leader epoch of an offset, that of this run for the log's end; -1 when it is not known.
func (l *Log) EpochOf(offset int64) (int32, error) {
	leader, err := l.LeaderEpoch()
	if err != nil {
		return -1, err
	}
	epochs, err := l.Epochs()
	if err != nil {
		return -1, err
	}
	for _, e := range slices.Backward(epochs) {
		if e.Start <= offset {
			return e.Epoch, nil
		}
	}
	if len(epochs) == 0 {
		return leader, nil
	}
	return -1, nil
}

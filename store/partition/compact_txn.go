package partition

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// errTxnIndex says that a transaction ends with an abort that no transaction index tells of.
var errTxnIndex = errors.New("an aborted transaction is missing from the transaction indexes")

// cleanedTxns follows the transactions of a log from batch to batch, and says which batches of theirs may go: data of an
// aborted one, and a marker when no data of its transaction is left.
type cleanedTxns struct {
	aborted   []segment.AbortedTxn // by first offset; those not begun yet
	ongoing   map[int64]*abortedData
	committed map[int64]struct{} // producers with data that is not aborted
	// kept is told of each aborted transaction that still had data, whose marker so stays.
	kept func(segment.AbortedTxn) error
}

type abortedData struct {
	segment.AbortedTxn
	met bool // a batch of it
}

func newCleanedTxns(aborted []segment.AbortedTxn) *cleanedTxns {
	return &cleanedTxns{aborted: aborted, ongoing: map[int64]*abortedData{}, committed: map[int64]struct{}{}}
}

// upTo takes up the transactions that begin at or below an offset.
func (t *cleanedTxns) upTo(offset int64) {
	for len(t.aborted) > 0 && t.aborted[0].First <= offset {
		a := t.aborted[0]
		t.aborted = t.aborted[1:]
		t.ongoing[a.Producer] = &abortedData{AbortedTxn: a}
	}
}

// data takes note of a data batch, and reports whether it was aborted.
func (t *cleanedTxns) data(h record.Header) bool {
	t.upTo(h.LastOffset())
	if !h.Transactional() {
		return false
	}
	if a := t.ongoing[h.ProducerID]; a != nil && h.BaseOffset < a.Last {
		a.met = true
		return true
	}
	t.committed[h.ProducerID] = struct{}{}
	return false
}

// control takes note of a control batch, of the type that its record says, and reports whether it may go. One that was
// emptied may always go. The error is errTxnIndex.
func (t *cleanedTxns) control(h record.Header, c record.ControlType) (bool, error) {
	t.upTo(h.LastOffset())
	if h.Count == 0 {
		return true, nil
	}
	switch c {
	case record.Abort:
		a := t.ongoing[h.ProducerID]
		delete(t.ongoing, h.ProducerID)
		switch _, data := t.committed[h.ProducerID]; {
		case a != nil && a.met:
			if t.kept != nil {
				return false, t.kept(a.AbortedTxn)
			}
			return false, nil
		case a == nil && data:
			return false, errTxnIndex
		}
		return true, nil
	case record.Commit:
		_, data := t.committed[h.ProducerID]
		delete(t.committed, h.ProducerID)
		return !data, nil
	}
	return false, nil
}

// abortedIn returns the aborted transactions, by first offset, that reach into the offsets from a segment's base on and
// below to, as the transaction indexes have them. Markers may lie behind to.
func (l *Log) abortedIn(segs []piece, from, to int64) ([]segment.AbortedTxn, error) {
	var all []segment.AbortedTxn
	for _, p := range segs {
		path := filepath.Join(l.o.Dir, layout.FileName(p.base, layout.KindTxnIndex))
		b, err := segment.ReadRegular(path, math.MaxInt32)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read transaction index: %w", err)
		}
		// What is wrong in it, or half written at its end, is missed where the marker is met.
		list, _ := segment.ParseTxnIndex(b)
		for _, a := range list {
			if a.Last >= from && a.First < to {
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, func(a, b segment.AbortedTxn) int { return cmpOffset(a.First, b.First) })
	return all, nil
}

// abortedByMarkers is abortedIn without the indexes: it reads the headers and the markers of all segments.
func (l *Log) abortedByMarkers(segs []piece) ([]segment.AbortedTxn, error) {
	state := newProducers()
	var all []segment.AbortedTxn
	for _, p := range segs {
		path := filepath.Join(l.o.Dir, layout.FileName(p.base, layout.KindLog))
		var rerr error
		err := segment.WalkHeaders(path, 0, func(h record.Header, pos int64) bool {
			if !h.Control() {
				if h.Transactional() {
					state.stage(h)
					state.commit()
				}
				return true
			}
			var batch []byte
			if batch, rerr = readAt(path, pos, h.Size()); rerr != nil {
				return false
			}
			end, err := state.stageMarker(h, batch)
			if err != nil {
				state.discard()
				return true
			}
			state.commit()
			if end.aborted {
				all = append(all, segment.AbortedTxn{Producer: h.ProducerID, First: end.first, Last: h.LastOffset(),
					Stable: state.stableAfter(h.ProducerID, h.NextOffset())})
			}
			return true
		})
		if err = errors.Join(err, rerr); err != nil {
			return nil, fmt.Errorf("find out aborted transactions: %w", err)
		}
	}
	slices.SortFunc(all, func(a, b segment.AbortedTxn) int { return cmpOffset(a.First, b.First) })
	return all, nil
}

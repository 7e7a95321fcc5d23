package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// VerifyOptions says what a segment is held against. The zero value of a field leaves its check out.
type VerifyOptions struct {
	Active bool  // it is being written to: a torn tail, and a time index that is behind, are as they should be
	Upper  int64 // all offsets lie below; 0 means that there is no bound
	Epochs []layout.Epoch
	Stop   func() error
	Tell   func(model.Fault)
}

// Sequence checks what items of a .log, in order, are to each other and to the segment's other files. Make it with
// File.Sequence.
type Sequence struct {
	f *File
	o VerifyOptions

	started bool
	last    int64 // offset
	epoch   int32
	strange int32 // leader epoch that was told to be none of the checkpoint's; -1 none
	end     int64 // byte behind the last batch
	maxTime int64

	index    *OffsetIndex
	entry    int64
	waiting  int64 // the offset that an entry promised and that has not come yet; -1 none
	ends     bool  // an entry gave a batch's end, where it could have given its beginning: so all later ones do
	times    *TimeIndex
	missing  []string // kinds of indexes that are not there
	dated    bool     // a batch's magic has times
	timeNext int64
	aborted  []AbortedTxn
	abortOf  map[int64]int // offset of an abort marker → entry, not met yet
	hasTxn   bool
	txnData  map[int64]int64 // producer → first offset of what it has open, in this segment

	Batches, Records int64
}

// Verify checks a segment whole, on one goroutine.
func (f *File) Verify(o VerifyOptions) (*Sequence, error) {
	q := f.Sequence(o)
	var c Checker
	err := c.Check(f, 0, f.Size, o.Stop, func(x Checked) bool {
		q.Add(x)
		return true
	})
	if err == nil {
		q.Finish()
	}
	return q, err
}

// Sequence begins to check a segment; Add is then given all its items in order.
func (f *File) Sequence(o VerifyOptions) *Sequence {
	q := &Sequence{f: f, o: o, epoch: -1, strange: -1, waiting: -1, maxTime: model.NoTime, txnData: map[int64]int64{}, abortOf: map[int64]int{}}
	if o.Upper <= 0 {
		q.o.Upper = math.MaxInt64
	}
	q.openIndexes()
	return q
}

func (q *Sequence) tell(kind string, pos, offset int64, word, what string, s model.Severity) {
	q.o.Tell(q.f.fault(kind, pos, offset, word, what, s))
}

// openIndexes opens what there is, and says what is wrong with it by itself.
func (q *Sequence) openIndexes() {
	f := q.f
	for _, kind := range []string{layout.KindIndex, layout.KindTimeIndex} {
		var err error
		if kind == layout.KindIndex {
			q.index, err = f.Offsets()
		} else {
			q.times, err = f.Times()
		}
		if err == nil {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			q.missing = append(q.missing, kind)
			continue
		}
		q.tell(kind, model.Unknown, model.Unknown, kind, err.Error(), model.SevWarning)
	}
	if q.index != nil {
		q.tableFaults(layout.KindIndex, &q.index.table)
	}
	if q.times != nil {
		q.tableFaults(layout.KindTimeIndex, &q.times.table)
	}
	list, err := f.Aborted()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		q.tell(layout.KindTxnIndex, int64(len(list))*TxnEntrySize, model.Unknown, layout.KindTxnIndex, err.Error(), model.SevWarning)
	}
	q.aborted, q.hasTxn = list, err == nil
	last := int64(-1)
	for i, a := range list {
		pos := int64(i) * TxnEntrySize
		if a.Last <= last {
			q.tell(layout.KindTxnIndex, pos, a.Last, layout.KindTxnIndex, fmt.Sprintf("last offsets fall at entry %d", i), model.SevWarning)
		}
		last = a.Last
		q.abortOf[a.Last] = i
	}
}

// tableFaults looks at what lies behind the entries of an index.
func (q *Sequence) tableFaults(kind string, t *table) {
	if rest := t.size % t.width; rest != 0 {
		q.tell(kind, t.size-rest, model.Unknown, kind, fmt.Sprintf("%d bytes at the end are no whole entry", rest), model.SevWarning)
	}
	from := t.n * t.width
	if first, err := firstData(t.r, from, t.slots*t.width, ScanOptions{Thorough: true, Stop: q.o.Stop}); err == nil && first < t.slots*t.width {
		q.tell(kind, first, model.Unknown, kind, fmt.Sprintf("byte %d is not zero, behind the zeros that follow entry %d", first, t.n-1), model.SevWarning)
	}
	if t.err != nil {
		q.tell(kind, model.Unknown, model.Unknown, kind, t.err.Error(), model.SevWarning)
	}
}

// Add checks the next item.
func (q *Sequence) Add(x Checked) {
	for _, t := range x.Faults {
		if t.Kind == "torn" && q.o.Active {
			t.Severity = model.SevInfo
		}
		q.o.Tell(t)
	}
	if x.Kind != Batch {
		return
	}
	q.Batches++
	q.Records += int64(x.Records)
	h := x.Header
	q.dated = q.dated || h.Magic > 0
	q.order(x)
	q.epochs(x)
	q.indexAt(x.Pos, x.First, h)
	if x.Bad {
		q.passTimes(h)
	} else {
		q.timeAt(h, x.First)
		q.txnAt(x)
		q.maxTime = max(q.maxTime, h.MaxTimestamp)
	}
	q.end = x.Pos + x.Len
}

// order checks that offsets rise and stay within the segment.
func (q *Sequence) order(x Checked) {
	h := x.Header
	if h.LastOffsetDelta < 0 {
		q.tell(layout.KindLog, x.Pos, h.BaseOffset, "order", fmt.Sprintf("last offset delta is %d", h.LastOffsetDelta), model.SevDamage)
	}
	switch {
	case q.started && x.First <= q.last:
		q.tell(layout.KindLog, x.Pos, x.First, "order",
			fmt.Sprintf("offsets go back at byte %d: %d follows %d", x.Pos, x.First, q.last), model.SevWarning)
	case x.First < q.f.Base || h.LastOffset() >= q.o.Upper || h.LastOffset()-q.f.Base > math.MaxInt32:
		q.tell(layout.KindLog, x.Pos, x.First, "order",
			fmt.Sprintf("offsets %d to %d do not belong into a segment of %d to %d", x.First, h.LastOffset(), q.f.Base, min(q.o.Upper-1, q.f.Base+math.MaxInt32)), model.SevDamage)
	}
	q.started = true
	q.last = h.LastOffset()
}

// epochs checks that leader epochs do not fall and are those of the checkpoint.
func (q *Sequence) epochs(x Checked) {
	h := x.Header
	if h.Legacy() || h.LeaderEpoch == record.NoEpoch {
		return
	}
	if h.LeaderEpoch < q.epoch {
		q.tell(layout.KindLog, x.Pos, h.BaseOffset, "epochs", fmt.Sprintf("leader epoch %d follows %d", h.LeaderEpoch, q.epoch), model.SevWarning)
	}
	q.epoch = h.LeaderEpoch
	lines := q.o.Epochs
	i := len(lines) - 1
	for i >= 0 && lines[i].Start > h.BaseOffset {
		i--
	}
	if i < 0 || lines[i].Epoch == h.LeaderEpoch {
		q.strange = -1
	} else if q.strange != h.LeaderEpoch { // once for a run of batches
		q.strange = h.LeaderEpoch
		q.tell(layout.KindLog, x.Pos, h.BaseOffset, "epochs",
			fmt.Sprintf("leader epoch is %d, %s says %d", h.LeaderEpoch, layout.EpochsFile, lines[i].Epoch), model.SevWarning)
	}
}

// indexAt holds the offset index against the batch at a byte, whose first record has offset first.
func (q *Sequence) indexAt(pos, first int64, h record.Header) {
	if q.index == nil {
		return
	}
	mismatch := func(i int64, what string) {
		q.tell(layout.KindIndex, i*OffsetEntrySize, model.Unknown, layout.KindIndex, what, model.SevWarning)
	}
	for ; q.entry < q.index.Len(); q.entry++ {
		o, p, ok := q.index.At(q.entry)
		if !ok || p > pos {
			break
		}
		if q.waiting >= 0 {
			mismatch(q.entry-1, fmt.Sprintf("index says %d, which is no batch's end", q.waiting))
			q.waiting = -1
		}
		if err := q.index.Sound(q.entry, q.f.Size); err != nil {
			mismatch(q.entry, err.Error())
			continue
		}
		switch {
		case p < pos:
			mismatch(q.entry, fmt.Sprintf("no batch at %d", p))
		case h.LastOffset() > o && o == first && (h.Legacy() || !q.ends): // as a broker before 2.0 wrote it
		case h.LastOffset() > o && q.f.lastLeft(pos, h) == o:
			q.ends = true
		case h.LastOffset() > o:
			mismatch(q.entry, fmt.Sprintf("index says %d, batch at %d ends at %d", o, p, h.LastOffset()))
		case h.LastOffset() < o:
			q.waiting = o
		case first < o && !h.Legacy():
			q.ends = true
		}
	}
	if q.waiting >= 0 && h.LastOffset() >= q.waiting {
		if h.LastOffset() > q.waiting && q.f.lastLeft(pos, h) != q.waiting {
			mismatch(q.entry-1, fmt.Sprintf("index says %d, batch at %d ends at %d", q.waiting, pos, h.LastOffset()))
		}
		q.waiting = -1
	}
}

// timeAt holds the time index against a batch.
func (q *Sequence) timeAt(h record.Header, first int64) {
	if q.times == nil {
		return
	}
	mismatch := func(what string) {
		q.tell(layout.KindTimeIndex, q.timeNext*TimeEntrySize, model.Unknown, layout.KindTimeIndex, what, model.SevWarning)
	}
	for ; q.timeNext < q.times.Len(); q.timeNext++ {
		ms, o, ok := q.times.At(q.timeNext)
		if !ok || o > h.LastOffset() {
			return
		}
		if err := q.times.Sound(q.timeNext); err != nil {
			mismatch(err.Error())
			continue
		}
		switch {
		case o < first:
			mismatch(fmt.Sprintf("no batch holds offset %d of entry %d", o, q.timeNext))
		case h.Magic == 0: // it has no time of its own: that of its append was taken
		case ms != h.MaxTimestamp:
			mismatch(fmt.Sprintf("time index says %d at offset %d, the batch there says %d", ms, o, h.MaxTimestamp))
		case ms < q.maxTime:
			mismatch(fmt.Sprintf("time index says nothing is younger than %d up to offset %d, but %d is", ms, o, q.maxTime))
		}
	}
}

// passTimes passes over the entries that lead into a batch which cannot be trusted.
func (q *Sequence) passTimes(h record.Header) {
	for q.times != nil && q.timeNext < q.times.Len() {
		if _, o, ok := q.times.At(q.timeNext); !ok || o > h.LastOffset() {
			return
		}
		q.timeNext++
	}
}

// txnAt holds the index of aborted transactions against a batch.
func (q *Sequence) txnAt(x Checked) {
	h := x.Header
	if !h.Transactional() || !h.HasProducer() {
		return
	}
	if !h.Control() {
		// A batch that was emptied may have lost the first one of its transaction to compaction.
		if _, ok := q.txnData[h.ProducerID]; !ok && h.Count > 0 {
			q.txnData[h.ProducerID] = h.BaseOffset
		}
		return
	}
	first, data := q.txnData[h.ProducerID]
	delete(q.txnData, h.ProducerID)
	i, listed := q.abortOf[h.LastOffset()]
	delete(q.abortOf, h.LastOffset())
	pos := int64(i) * TxnEntrySize
	switch {
	case listed && !x.Abort && h.Count > 0:
		q.tell(layout.KindTxnIndex, pos, h.LastOffset(), layout.KindTxnIndex, fmt.Sprintf("entry %d says that offset %d is an abort, it is not", i, h.LastOffset()), model.SevWarning)
	case listed && q.aborted[i].Producer != h.ProducerID:
		q.tell(layout.KindTxnIndex, pos, h.LastOffset(), layout.KindTxnIndex, fmt.Sprintf("entry %d says producer %d, the marker at %d says %d", i, q.aborted[i].Producer, h.LastOffset(), h.ProducerID), model.SevWarning)
	case listed && data && q.aborted[i].First >= q.f.Base && q.aborted[i].First != first:
		q.tell(layout.KindTxnIndex, pos, h.LastOffset(), layout.KindTxnIndex, fmt.Sprintf("entry %d begins at %d, the transaction at %d", i, q.aborted[i].First, first), model.SevWarning)
	case !listed && x.Abort && data:
		q.tell(layout.KindTxnIndex, model.Unknown, h.LastOffset(), layout.KindTxnIndex, fmt.Sprintf("the abort at offset %d of producer %d is missing", h.LastOffset(), h.ProducerID), model.SevWarning)
	}
}

// Finish checks what can only be said at the end.
func (q *Sequence) Finish() {
	// What was written while the check ran is in the indexes perhaps, but was not read.
	grown := false
	if info, err := q.f.Log.Stat(); q.o.Active && err == nil {
		grown = info.Size() > q.f.Size
	}
	if !grown {
		q.finishOffsets()
	}
	q.finishMissing()
	if q.times != nil {
		q.finishTimes(grown)
	}
	for _, i := range slices.Sorted(maps.Values(q.abortOf)) {
		if grown && q.aborted[i].Last > q.last {
			continue
		}
		q.tell(layout.KindTxnIndex, int64(i)*TxnEntrySize, q.aborted[i].Last, layout.KindTxnIndex,
			fmt.Sprintf("entry %d leads to offset %d, where the log has no marker", i, q.aborted[i].Last), model.SevWarning)
	}
}

// finishMissing tells of indexes that are not there. An empty segment needs none: a broker that is killed while it begins
// one leaves it so.
func (q *Sequence) finishMissing() {
	for _, kind := range q.missing {
		what, severity := "missing: a broker makes it anew", model.SevWarning
		switch {
		case q.Batches == 0:
			severity = model.SevInfo
		case kind == layout.KindTimeIndex && !q.dated:
			what, severity = "missing, as brokers before 0.10 leave it", model.SevInfo
		}
		q.tell(kind, model.Unknown, model.Unknown, kind, what, severity)
	}
}

// finishOffsets tells of entries that no batch was met for.
func (q *Sequence) finishOffsets() {
	if q.waiting >= 0 {
		q.tell(layout.KindIndex, (q.entry-1)*OffsetEntrySize, q.waiting, layout.KindIndex,
			fmt.Sprintf("index says %d, which is no batch's end", q.waiting), model.SevWarning)
		q.waiting = -1
	}
	q.indexAt(math.MaxInt64, math.MaxInt64, record.Header{BaseOffset: math.MaxInt64})
}

// finishTimes tells of entries that no batch was met for, and of a last one that is too old.
func (q *Sequence) finishTimes(grown bool) {
	for ; q.timeNext < q.times.Len(); q.timeNext++ {
		_, o, _ := q.times.At(q.timeNext)
		if grown && o > q.last {
			return
		}
		q.tell(layout.KindTimeIndex, q.timeNext*TimeEntrySize, o, layout.KindTimeIndex,
			fmt.Sprintf("entry %d leads to offset %d, where the log has no good batch", q.timeNext, o), model.SevWarning)
	}
	ms, _, ok := q.times.At(q.times.Len() - 1)
	if !q.o.Active && q.maxTime >= 0 && (!ok || ms < q.maxTime) {
		q.tell(layout.KindTimeIndex, model.Unknown, model.Unknown, layout.KindTimeIndex,
			fmt.Sprintf("it ends with %d, the youngest record is of %d", ms, q.maxTime), model.SevWarning)
	}
}

package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/strata-kafka/strata/model"
)

// Sizes of index entries in bytes.
const (
	OffsetEntrySize = 8
	TimeEntrySize   = 12
	TxnEntrySize    = 34
)

// blockEntries is how many entries are read at once when a binary search has come near.
const blockEntries = 256

// table reads entries of one width from a file. It never maps it: a broker cuts an index when it rolls, and a map of
// what was cut off kills the reader.
type table struct {
	r     io.ReaderAt
	width int64
	n     int64 // entries in use
	slots int64 // entries that the file has room for
	size  int64 // of the file
	buf   []byte
	from  int64 // number of the first entry in buf
	err   error
}

// load brings entries [i, i+n) into buf.
func (t *table) load(i, n int64) {
	n = max(1, min(n, t.slots-i))
	if int64(cap(t.buf)) < n*t.width {
		t.buf = make([]byte, max(n, blockEntries)*t.width)
	}
	t.buf = t.buf[:n*t.width]
	got, err := t.r.ReadAt(t.buf, i*t.width)
	t.from = i
	t.buf = t.buf[:int64(got)/t.width*t.width]
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
}

// at returns the bytes of entry i, or nil when it cannot be read.
func (t *table) at(i, ahead int64) []byte {
	if i < 0 || i >= t.slots {
		return nil
	}
	if off := (i - t.from) * t.width; off >= 0 && off+t.width <= int64(len(t.buf)) {
		return t.buf[off : off+t.width]
	}
	t.load(i, ahead)
	if int64(len(t.buf)) < t.width {
		return nil
	}
	return t.buf[:t.width]
}

// used counts the entries in front of the zero tail; is tells a used slot. It is a binary search.
func (t *table) used(is func([]byte) bool) int64 {
	last := t.at(t.slots-1, 1)
	if last == nil || is(last) {
		return t.slots
	}
	return t.search(t.slots-1, -1, func(e []byte) bool { return !is(e) })
}

// search returns the first i below hi for which yes holds, or hi; yes must not hold before it holds. It begins near
// guess, where that is not negative.
func (t *table) search(hi, guess int64, yes func([]byte) bool) int64 {
	lo := int64(0)
	if guess >= 0 && hi > 2*blockEntries {
		lo, hi = t.near(hi, guess, yes)
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		ahead := int64(1)
		if hi-lo <= blockEntries {
			if e := t.at(lo, hi-lo); e == nil {
				return lo
			}
		}
		e := t.at(mid, ahead)
		if e == nil || yes(e) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// near looks at a block of entries around a guess, and returns where the search must go on: within it, if the guess was
// good, as it is where entries lie evenly.
func (t *table) near(hi, guess int64, yes func([]byte) bool) (int64, int64) {
	from := max(0, min(guess-blockEntries/2, hi-blockEntries))
	t.load(from, blockEntries)
	n := int64(len(t.buf)) / t.width
	if n == 0 {
		return 0, hi
	}
	switch {
	case yes(t.buf[:t.width]):
		return 0, from
	case !yes(t.buf[(n-1)*t.width : n*t.width]):
		return from + n, hi
	}
	return from + 1, from + n - 1
}

// share is where in n entries a value lies that is to lie evenly between first and last.
func share(n, value, first, last int64) int64 {
	if last <= first || value <= first {
		return 0
	}
	return min(n, int64(float64(value-first)/float64(last-first)*float64(n)))
}

// OffsetIndex reads an .index file: entries that lead from an offset to a byte of the .log. It is not safe for
// concurrent use.
type OffsetIndex struct {
	table
	base int64
}

// NewOffsetIndex reads an .index of size bytes. A zero tail, as in a file that is made larger in advance, and bytes
// that are no whole entry are left out. Whether the entries are right is not checked: see Check.
func NewOffsetIndex(r io.ReaderAt, size, base int64) *OffsetIndex {
	x := &OffsetIndex{table{r: r, width: OffsetEntrySize, slots: size / OffsetEntrySize, size: size}, base}
	if x.slots > 0 {
		x.n = x.used(func(e []byte) bool { return binary.BigEndian.Uint32(e[4:]) != 0 })
	}
	return x
}

// Len is the number of entries.
func (x *OffsetIndex) Len() int64 { return x.n }

// Err is what went wrong when reading; entries that could not be read are missing.
func (x *OffsetIndex) Err() error { return x.err }

func (x *OffsetIndex) entry(e []byte) (offset, pos int64) {
	return x.base + int64(int32(binary.BigEndian.Uint32(e))), int64(int32(binary.BigEndian.Uint32(e[4:])))
}

// At returns entry i: an offset, which is the last one of what was appended at byte pos. ok is false where there is none.
func (x *OffsetIndex) At(i int64) (offset, pos int64, ok bool) {
	if i >= x.n {
		return 0, 0, false
	}
	e := x.at(i, blockEntries)
	if e == nil {
		return 0, 0, false
	}
	offset, pos = x.entry(e)
	return offset, pos, true
}

// Floor returns the number of the last entry whose offset is at most the given one, or -1, and how many entries were
// compared.
func (x *OffsetIndex) Floor(offset int64) (i int64, compared int) {
	guess := int64(-1)
	if e := x.at(x.n-1, 1); e != nil && x.n > 2*blockEntries {
		last, _ := x.entry(e)
		guess = share(x.n, offset, x.base, last)
	}
	n := x.search(x.n, guess, func(e []byte) bool {
		compared++
		o, _ := x.entry(e)
		return o > offset
	})
	return n - 1, compared
}

// FloorPos returns the number of the last entry whose position is at most pos, or -1.
func (x *OffsetIndex) FloorPos(pos int64) int64 {
	guess := int64(-1)
	if e := x.at(x.n-1, 1); e != nil && x.n > 2*blockEntries {
		_, last := x.entry(e)
		guess = share(x.n, pos, 0, last)
	}
	return x.search(x.n, guess, func(e []byte) bool {
		_, p := x.entry(e)
		return p > pos
	}) - 1
}

// Sound tells whether entry i fits its neighbours and a .log of logSize bytes.
func (x *OffsetIndex) Sound(i, logSize int64) error {
	o, p, ok := x.At(i)
	if !ok {
		return nil
	}
	if o < x.base || p < 0 || p >= logSize {
		return fmt.Errorf("entry %d says offset %d at byte %d, which is outside the segment", i, o, p)
	}
	if po, pp, ok := x.At(i - 1); ok && i > 0 && (po >= o || pp >= p) {
		return fmt.Errorf("offsets or bytes fall at entry %d", i)
	}
	if no, np, ok := x.At(i + 1); ok && (no <= o || np <= p) {
		return fmt.Errorf("offsets or bytes fall at entry %d", i+1)
	}
	return nil
}

// TimeIndex reads a .timeindex file. An entry says that up to its offset no record of the segment is younger than its
// timestamp. It is not safe for concurrent use.
type TimeIndex struct {
	table
	base int64
}

// NewTimeIndex reads a .timeindex of size bytes, like NewOffsetIndex.
func NewTimeIndex(r io.ReaderAt, size, base int64) *TimeIndex {
	x := &TimeIndex{table{r: r, width: TimeEntrySize, slots: size / TimeEntrySize, size: size}, base}
	if x.slots > 0 {
		x.n = x.used(func(e []byte) bool { return !allZero(e) })
	}
	return x
}

// Len is the number of entries.
func (x *TimeIndex) Len() int64 { return x.n }

// Err is what went wrong when reading; entries that could not be read are missing.
func (x *TimeIndex) Err() error { return x.err }

func (x *TimeIndex) entry(e []byte) (ms, offset int64) {
	return int64(binary.BigEndian.Uint64(e)), x.base + int64(int32(binary.BigEndian.Uint32(e[8:])))
}

// At returns entry i: a timestamp in ms and the offset it was seen at. ok is false where there is none.
func (x *TimeIndex) At(i int64) (ms, offset int64, ok bool) {
	if i >= x.n {
		return 0, 0, false
	}
	e := x.at(i, blockEntries)
	if e == nil {
		return 0, 0, false
	}
	ms, offset = x.entry(e)
	return ms, offset, true
}

// Floor returns the number of the last entry whose timestamp is at most ms, or -1, and how many entries were compared.
func (x *TimeIndex) Floor(ms int64) (i int64, compared int) {
	guess := int64(-1)
	if e := x.at(x.n-1, 1); e != nil && x.n > 2*blockEntries {
		last, _ := x.entry(e)
		if e = x.at(0, 1); e != nil {
			first, _ := x.entry(e)
			guess = share(x.n, ms, first, last)
		}
	}
	n := x.search(x.n, guess, func(e []byte) bool {
		compared++
		t, _ := x.entry(e)
		return t > ms
	})
	return n - 1, compared
}

// Sound tells whether entry i fits its neighbours.
func (x *TimeIndex) Sound(i int64) error {
	t, o, ok := x.At(i)
	if !ok {
		return nil
	}
	if o < x.base {
		return fmt.Errorf("entry %d says offset %d, which is below the segment", i, o)
	}
	if pt, po, ok := x.At(i - 1); ok && i > 0 {
		if pt >= t {
			return fmt.Errorf("times fall at entry %d", i)
		}
		if po > o {
			return fmt.Errorf("offsets fall at entry %d", i)
		}
	}
	return nil
}

// AbortedTxn is an entry of a .txnindex: a transaction that was aborted.
type AbortedTxn struct {
	Version  int16
	Producer int64
	First    int64 // offset of its first record
	Last     int64 // offset of its abort marker
	Stable   int64 // last stable offset after it
}

// ParseTxnIndex reads a .txnindex. An error says what is wrong with the bytes from the returned entries on.
func ParseTxnIndex(b []byte) ([]AbortedTxn, error) {
	list := make([]AbortedTxn, 0, len(b)/TxnEntrySize)
	for n := 0; len(b) >= TxnEntrySize; n++ {
		a := AbortedTxn{
			Version:  int16(binary.BigEndian.Uint16(b)),
			Producer: int64(binary.BigEndian.Uint64(b[2:])),
			First:    int64(binary.BigEndian.Uint64(b[10:])),
			Last:     int64(binary.BigEndian.Uint64(b[18:])),
			Stable:   int64(binary.BigEndian.Uint64(b[26:])),
		}
		if err := a.sound(); err != nil {
			return list, fmt.Errorf("entry %d: %w", n, err)
		}
		list = append(list, a)
		b = b[TxnEntrySize:]
	}
	if len(b) > 0 {
		return list, fmt.Errorf("entry %d has %d of %d bytes", len(list), len(b), TxnEntrySize)
	}
	return list, nil
}

func (a AbortedTxn) sound() error {
	switch {
	case a.Version != 0:
		return fmt.Errorf("unknown version %d", a.Version)
	case a.Producer < 0:
		return fmt.Errorf("producer id %d", a.Producer)
	case a.First < 0 || a.First > a.Last:
		return fmt.Errorf("first offset %d, last offset %d", a.First, a.Last)
	case a.Stable < 0 || a.Stable > a.Last+1:
		return fmt.Errorf("last stable offset %d after the abort at %d", a.Stable, a.Last)
	}
	return nil
}

// Entry returns the entry as the model has it, with what is wrong with it.
func (a AbortedTxn) Entry(number int64) model.IndexEntry {
	return model.IndexEntry{Number: number, Offset: a.First, Position: model.Unknown, Timestamp: model.Unknown,
		Producer: a.Producer, Last: a.Last, Stable: a.Stable, Err: a.sound()}
}

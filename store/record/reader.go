package record

import (
	"fmt"
	"math"
	"strconv"
	"sync"
)

// DefaultMaxInflated is the limit of a decompressed records section, 32 MiB.
const DefaultMaxInflated = 32 << 20

// keepBuffer is how large a buffer is kept whatever the batches need.
const keepBuffer = 4 << 20

// minRecord is the least size of a v2 record: seven one-byte fields.
const minRecord = 7

// Reader walks the records of one batch of any magic. The zero value is ready;
// use it again and again, since it keeps its buffers and decoders. It checks
// the structure of every record, but not the CRC: see Checksum.
//
// Records of magic 2 are checked some at a time, which marks their borders;
// Record fills in the one asked for. So counting and skipping cost no more than
// the checks.
//
// Invariants:
//   - a record delivered before an error is good and stays valid
//   - after an error Next is false until the next Reset
//   - section[:pos] has been checked; of it, records at+1 to n-1 are still to
//     be delivered
//   - fault is damage at pos, which becomes err when these are used up
//   - a section has at most 2 GiB
type Reader struct {
	// MaxInflated is the most bytes that a batch may decompress to; 0 means
	// DefaultMaxInflated. More is ErrTooLarge, before the memory is taken.
	MaxInflated int64

	hdr      Header
	section  []byte
	inflated bool // section is decompressed, not part of the batch
	start    int  // of the section within the batch, unless inflated
	pos      int
	left     int32                // v2 records still to be parsed
	marks    [markCount + 1]int32 // record i is section[marks[i]:marks[i+1]]
	at, n    int                  // the current record, and the number of them
	rec      Record
	filled   int // the record that rec shows, -1 none
	err      error
	fault    error
	legacy   legacyState

	buf []byte
	inf inflater
}

// readers are those that were given back.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// Borrow gives a reader as a new one is, but perhaps with the buffers and
// decoders of an earlier use: to make those costs more than to read a small
// batch. Return it when none of its slices is needed any more.
func Borrow() *Reader { return readers.Get().(*Reader) }

// Return gives a reader back to be borrowed again.
func (r *Reader) Return() {
	r.section, r.rec, r.MaxInflated = nil, Record{}, 0
	if cap(r.buf) > keepBuffer {
		r.buf = nil
	}
	readers.Put(r)
}

// Reset begins to read a batch: it parses the header and decompresses the
// records if need be. batch must hold the whole batch, and may hold more; it
// must not change while the reader is used. The error is ErrShort, or a
// *FormatError, which may wrap ErrCodec or ErrTooLarge. Header is right
// whenever the fixed part could be read.
func (r *Reader) Reset(batch []byte) error {
	r.section, r.inflated, r.start, r.pos, r.left = nil, false, 0, 0, 0
	r.at, r.n, r.filled = -1, 0, -1
	r.rec, r.legacy, r.fault = Record{}, legacyState{}, nil
	r.hdr, r.err = ParseHeader(batch)
	if r.err != nil {
		return r.err
	}
	if size := r.hdr.Size(); int64(len(batch)) < size {
		r.err = fmt.Errorf("%d of %d bytes are here: %w", len(batch), size, ErrShort)
		return r.err
	}
	batch = batch[:r.hdr.Size():r.hdr.Size()]
	if r.hdr.Legacy() {
		r.err = r.resetLegacy(batch)
	} else {
		r.err = r.resetV2(batch)
	}
	if r.err != nil {
		r.section, r.left = nil, 0
	}
	return r.err
}

func (r *Reader) resetV2(batch []byte) error {
	h := &r.hdr
	if h.Count < 0 {
		return &FormatError{Pos: posCount, Field: "record count", What: strconv.Itoa(int(h.Count))}
	}
	if h.LastOffsetDelta < 0 {
		return &FormatError{Pos: posLastDelta, Field: "last offset delta", What: strconv.Itoa(int(h.LastOffsetDelta))}
	}
	r.section, r.start = batch[HeaderSize:], HeaderSize
	if c := h.Codec(); c != None && (h.Count > 0 || len(r.section) > 0) {
		if err := r.inflate(c, r.section, HeaderSize); err != nil {
			return err
		}
	}
	if int64(h.Count)*minRecord > int64(len(r.section)) {
		return &FormatError{Pos: posCount, Field: "record count",
			What: fmt.Sprintf("%d cannot be in %d bytes", h.Count, len(r.section))}
	}
	r.left = h.Count
	return nil
}

// inflate makes section the decompressed src, which lies at pos in the batch.
func (r *Reader) inflate(c Codec, src []byte, pos int) error {
	if !c.Known() || c == Zstd && r.hdr.Legacy() {
		at := posAttributes
		if r.hdr.Legacy() {
			at = legacyAttrs
		}
		return &FormatError{Pos: at, Field: "attributes", What: c.String(), Err: ErrCodec}
	}
	limit := min(r.MaxInflated, math.MaxInt32)
	if limit <= 0 {
		limit = DefaultMaxInflated
	}
	if cap(r.buf) > keepBuffer && len(r.buf) < cap(r.buf)/8 {
		r.buf = nil // a giant has gone by
	}
	out, err := r.inf.inflate(r.buf[:0], c, r.hdr.Magic, src, limit)
	if err != nil {
		return &FormatError{Pos: pos, Field: c.String() + " records", Err: err}
	}
	r.buf, r.section, r.inflated = out, out, true
	return nil
}

// Header is that of the batch given to Reset.
func (r *Reader) Header() Header { return r.hdr }

// Section is what the records lie in, decompressed: the bytes after the v2
// header, or a legacy message set. It is valid until the next Reset.
func (r *Reader) Section() []byte { return r.section }

// Inflated tells that Section is not part of the batch but decompressed.
func (r *Reader) Inflated() bool { return r.inflated }

// Err is what ended the walk: nil at the end of the batch, else a
// *FormatError, or the error of Reset.
func (r *Reader) Err() error { return r.err }

// Next goes to the next record. It is false at the end and on an error.
func (r *Reader) Next() bool {
	if r.at++; r.at < r.n {
		return true
	}
	return r.more()
}

// Record is the one that Next went to, valid until the next call of Next.
// What its slices point to is valid until the next Reset.
func (r *Reader) Record() *Record {
	if r.at != r.filled {
		r.fill()
	}
	return &r.rec
}

// Count checks and counts the records that Next has not delivered, and ends
// the walk. It is quicker than Next.
func (r *Reader) Count() (n int, err error) {
	for r.Next() {
		if r.hdr.Legacy() {
			n++
			continue
		}
		n += r.n - r.at
		r.at = r.n
	}
	return n, r.err
}

// more checks more records, or ends a v2 batch, or goes on in a legacy one.
func (r *Reader) more() bool {
	r.at, r.n, r.filled = -1, 0, -1
	switch {
	case r.err != nil:
		return false
	case r.fault != nil:
		r.err = r.fault
		return false
	case r.left > 0:
		if r.parse(); r.n == 0 {
			r.err = r.fault
			return false
		}
		r.at = 0
		return true
	case r.hdr.Legacy():
		return r.nextLegacy()
	case r.pos < len(r.section):
		r.err = r.damage(r.pos, "records", fmt.Sprintf("%d bytes behind the last", len(r.section)-r.pos))
	}
	return false
}

// damage is what is wrong at byte p of the section.
func (r *Reader) damage(p int, field, what string) *FormatError {
	if !r.inflated {
		p += r.start
	}
	return &FormatError{Pos: p, Inflated: r.inflated, Field: field, What: what}
}

// fail ends the walk with damage at byte p of the section.
func (r *Reader) fail(p int, field, what string) bool {
	r.err = r.damage(p, field, what)
	return false
}

func varintFault(code int) string {
	if code == -2 {
		return "varint is too long"
	}
	return "varint is cut"
}

func badLength(n int32) string { return strconv.Itoa(int(n)) }

func overrun(n int32, left int) string { return fmt.Sprintf("%d, but %d bytes are left", n, left) }

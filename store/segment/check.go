package segment

import (
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// Checked is one item of a .log that was looked at whole: what it is, and what is wrong with it by itself.
type Checked struct {
	Kind    Kind
	Pos     int64
	Len     int64
	Header  record.Header // of a Batch
	First   int64         // offset of its first record: not its header's where that is an old wrapper
	Records int32         // records in it that could be decoded
	Bad     bool          // its checksum is wrong, so that nothing in it is to be believed
	Abort   bool          // it is an abort marker
	Faults  []model.Fault
}

// Checker checks batches by themselves, on one goroutine. The zero value is ready.
type Checker struct {
	s  Scanner
	rd record.Reader
}

// Check gives take each item of the .log in [from, to), of which from must be where a batch begins and to where one
// ends, or the end of the file: its checksum, and every record of it. It ends early when take returns false. An error
// says that the file cannot be read.
func (c *Checker) Check(f *File, from, to int64, stop func() error, take func(Checked) bool) error {
	c.s.Reset(f.Log, min(to, f.Size), ScanOptions{Check: true, Thorough: true, Stop: stop})
	c.s.Goto(from)
	for {
		k := c.s.Next()
		x := Checked{Kind: k, Pos: c.s.Pos(), Len: c.s.Len()}
		switch k {
		case End:
			return nil
		case Failed:
			return f.scanError(&c.s)
		case Damage:
			x.Faults = []model.Fault{f.damageFault(&c.s)}
		case Torn:
			x.Faults = []model.Fault{f.tornFault(&c.s)}
		case Zeros:
			x.Faults = []model.Fault{f.fault(layout.KindLog, x.Pos, model.Unknown, "zeros",
				fmt.Sprintf("zero tail %s bytes (preallocated)", grouped(x.Len)), model.SevInfo)}
		case Batch:
			c.batch(f, &x)
		}
		if !take(x) {
			return nil
		}
	}
}

// tornFault says that the last batch is not whole.
func (f *File) tornFault(s *Scanner) model.Fault {
	what := fmt.Sprintf("torn batch: has %d bytes", s.Len())
	if s.Need() > 0 {
		what = fmt.Sprintf("torn batch: has %d of %d bytes", s.Len(), s.Need())
	}
	t := f.fault(layout.KindLog, s.Pos(), model.Unknown, "torn", what, model.SevDamage)
	t.Follows = "all batches before it are readable; a broker cuts it off when it recovers"
	return t
}

// batch checks the batch that the scanner is at.
func (c *Checker) batch(f *File, x *Checked) {
	h := c.s.Header()
	x.Header, x.First = h, h.BaseOffset
	bad := func(pos int64, kind, what string) *model.Fault {
		x.Faults = append(x.Faults, f.fault(layout.KindLog, pos, h.BaseOffset, kind, what, model.SevDamage))
		return &x.Faults[len(x.Faults)-1]
	}
	if stored, computed := c.s.Sum(); stored != computed {
		x.Bad = true
		t := bad(x.Pos, "crc", fmt.Sprintf("checksum is %08x, computed %08x", stored, computed))
		t.Follows = fmt.Sprintf("offsets %d to %d cannot be trusted", h.BaseOffset, h.LastOffset())
		return
	}
	if c.s.Bytes() == nil {
		t := bad(x.Pos, "length", fmt.Sprintf("%d bytes are too many to be decoded", h.Size()))
		t.Severity = model.SevWarning
		return
	}
	if err := c.rd.Reset(c.s.Bytes()); err != nil {
		RecordFault(bad(x.Pos, "", ""), h, err)
		return
	}
	if c.rd.Next() {
		r := c.rd.Record()
		if h.Wrapper() {
			x.First = r.Offset
		}
		if h.Control() {
			ctl, err := record.ParseControl(r.Key, r.Value)
			x.Abort = err == nil && ctl.Type == record.Abort && h.Transactional()
			if err != nil {
				bad(x.Pos, "record", "control record: "+err.Error())
			}
		}
		if r.Offset < x.First || r.Offset > h.LastOffset() {
			bad(x.Pos, "order", fmt.Sprintf("the first record has offset %d, in a batch of %d to %d", r.Offset, x.First, h.LastOffset()))
		}
		n, _ := c.rd.Count() // its error is Err's
		x.Records = int32(n + 1)
	}
	if err := c.rd.Err(); err != nil {
		RecordFault(bad(x.Pos, "", ""), h, err)
	}
}

// RecordFault fills in why the records of a batch, at t.Position, cannot be read, or not all of them.
func RecordFault(t *model.Fault, h record.Header, err error) {
	t.Kind, t.What = "record", err.Error()
	var fe *record.FormatError
	if errors.As(err, &fe) && !fe.Inflated {
		t.Position += int64(fe.Pos)
	}
	switch {
	case errors.Is(err, record.ErrCodec):
		t.Kind, t.What = "codec", "unknown "+h.Codec().String()
	case errors.Is(err, record.ErrTooLarge):
		t.Kind = "codec"
	case fe != nil && fe.Field == "record count":
		t.Kind = "count"
	}
	t.Follows = fmt.Sprintf("records of the batch at offsets %d to %d are missing", h.BaseOffset, h.LastOffset())
}

// grouped writes n with commas between thousands.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

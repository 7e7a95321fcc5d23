package record

import (
	"errors"
	"fmt"
	"math"
)

// Kept tunes AppendKept. The zero value leaves the batch as it was.
type Kept struct {
	HasHorizon    bool // set DeleteHorizon, unless the batch has one
	DeleteHorizon int64
	Level         int // of compression, see CheckLevel
}

// AppendKept appends the v2 batch that r was last reset to with only those
// records that keep wants, as compaction does: base offset, last offset,
// producer and leader epoch stay, as do the offsets and times of the records.
// With none left it is a header without records. It uses up r. On an error
// dst is given back as it was.
func AppendKept(dst []byte, r *Reader, k Kept, keep func(*Record) bool) (out []byte, kept int, err error) {
	h := r.Header()
	if h.Legacy() {
		return dst, 0, fmt.Errorf("magic %d is not rewritten", h.Magic)
	}
	base := h.BaseTimestamp
	if _, has := h.DeleteHorizon(); k.HasHorizon && !has {
		h.Attributes |= attrDeleteHorizon
		h.BaseTimestamp = k.DeleteHorizon
	}
	scratch := scratches.Get().(*[]byte)
	defer scratches.Put(scratch)
	section := (*scratch)[:0]
	latest := NoTimestamp
	for r.Next() {
		if !keep(r.Record()) {
			continue
		}
		rec := *r.Record()
		latest = max(latest, base+rec.TimestampDelta)
		rec.TimestampDelta += base - h.BaseTimestamp
		section = AppendRecord(section, &rec)
		kept++
	}
	*scratch = section
	if err := r.Err(); err != nil {
		return dst, 0, err
	}
	h.Count = int32(kept)
	if kept == 0 {
		h.Attributes &^= codecMask | attrDeleteHorizon
		h.BaseTimestamp = NoTimestamp
	} else if !h.LogAppendTime() {
		h.MaxTimestamp = latest
	}
	begin := len(dst)
	out = AppendHeader(dst, h)
	if kept > 0 {
		if out, err = Compress(out, h.Codec(), k.Level, section); err != nil {
			return dst, 0, err
		}
	}
	if int64(len(out)-begin) > math.MaxInt32 {
		return dst, 0, errors.New("batch is beyond 2 GiB")
	}
	seal(out[begin:])
	return out, kept, nil
}

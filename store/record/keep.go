package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Rewind begins the walk over the batch that r was last reset to anew, without
// decompressing it again. After an error of Reset it does nothing.
func (r *Reader) Rewind() {
	if r.section == nil {
		return
	}
	r.pos, r.at, r.n, r.filled = 0, -1, 0, -1
	r.err, r.fault = nil, nil
	if !r.hdr.Legacy() {
		r.left = r.hdr.Count
	}
}

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

// AppendKeptLegacy is AppendKept for an entry of magic 0 or 1: the messages
// that keep wants stay as they lie, in a wrapper that ends with the last of
// them. With none left nothing is appended.
func AppendKeptLegacy(dst []byte, r *Reader, keep func(*Record) bool) (out []byte, kept int, err error) {
	h := r.Header()
	if !h.Legacy() {
		return dst, 0, fmt.Errorf("magic %d is no legacy entry", h.Magic)
	}
	scratch := scratches.Get().(*[]byte)
	defer scratches.Put(scratch)
	set := (*scratch)[:0]
	last, latest := h.BaseOffset, NoTimestamp
	for r.Next() {
		rec := r.Record()
		if !keep(rec) {
			continue
		}
		set = append(set, r.section[rec.Pos:rec.Pos+rec.Size]...)
		last, latest = rec.Offset, max(latest, rec.Timestamp)
		kept++
	}
	*scratch = set
	switch {
	case r.Err() != nil:
		return dst, 0, r.Err()
	case kept == 0:
		return dst, 0, nil
	case !h.Wrapper():
		return append(dst, set...), kept, nil
	}
	if h.LogAppendTime() {
		latest = h.MaxTimestamp
	}
	begin := len(dst)
	out = binary.BigEndian.AppendUint64(dst, uint64(last))
	out = append(out, 0, 0, 0, 0, 0, 0, 0, 0, byte(h.Magic), byte(h.Attributes))
	if h.Magic == 1 {
		out = binary.BigEndian.AppendUint64(out, uint64(latest))
	}
	out = binary.BigEndian.AppendUint32(out, math.MaxUint32) // no key
	size := len(out)
	out = append(out, 0, 0, 0, 0)
	if out, err = Compress(out, h.Codec(), 0, set); err != nil {
		return dst, 0, err
	}
	if len(out)-begin > math.MaxInt32 {
		return dst, 0, errors.New("entry is beyond 2 GiB")
	}
	binary.BigEndian.PutUint32(out[size:], uint32(len(out)-size-4))
	entry := out[begin:]
	binary.BigEndian.PutUint32(entry[posLength:], uint32(len(entry)-lengthEnd))
	_, computed := Checksum(entry)
	binary.BigEndian.PutUint32(entry[legacyCRC:], computed)
	return out, kept, nil
}

package partition

import (
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// crcFault says that a batch fails its checksum.
func (v *View) crcFault(l *layer, pos int64, h record.Header, stored, computed uint32) model.Fault {
	t := v.batchFault(l, pos, h.BaseOffset, "crc", fmt.Sprintf("checksum is %08x, computed %08x", stored, computed), model.SevDamage)
	t.Follows = fmt.Sprintf("offsets %d to %d cannot be trusted", h.BaseOffset, h.LastOffset())
	return t
}

// orderFault says that a batch has offsets that do not belong into its segment.
func (v *View) orderFault(l *layer, pos int64, h record.Header) model.Fault {
	return v.batchFault(l, pos, h.BaseOffset, "order",
		fmt.Sprintf("offsets %d to %d do not belong into a segment of %d to %d", h.BaseOffset, h.LastOffset(), l.base, l.upper-1),
		model.SevDamage)
}

// recordFault says why the records of a batch cannot be read, or not all of them.
func (v *View) recordFault(l *layer, pos int64, h record.Header, err error) model.Fault {
	kind, what := "record", err.Error()
	var fe *record.FormatError
	switch {
	case errors.Is(err, record.ErrCodec):
		kind, what = "codec", fmt.Sprintf("unknown %s", h.Codec())
	case errors.Is(err, record.ErrTooLarge):
		kind = "codec"
	case errors.As(err, &fe):
		if fe.Field == "record count" {
			kind = "count"
		}
		if !fe.Inflated {
			pos += int64(fe.Pos)
		}
	}
	t := v.batchFault(l, pos, h.BaseOffset, kind, what, model.SevDamage)
	t.Follows = fmt.Sprintf("records of the batch at offsets %d to %d are missing", h.BaseOffset, h.LastOffset())
	return t
}

// damaged tells an error about bytes from one about reading them.
func damaged(err error) bool {
	var fe *record.FormatError
	return errors.As(err, &fe) || errors.Is(err, record.ErrShort) || errors.Is(err, record.ErrTooLarge)
}

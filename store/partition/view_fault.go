package partition

import (
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
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
	t := v.batchFault(l, pos, h.BaseOffset, "", "", model.SevDamage)
	segment.RecordFault(&t, h, err)
	return t
}

// damaged tells an error about bytes from one about reading them.
func damaged(err error) bool {
	var fe *record.FormatError
	return errors.As(err, &fe) || errors.Is(err, record.ErrShort) || errors.Is(err, record.ErrTooLarge)
}

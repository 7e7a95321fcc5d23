package layout

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	snapshotHead  = 10 // version i16, checksum u32, count i32
	snapshotEntry = 46
	snapshotBody  = 6 // where the checksum begins to count
)

// ProducerEntry is what a snapshot remembers of an idempotent or transactional producer: its last batch.
type ProducerEntry struct {
	ProducerID       int64
	Epoch            int16
	LastSequence     int32 // -1 where only a marker was seen
	LastOffset       int64 // likewise
	OffsetDelta      int32 // last offset - first offset of that batch
	Timestamp        int64 // ms
	CoordinatorEpoch int32 // of the last marker; -1 for none
	TxnFirst         int64 // first offset of the open transaction; -1 for none
}

// ParseSnapshot reads a producer snapshot. With an error, which is a *FormatError, come the entries that could be read:
// all of them where only the checksum is wrong.
func ParseSnapshot(b []byte) ([]ProducerEntry, error) {
	bad := func(pos int, format string, args ...any) error {
		return &FormatError{Pos: pos, What: fmt.Sprintf(format, args...)}
	}
	if len(b) < snapshotHead {
		return nil, bad(len(b), "ends within its head: has %d of %d bytes", len(b), snapshotHead)
	}
	if v := int16(binary.BigEndian.Uint16(b)); v != 1 {
		return nil, bad(0, "unknown version %d", v)
	}
	var err error
	stored, computed := binary.BigEndian.Uint32(b[2:]), snapshotSum(b)
	if stored != computed {
		err = bad(2, "checksum is %08x, computed %08x", stored, computed)
	}
	says, room := int64(int32(binary.BigEndian.Uint32(b[6:]))), int64(len(b)-snapshotHead)
	if says < 0 {
		return nil, bad(6, "says %d producers", says)
	}
	if says*snapshotEntry != room {
		err = bad(6, "says %d producers, has room for %d and %d bytes", says, room/snapshotEntry, room%snapshotEntry)
	}
	n := min(says, room/snapshotEntry)
	list := make([]ProducerEntry, n)
	for i := range list {
		e := b[snapshotHead+i*snapshotEntry:]
		list[i] = ProducerEntry{
			ProducerID:       int64(binary.BigEndian.Uint64(e)),
			Epoch:            int16(binary.BigEndian.Uint16(e[8:])),
			LastSequence:     int32(binary.BigEndian.Uint32(e[10:])),
			LastOffset:       int64(binary.BigEndian.Uint64(e[14:])),
			OffsetDelta:      int32(binary.BigEndian.Uint32(e[22:])),
			Timestamp:        int64(binary.BigEndian.Uint64(e[26:])),
			CoordinatorEpoch: int32(binary.BigEndian.Uint32(e[34:])),
			TxnFirst:         int64(binary.BigEndian.Uint64(e[38:])),
		}
	}
	return list, err
}

// AppendSnapshot appends a producer snapshot of the entries, as ParseSnapshot reads it.
func AppendSnapshot(dst []byte, list []ProducerEntry) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, 1)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(list)))
	for _, e := range list {
		dst = binary.BigEndian.AppendUint64(dst, uint64(e.ProducerID))
		dst = binary.BigEndian.AppendUint16(dst, uint16(e.Epoch))
		dst = binary.BigEndian.AppendUint32(dst, uint32(e.LastSequence))
		dst = binary.BigEndian.AppendUint64(dst, uint64(e.LastOffset))
		dst = binary.BigEndian.AppendUint32(dst, uint32(e.OffsetDelta))
		dst = binary.BigEndian.AppendUint64(dst, uint64(e.Timestamp))
		dst = binary.BigEndian.AppendUint32(dst, uint32(e.CoordinatorEpoch))
		dst = binary.BigEndian.AppendUint64(dst, uint64(e.TxnFirst))
	}
	binary.BigEndian.PutUint32(dst[begin+2:], snapshotSum(dst[begin:]))
	return dst
}

func snapshotSum(b []byte) uint32 {
	return crc32.Checksum(b[snapshotBody:], crc32.MakeTable(crc32.Castagnoli))
}

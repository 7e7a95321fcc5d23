package record

import "encoding/binary"

// The edits change a whole v2 batch in place. They trust that its header has
// been parsed, and panic on fewer bytes than a header.

// SetBaseOffset moves the batch. The CRC does not cover the base offset.
func SetBaseOffset(batch []byte, offset int64) {
	binary.BigEndian.PutUint64(batch, uint64(offset))
}

// SetLeaderEpoch stamps the batch. The CRC does not cover the leader epoch.
func SetLeaderEpoch(batch []byte, epoch int32) {
	binary.BigEndian.PutUint32(batch[posEpoch:], uint32(epoch))
}

// SetMaxTimestamp sets the largest time (ms) and the CRC. batch must be
// exactly one batch.
func SetMaxTimestamp(batch []byte, ms int64) {
	binary.BigEndian.PutUint64(batch[posMaxTime:], uint64(ms))
	sum(batch)
}

// SetLogAppendTime dates all records ms, and sets the CRC. batch must be
// exactly one batch.
func SetLogAppendTime(batch []byte, ms int64) {
	batch[posAttributes+1] |= attrLogAppendTime
	SetMaxTimestamp(batch, ms)
}

// SetCreateTime gives the records back their own times, of which ms is the
// largest, and sets the CRC. batch must be exactly one batch.
func SetCreateTime(batch []byte, ms int64) {
	batch[posAttributes+1] &^= attrLogAppendTime
	SetMaxTimestamp(batch, ms)
}

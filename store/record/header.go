package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Sizes in bytes.
const (
	HeaderSize = 61 // header of a v2 batch
	PrefixSize = 17 // what all entries have in common: up to the magic
	MinLength  = 14 // the least length field of any entry
	// lengthEnd is where the length field ends and what it counts begins.
	lengthEnd = 12
)

// Places of the v2 header's fields.
const (
	posLength      = 8
	posEpoch       = 12
	posMagic       = 16
	posCRC         = 17
	posAttributes  = 21
	posLastDelta   = 23
	posBaseTime    = 27
	posMaxTime     = 35
	posProducerID  = 43
	posProducerEp  = 51
	posSequence    = 53
	posCount       = 57
	minLengthV2    = HeaderSize - lengthEnd
	legacyCRC      = 12
	legacyAttrs    = 17
	legacyTime     = 18
	legacyKeyPosV0 = 18
	legacyKeyPosV1 = 26
)

// Bits of the attributes above the codec.
const (
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40
)

// Values for "there is none".
const (
	NoProducer  int64 = -1 // ProducerID of a batch without producer
	NoTimestamp int64 = -1
	NoSequence  int32 = -1
	NoEpoch     int32 = -1
)

// Header is the fixed part of a batch. For a legacy entry (magic 0 or 1) it
// holds what is known without decompressing:
//
//   - BaseOffset is the entry's offset; for a wrapper that of its LAST inner
//     message, so that LastOffset is right for all. See LegacyFirst.
//   - Count is 1, or -1 (unknown) for a wrapper.
//   - both timestamps are the entry's own, -1 in magic 0; LeaderEpoch,
//     ProducerID, ProducerEpoch and BaseSequence are -1.
type Header struct {
	BaseOffset      int64
	Length          int32 // bytes after the length field
	LeaderEpoch     int32 // -1 none
	Magic           int8  // 0, 1 or 2
	CRC             uint32
	Attributes      int16
	LastOffsetDelta int32
	BaseTimestamp   int64 // ms; the delete horizon if attribute bit 6 is set
	MaxTimestamp    int64 // ms, -1 none; append time if LogAppendTime
	ProducerID      int64 // NoProducer when none; 0 is a real one
	ProducerEpoch   int16 // -1 none
	BaseSequence    int32 // -1 none
	Count           int32 // records; may be 0 after compaction
}

// Size is the whole entry's size in bytes.
func (h Header) Size() int64 { return lengthEnd + int64(h.Length) }

// LastOffset is the offset of the last record ever written in the batch; it
// survives compaction.
func (h Header) LastOffset() int64 { return h.BaseOffset + int64(h.LastOffsetDelta) }

// NextOffset is the offset that follows the batch.
func (h Header) NextOffset() int64 { return h.LastOffset() + 1 }

// Codec is the compression of the records; it may be an unknown one.
func (h Header) Codec() Codec { return Codec(h.Attributes & codecMask) }

// LogAppendTime tells that all records carry the broker's time.
func (h Header) LogAppendTime() bool { return h.Magic > 0 && h.Attributes&attrLogAppendTime != 0 }

// Transactional tells that the batch belongs to a transaction.
func (h Header) Transactional() bool { return h.Magic > 1 && h.Attributes&attrTransactional != 0 }

// Control tells that the records are markers, not data.
func (h Header) Control() bool { return h.Magic > 1 && h.Attributes&attrControl != 0 }

// DeleteHorizon is the time in ms from which on tombstones or markers of the
// batch may be removed, if the cleaner has set one.
func (h Header) DeleteHorizon() (ms int64, ok bool) {
	if h.Magic < 2 || h.Attributes&attrDeleteHorizon == 0 {
		return 0, false
	}
	return h.BaseTimestamp, true
}

// HasProducer tells that the batch carries a producer id.
func (h Header) HasProducer() bool { return h.ProducerID >= 0 }

// Legacy tells magic 0 or 1.
func (h Header) Legacy() bool { return h.Magic < 2 }

// Wrapper tells a compressed legacy entry, which holds a message set.
func (h Header) Wrapper() bool { return h.Magic < 2 && h.Codec() != None }

// LastSequence is the sequence of the last record, -1 without sequences.
func (h Header) LastSequence() int32 {
	if !h.HasProducer() || h.BaseSequence < 0 {
		return NoSequence
	}
	return AddSequence(h.BaseSequence, h.LastOffsetDelta)
}

// AddSequence adds n (at least 0) to a sequence, going from 2147483647 to 0.
func AddSequence(seq, n int32) int32 {
	if seq > math.MaxInt32-n {
		return n - (math.MaxInt32 - seq) - 1
	}
	return seq + n
}

// PeekSize reads from the first 17 bytes how large the entry is and which
// magic it has. It gives ErrShort when there are fewer, and a *FormatError
// when length or magic cannot be.
func PeekSize(b []byte) (size int64, magic int8, err error) {
	if len(b) < PrefixSize {
		return 0, 0, ErrShort
	}
	length := int32(binary.BigEndian.Uint32(b[posLength:]))
	magic = int8(b[posMagic])
	if length < MinLength {
		return 0, magic, lengthError(length, MinLength)
	}
	if magic < 0 || magic > 2 {
		return 0, magic, &FormatError{Pos: posMagic, Field: "magic", What: fmt.Sprintf("%d, must be 0, 1 or 2", magic)}
	}
	if least := minLength(magic); length < least {
		return 0, magic, lengthError(length, least)
	}
	return lengthEnd + int64(length), magic, nil
}

// minLength is the least length field of an entry with that magic.
func minLength(magic int8) int32 {
	switch magic {
	case 0:
		return MinLength
	case 1:
		return MinLength + 8
	}
	return minLengthV2
}

func lengthError(length, least int32) error {
	return &FormatError{Pos: posLength, Field: "length", What: fmt.Sprintf("%d, must be at least %d", length, least)}
}

// ParseHeader reads the fixed part of the entry that b begins with: 61 bytes
// for magic 2, 18 and 26 for 0 and 1. It does not check the CRC, nor that the
// rest of the entry is there. It gives ErrShort when bytes of the fixed part
// are missing, and a *FormatError when length or magic cannot be.
func ParseHeader(b []byte) (Header, error) {
	_, magic, err := PeekSize(b)
	if err != nil {
		return Header{}, err
	}
	if magic < 2 {
		return parseLegacyHeader(b, magic)
	}
	if len(b) < HeaderSize {
		return Header{}, ErrShort
	}
	b = b[:HeaderSize]
	return Header{
		BaseOffset:      int64(binary.BigEndian.Uint64(b)),
		Length:          int32(binary.BigEndian.Uint32(b[posLength:])),
		LeaderEpoch:     int32(binary.BigEndian.Uint32(b[posEpoch:])),
		Magic:           magic,
		CRC:             binary.BigEndian.Uint32(b[posCRC:]),
		Attributes:      int16(binary.BigEndian.Uint16(b[posAttributes:])),
		LastOffsetDelta: int32(binary.BigEndian.Uint32(b[posLastDelta:])),
		BaseTimestamp:   int64(binary.BigEndian.Uint64(b[posBaseTime:])),
		MaxTimestamp:    int64(binary.BigEndian.Uint64(b[posMaxTime:])),
		ProducerID:      int64(binary.BigEndian.Uint64(b[posProducerID:])),
		ProducerEpoch:   int16(binary.BigEndian.Uint16(b[posProducerEp:])),
		BaseSequence:    int32(binary.BigEndian.Uint32(b[posSequence:])),
		Count:           int32(binary.BigEndian.Uint32(b[posCount:])),
	}, nil
}

// AppendHeader writes the fixed part of h as it stands, CRC and length too.
// It undoes ParseHeader for every magic.
func AppendHeader(dst []byte, h Header) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.BaseOffset))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.Length))
	if h.Legacy() {
		dst = binary.BigEndian.AppendUint32(dst, h.CRC)
		dst = append(dst, byte(h.Magic), byte(h.Attributes))
		if h.Magic == 1 {
			dst = binary.BigEndian.AppendUint64(dst, uint64(h.MaxTimestamp))
		}
		return dst
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.LeaderEpoch))
	dst = append(dst, byte(h.Magic))
	dst = binary.BigEndian.AppendUint32(dst, h.CRC)
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.Attributes))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.LastOffsetDelta))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.BaseTimestamp))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.MaxTimestamp))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.ProducerID))
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.ProducerEpoch))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.BaseSequence))
	return binary.BigEndian.AppendUint32(dst, uint32(h.Count))
}

// Checksum gives the CRC that the entry carries and the one its bytes have.
// batch is one whole entry; of less than a fixed part it gives 0 and 1, which
// never agree.
func Checksum(batch []byte) (stored, computed uint32) {
	if len(batch) < PrefixSize || batch[posMagic] > 1 && len(batch) < HeaderSize {
		return 0, 1
	}
	if batch[posMagic] < 2 {
		return binary.BigEndian.Uint32(batch[legacyCRC:]), crc32.ChecksumIEEE(batch[posMagic:])
	}
	return binary.BigEndian.Uint32(batch[posCRC:]), CRC(batch[posAttributes:])
}

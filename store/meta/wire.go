package meta

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Reasons why bytes are no message. They come wrapped, with the field and the byte.
var (
	// ErrShort says that the bytes end within a field.
	ErrShort = errors.New("ends too early")
	// ErrLength says that a length or a count cannot be.
	ErrLength = errors.New("impossible length")
	// ErrUnknown says that the type or the version is not known here: of a newer Kafka, or none of Kafka's at all.
	ErrUnknown = errors.New("unknown type or version")
)

// maxMessage is how many bytes of a key or value are looked into; a decoded message takes some 40 times its bytes.
const maxMessage = 16 << 20

// reader takes values from the front of bytes. The first error stays, and from then on everything read is zero.
type reader struct {
	b   []byte
	pos int
	err error
}

func (r *reader) fail(what error) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %w", r.pos, what)
	}
}

func (r *reader) left() int { return len(r.b) - r.pos }

// take returns the next n bytes, not copied, or nil.
func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > r.left() {
		r.fail(ErrShort)
		return nil
	}
	b := r.b[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return b
}

func (r *reader) i8() int8 {
	if b := r.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (r *reader) i16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) i32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) i64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// uvarint reads an unsigned number of at most 32 bits.
func (r *reader) uvarint() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.take(1)
		if b == nil {
			return 0
		}
		if shift == 28 && b[0] > 0x0f {
			break
		}
		v |= uint32(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v
		}
	}
	r.fail(ErrLength)
	return 0
}

// length reads a length or count as the encoding has it; -1 means null. Each of what follows takes a byte at least.
func (r *reader) length(flexible, short bool) int {
	var n int64
	switch {
	case flexible:
		n = int64(r.uvarint()) - 1
	case short:
		n = int64(r.i16())
	default:
		n = int64(r.i32())
	}
	if r.err != nil {
		return 0
	}
	if n < -1 {
		r.fail(ErrLength)
		return 0
	}
	if n > int64(r.left()) {
		r.fail(ErrShort)
		return 0
	}
	return int(n)
}

// text reads a string; null reads as null == true.
func (r *reader) text(flexible bool) (s string, null bool) {
	n := r.length(flexible, true)
	if n < 0 {
		return "", true
	}
	return string(r.take(n)), false
}

// blob reads bytes, not copied; nil is null.
func (r *reader) blob(flexible bool) []byte {
	n := r.length(flexible, false)
	if n < 0 || r.err != nil {
		return nil
	}
	return r.take(n)
}

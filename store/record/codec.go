package record

import (
	"fmt"
	"strconv"
	"strings"
)

// Codec is the compression of a batch: the low three bits of its attributes.
type Codec int8

// The codecs there are. 5 to 7 can be written down but mean nothing.
const (
	None Codec = iota
	Gzip
	Snappy
	Lz4
	Zstd
)

const codecMask = 0x07

// Known tells whether the codec exists.
func (c Codec) Known() bool { return c >= None && c <= Zstd }

// String is the name as Kafka's configuration spells it, or "codec 5".
func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case Lz4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return "codec " + strconv.Itoa(int(c))
}

// ParseCodec reads a name, in any case. "uncompressed" is none too.
func ParseCodec(s string) (Codec, error) {
	name := strings.ToLower(s)
	if name == "uncompressed" {
		return None, nil
	}
	for c := None; c <= Zstd; c++ {
		if name == c.String() {
			return c, nil
		}
	}
	return None, fmt.Errorf("codec %q: %w", s, ErrCodec)
}

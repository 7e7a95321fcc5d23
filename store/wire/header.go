package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errClose closes the connection without a word, as Kafka does.
var errClose = errors.New("connection closed")

// minFrame is the least size of a request: a header without a client id.
const minFrame = 10

// header is what every request begins with.
type header struct {
	key, version int16
	corr         int32
	client       []byte // client.id; it lies in the frame
}

// parseHeader reads a request header up to the client id, which has the same form in all versions, and returns what
// follows. Errors wrap errClose.
func parseHeader(b []byte) (h header, rest []byte, err error) {
	if len(b) < minFrame {
		return h, nil, fmt.Errorf("%w: a request of %d bytes", errClose, len(b))
	}
	h.key, h.version = int16(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:]))
	h.corr = int32(binary.BigEndian.Uint32(b[4:]))
	n := int(int16(binary.BigEndian.Uint16(b[8:])))
	b = b[minFrame:]
	if n > len(b) || n < -1 {
		return h, nil, fmt.Errorf("%w: a client id of %d bytes", errClose, n)
	}
	if n > 0 {
		h.client, b = b[:n], b[n:]
	}
	return h, b, nil
}

// skipTags skips a tag section. Errors wrap errClose.
func skipTags(b []byte) ([]byte, error) {
	n, w := binary.Uvarint(b)
	if w <= 0 {
		return nil, fmt.Errorf("%w: no tag section", errClose)
	}
	b = b[w:]
	for ; n > 0; n-- {
		_, w := binary.Uvarint(b)
		if w <= 0 {
			return nil, fmt.Errorf("%w: a tag section cut short", errClose)
		}
		b = b[w:]
		size, w := binary.Uvarint(b)
		if w <= 0 || size > uint64(len(b)-w) {
			return nil, fmt.Errorf("%w: a tag longer than its frame", errClose)
		}
		b = b[w+int(size):]
	}
	return b, nil
}

package layout

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/strata-kafka/strata/model"
)

// ID is the 16-byte identity of a topic, a directory or a record of Kafka's own. The zero ID means that there is none.
type ID [16]byte

// idLetters is how many letters of base64url an ID takes.
const idLetters = 22

// NewID returns a random ID whose text does not begin with a dash, which tools would take for a flag.
func NewID() ID {
	for {
		var id ID
		rand.Read(id[:]) // never returns an error
		id[6] = id[6]&0x0f | 0x40
		id[8] = id[8]&0x3f | 0x80
		if id.String()[0] != '-' {
			return id
		}
	}
}

// ParseID reads 22 letters of base64url. Errors wrap model.ErrInvalid.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != idLetters {
		return id, fmt.Errorf("%w id %s: want %d letters of base64url", model.ErrInvalid, short(s), idLetters)
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%w id %s: want %d letters of base64url", model.ErrInvalid, short(s), idLetters)
	}
	copy(id[:], b)
	return id, nil
}

// String returns the 22 letters.
func (id ID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// IsZero reports whether there is no identity.
func (id ID) IsZero() bool { return id == ID{} }

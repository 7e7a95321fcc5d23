package profile

import (
	"bytes"
	"crypto/sha1"
	"crypto/subtle"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"

	"github.com/strata-kafka/strata/model"
)

// A JKS store: magic, version, count, then entries, then SHA-1 over the password, a word, and all that is before it.
//
//	┌──────────┬─────────┬───────┬───────────────────────────────────────────────┬───┬──────────┐
//	│ FEEDFEED │ 1 or 2  │ count │ tag alias date [key] [chain: n (type cert)×n] │ … │ 20 bytes │
//	└──────────┴─────────┴───────┴───────────────────────────────────────────────┴───┴──────────┘
//
// tag 1 is a private key with its chain, tag 2 a trusted certificate. A key is EncryptedPrivateKeyInfo with an algorithm of
// Sun's own: salt (20), the key XOR a stream of SHA-1(password, last 20 bytes), SHA-1(password, key).
const (
	jksMagic = 0xFEEDFEED
	jksWord  = "Mighty Aphrodite"
)

var errStore = errors.New("the key store is damaged")

func isJKS(b []byte) bool { return len(b) >= 4 && binary.BigEndian.Uint32(b) == jksMagic }

// jks reads a store from its beginning; the first read past the end makes it bad.
type jks struct {
	rest []byte
	bad  bool
}

func (j *jks) take(n uint64) []byte {
	if n > uint64(len(j.rest)) {
		j.bad = true
		return nil
	}
	b := j.rest[:n]
	j.rest = j.rest[n:]
	return b
}

func (j *jks) u32() uint64 {
	if b := j.take(4); b != nil {
		return uint64(binary.BigEndian.Uint32(b))
	}
	return 0
}

// skipText passes over a text with its length before it.
func (j *jks) skipText() {
	if n := j.take(2); n != nil {
		_ = j.take(uint64(binary.BigEndian.Uint16(n)))
	}
}

func (j *jks) cert(version uint64) []byte {
	if version == 2 {
		j.skipText() // X.509
	}
	return j.take(j.u32())
}

// readJKS reads a store. Without a password its digest is not looked at, as Java does.
func readJKS(b []byte, password, keyPassword string) (holding, error) {
	var h holding
	if len(b) < 12+sha1.Size {
		return h, errStore
	}
	body := b[:len(b)-sha1.Size]
	if password != "" {
		d := sha1.New()
		d.Write(utf16be(password))
		d.Write([]byte(jksWord))
		d.Write(body)
		if subtle.ConstantTimeCompare(d.Sum(nil), b[len(body):]) != 1 {
			return h, fmt.Errorf("%w password of the key store, or the store is damaged", model.ErrInvalid)
		}
	}
	j := &jks{rest: body[4:]}
	version, count := j.u32(), j.u32()
	for ; count > 0 && !j.bad; count-- {
		tag := j.u32()
		j.skipText()  // alias
		_ = j.take(8) // date
		switch tag {
		case 1:
			key := j.take(j.u32())
			var chain []*x509.Certificate
			for n := j.u32(); n > 0 && !j.bad; n-- {
				c, err := x509.ParseCertificate(j.cert(version))
				if err != nil {
					return h, fmt.Errorf("a certificate of the key store: %w", err)
				}
				chain = append(chain, c)
			}
			if j.bad || h.key != nil || keyPassword == "" {
				continue // it is a trust store, as nobody has given a password for a key
			}
			der, err := openJKS(key, keyPassword)
			if err != nil {
				return h, err
			}
			if h.key, err = x509.ParsePKCS8PrivateKey(der); err != nil {
				return h, errKey
			}
			h.chain = chain
		case 2:
			c, err := x509.ParseCertificate(j.cert(version))
			if err != nil {
				return h, fmt.Errorf("a certificate of the key store: %w", err)
			}
			h.certs = append(h.certs, c)
		default:
			j.bad = true
		}
	}
	if j.bad {
		return h, errStore
	}
	return h, nil
}

// openJKS decrypts a key of a JKS.
func openJKS(b []byte, password string) ([]byte, error) {
	var info struct {
		Algorithm asn1.RawValue
		Data      []byte
	}
	if _, err := asn1.Unmarshal(b, &info); err != nil || len(info.Data) < 2*sha1.Size {
		return nil, errStore
	}
	word := utf16be(password)
	salt, sealed, sum := info.Data[:sha1.Size], info.Data[sha1.Size:len(info.Data)-sha1.Size], info.Data[len(info.Data)-sha1.Size:]
	out := make([]byte, len(sealed))
	last := salt
	for i := 0; i < len(sealed); i += sha1.Size {
		d := sha1.Sum(append(bytes.Clone(word), last...))
		last = d[:]
		subtle.XORBytes(out[i:], sealed[i:], last)
	}
	if d := sha1.Sum(append(bytes.Clone(word), out...)); subtle.ConstantTimeCompare(d[:], sum) != 1 {
		return nil, fmt.Errorf("%w password of the key in the key store", model.ErrInvalid)
	}
	return out, nil
}

// utf16be is how Java counts and writes the letters of a password.
func utf16be(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}

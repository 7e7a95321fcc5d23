package profile

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/strata-kafka/strata/model"
)

// A PKCS#12 store (RFC 7292): PFX { version, AuthenticatedSafe in an OCTET STRING, MAC }; the safe is a list of contents,
// plain or encrypted by PBES2 (RFC 8018), each a list of bags: certificates, and keys as PKCS#8.
type (
	contentInfo struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"tag:0,explicit,optional"`
	}
	encryptedData struct {
		Version int
		Info    struct {
			Type      asn1.ObjectIdentifier
			Algorithm pkix.AlgorithmIdentifier
			Data      []byte `asn1:"tag:0,optional"`
		}
	}
	safeBag struct {
		ID         asn1.ObjectIdentifier
		Value      asn1.RawValue   `asn1:"tag:0,explicit"`
		Attributes []asn1.RawValue `asn1:"set,optional"`
	}
	certBag struct {
		ID   asn1.ObjectIdentifier
		Data []byte `asn1:"tag:0,explicit"`
	}
	encryptedKey struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	pbes2 struct {
		KDF, Cipher pkix.AlgorithmIdentifier
	}
	pbkdf2Params struct {
		Salt   []byte
		Rounds int
		Length int                      `asn1:"optional"`
		PRF    pkix.AlgorithmIdentifier `asn1:"optional"`
	}
)

// maxRounds bounds what a file may make the key's derivation cost: about a second.
const maxRounds = 5_000_000

var errOld = errors.New("it is encrypted as of old (RC2 or triple DES); make it anew with Java 11 or OpenSSL 3, or turn it into PEM: openssl pkcs12 -legacy -in STORE -out store.pem")

func oid(last ...int) asn1.ObjectIdentifier {
	return append(asn1.ObjectIdentifier{1, 2, 840, 113549, 1}, last...)
}

// readPKCS12 reads a store. A wrong password is told by what it decrypts to.
func readPKCS12(b []byte, password string) (holding, error) {
	var h holding
	var pfx struct {
		Version int
		Safe    contentInfo
		MAC     asn1.RawValue `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(b, &pfx); err != nil || !pfx.Safe.Type.Equal(oid(7, 1)) {
		return h, errStore
	}
	var safe []byte
	if _, err := asn1.Unmarshal(pfx.Safe.Content.Bytes, &safe); err != nil {
		return h, errStore
	}
	var contents []contentInfo
	if _, err := asn1.Unmarshal(safe, &contents); err != nil {
		return h, errStore
	}
	var bags []safeBag
	for i := range contents {
		more, err := openContent(&contents[i], password)
		if err != nil {
			return h, err
		}
		bags = append(bags, more...)
	}
	for i := range bags {
		if err := h.takeBag(&bags[i], password); err != nil {
			return h, err
		}
	}
	h.order()
	return h, nil
}

// openContent returns the bags of one part of a store.
func openContent(c *contentInfo, password string) ([]safeBag, error) {
	var data []byte
	switch {
	case c.Type.Equal(oid(7, 1)):
		if _, err := asn1.Unmarshal(c.Content.Bytes, &data); err != nil {
			return nil, errStore
		}
	case c.Type.Equal(oid(7, 6)):
		var e encryptedData
		if _, err := asn1.Unmarshal(c.Content.Bytes, &e); err != nil {
			return nil, errStore
		}
		var err error
		if data, err = decrypt(e.Info.Algorithm, e.Info.Data, password); err != nil {
			return nil, err
		}
	default:
		return nil, errStore
	}
	var bags []safeBag
	if _, err := asn1.Unmarshal(data, &bags); err != nil {
		if c.Type.Equal(oid(7, 6)) {
			return nil, errPassword
		}
		return nil, errStore
	}
	return bags, nil
}

var errPassword = fmt.Errorf("%w password of the key store", model.ErrInvalid)

func (h *holding) takeBag(b *safeBag, password string) error {
	switch {
	case b.ID.Equal(oid(12, 10, 1, 3)):
		var c certBag
		if _, err := asn1.Unmarshal(b.Value.Bytes, &c); err != nil {
			return errStore
		}
		cert, err := x509.ParseCertificate(c.Data)
		if err != nil {
			return fmt.Errorf("a certificate of the key store: %w", err)
		}
		h.certs = append(h.certs, cert)
	case b.ID.Equal(oid(12, 10, 1, 1)):
		key, err := x509.ParsePKCS8PrivateKey(b.Value.Bytes)
		if err != nil {
			return errKey
		}
		h.key = key
	case b.ID.Equal(oid(12, 10, 1, 2)):
		if password == "" {
			return nil // a trust store, as nobody has given a password
		}
		key, err := decryptPKCS8(b.Value.Bytes, password)
		if err != nil {
			return err
		}
		h.key = key
	}
	return nil
}

// order makes the chain of the key: its certificate, then whoever has signed it, and so on.
func (h *holding) order() {
	at := slices.IndexFunc(h.certs, func(c *x509.Certificate) bool { return h.key != nil && pair(h.key, c) })
	for at >= 0 && len(h.chain) <= len(h.certs) {
		c := h.certs[at]
		h.chain = append(h.chain, c)
		at = slices.IndexFunc(h.certs, func(x *x509.Certificate) bool {
			return !x.Equal(c) && string(x.RawSubject) == string(c.RawIssuer) && !slices.ContainsFunc(h.chain, x.Equal)
		})
	}
}

// decryptPKCS8 opens an encrypted private key.
func decryptPKCS8(der []byte, password string) (crypto.PrivateKey, error) {
	var e encryptedKey
	if _, err := asn1.Unmarshal(der, &e); err != nil {
		return nil, errKey
	}
	plain, err := decrypt(e.Algorithm, e.Data, password)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKey, err)
	}
	key, err := x509.ParsePKCS8PrivateKey(plain)
	if err != nil {
		return nil, fmt.Errorf("%w: its password is not the right one", errKey)
	}
	return key, nil
}

// decrypt undoes PBES2: PBKDF2 with HMAC, and AES in CBC.
func decrypt(alg pkix.AlgorithmIdentifier, data []byte, password string) ([]byte, error) {
	if !alg.Algorithm.Equal(oid(5, 13)) {
		return nil, errOld
	}
	var p pbes2
	var k pbkdf2Params
	if _, err := asn1.Unmarshal(alg.Parameters.FullBytes, &p); err != nil {
		return nil, errStore
	}
	if _, err := asn1.Unmarshal(p.KDF.Parameters.FullBytes, &k); err != nil || !p.KDF.Algorithm.Equal(oid(5, 12)) {
		return nil, errOld
	}
	prf, ok := prfOf(k.PRF.Algorithm)
	size := map[string]int{"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32}[p.Cipher.Algorithm.String()]
	if !ok || size == 0 {
		return nil, errOld
	}
	var iv []byte
	if _, err := asn1.Unmarshal(p.Cipher.Parameters.FullBytes, &iv); err != nil || len(iv) != aes.BlockSize || k.Rounds < 1 || k.Rounds > maxRounds {
		return nil, errStore
	}
	if len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, errStore
	}
	key, err := pbkdf2.Key(prf, password, k.Salt, k.Rounds, size)
	if err != nil {
		return nil, fmt.Errorf("key of the password: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, errStore
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	n := int(out[len(out)-1])
	if n == 0 || n > aes.BlockSize {
		return nil, errPassword
	}
	for _, c := range out[len(out)-n:] {
		if subtle.ConstantTimeByteEq(c, byte(n)) != 1 {
			return nil, errPassword
		}
	}
	return out[:len(out)-n], nil
}

func prfOf(id asn1.ObjectIdentifier) (func() hash.Hash, bool) {
	of := asn1.ObjectIdentifier{1, 2, 840, 113549, 2}
	switch {
	case len(id) == 0, id.Equal(append(of, 7)):
		return sha1.New, true
	case id.Equal(append(of, 9)):
		return sha256.New, true
	case id.Equal(append(of, 10)):
		return sha512.New384, true
	case id.Equal(append(of, 11)):
		return sha512.New, true
	}
	return nil, false
}

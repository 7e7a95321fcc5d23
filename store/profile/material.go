package profile

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
)

// holding is what a PEM file or a key store holds.
type holding struct {
	certs []*x509.Certificate
	chain []*x509.Certificate // of the key: its own first
	key   crypto.PrivateKey   // nil for none
}

// bytes reads what it is.
func (m Material) bytes() ([]byte, string, error) {
	if m.Text.Known() {
		return []byte(m.Text.Reveal()), "what the file holds", nil
	}
	b, err := readSmall(m.Path, maxFile)
	return b, m.Path, err
}

// read reads certificates and keys, of PEM, of a JKS or of a PKCS#12 store. key opens an encrypted key.
func (m Material) read(ctx context.Context, key Credential) (holding, error) {
	b, name, err := m.bytes()
	if err != nil {
		return holding{}, err
	}
	word := func(c Credential) (string, error) {
		if !c.Given() {
			return "", nil
		}
		s, err := c.Resolve(ctx)
		return s.Reveal(), err
	}
	store, err := word(m.Password)
	if err != nil {
		return holding{}, fmt.Errorf("password of %s: %w", name, err)
	}
	own, err := word(key)
	if err != nil {
		return holding{}, fmt.Errorf("password of the key in %s: %w", name, err)
	}
	if own == "" {
		own = store
	}
	var h holding
	switch {
	case bytes.Contains(b, []byte("-----BEGIN ")):
		h, err = readPEM(b, own)
	case isJKS(b):
		h, err = readJKS(b, store, own)
	case len(b) > 0 && b[0] == 0x30:
		h, err = readPKCS12(b, store)
	default:
		err = fmt.Errorf("%w: it is neither PEM, nor a JKS, nor a PKCS#12 store", model.ErrInvalid)
	}
	if err != nil {
		return h, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}

// pool returns whom to trust.
func (m Material) pool(ctx context.Context) (*x509.CertPool, error) {
	h, err := m.read(ctx, Credential{})
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	if len(h.certs) == 0 {
		return nil, fmt.Errorf("%w ca: %s holds no certificate", model.ErrInvalid, m.Path)
	}
	pool := x509.NewCertPool()
	for _, c := range h.certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// certificate returns who the client is.
func (t *TLS) certificate(ctx context.Context) (tls.Certificate, error) {
	h, err := t.Cert.read(ctx, t.Password)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cert: %w", err)
	}
	if t.Key.given() {
		k, err := t.Key.read(ctx, t.Password)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("key: %w", err)
		}
		h.key = k.key
	}
	if len(h.chain) == 0 {
		h.chain = h.certs
	}
	switch {
	case len(h.chain) == 0:
		return tls.Certificate{}, fmt.Errorf("%w cert: it holds no certificate", model.ErrInvalid)
	case h.key == nil:
		return tls.Certificate{}, fmt.Errorf("%w key: there is no private key beside the certificate", model.ErrInvalid)
	case !pair(h.key, h.chain[0]):
		return tls.Certificate{}, fmt.Errorf("%w key: it is not the key of the certificate", model.ErrInvalid)
	}
	c := tls.Certificate{PrivateKey: h.key, Leaf: h.chain[0]}
	for _, x := range h.chain {
		c.Certificate = append(c.Certificate, x.Raw)
	}
	return c, nil
}

// pair reports whether a private key and a certificate belong to each other.
func pair(key crypto.PrivateKey, cert *x509.Certificate) bool {
	s, ok := key.(crypto.Signer)
	if !ok {
		return false
	}
	switch pub := s.Public().(type) {
	case *rsa.PublicKey:
		return pub.Equal(cert.PublicKey)
	case *ecdsa.PublicKey:
		return pub.Equal(cert.PublicKey)
	case ed25519.PublicKey:
		return pub.Equal(cert.PublicKey)
	}
	return false
}

var errKey = errors.New("the private key cannot be read")

// readPEM reads all blocks that there are. Its errors hold nothing of what they hold.
func readPEM(b []byte, password string) (holding, error) {
	var h holding
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			return h, nil
		}
		var err error
		switch block.Type {
		case "CERTIFICATE", "TRUSTED CERTIFICATE":
			c, cerr := x509.ParseCertificate(block.Bytes)
			if cerr != nil {
				return h, fmt.Errorf("certificate %d: %w", len(h.certs)+1, cerr)
			}
			h.certs = append(h.certs, c)
		case "PRIVATE KEY":
			h.key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			if block.Headers["DEK-Info"] != "" {
				return h, fmt.Errorf("%w: it is encrypted as OpenSSL did of old; make PKCS#8 of it: openssl pkcs8 -topk8 -v2 aes256", errKey)
			}
			h.key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			h.key, err = x509.ParseECPrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			if password == "" {
				return h, fmt.Errorf("%w: it is encrypted, and there is no key_password", errKey)
			}
			h.key, err = decryptPKCS8(block.Bytes, password)
		}
		if err != nil {
			if errors.Is(err, errKey) {
				return h, err
			}
			return h, errKey
		}
	}
}

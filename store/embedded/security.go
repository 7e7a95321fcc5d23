package embedded

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/wire"
)

// Security says what is asked of clients. The zero value asks nothing, and is for loopback alone.
type Security struct {
	SASL       bool     // clients say who they are: users are kept in the data directory
	Mechanisms []string // of wire.Mechanisms; nil means all
	// Cert and Key are PEM files: the certificate by which clients know the broker, and its key. Both in one file will do:
	// Key is "" then.
	Cert, Key string
	ClientCA  string // a PEM file: clients must have a certificate that one of these has signed; "" asks for none
}

// Safe reports whether other machines may be let in.
func (s Security) Safe() bool { return s.SASL || s.Cert != "" }

// take adds what a listener's protocol of a server.properties asks. Errors wrap model.ErrInvalid.
func (s *Security) take(protocol string, b layout.Secured) error {
	if protocol == "SASL_PLAINTEXT" || protocol == "SASL_SSL" {
		s.SASL = true
		for _, m := range b.Mechanisms {
			if slices.Contains(wire.Mechanisms(), m) {
				s.Mechanisms = append(s.Mechanisms, m)
			}
		}
		if len(b.Mechanisms) > 0 && s.Mechanisms == nil {
			return fmt.Errorf("%w sasl.enabled.mechanisms %s: want some of %s", model.ErrInvalid, strings.Join(b.Mechanisms, ","), strings.Join(wire.Mechanisms(), ","))
		}
	}
	if protocol != "SSL" && protocol != "SASL_SSL" {
		return nil
	}
	if s.Cert == "" {
		if b.Keystore == "" {
			return fmt.Errorf("%w: it wants TLS, and there is no ssl.keystore.location with ssl.keystore.type=PEM", model.ErrInvalid)
		}
		s.Cert = b.Keystore
	}
	if b.ClientAuth && s.ClientCA == "" {
		if b.Truststore == "" {
			return fmt.Errorf("%w: ssl.client.auth is required, and there is no ssl.truststore.location with ssl.truststore.type=PEM", model.ErrInvalid)
		}
		s.ClientCA = b.Truststore
	}
	return nil
}

// gap says what is not safe about letting other machines in like this; "" for nothing.
func (s Security) gap() string {
	switch {
	case !s.SASL && s.ClientCA == "":
		return "other machines can reach it, and whoever does may do everything: TLS alone asks nobody who they are; add --sasl or --tls-client-ca"
	case s.SASL && s.Cert == "" && (s.Mechanisms == nil || slices.Contains(s.Mechanisms, "PLAIN")):
		return "other machines can reach it, and passwords and records cross the network in the clear; add --tls-cert"
	case s.Cert == "":
		return "other machines can reach it, and records cross the network in the clear; add --tls-cert"
	}
	return ""
}

// tls returns what connections are encrypted with, nil for nothing. Errors wrap model.ErrInvalid.
func (s Security) tls() (*tls.Config, error) {
	if s.Cert == "" {
		if s.Key != "" || s.ClientCA != "" {
			return nil, fmt.Errorf("%w TLS: a key or a client CA is given, and no certificate", model.ErrInvalid)
		}
		return nil, nil
	}
	key := s.Key
	if key == "" {
		key = s.Cert
	}
	cert, err := tls.LoadX509KeyPair(s.Cert, key)
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if s.ClientCA == "" {
		return c, nil
	}
	b, err := os.ReadFile(s.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("TLS client CA: %w", err)
	}
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%w TLS client CA: %s holds no certificate in PEM", model.ErrInvalid, s.ClientCA)
	}
	return c, nil
}

// sasl returns how clients say who they are, nil where they need not. Without any user it is an error: nobody could
// connect.
func (s Security) sasl(users groups.Users) (*wire.SASL, error) {
	if !s.SASL {
		return nil, nil
	}
	all, err := users.List()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("--sasl: %w: no user may connect yet; make one first: strata user add NAME", model.ErrRefused)
	}
	return &wire.SASL{Mechanisms: s.Mechanisms, Users: users}, nil
}

package profile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/strata-kafka/strata/model"
)

// Access is what a client needs to reach a cluster. It can be printed: secrets are not in what is printed.
type Access struct {
	Brokers  []string
	ClientID string
	TLS      *tls.Config    // nil: not encrypted
	SASL     sasl.Mechanism // nil: nobody asks
	Registry *RegistryAccess
}

// RegistryAccess is what a client of a schema registry needs.
type RegistryAccess struct {
	URL      string // without a user
	User     string
	Password Secret
	TLS      *tls.Config // nil: as the system trusts
}

// String says where it leads.
func (a Access) String() string { return strings.Join(a.Brokers, ",") }

// Format is String, whatever the verb: a tls.Config printed in full holds a key.
func (a Access) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(a.String())) } // a fmt.State takes all

// Open gets the secrets and files that a profile names. Nothing is connected yet. Tokens are asked for when somebody
// connects, passwords now.
func (p Profile) Open(ctx context.Context) (Access, error) {
	a := Access{Brokers: p.Brokers, ClientID: p.ClientID}
	fail := func(err error) (Access, error) {
		if p.Name == "" {
			return Access{}, err
		}
		return Access{}, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	if p.Err != nil {
		return fail(p.Err)
	}
	err := p.check()
	if err != nil {
		return fail(err)
	}
	if a.TLS, err = p.TLS.config(ctx); err != nil {
		return fail(fmt.Errorf("tls: %w", err))
	}
	if p.SASL != nil {
		if a.SASL, err = p.SASL.mechanism(ctx, a.TLS); err != nil {
			return fail(fmt.Errorf("sasl: %w", err))
		}
	}
	if a.Registry, err = p.Registry.open(ctx); err != nil {
		return fail(fmt.Errorf("registry: %w", err))
	}
	return a, nil
}

// mechanism makes what says who the client is.
func (s *SASL) mechanism(ctx context.Context, over *tls.Config) (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "OAUTHBEARER":
		return s.bearer(ctx, over)
	case "AWS_MSK_IAM":
		k := &keys{from: s.Token}
		return aws.ManagedStreamingIAM(k.auth), nil
	}
	password, err := s.Password.Resolve(ctx)
	if err != nil {
		return nil, fmt.Errorf("password: %w", err)
	}
	switch s.Mechanism {
	case "SCRAM-SHA-256":
		return scram.Sha256(func(context.Context) (scram.Auth, error) {
			return scram.Auth{User: s.User, Pass: password.Reveal()}, nil
		}), nil
	case "SCRAM-SHA-512":
		return scram.Sha512(func(context.Context) (scram.Auth, error) {
			return scram.Auth{User: s.User, Pass: password.Reveal()}, nil
		}), nil
	}
	return plain.Plain(func(context.Context) (plain.Auth, error) {
		return plain.Auth{User: s.User, Pass: password.Reveal()}, nil
	}), nil
}

// bearer makes OAUTHBEARER of whatever gives tokens.
func (s *SASL) bearer(ctx context.Context, over *tls.Config) (sasl.Mechanism, error) {
	var get func(context.Context) (token, error)
	switch {
	case s.Unsecured != "":
		get = func(context.Context) (token, error) { return unsigned(s.Unsecured), nil }
	case s.TokenURL != "":
		secret, err := s.Secret.Resolve(ctx)
		if err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		if get, err = s.grant(secret, over); err != nil {
			return nil, err
		}
	default:
		get = func(ctx context.Context) (token, error) { return printed(ctx, s.Token) }
	}
	ts := &tokens{get: get}
	return oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		t, err := ts.fresh(ctx)
		return oauth.Auth{Token: t.text.Reveal(), Extensions: s.Extensions}, err
	}), nil
}

// config makes what encrypts connections; nil makes nil.
func (t *TLS) config(ctx context.Context) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.Insecure}
	if t.CA.given() {
		pool, err := t.CA.pool(ctx)
		if err != nil {
			return nil, err
		}
		c.RootCAs = pool
	}
	if t.AnyName && !t.Insecure {
		c.InsecureSkipVerify = true // in its place stands chainOnly
		c.VerifyConnection = chainOnly(c.RootCAs)
	}
	if t.Cert.given() {
		cert, err := t.certificate(ctx)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{cert}
	}
	return c, nil
}

// chainOnly looks at who has signed a certificate, and not for whom.
func chainOnly(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(cs tls.ConnectionState) error {
		if len(cs.PeerCertificates) == 0 {
			return errors.New("the broker has shown no certificate")
		}
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range cs.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		_, err := cs.PeerCertificates[0].Verify(o)
		return err
	}
}

// open gets what a registry's profile names; nil makes nil. A user in its URL is taken out of it.
func (r *Registry) open(ctx context.Context) (*RegistryAccess, error) {
	if r == nil {
		return nil, nil
	}
	where, user, password, err := splitURL(r.URL)
	if err != nil {
		return nil, err
	}
	a := &RegistryAccess{URL: where, User: user, Password: password}
	fill(&a.User, r.User)
	if r.Password.Given() {
		if a.Password, err = r.Password.Resolve(ctx); err != nil {
			return nil, fmt.Errorf("password: %w", err)
		}
	}
	a.TLS, err = r.TLS.config(ctx)
	return a, err
}

// splitURL parts a user from a URL of http or https, so that no error shows it. Errors wrap model.ErrInvalid.
func splitURL(raw string) (where, user string, password Secret, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", Secret{}, fmt.Errorf("%w url: want http://HOST/… or https://HOST/…", model.ErrInvalid)
	}
	if u.User != nil {
		word, _ := u.User.Password()
		user, password = u.User.Username(), Hide(word)
		u.User = nil
	}
	return u.String(), user, password, nil
}

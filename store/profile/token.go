package profile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl/aws"

	"github.com/strata-kafka/strata/model"
)

const (
	tokenWithin  = 15 * time.Second // a token's issuer may take so long
	tokenSpare   = 30 * time.Second // a token that lives no longer is got anew
	tokenUnknown = time.Minute      // how long a token is kept that does not say how long it lives
)

// token is what an issuer gave.
type token struct {
	text  Secret
	until time.Time // zero: not known
}

// tokens keeps a token until it has nearly run out.
type tokens struct {
	get func(context.Context) (token, error)

	mu   sync.Mutex
	have token
	next time.Time // when to ask again
}

// fresh returns a token that will be good for a while. One that is still good serves where a new one cannot be had.
func (ts *tokens) fresh(ctx context.Context) (token, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	now := time.Now()
	if ts.have.text.Known() && now.Before(ts.next) {
		return ts.have, nil
	}
	t, err := ts.get(ctx)
	if err != nil {
		if ts.have.text.Known() && now.Before(ts.have.until) {
			return ts.have, nil
		}
		return token{}, fmt.Errorf("token: %w", err)
	}
	ts.have, ts.next = t, now.Add(tokenUnknown)
	if !t.until.IsZero() {
		ts.next = t.until.Add(-max(tokenSpare, t.until.Sub(now)/10))
	}
	return t, nil
}

// answer is what issuers and token commands say, under the names that are usual.
type answer struct {
	AccessToken string      `json:"access_token"`
	Token       string      `json:"token"`
	ExpiresIn   json.Number `json:"expires_in"` // seconds
	Error       string      `json:"error"`
	Description string      `json:"error_description"`
}

// token makes a token of an answer; "" where there is none.
func (a *answer) token() token {
	text := a.AccessToken
	if text == "" {
		text = a.Token
	}
	t := token{text: Hide(text), until: expiry(text)}
	if s, err := a.ExpiresIn.Float64(); err == nil && s > 0 && s < 1e9 {
		t.until = time.Now().Add(time.Duration(s * float64(time.Second)))
	}
	return t
}

// expiry reads when a JWT runs out; the zero time where it does not say.
func expiry(jwt string) time.Time {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.Exp <= 0 || claims.Exp > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}

// unsigned is a token that nobody has signed, for brokers that are being tried out.
func unsigned(subject string) token {
	now := time.Now()
	claims, _ := json.Marshal(map[string]any{"sub": subject, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}) // of a string and numbers
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims) + "."
	return token{Hide(text), now.Add(time.Hour)}
}

// printed takes the token that a command prints: the token itself, or JSON with it.
func printed(ctx context.Context, c Credential) (token, error) {
	out, err := run(ctx, c.name, c.command())
	if err != nil {
		return token{}, err
	}
	out = strings.TrimSpace(out)
	if strings.HasPrefix(out, "{") {
		var a answer
		if json.Unmarshal([]byte(out), &a) != nil || !a.token().text.Known() {
			return token{}, fmt.Errorf("%w answer of the command %s: it is JSON without access_token or token", model.ErrInvalid, c.name)
		}
		return a.token(), nil
	}
	if out == "" || strings.ContainsAny(out, " \t\n\x01") {
		return token{}, fmt.Errorf("%w answer of the command %s: want a token and nothing else, or JSON with access_token", model.ErrInvalid, c.name)
	}
	return token{Hide(out), expiry(out)}, nil
}

// grant returns what turns client credentials into tokens.
func (s *SASL) grant(secret Secret, over *tls.Config) (func(context.Context) (token, error), error) {
	where, _, _, err := splitURL(s.TokenURL)
	if err != nil {
		return nil, fmt.Errorf("token_url: %w", err)
	}
	host, _ := url.Parse(where) // it was parsed before
	tr := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if over != nil && over.RootCAs != nil {
		tr.TLSClientConfig.InsecureSkipVerify = true // in its place stands eitherTrusts
		tr.TLSClientConfig.VerifyConnection = eitherTrusts(over.RootCAs)
	}
	hc := &http.Client{Transport: tr, Timeout: tokenWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context) (token, error) {
		form := url.Values{"grant_type": {"client_credentials"}}
		if s.Scope != "" {
			form.Set("scope", s.Scope)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, where, strings.NewReader(form.Encode()))
		if err != nil {
			return token{}, fmt.Errorf("%w token_url", model.ErrInvalid)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "application/json")
		req.SetBasicAuth(url.QueryEscape(s.ClientID), url.QueryEscape(secret.Reveal()))
		t, err := ask(hc, req, secret)
		if err != nil {
			return t, fmt.Errorf("%s: %w", host.Host, err)
		}
		return t, nil
	}, nil
}

// ask asks an issuer. What it says is told without the secret, should that be in it.
func ask(hc *http.Client, req *http.Request, secret Secret) (token, error) {
	res, err := hc.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // the URL may be more than others shall see
		}
		return token{}, err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return token{}, err
	}
	var a answer
	jerr := json.Unmarshal(b, &a)
	if res.StatusCode != http.StatusOK {
		said := strings.TrimSpace(a.Error + " " + a.Description)
		return token{}, errors.New(without(strings.TrimSpace(fmt.Sprintf("it answers %s %s", res.Status, said)), secret))
	}
	if t := a.token(); jerr == nil && t.text.Known() {
		return t, nil
	}
	return token{}, fmt.Errorf("%w answer: it holds no access_token", model.ErrInvalid)
}

// without takes a secret out of a text, as it is and as URLs and Basic have it, and bounds it.
func without(s string, secret Secret) string {
	if w := secret.Reveal(); w != "" {
		s = strings.NewReplacer(w, "***", url.QueryEscape(w), "***").Replace(s)
	}
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// eitherTrusts verifies a certificate as the system does, or by the CA that brokers are trusted by.
func eitherTrusts(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(cs tls.ConnectionState) error {
		if len(cs.PeerCertificates) == 0 {
			return errors.New("it has shown no certificate")
		}
		o := x509.VerifyOptions{DNSName: cs.ServerName, Intermediates: x509.NewCertPool()}
		for _, c := range cs.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		_, err := cs.PeerCertificates[0].Verify(o)
		if err == nil {
			return nil
		}
		o.Roots = roots
		if _, ours := cs.PeerCertificates[0].Verify(o); ours == nil {
			return nil
		}
		return err
	}
}

// keys gets AWS credentials: from a command, from the environment, or from the aws command.
type keys struct {
	from Credential

	mu   sync.Mutex
	have aws.Auth
	next time.Time
}

// exported is what aws configure export-credentials prints, and every credential_process.
type exported struct {
	AccessKeyID     string    `json:"AccessKeyId"`
	SecretAccessKey string    `json:"SecretAccessKey"`
	SessionToken    string    `json:"SessionToken"`
	Expiration      time.Time `json:"Expiration"`
}

// awsExport is the command that prints the credentials of one of the profiles of AWS; "" is the usual one.
func awsExport(profile string) Credential {
	args := []string{"aws", "configure", "export-credentials", "--format", "process"}
	if profile != "" {
		args = append(args, "--profile", profile)
	}
	return Program(args...)
}

func (k *keys) auth(ctx context.Context) (aws.Auth, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.have.AccessKey != "" && time.Now().Before(k.next) {
		return k.have, nil
	}
	from := k.from
	if !from.Given() {
		if id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
			return aws.Auth{AccessKey: id, SecretKey: secret, SessionToken: os.Getenv("AWS_SESSION_TOKEN")}, nil
		}
		from = awsExport("")
	}
	out, err := run(ctx, from.name, from.command())
	if err != nil {
		return aws.Auth{}, fmt.Errorf("AWS credentials: %w", err)
	}
	var e exported
	if json.Unmarshal([]byte(out), &e) != nil || e.AccessKeyID == "" || e.SecretAccessKey == "" {
		return aws.Auth{}, fmt.Errorf("%w AWS credentials: want JSON with AccessKeyId and SecretAccessKey of the command %s", model.ErrInvalid, from.name)
	}
	k.have = aws.Auth{AccessKey: e.AccessKeyID, SecretKey: e.SecretAccessKey, SessionToken: e.SessionToken}
	k.next = time.Now().Add(tokenUnknown)
	if !e.Expiration.IsZero() {
		k.next = e.Expiration.Add(-tokenSpare)
	}
	return k.have, nil
}

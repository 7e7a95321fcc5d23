package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"github.com/strata-kafka/strata/model"
)

// RegistryOptions says where a schema registry is.
type RegistryOptions struct {
	URL      string // without a user
	User     string // "" for nobody
	Password func() string
	TLS      *tls.Config   // nil: as the system trusts
	Timeout  time.Duration // of one call; 0 means 10 s
}

// Registry speaks to a schema registry. It asks, and changes nothing.
type Registry struct {
	sr      *sr.Client
	timeout time.Duration
}

// NewRegistry returns a Registry. It connects with the first call.
func NewRegistry(o RegistryOptions) (*Registry, error) {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	// Connections are not kept: calls are rare, and there is no Close.
	hc := &http.Client{Timeout: o.Timeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: o.TLS, DisableKeepAlives: true, ForceAttemptHTTP2: true,
	}}
	opts := []sr.ClientOpt{sr.URLs(o.URL), sr.HTTPClient(hc), sr.UserAgent("strata")}
	if o.User != "" {
		opts = append(opts, sr.PreReq(func(r *http.Request) error {
			r.SetBasicAuth(o.User, o.Password())
			return nil
		}))
	}
	c, err := sr.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("schema registry: %w", err)
	}
	return &Registry{c, o.Timeout}, nil
}

// Subjects implements model.SubjectLister: by name. ErrRefused where the registry does not let us.
func (r *Registry) Subjects(ctx context.Context) ([]string, error) {
	ctx, done := context.WithTimeout(ctx, r.timeout)
	defer done()
	names, err := r.sr.Subjects(ctx)
	if err != nil {
		return nil, fmt.Errorf("subjects of the schema registry: %w", r.why(err))
	}
	slices.Sort(names)
	return names, nil
}

// why says what a registry answered.
func (r *Registry) why(err error) error {
	var re *sr.ResponseError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", r.timeout, context.DeadlineExceeded)
	case !errors.As(err, &re):
		return err
	case re.StatusCode == http.StatusUnauthorized, re.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: it answers %d: check the user and the password of the profile's registry", model.ErrRefused, re.StatusCode)
	case re.Message != "":
		return fmt.Errorf("it answers %d: %s", re.StatusCode, re.Message)
	}
	return fmt.Errorf("it answers %d: is this the URL of a schema registry?", re.StatusCode)
}

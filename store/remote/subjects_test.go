package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func TestSubjects(t *testing.T) {
	const password = "correct-horse"
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   []string
		is     error
		fails  string
	}{
		"some": {func(w http.ResponseWriter, r *http.Request) {
			if u, p, _ := r.BasicAuth(); u != "ada" || p != password || r.Method != http.MethodGet {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = w.Write([]byte(`["payments-value","orders-value","orders-key"]`)) // whoever has gone needs none
		}, []string{"orders-key", "orders-value", "payments-value"}, nil, ""},
		"none":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[]`)) }, nil, nil, ""},
		"not let in":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, nil, model.ErrRefused, "check the user"},
		"not allowed": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, nil, model.ErrRefused, "403"},
		"another page": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<html>"))
		}, nil, nil, "404"},
		"no list":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"a":1}`)) }, nil, nil, "unmarshal"},
		"no answer": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil, context.DeadlineExceeded, "no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(tc.answer))
			defer s.Close()
			o := RegistryOptions{URL: s.URL, User: "ada", Password: func() string { return password }}
			if tc.is == context.DeadlineExceeded {
				o.Timeout = 200 * time.Millisecond
			}
			r, err := NewRegistry(o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Subjects(t.Context())
			if !slices.Equal(got, tc.want) || (err != nil) != (tc.fails != "") {
				t.Fatalf("%v, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.fails) || tc.is != nil && !errors.Is(err, tc.is) || strings.Contains(err.Error(), password)) {
				t.Errorf("%v, want %q", err, tc.fails)
			}
		})
	}
}

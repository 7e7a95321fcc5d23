package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// TestWhatASourceIs asks which engine a word opens, and with what.
func TestWhatASourceIs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, f := range []string{"client.properties", "kcat.conf", "0.log", filepath.Join("both", "x")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	opened := errors.New("opened")
	eng := Engines{
		OpenDirs: func(_ context.Context, paths []string, _ DirOptions) (model.Source, error) {
			return nil, fmt.Errorf("%w directories %v", opened, paths)
		},
		OpenData: func(context.Context, DataOptions) (model.Source, error) { return nil, fmt.Errorf("%w data", opened) },
		OpenCluster: func(_ context.Context, addrs []string, o ClusterOptions) (model.Source, error) {
			o.Known.Settings = ""
			return nil, fmt.Errorf("%w cluster %v %+v", opened, addrs, o.Known)
		},
		Profiles: func(string) ([]ProfileRow, []string, error) {
			return []ProfileRow{{Name: "prod"}, {Name: "both"}, {Name: "local"}}, nil, nil
		},
	}
	for name, tc := range map[string]struct{ word, want string }{
		"nothing":                      {"", "opened data"},
		"a profile":                    {"prod", "opened cluster [] {Settings: Profile:prod Properties:}"},
		"a profile, said so":           {"profile:prod", "opened cluster [] {Settings: Profile:prod Properties:}"},
		"a profile that is none":       {"profile:pord", `no profile "pord"`},
		"a profile that is near":       {"pord", "profiles near are prod"},
		"a profile and a directory":    {"both", "say profile:both or ./both"},
		"that profile":                 {"profile:both", "opened cluster [] {Settings: Profile:both Properties:}"},
		"that directory":               {"./both", "opened directories [./both]"},
		"an address":                   {"localhost:9092", "opened cluster [localhost:9092]"},
		"addresses":                    {"a:1,[::1]:2", "opened cluster [a:1 [::1]:2]"},
		"a file of Java's clients":     {"client.properties", "opened cluster [] {Settings: Profile: Properties:client.properties}"},
		"a file of kcat's":             {"kcat.conf", "opened cluster [] {Settings: Profile: Properties:kcat.conf}"},
		"a segment":                    {"0.log", "opened directories [0.log]"},
		"a file that is not there":     {"gone.properties", "no such directory or file"},
		"an address without a port":    {"localhost:", "no such directory or file"},
		"an address with a named port": {"localhost:kafka", "no such directory or file"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := []string{"topics"}
			if tc.word != "" {
				args = append(args, "-s", tc.word)
			}
			code := Run(t.Context(), args, "test", IO{Out: &out, Err: &errs}, eng)
			if got := strings.ReplaceAll(errs.String(), string(filepath.Separator), "/"); code != exitCannot || !strings.Contains(got, tc.want) {
				t.Errorf("exit %d, %q, want %q", code, got, tc.want)
			}
		})
	}
}

func TestProfilesAreListedAndTested(t *testing.T) {
	t.Chdir(t.TempDir())
	bad := []ProfileStep{
		{Name: "settings", Target: "prod", OK: true, What: "SASL_SSL PLAIN"},
		{Name: "DNS", Target: "kafka", What: "no such\x1b[2J host", Next: "check the name"},
	}
	eng := Engines{
		Profiles: func(string) ([]ProfileRow, []string, error) {
			return []ProfileRow{
				{Name: "prod", Brokers: []string{"a:1", "b:2"}, Security: "SASL_SSL PLAIN", User: "ada", Colour: "red", ReadOnly: true, Warnings: []string{"chmod 600"}},
				{Name: "odd", Problem: "nobody knows the key x"},
			}, nil, nil
		},
		TestProfile: func(_ context.Context, _ []string, _ Known, tell func(ProfileStep)) error {
			for _, s := range bad {
				tell(s)
			}
			return errors.New("DNS kafka: no such host")
		},
	}
	for name, tc := range map[string]struct {
		args      []string
		code      int
		out, errs []string
	}{
		"a list":     {[]string{"profiles"}, exitWrong, []string{"prod  a:1,b:2  SASL_SSL PLAIN  ada   read-only   red", "not usable"}, []string{"chmod 600", "profile odd: nobody knows the key x"}},
		"as objects": {[]string{"profiles", "--json"}, exitWrong, []string{`{"name":"prod","brokers":["a:1","b:2"],"security":"SASL_SSL PLAIN","user":"ada","readOnly":true,"colour":"red","registry":null,"problem":null}`}, nil},
		"a test":     {[]string{"profile", "test", "prod"}, exitCannot, []string{"ok    settings     prod: SASL_SSL PLAIN\nFAIL  DNS          kafka: no such␛[2J host\n                   check the name\n"}, nil},
		"as steps":   {[]string{"profile", "test", "prod", "--json"}, exitCannot, []string{`{"step":"DNS","target":"kafka","ok":false,"what":"no such\u001b[2J host","next":"check the name"}`}, nil},
		"of nothing": {[]string{"profile", "test", "prdo"}, exitCannot, nil, []string{"near are prod"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := Run(t.Context(), tc.args, "test", IO{Out: &out, Err: &errs}, eng); code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			for _, w := range tc.out {
				if !strings.Contains(out.String(), w) {
					t.Errorf("out %q, want %q", out.String(), w)
				}
			}
			for _, w := range tc.errs {
				if !strings.Contains(errs.String(), w) {
					t.Errorf("err %q, want %q", errs.String(), w)
				}
			}
		})
	}
}

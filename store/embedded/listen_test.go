package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/wire"
)

func properties(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlaces(t *testing.T) {
	for name, tc := range map[string]struct {
		listen, props string
		want, tells   string
		err           error
	}{
		"nowhere":                        {"", "listeners=PLAINTEXT://127.0.0.1:1", "", "", nil},
		"usual":                          {DefaultListen, "", "127.0.0.1:9092", "", nil},
		"as told":                        {"127.0.0.1:0", "listeners=PLAINTEXT://127.0.0.1:1", "127.0.0.1:0", "", nil},
		"by name":                        {"localhost:0", "", "localhost:0", "", nil},
		"v6":                             {"[::1]:0", "", "[::1]:0", "", nil},
		"of the properties":              {DefaultListen, "listeners=PLAINTEXT://127.0.0.1:1234", "127.0.0.1:1234", "", nil},
		"advertised":                     {DefaultListen, "listeners=PLAINTEXT://127.0.0.1:1\nadvertised.listeners=PLAINTEXT://kafka.local:19092", "127.0.0.1:1", "kafka.local:19092", nil},
		"advertised, and told otherwise": {"127.0.0.1:0", "advertised.listeners=PLAINTEXT://kafka.local:19092", "127.0.0.1:0", "", nil},
		"every interface":                {":9092", "", "", "", model.ErrInvalid},
		"every interface, by number":     {"0.0.0.0:9092", "", "", "", model.ErrInvalid},
		"every interface of properties":  {DefaultListen, "listeners=PLAINTEXT://:9092", "", "", model.ErrInvalid},
		"another machine's reach":        {"192.0.2.1:9092", "", "", "", model.ErrInvalid},
		"no port":                        {"9092", "", "", "", model.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Dir: t.TempDir(), Listen: tc.listen}
			if tc.props != "" {
				o.Engine.Properties = properties(t, tc.props)
			}
			b, err := o.broker()
			if err != nil {
				t.Fatal(err)
			}
			p, err := o.place(b)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Fatalf("%v, want %v", err, tc.err)
			}
			if err == nil && (p.listen != tc.want || p.advertised != tc.tells) {
				t.Errorf("%+v", p)
			}
			if err != nil && !strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%q does not say how", err)
			}
		})
	}
}

func TestAnAddressThatIsTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	o := Options{Dir: filepath.Join(t.TempDir(), "data"), Listen: ln.Addr().String()}
	_, err = Open(o)
	var who *TakenError
	if !errors.As(err, &who) || who.Address != o.Listen || who.PID != 0 || who.Known != (runtime.GOOS == "linux") {
		t.Fatalf("%v (%+v)", err, who)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	o.AnyPort = true
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, b)
	info, err := b.Info(t.Context())
	if err != nil || info.Address == o.Listen || !strings.HasPrefix(info.Address, "127.0.0.1:") || b.Address() != info.Address {
		t.Errorf("%+v, %v", info, err)
	}
	if n := strings.Join(info.Notices, "\n"); !strings.Contains(n, o.Listen+" is taken by another program") || !strings.Contains(n, "served at "+info.Address) {
		t.Errorf("notices %q", info.Notices)
	}
	// The lock says where, and whoever would open the directory too is told before it asks for the address.
	h, held := Holder(o)
	if !held || h.Address != info.Address || h.PID != os.Getpid() {
		t.Errorf("%+v, %v", h, held)
	}
	var locked *store.LockedError
	if _, err := Open(Options{Dir: o.Dir, Listen: info.Address}); !errors.As(err, &locked) || locked.Holder.Address != info.Address {
		t.Errorf("a second one: %v", err)
	}
	_, err = Open(Options{Dir: filepath.Join(t.TempDir(), "other"), Listen: info.Address})
	if runtime.GOOS == "linux" && (!errors.As(err, &who) || who.PID != os.Getpid() || who.Dir != b.Dirs()[0]) {
		t.Errorf("on another directory: %v", err)
	}
	if !errors.As(err, &who) || !strings.HasSuffix(err.Error(), ". Start with --listen 127.0.0.1:0, or --no-listen.") {
		t.Errorf("on another directory: %v", err)
	}
}

// TestTheDoor is there only where clients are asked who they are, and for nobody but the user.
func TestTheDoor(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	if err := b.SetUser(t.Context(), "ada", "secret"); err != nil {
		t.Fatal(err)
	}
	shut(t, b)
	b, err := Open(Options{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if h, _ := Holder(Options{Dir: dir}); h.Door != "" {
		t.Errorf("a door beside an open gate: %+v", h)
	}
	shut(t, b)
	b, err = Open(Options{Dir: dir, Listen: "127.0.0.1:0", Security: Security{SASL: true}})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := Holder(Options{Dir: dir})
	st, err := os.Stat(h.Door)
	if err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Fatalf("%+v: %v, %v", h, st, err)
	}
	nc, err := net.Dial("unix", h.Door)
	if err != nil {
		t.Fatal(err)
	}
	_ = nc.Close()
	shut(t, b)
	if _, err := os.Stat(h.Door); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left behind: %v", err)
	}
}

func TestTakenWords(t *testing.T) {
	const then = ". Start with --listen 127.0.0.1:0, or --no-listen."
	for want, e := range map[string]TakenError{
		"a:1 is taken by another program":                   {Address: "a:1"},
		"a:1 is taken by another program (not strata)":      {Address: "a:1", Known: true},
		"a:1 is taken by strata, process 4711, for /data/x": {Address: "a:1", Known: true, PID: 4711, Dir: "/data/x"},
	} {
		if got := fmt.Sprint(&e); got != want+then {
			t.Errorf("%q, want %q", got, want+then)
		}
	}
}

// TestClientsOfTheProperties holds that what a server.properties says of clients is what they meet.
func TestClientsOfTheProperties(t *testing.T) {
	lines := "listeners=PLAINTEXT://127.0.0.1:0\nauto.create.topics.enable=false\nmax.connections=7\nsocket.request.max.bytes=4096\nconnections.max.idle.ms=9000\n"
	b, err := Open(Options{Dir: t.TempDir(), Listen: DefaultListen, Engine: store.Options{Properties: properties(t, lines)}})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, b)
	o := tuned(wire.Options{}, b.Engine.Broker().Known)
	if o.AutoCreate == nil || *o.AutoCreate || o.MaxConns != 7 || o.MaxRequest != 4096 || o.IdleTimeout != 9*time.Second {
		t.Errorf("%+v", o)
	}
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = true
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("absent")}}
	asked(t, b.Address(), 9, req)
	if all := b.Engine.Topics(); len(all) != 0 {
		t.Errorf("made %v", all)
	}
	if n := b.Engine.Notices(); len(n) != 0 {
		t.Errorf("notices %q", n)
	}
}

// TestGaps tells what other machines are let in by that asks less than they could be asked.
func TestGaps(t *testing.T) {
	for name, tc := range map[string]struct {
		listen string
		s      Security
		want   string // "" for no notice
	}{
		"loopback, asking nothing":   {"127.0.0.1:0", Security{}, ""},
		"loopback, SASL":             {"127.0.0.1:0", Security{SASL: true}, ""},
		"outside, TLS alone":         {"0.0.0.0:0", Security{Cert: "c"}, "asks nobody"},
		"outside, SASL alone":        {":0", Security{SASL: true}, "passwords"},
		"outside, SCRAM alone":       {":0", Security{SASL: true, Mechanisms: []string{"SCRAM-SHA-256"}}, "records cross"},
		"outside, SASL and TLS":      {":0", Security{SASL: true, Cert: "c"}, ""},
		"outside, mutual TLS":        {":0", Security{Cert: "c", ClientCA: "ca"}, ""},
		"outside, mutual TLS + SASL": {":0", Security{SASL: true, Cert: "c", ClientCA: "ca"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Dir: t.TempDir(), Listen: tc.listen, Security: tc.s}
			b, err := o.broker()
			if err != nil {
				t.Fatal(err)
			}
			p, err := o.place(b)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.notices, "\n"); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("notices %q, want %q", got, tc.want)
			}
		})
	}
}

// TestClientAuthOfTheProperties is asked for also where the certificate is given by hand.
func TestClientAuthOfTheProperties(t *testing.T) {
	s := Security{Cert: "by hand"}
	if err := s.take("SSL", layout.Secured{ClientAuth: true, Truststore: "ca"}); err != nil || s.ClientCA != "ca" || s.Cert != "by hand" {
		t.Errorf("%+v, %v", s, err)
	}
	s = Security{Cert: "by hand"}
	if err := s.take("SASL_SSL", layout.Secured{ClientAuth: true}); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("without a truststore: %v", err)
	}
}

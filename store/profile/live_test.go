package profile_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/store/embedded"
	"github.com/strata-kafka/strata/store/profile"
	"github.com/strata-kafka/strata/store/remote"
	"github.com/strata-kafka/strata/store/wire"
)

// password is what must not be in any text.
const password = "correct-horse-battery"

// broker starts a broker whose user ada has the password, and returns its address.
func broker(t *testing.T, o embedded.Options) string {
	t.Helper()
	o.Dir, o.Listen, o.Still = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", true
	if o.Security.SASL {
		first := o
		first.Listen, first.Security = "", embedded.Security{}
		b, err := embedded.Open(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.SetUser(t.Context(), "ada", password), b.Close()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := embedded.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	info, err := b.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.Address
}

// settings writes a settings file and returns its profile p.
func settings(t *testing.T, text string) profile.Profile {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "testdata/", filepath.ToSlash(data)+"/")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := profile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Profiles {
		if p.Name == "p" {
			return p
		}
	}
	t.Fatalf("no profile p in %v", f)
	return profile.Profile{}
}

// topics lists the topics of a cluster, as the explorer does.
func topics(ctx context.Context, p profile.Profile) error {
	a, err := p.Open(ctx)
	if err != nil {
		return err
	}
	c, err := remote.OpenCluster(ctx, a.Brokers, remote.Options{TLS: a.TLS, SASL: a.SASL, Timeout: 5 * time.Second})
	if err != nil {
		return err
	}
	_, err = c.Topics(ctx)
	return errors.Join(err, c.Close())
}

// steps goes the way, and returns the steps by name, the failed one last.
func steps(t *testing.T, p profile.Profile) (names string, failed profile.Step) {
	t.Helper()
	var all []string
	err := p.Test(t.Context(), func(s profile.Step) {
		all = append(all, s.Name)
		if !s.OK && failed.Name == "" {
			failed = s
		}
		if text := fmt.Sprintf("%+v", s); strings.Contains(text, password) {
			t.Errorf("a step tells the password: %s", text)
		}
	})
	var te *profile.TestError
	if (err != nil) != (failed.Name != "") || err != nil && !errors.As(err, &te) {
		t.Errorf("ends with %v, after %+v", err, failed)
	}
	if failed.Name != "" && failed.Next == "" {
		t.Errorf("%+v does not say what to do", failed)
	}
	return strings.Join(all, " "), failed
}

func TestClustersAreReached(t *testing.T) {
	t.Setenv("STRATA_TEST_WORD", password)
	word := filepath.Join(t.TempDir(), "word")
	if err := os.WriteFile(word, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := broker(t, embedded.Options{})
	asks := broker(t, embedded.Options{Security: embedded.Security{SASL: true}})
	secret := broker(t, embedded.Options{Security: embedded.Security{Cert: "testdata/server.pem"}})
	both := broker(t, embedded.Options{Security: embedded.Security{SASL: true, Cert: "testdata/server.pem"}})
	mutual := broker(t, embedded.Options{Security: embedded.Security{Cert: "testdata/server.pem", ClientCA: "testdata/ca.pem"}})
	elsewhere := broker(t, embedded.Options{Security: embedded.Security{Cert: "testdata/elsewhere.pem"}})
	only256 := broker(t, embedded.Options{Security: embedded.Security{SASL: true, Mechanisms: []string{"SCRAM-SHA-256"}}})
	const all = "settings DNS TCP ApiVersions cluster listener"
	const allTLS = "settings DNS TCP TLS ApiVersions cluster listener"
	sasl := func(s string) string { return strings.Replace(s, "ApiVersions", "ApiVersions SASL", 1) }
	ca := `tls = { ca = "testdata/ca.pem" }` + "\n"
	user := `sasl = { mechanism = "SCRAM-SHA-256", user = "ada", password_env = "STRATA_TEST_WORD" }`
	with := func(mechanism, how string) string {
		return `sasl = { mechanism = "` + mechanism + `", user = "ada", ` + how + ` }`
	}
	for name, tc := range map[string]struct {
		address, text string
		steps         string // up to the failed one
		what, next    string // of the failed one; "" where none is
	}{
		"nothing asked":                 {plain, "", all, "", ""},
		"PLAIN by environment":          {asks, with("PLAIN", `password_env = "STRATA_TEST_WORD"`), sasl(all), "", ""},
		"SCRAM-SHA-256 by file":         {asks, with("SCRAM-SHA-256", `password_file = '`+word+`'`), sasl(all), "", ""},
		"SCRAM-SHA-512 by a line":       {asks, with("SCRAM-SHA-512", `password_command = 'cat "`+word+`"'`), sasl(all), "", ""},
		"SCRAM-SHA-512 by a program":    {asks, with("scram-sha-512", `password_command = ["cat", '`+word+`']`), sasl(all), "", ""},
		"TLS":                           {secret, ca, allTLS, "", ""},
		"TLS, not looked at":            {secret, `tls = { insecure = true }`, allTLS, "", ""},
		"TLS and SASL":                  {both, ca + user, sasl(allTLS), "", ""},
		"mTLS":                          {mutual, `tls = { ca = "testdata/ca.pem", cert = "testdata/client.pem", key = "testdata/client.key" }`, allTLS, "", ""},
		"mTLS by a key store of Java's": {mutual, `tls = { ca = "testdata/trust.jks", cert = "testdata/client.pem", key = "testdata/client.key" }`, allTLS, "", ""},
		"TLS by another name":           {elsewhere, `tls = { ca = "testdata/ca.pem", server_name = "kafka.internal" }`, allTLS, "", ""},

		"a password that is wrong":      {asks, with("PLAIN", `password = "`+password+`x"`), "settings DNS TCP ApiVersions SASL", "invalid credentials", "check the user"},
		"SCRAM with one that is wrong":  {asks, with("SCRAM-SHA-512", `password = "`+password+`x"`), "settings DNS TCP ApiVersions SASL", "SASL_AUTHENTICATION_FAILED", "check the user"},
		"a mechanism that is not there": {only256, with("SCRAM-SHA-512", `password_env = "STRATA_TEST_WORD"`), "settings DNS TCP ApiVersions SASL", "it knows SCRAM-SHA-256", "set sasl.mechanism"},
		"a variable that is not set":    {asks, with("PLAIN", `password_env = "STRATA_TEST_NOWHERE"`), "settings", "STRATA_TEST_NOWHERE is not set", "mend the profile"},
		"a command that fails":          {asks, with("PLAIN", `password_command = "echo `+password+` >&2; exit 7"`), "settings", "exit status 7", "mend the profile"},
		"nobody asked who he is":        {plain, user, "settings DNS TCP ApiVersions SASL", "", "leave sasl out"},
		"asked, and says nothing":       {asks, "", "settings DNS TCP ApiVersions cluster", "closed the connection", "add a table sasl"},
		"TLS where there is none":       {plain, ca, "settings DNS TCP TLS", "", "without TLS"},
		"no TLS where there is some":    {secret, "", "settings DNS TCP ApiVersions", "", "wants TLS"},
		"an authority nobody knows":     {secret, `tls = { ca = "testdata/other-ca.pem" }`, "settings DNS TCP TLS", "not trusted here (strata test CA)", "tls.ca"},
		"a certificate for others":      {elsewhere, ca, "settings DNS TCP TLS", "127.0.0.1", "which has kafka.internal"},
		"no certificate of one's own":   {mutual, ca, "settings DNS TCP TLS ApiVersions", "", "tls.cert"},
		"nobody there":                  {closedPort(t), "", "settings DNS TCP", "refused", "a broker listens on port"},
		"no such host":                  {"kafka.invalid:9092", "", "settings DNS", "", "check the name"},
	} {
		t.Run(name, func(t *testing.T) {
			p := settings(t, "[profile.p]\nbrokers = '"+tc.address+"'\n"+tc.text+"\n")
			got, failed := steps(t, p)
			if got != tc.steps {
				t.Errorf("steps are %q, want %q; failed: %+v", got, tc.steps, failed)
			}
			if !strings.Contains(failed.What, tc.what) || !strings.Contains(failed.Next, tc.next) || (tc.next == "") != (failed.Name == "") {
				t.Errorf("failed: %+v, want %q and %q", failed, tc.what, tc.next)
			}
			err := topics(t.Context(), p)
			if (err == nil) != (tc.next == "") {
				t.Errorf("the client: %v, and the test %+v", err, failed)
			}
			if err != nil && strings.Contains(err.Error(), password) {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// closedPort returns an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	return ln.Addr().String()
}

func TestWhatBrokersTellClientsIsTried(t *testing.T) {
	addr := broker(t, embedded.Options{Wire: wire.Options{Advertised: closedPort(t)}})
	names, failed := steps(t, settings(t, "[profile.p]\nbrokers = '"+addr+"'\n"))
	if names != "settings DNS TCP ApiVersions cluster listener" || failed.Name != "listener" {
		t.Fatalf("%s, %+v", names, failed)
	}
	if !strings.Contains(failed.What, "cannot be reached: TCP") || !strings.Contains(failed.Next, "advertised.listeners") || !strings.Contains(failed.Next, "only clients on its own machine") {
		t.Errorf("%+v", failed)
	}
}

func TestAnotherAddressIsTried(t *testing.T) {
	addr := broker(t, embedded.Options{})
	names, failed := steps(t, settings(t, "[profile.p]\nbrokers = ['"+closedPort(t)+"', '"+addr+"']\n"))
	if names != "settings DNS TCP DNS TCP ApiVersions cluster listener" || failed.Name != "TCP" {
		t.Errorf("%s, %+v", names, failed)
	}
}

func TestATestEndsWithItsContext(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // it says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, stop := context.WithCancel(t.Context())
	p := settings(t, "[profile.p]\nbrokers = '"+ln.Addr().String()+"'\n")
	err = p.Test(ctx, func(s profile.Step) {
		if s.Name == "TCP" {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestJavaAndLibrdkafkaFilesOpenClusters(t *testing.T) {
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	both := broker(t, embedded.Options{Security: embedded.Security{SASL: true, Cert: "testdata/server.pem"}})
	mutual := broker(t, embedded.Options{Security: embedded.Security{Cert: "testdata/server.pem", ClientCA: "testdata/ca.pem"}})
	for name, tc := range map[string]struct{ address, text string }{
		"Java, SCRAM over TLS": {both, `security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
  username="ada" \
  password="` + password + `";
ssl.truststore.location=DATA/trust.jks
ssl.truststore.password=storeword
acks=all
`},
		"Java, PLAIN over TLS": {both, `security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="ada" password="` + password + `";
ssl.truststore.location=DATA/trust.p12
ssl.truststore.type=PKCS12
ssl.truststore.password=storeword
`},
		"Java, mTLS by JKS": {mutual, `security.protocol=SSL
ssl.truststore.location=DATA/trust.jks
ssl.keystore.location=DATA/client.jks
ssl.keystore.password=storeword
ssl.key.password=keyword
`},
		"Java, mTLS by PKCS12": {mutual, `security.protocol=SSL
ssl.truststore.location=DATA/ca.pem
ssl.truststore.type=PEM
ssl.keystore.location=DATA/client-java.p12
ssl.keystore.password=storeword
ssl.endpoint.identification.algorithm=
`},
		"librdkafka, SCRAM over TLS": {both, `# as kcat reads it
security.protocol = sasl_ssl
sasl.mechanisms = SCRAM-SHA-256
sasl.username = ada
sasl.password = ` + password + `
ssl.ca.location = DATA/ca.pem
`},
		"librdkafka, mTLS": {mutual, `security.protocol=ssl
ssl.ca.location=DATA/ca.pem
ssl.certificate.location=DATA/client.pem
ssl.key.location=DATA/client-encrypted.key
ssl.key.password=keyword
`},
		"librdkafka, mTLS by a key store": {mutual, `security.protocol=ssl
ssl.ca.location=DATA/ca.pem
ssl.keystore.location=DATA/client-openssl.p12
ssl.keystore.password=storeword
`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "client.properties")
			text := "bootstrap.servers=" + tc.address + "\n" + strings.ReplaceAll(tc.text, "DATA", filepath.ToSlash(data))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := profile.ReadProperties(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Warnings) > 0 {
				t.Errorf("warnings: %v", p.Warnings)
			}
			if err := topics(t.Context(), p); err != nil {
				t.Error(err)
			}
			p = settings(t, "[profile.p]\nbrokers = '"+tc.address+"'\nread_only = true\nproperties = '"+path+"'\n")
			if _, failed := steps(t, p); failed.Name != "" || !p.ReadOnly {
				t.Errorf("as a profile: %+v, %v", failed, p)
			}
		})
	}
}

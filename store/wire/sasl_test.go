package wire

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	plainauth "github.com/twmb/franz-go/pkg/sasl/plain"
	scramauth "github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/strata-kafka/strata/groups"
)

// usersOf opens a store that knows ada by both mechanisms and bob by SCRAM-SHA-256 alone.
func usersOf(t *testing.T) (groups.Users, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "strata.db")
	db, err := groups.OpenDB(path, groups.DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	u := db.Users()
	for name, mechanisms := range map[string][]string{"ada": {scramSHA256, scramSHA512}, "bob": {scramSHA256}} {
		for _, m := range mechanisms {
			c, err := groups.NewCredential(m, name+"'s secret", 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Set(t.Context(), name, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	return u, path
}

// connect has a real client ask for metadata.
func connect(t *testing.T, address string, opts ...kgo.Opt) error {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(address), kgo.RequestRetries(0), kgo.ClientID("secret keeper")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err = kmsg.NewPtrMetadataRequest().RequestWith(ctx, c)
	return err
}

func mechanism(name, user, pass string) sasl.Mechanism {
	switch name {
	case scramSHA256:
		return scramauth.Auth{User: user, Pass: pass}.AsSha256Mechanism()
	case scramSHA512:
		return scramauth.Auth{User: user, Pass: pass}.AsSha512Mechanism()
	}
	return plainauth.Auth{User: user, Pass: pass}.AsMechanism()
}

func TestWhoMayConnect(t *testing.T) {
	u, _ := usersOf(t)
	for name, tc := range map[string]struct {
		offered        []string
		by, user, pass string
		want           string // part of the error; "" for none
	}{
		"PLAIN":                        {nil, plain, "ada", "ada's secret", ""},
		"PLAIN, one credential":        {nil, plain, "bob", "bob's secret", ""},
		"SCRAM-SHA-256":                {nil, scramSHA256, "bob", "bob's secret", ""},
		"SCRAM-SHA-512":                {nil, scramSHA512, "ada", "ada's secret", ""},
		"PLAIN, wrong password":        {nil, plain, "ada", "guess", "SASL_AUTHENTICATION_FAILED"},
		"PLAIN, no such user":          {nil, plain, "eve", "guess", "SASL_AUTHENTICATION_FAILED"},
		"SCRAM, wrong password":        {nil, scramSHA256, "ada", "guess", "SASL_AUTHENTICATION_FAILED"},
		"SCRAM, no such user":          {nil, scramSHA512, "eve", "guess", "SASL_AUTHENTICATION_FAILED"},
		"SCRAM, no such credential":    {nil, scramSHA512, "bob", "bob's secret", "SASL_AUTHENTICATION_FAILED"},
		"a mechanism that is not open": {[]string{scramSHA512}, plain, "ada", "ada's secret", "UNSUPPORTED_SASL_MECHANISM"},
	} {
		t.Run(name, func(t *testing.T) {
			var told strings.Builder
			c := startCore(t, Options{SASL: &SASL{Mechanisms: tc.offered, Users: u}, Notice: func(l string) { told.WriteString(l) }})
			err := connect(t, c.Address(), kgo.SASL(mechanism(tc.by, tc.user, tc.pass)))
			switch {
			case tc.want == "" && err != nil:
				t.Fatal(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Fatalf("%v, want %s", err, tc.want)
			}
			said := told.String() + strings.Join(c.refusedFor(), "\n")
			if strings.Contains(tc.want, "FAILED") && !strings.Contains(said, "could not authenticate by "+tc.by) {
				t.Errorf("nobody is told that it was refused: %q", said)
			}
			if err != nil {
				said += err.Error()
			}
			if strings.Contains(said, "secret") && !strings.Contains(said, "secret keeper") || strings.Contains(said, "guess") {
				t.Errorf("a password is told: %s", said)
			}
		})
	}
}

func TestUnknownClientsAskNothing(t *testing.T) {
	u, _ := usersOf(t)
	c := startCore(t, Options{SASL: &SASL{Users: u}})
	x := c.dial()
	if r := x.ask(kmsg.NewPtrApiVersionsRequest(), 0).(*kmsg.ApiVersionsResponse); r.ErrorCode != 0 || len(r.ApiKeys) < 5 {
		t.Errorf("the versions are not told: %+v", r)
	}
	x.send(frameOf(kmsg.NewPtrMetadataRequest(), 5, 2))
	if !x.closed() {
		t.Error("a client that has not said who it is was answered")
	}
	h := kmsg.NewPtrSASLHandshakeRequest()
	h.Mechanism = plain
	big := kmsg.NewPtrSASLAuthenticateRequest()
	big.SASLAuthBytes = make([]byte, 1<<20)
	y := c.dial()
	y.ask(h, 1)
	_, werr := y.nc.Write(frameOf(big, 1, 9)) // it may be closed on before all of it has gone
	if werr == nil && !y.closed() {
		t.Error("a megabyte was taken of a client that has not said who it is")
	}
}

// TestBareMessages authenticates as clients did before SaslAuthenticate existed.
func TestBareMessages(t *testing.T) {
	u, _ := usersOf(t)
	c := startCore(t, Options{SASL: &SASL{Users: u}})
	for pass, well := range map[string]bool{"ada's secret": true, "guess": false} {
		x := c.dial()
		h := kmsg.NewPtrSASLHandshakeRequest()
		h.Mechanism = plain
		if r := x.ask(h, 0).(*kmsg.SASLHandshakeResponse); r.ErrorCode != 0 || len(r.SupportedMechanisms) != 3 {
			t.Fatalf("%+v", r)
		}
		m := []byte("\x00ada\x00" + pass)
		x.send(append(binary.BigEndian.AppendUint32(nil, uint32(len(m))), m...))
		if !well {
			if !x.closed() {
				t.Error("a wrong password is answered")
			}
			continue
		}
		if b, err := x.receive(); err != nil || len(b) != 0 {
			t.Fatalf("%x, %v", b, err)
		}
		if r := x.ask(kmsg.NewPtrMetadataRequest(), 5).(*kmsg.MetadataResponse); len(r.Brokers) != 1 {
			t.Errorf("%+v", r)
		}
	}
}

func TestNoAuthenticationInTheOpen(t *testing.T) {
	c := startCore(t, Options{})
	x := c.dial()
	h := kmsg.NewPtrSASLHandshakeRequest()
	h.Mechanism = plain
	if r := x.ask(h, 1).(*kmsg.SASLHandshakeResponse); r.ErrorCode != kerr.IllegalSaslState.Code {
		t.Errorf("handshake: %+v", r)
	}
	if r := x.ask(kmsg.NewPtrSASLAuthenticateRequest(), 2).(*kmsg.SASLAuthenticateResponse); r.ErrorCode != kerr.IllegalSaslState.Code {
		t.Errorf("authenticate: %+v", r)
	}
}

// TestNonceTwice has a client that sends its nonce twice, as librdkafka did until 2.6.1.
func TestNonceTwice(t *testing.T) {
	u, _ := usersOf(t)
	cred, _, err := u.Credential("ada", scramSHA256)
	if err != nil {
		t.Fatal(err)
	}
	salted, err := pbkdf2.Key(sha256.New, "ada's secret", cred.Salt, cred.Iterations, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		before, behind string
		well           bool
	}{
		"once":             {"", "", true},
		"twice":            {"fresh", "", true},
		"something behind": {"", "x", false},
	} {
		t.Run(name, func(t *testing.T) {
			var c conversation
			o := &SASL{Users: u}
			first, err := c.step(o, scramSHA256, "n,,n=ada,r=fresh")
			if err != nil {
				t.Fatal(err)
			}
			nonce := strings.TrimPrefix(attribute(first, 0), "r=")
			without := "c=biws,r=" + tc.before + nonce + tc.behind
			mac := func(key []byte, text string) []byte {
				m := hmac.New(sha256.New, key)
				m.Write([]byte(text))
				return m.Sum(nil)
			}
			key := mac(salted, "Client Key")
			stored := sha256.Sum256(key)
			signature := mac(stored[:], "n=ada,r=fresh,"+first+","+without)
			for i := range key {
				key[i] ^= signature[i]
			}
			_, err = c.step(o, scramSHA256, without+",p="+base64.StdEncoding.EncodeToString(key))
			if (err == nil) != tc.well || c.done != tc.well {
				t.Errorf("%v, done %v", err, c.done)
			}
		})
	}
}

func FuzzScram(f *testing.F) {
	f.Add("n,,n=ada,r=fresh", "c=biws,r=fresh,p=")
	f.Add("y,a=ada,n=ada,r=", "c=biws,r=fresh,p=AAAA")
	f.Add("p=tls-unique,,n==2C=3D,r=x,m=1", ",,,,")
	f.Fuzz(func(t *testing.T, one, two string) {
		var c conversation
		o := &SASL{Users: everybody{}}
		if _, err := c.step(o, scramSHA512, one); err != nil {
			return
		}
		if _, err := c.step(o, scramSHA512, two); err == nil || c.done {
			t.Errorf("%q and %q are taken", one, two)
		}
	})
}

// everybody has credentials that no password has.
type everybody struct{}

func (everybody) Credential(_, m string) (groups.Credential, bool, error) {
	return groups.Credential{Mechanism: m, Iterations: 4096, Salt: []byte("salt"), StoredKey: make([]byte, 64), ServerKey: make([]byte, 64)}, true, nil
}

// certificate makes a certificate, signed by parent or by itself.
func certificate(t *testing.T, name string, parent *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: parent == nil, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	by, signer := c, any(key)
	if parent != nil {
		by, signer = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestTLS(t *testing.T) {
	ca := certificate(t, "the authority", nil)
	server, known, stranger := certificate(t, "strata", &ca), certificate(t, "ada", &ca), certificate(t, "eve", nil)
	pool := x509.NewCertPool()
	pool.AddCert(ca.Leaf)
	open := &tls.Config{Certificates: []tls.Certificate{server}}
	mutual := &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	for name, tc := range map[string]struct {
		server *tls.Config
		client *tls.Config
		well   bool
	}{
		"encrypted":                    {open, &tls.Config{RootCAs: pool}, true},
		"a client in the clear":        {open, nil, false},
		"a client with a certificate":  {mutual, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{known}}, true},
		"a client without one":         {mutual, &tls.Config{RootCAs: pool}, false},
		"a client with a foreign one":  {mutual, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{stranger}}, false},
		"a server that is not trusted": {open, &tls.Config{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCore(t, Options{TLS: tc.server})
			var opts []kgo.Opt
			if tc.client != nil {
				opts = append(opts, kgo.DialTLSConfig(tc.client))
			}
			if err := connect(t, c.Address(), opts...); (err == nil) != tc.well {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestUsersThroughTheProtocol(t *testing.T) {
	u, _ := usersOf(t)
	c := startCore(t, Options{})
	c.b.Users = u
	x := c.dial()
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	cred, err := groups.NewCredential(scramSHA256, "x", 4096)
	if err != nil {
		t.Fatal(err)
	}
	req.Upsertions = []kmsg.AlterUserSCRAMCredentialsRequestUpsertion{
		{Name: "carol", Mechanism: 1, Iterations: 8192, Salt: cred.Salt, SaltedPassword: []byte("salted already")},
		{Name: "weak", Mechanism: 1, Iterations: 10, Salt: cred.Salt, SaltedPassword: []byte("s")},
		{Name: "odd", Mechanism: 7, Iterations: 8192, Salt: cred.Salt, SaltedPassword: []byte("s")},
		{Name: "twice", Mechanism: 1, Iterations: 8192, Salt: cred.Salt, SaltedPassword: []byte("s")},
		{Name: "twice", Mechanism: 1, Iterations: 8192, Salt: cred.Salt, SaltedPassword: []byte("s")},
		{Name: "", Mechanism: 1, Iterations: 8192, Salt: cred.Salt, SaltedPassword: []byte("s")},
	}
	req.Deletions = []kmsg.AlterUserSCRAMCredentialsRequestDeletion{{Name: "bob", Mechanism: 1}, {Name: "bob2", Mechanism: 1}}
	want := map[string]*kerr.Error{
		"carol": nil, "weak": kerr.UnacceptableCredential, "odd": kerr.UnsupportedSaslMechanism, "twice": kerr.DuplicateResource,
		"": kerr.UnacceptableCredential, "bob": nil, "bob2": kerr.ResourceNotFound,
	}
	r := x.ask(req, 0).(*kmsg.AlterUserSCRAMCredentialsResponse)
	if len(r.Results) != len(want) {
		t.Errorf("%d results", len(r.Results))
	}
	for _, res := range r.Results {
		if w := want[res.User]; w == nil && res.ErrorCode != 0 || w != nil && res.ErrorCode != w.Code {
			t.Errorf("%q: %d, want %v", res.User, res.ErrorCode, w)
		}
	}
	d := x.ask(kmsg.NewPtrDescribeUserSCRAMCredentialsRequest(), 0).(*kmsg.DescribeUserSCRAMCredentialsResponse)
	var got []string
	for _, res := range d.Results {
		for _, i := range res.CredentialInfos {
			got = append(got, res.User+" "+scramName(i.Mechanism))
		}
	}
	if s := strings.Join(got, ", "); s != "ada SCRAM-SHA-256, ada SCRAM-SHA-512, carol SCRAM-SHA-256" {
		t.Errorf("the users are %s", s)
	}
}

func TestPasswordsAreNotStored(t *testing.T) {
	u, _ := usersOf(t)
	c, ok, err := u.Credential("ada", scramSHA512)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, b := range [][]byte{c.Salt, c.StoredKey, c.ServerKey} {
		if bytes.Contains(b, []byte("secret")) || len(b) < saltLength {
			t.Errorf("%q is kept", b)
		}
	}
	if !c.Matches("ada's secret") || c.Matches("ada's secret ") || c.Matches("") {
		t.Error("the password does not match, or another does")
	}
}

const saltLength = 16

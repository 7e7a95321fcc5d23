package profile_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/profile"
)

// gatekeeper is a broker that knows one mechanism, and lets in who says one thing.
type gatekeeper struct {
	address   string
	mechanism string

	mu   sync.Mutex
	said []string // what clients have said to come in
}

// gate starts one. lets says whether what a client said lets it in, and what it is told.
func gate(t *testing.T, mechanism string, lets func(said string) (reply string, ok bool)) *gatekeeper {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gatekeeper{address: ln.Addr().String(), mechanism: mechanism}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close() // accepting ends with it
		wg.Wait()
	})
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				stop := context.AfterFunc(t.Context(), func() { _ = c.Close() })
				defer stop()
				g.serve(c, lets)
			})
		}
	})
	return g
}

func (g *gatekeeper) serve(c net.Conn, lets func(string) (string, bool)) {
	for {
		var head [8]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		b := make([]byte, binary.BigEndian.Uint32(head[:])-4)
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		req := kmsg.RequestForKey(int16(binary.BigEndian.Uint16(head[4:])))
		req.SetVersion(int16(binary.BigEndian.Uint16(head[6:])))
		body := b[4+2+int(binary.BigEndian.Uint16(b[4:])):]
		if req.IsFlexible() {
			body = body[1:]
		}
		if req.ReadFrom(body) != nil {
			return
		}
		res := g.answer(req, lets)
		if res == nil {
			return
		}
		out := append(make([]byte, 4), b[:4]...)
		if res.IsFlexible() && res.Key() != 18 {
			out = append(out, 0)
		}
		out = res.AppendTo(out)
		binary.BigEndian.PutUint32(out, uint32(len(out)-4))
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func (g *gatekeeper) answer(req kmsg.Request, lets func(string) (string, bool)) kmsg.Response {
	res := req.ResponseKind()
	switch r := req.(type) {
	case *kmsg.ApiVersionsRequest:
		a := res.(*kmsg.ApiVersionsResponse)
		for k, v := range map[int16]int16{3: 9, 17: 1, 18: 3, 36: 1} {
			a.ApiKeys = append(a.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: k, MaxVersion: v})
		}
	case *kmsg.SASLHandshakeRequest:
		a := res.(*kmsg.SASLHandshakeResponse)
		a.SupportedMechanisms = []string{g.mechanism}
		if r.Mechanism != g.mechanism {
			a.ErrorCode = 33
		}
	case *kmsg.SASLAuthenticateRequest:
		g.mu.Lock()
		g.said = append(g.said, string(r.SASLAuthBytes))
		g.mu.Unlock()
		a := res.(*kmsg.SASLAuthenticateResponse)
		reply, ok := lets(string(r.SASLAuthBytes))
		a.SASLAuthBytes = []byte(reply)
		if !ok {
			a.ErrorCode, a.ErrorMessage = 58, &reply
		}
	case *kmsg.MetadataRequest:
		a := res.(*kmsg.MetadataResponse)
		host, port, _ := net.SplitHostPort(g.address) // it is our own
		var n int32
		_, _ = fmt.Sscan(port, &n) // it is our own
		a.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: host, Port: n}}
	default:
		return nil
	}
	return res
}

// issuer is a server of tokens for one client.
func issuer(t *testing.T, answer func(r *http.Request, n int64) (int, any)) (url string, ca string) {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		code, body := http.StatusUnauthorized, any(map[string]string{"error": "invalid_client", "error_description": "not " + secret})
		if id == "strata" && secret == password && r.FormValue("grant_type") == "client_credentials" {
			code, body = answer(r, n.Add(1))
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body) // whoever has gone needs no answer
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a client that hangs up is not this test's concern
	s.StartTLS()
	t.Cleanup(s.Close)
	ca = filepath.Join(t.TempDir(), "issuer.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL + "/token", ca
}

func TestTokensLetClientsIn(t *testing.T) {
	t.Setenv("STRATA_TEST_WORD", password)
	bearer := func(token, rest string) string { return "n,,\x01auth=Bearer " + token + "\x01" + rest + "\x01" }
	url, _ := issuer(t, func(r *http.Request, _ int64) (int, any) {
		return http.StatusOK, map[string]any{"access_token": "tok-" + r.FormValue("scope"), "expires_in": 3600}
	})
	// The issuer of the test has a certificate that the profile's CA has not signed: plain HTTP is asked instead.
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if id != "strata" || secret != password {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": "you said " + secret}) // no answer is one too
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "tok-" + r.FormValue("scope"), "expires_in": 3600}) // no answer is one too
	}))
	t.Cleanup(plain.Close)
	for name, tc := range map[string]struct{ sasl, want, fails string }{
		"client credentials": {`token_url = "` + plain.URL + `", client_id = "strata", secret_env = "STRATA_TEST_WORD", scope = "kafka"`, bearer("tok-kafka", ""), ""},
		"with extensions": {`token_url = "` + plain.URL + `", client_id = "strata", secret_env = "STRATA_TEST_WORD", extensions = { logicalCluster = "lkc-1", identityPoolId = "p" }`,
			bearer("tok-", "identityPoolId=p\x01logicalCluster=lkc-1\x01"), ""},
		"a command that prints a token": {`token_command = "echo tok-echoed"`, bearer("tok-echoed", ""), ""},
		"a command that prints JSON":    {`token_command = ["echo", '{"access_token": "tok-json", "expires_in": 60}']`, bearer("tok-json", ""), ""},
		"as the signer of MSK prints":   {`token_command = ["echo", '{"token": "tok-msk"}']`, bearer("tok-msk", ""), ""},
		"a secret that is wrong":        {`token_url = "` + plain.URL + `", client_id = "strata", secret = "` + password + `x"`, "", "401 Unauthorized invalid_client you said ***"},
		"a command that prints more":    {`token_command = "echo two words"`, "", "want a token and nothing else"},
		"a command that fails":          {`token_command = "false"`, "", "exit status 1"},
		"an issuer that nobody trusts":  {`token_url = "` + url + `", client_id = "strata", secret_env = "STRATA_TEST_WORD"`, "", "certificate"},
		"a token that is refused":       {`token_command = "echo nonsense"`, bearer("nonsense", ""), "nobody knows this token"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gate(t, "OAUTHBEARER", func(said string) (string, bool) {
				if strings.Contains(said, "Bearer tok-") {
					return "", true
				}
				return "nobody knows this token", false
			})
			p := settings(t, "[profile.p]\nbrokers = '"+g.address+"'\nsasl = { mechanism = \"OAUTHBEARER\", "+tc.sasl+" }\n")
			names, failed := steps(t, p)
			if tc.fails == "" && names != "settings DNS TCP ApiVersions SASL cluster listener" || (failed.Name == "") != (tc.fails == "") || !strings.Contains(failed.What, tc.fails) {
				t.Errorf("%s, %+v, want %q", names, failed, tc.fails)
			}
			if tc.want != "" && (len(g.said) == 0 || g.said[0] != tc.want) {
				t.Errorf("said %q, want %q", g.said, tc.want)
			}
		})
	}
}

func TestATokenIsKeptUntilItHasNearlyRunOut(t *testing.T) {
	jwt := func(exp int64) string {
		return "h." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, exp)) + ".s"
	}
	for name, tc := range map[string]struct {
		answer map[string]any
		asked  int64 // of three logins
	}{
		"an hour":         {map[string]any{"access_token": "tok", "expires_in": 3600}, 1},
		"an hour, quoted": {map[string]any{"access_token": "tok", "expires_in": "3600"}, 1},
		"no time said":    {map[string]any{"access_token": "tok"}, 1},
		"a few seconds":   {map[string]any{"access_token": "tok", "expires_in": 5}, 3},
		"a JWT of old":    {map[string]any{"access_token": jwt(1000)}, 3},
		"a JWT of long":   {map[string]any{"access_token": jwt(99_999_999_999)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			url, ca := issuer(t, func(_ *http.Request, n int64) (int, any) {
				asked.Store(n)
				return http.StatusOK, tc.answer
			})
			t.Setenv("STRATA_TEST_WORD", password)
			p := settings(t, "[profile.p]\nbrokers = 'localhost:1'\ntls = { ca = '"+ca+"' }\nsasl = { mechanism = \"OAUTHBEARER\", token_url = \""+url+
				"\", client_id = \"strata\", secret_env = \"STRATA_TEST_WORD\" }\n")
			a, err := p.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, _, err := a.SASL.Authenticate(t.Context(), "localhost:1"); err != nil {
					t.Fatal(err)
				}
			}
			if n := asked.Load(); n != tc.asked {
				t.Errorf("asked %d times, want %d", n, tc.asked)
			}
		})
	}
}

func TestAWSCredentialsSign(t *testing.T) {
	for name, tc := range map[string]struct {
		env   map[string]string
		sasl  string
		id    string
		fails string
	}{
		"by command":        {nil, `, token_command = ["echo", '{"Version": 1, "AccessKeyId": "AKIA1", "SecretAccessKey": "` + password + `", "SessionToken": "s"}']`, "AKIA1", ""},
		"by environment":    {map[string]string{"AWS_ACCESS_KEY_ID": "AKIA2", "AWS_SECRET_ACCESS_KEY": password}, "", "AKIA2", ""},
		"a command of none": {nil, `, token_command = "echo ` + password + `"`, "", "want JSON with AccessKeyId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_REGION", "eu-central-1")
			for _, k := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
				t.Setenv(k, tc.env[k])
			}
			g := gate(t, "AWS_MSK_IAM", func(said string) (string, bool) {
				var m map[string]string
				if json.Unmarshal([]byte(said), &m) != nil || !strings.HasPrefix(m["x-amz-credential"], tc.id+"/") || len(m["x-amz-signature"]) != 64 {
					return "not signed", false
				}
				return `{"version":"2020_10_22","request-id":"1"}`, true
			})
			p := settings(t, "[profile.p]\nbrokers = '"+g.address+"'\nsasl = { mechanism = \"AWS_MSK_IAM\""+tc.sasl+" }\n")
			_, failed := steps(t, p)
			if !strings.Contains(failed.What, tc.fails) || (failed.Name == "") != (tc.fails == "") {
				t.Errorf("%+v", failed)
			}
			if strings.Contains(strings.Join(g.said, " "), password) {
				t.Error("the secret key went out")
			}
		})
	}
}

func TestUnsignedTokensAreForTryingOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kcat.conf")
	g := gate(t, "OAUTHBEARER", func(said string) (string, bool) {
		_, jwt, _ := strings.Cut(said, "Bearer ")
		claims, _ := base64.RawURLEncoding.DecodeString(strings.Split(jwt+"..", ".")[1]) // what is none is not it
		if strings.Contains(string(claims), `"sub":"ada"`) {
			return "", true
		}
		return "not ada", false
	})
	for _, text := range []string{
		"security.protocol=sasl_plaintext\nsasl.mechanisms=OAUTHBEARER\nenable.sasl.oauthbearer.unsecure.jwt=true\nsasl.oauthbearer.config=principal=ada\n",
		"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"ada\";\n",
	} {
		if err := os.WriteFile(path, []byte("bootstrap.servers="+g.address+"\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := profile.ReadProperties(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, failed := steps(t, p); failed.Name != "" {
			t.Errorf("%+v", failed)
		}
	}
}

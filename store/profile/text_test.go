package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

const word = "correct-horse-battery"

func TestSecretsAreNotPrinted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	text := `[profile.p]
brokers = "localhost:9092"
tls = { ca = "` + testdata(t, "ca.pem") + `", cert = "` + testdata(t, "client.pem") + `", key = "` + testdata(t, "client-encrypted.key") + `", key_password_command = "echo keyword" }
[profile.p.sasl]
mechanism = "PLAIN"
user = "ada"
password = "` + word + `"
secret_command = "echo ` + word + `"
[profile.p.registry]
url = "https://ada:` + word + `@registry.example/x"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	p := f.Profiles[0]
	a, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal([]any{p.SASL.Password.Text, Hide(word)})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{string(j), p.String(), a.String(), p.RegistryURL(), p.Security(), p.Who()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, p.SASL.Password), fmt.Sprintf(verb, &p.SASL.Password), fmt.Sprintf(verb, p.SASL), fmt.Sprintf(verb, *p.SASL), fmt.Sprintf(verb, p), fmt.Sprintf(verb, f), fmt.Sprintf(verb, Hide(word)),
			fmt.Sprintf(verb, a), fmt.Sprintf(verb, &a), fmt.Sprintf(verb, a.SASL), fmt.Sprintf(verb, a.Registry.Password),
			fmt.Sprintf(verb, struct{ inner SASL }{*p.SASL}), fmt.Sprintf(verb, struct{ inner *RegistryAccess }{a.Registry}))
	}
	for i, s := range texts {
		if strings.Contains(s, word) || strings.Contains(s, fmt.Sprintf("%x", word)) {
			t.Errorf("%d tells the secret: %s", i, s)
		}
	}
	if got := a.Registry.Password.Reveal() + " " + a.Registry.User + " " + a.Registry.URL; got != word+" ada https://registry.example/x" {
		t.Errorf("the registry's user and URL are %q", got)
	}
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(p)
}

func TestSettingsThatAreWrong(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"an unknown key":            {"[profile.p]\nbrokers='a:1'\nreadonly=true", "line 3: nobody knows the key readonly; near are read_only"},
		"an unknown key of sasl":    {"[profile.p]\nbrokers='a:1'\n[profile.p.sasl]\nmechanism='PLAIN'\nusr='" + word + "'", "line 5: nobody knows the key sasl.usr; near are user"},
		"an unknown key of tls":     {"[profile.p]\nbrokers='a:1'\ntls={cafile='x'}", "nobody knows the key cafile"},
		"no brokers":                {"[profile.p]\nread_only=true", "it names no brokers"},
		"a broker that is none":     {"[profile.p]\nbrokers=['a:1','http://x:y/']", "want HOST:PORT"},
		"a broker with a user":      {"[profile.p]\nbrokers='ada:" + word + "@a:1'", "an address has no user in it"},
		"brokers that are numbers":  {"[profile.p]\nbrokers=[1]", "want a list of strings"},
		"a colour that is none":     {"[profile.p]\nbrokers='a:1'\ncolour='rde'", "want one of red, yellow"},
		"no mechanism":              {"[profile.p]\nbrokers='a:1'\n[profile.p.sasl]\nuser='x'", "it has no mechanism"},
		"a mechanism that is none":  {"[profile.p]\nbrokers='a:1'\nsasl={mechanism='GSSAPI'}", "want one of PLAIN, SCRAM"},
		"no password":               {"[profile.p]\nbrokers='a:1'\nsasl={mechanism='PLAIN',user='x'}", "needs a password: password_env"},
		"two passwords":             {"[profile.p]\nbrokers='a:1'\nsasl={mechanism='PLAIN',user='x',password='" + word + "',password_env='Y'}", "more than one way"},
		"no way to a token":         {"[profile.p]\nbrokers='a:1'\nsasl={mechanism='OAUTHBEARER'}", "needs either token_command, or token_url"},
		"two ways to a token":       {"[profile.p]\nbrokers='a:1'\nsasl={mechanism='OAUTHBEARER',token_command='x',token_url='https://x',client_id='a',secret_env='b'}", "needs either"},
		"a token_url without a key": {"[profile.p]\nbrokers='a:1'\nsasl={mechanism='OAUTHBEARER',token_url='https://x'}", "needs client_id and a secret"},
		"a key without a cert":      {"[profile.p]\nbrokers='a:1'\ntls={key='k'}", "there is a key and no cert"},
		"a name that is a path":     {"[profile.'a/b']\nbrokers='a:1'", "a profile's name has letters"},
		"properties that are gone":  {"[profile.p]\nbrokers='a:1'\nproperties='gone.properties'", "gone.properties"},
		"a value of another kind":   {"[profile.p]\nbrokers='a:1'\nsasl={mechanism='PLAIN',user='x',password=['" + word + "']}", "line 3"},
		"no TOML":                   {"[profile.p]\npassword = '" + word, "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Load(path)
			if err == nil {
				err = f.Profiles[0].Err
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, model.ErrInvalid) && !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("%v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), word) {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
}

func TestOneBadProfileLeavesTheOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	text := "data = '/x'\ntehme = 'dark'\n[profile.bad]\nbrokers=''\n[profile.good]\nbrokers='PLAINTEXT://a, b:1'\n[profile.open]\nbrokers='a:1'\nsasl={mechanism='PLAIN',user='x',password='y'}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path)
	if err != nil || len(f.Profiles) != 3 {
		t.Fatalf("%v, %v", f, err)
	}
	bad, good, open := f.Profiles[0], f.Profiles[1], f.Profiles[2]
	if bad.Err == nil || good.Err != nil || open.Err != nil || !slices.Equal(good.Brokers, []string{"a:9092", "b:1"}) {
		t.Errorf("%v, %v, %v: %v", bad.Err, good.Err, open.Err, good.Brokers)
	}
	if len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "line 2: nobody knows the key tehme; near are theme") {
		t.Errorf("%q", f.Warnings)
	}
	if len(good.Warnings) != 0 || othersMayRead(path) && (len(open.Warnings) != 1 || !strings.Contains(open.Warnings[0], "can be read by others")) {
		t.Errorf("%q, %q", good.Warnings, open.Warnings)
	}
	if f, err := Load(filepath.Join(t.TempDir(), "none.toml")); err != nil || len(f.Profiles) != 0 {
		t.Errorf("no file: %v, %v", f, err)
	}
}

func TestPropertiesAreReadAsJavaDoes(t *testing.T) {
	props, err := parseJava("# no\n! no\n  a = b c \nd:e\nf g\nh=\\\n   i\\\n\tj\nk\\=l\\:m = n\\u0041\\n\\\\\no\n\\ p=q\r\nx=y\\\\\nz=1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range props {
		got = append(got, fmt.Sprintf("%d %q=%q", p.line, p.key, p.value.Reveal()))
	}
	want := []string{`3 "a"="b c "`, `4 "d"="e"`, `5 "f"="g"`, `6 "h"="ij"`, `9 "k=l:m"="nA\n\\"`, `10 "o"=""`, `11 " p"="q"`, `12 "x"="y\\"`, `13 "z"="1"`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if _, err := parseJava(`a=\u00g0`); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("a bad escape: %v", err)
	}
}

func TestPropertiesFiles(t *testing.T) {
	for name, tc := range map[string]struct{ text, want, fails, warns string }{
		"nothing of security":     {"bootstrap.servers=a:1,b:2\ngroup.id=x\nkey.serializer=y", `profile "c": PLAINTEXT a:1,b:2`, "", ""},
		"SASL over TLS":           {"bootstrap.servers=a\nsecurity.protocol=sasl_ssl\nsasl.mechanism=PLAIN\nsasl.jaas.config=a.b.PlainLoginModule required username='ada' password=" + word + ";", `profile "c": SASL_SSL PLAIN a:9092`, "", ""},
		"librdkafka's names":      {"metadata.broker.list=a:1\nsecurity.protocol=ssl\nssl.ca.location=/x\\y\nqueued.min.messages=1", `profile "c": SSL a:1`, "", ""},
		"Kerberos":                {"bootstrap.servers=a\nsecurity.protocol=SASL_PLAINTEXT", "", "does not speak GSSAPI", ""},
		"a protocol that is none": {"bootstrap.servers=a\nsecurity.protocol=TLS", "", "want PLAINTEXT, SSL", ""},
		"a misspelt protocol":     {"bootstrap.servers=a\nsecurity.protokol=SSL", "", "line 2: nobody knows the key security.protokol; near are security.protocol", ""},
		"a misspelt key":          {"bootstrap.servers=a\nacsk=all", `profile "c": PLAINTEXT a:9092`, "", "line 2: nobody knows the key acsk; near are acks"},
		"a secret by accident":    {"bootstrap.servers=a\nMIIEvQIBADANBg=\n", `profile "c": PLAINTEXT a:9092`, "", "line 2: this begins with no key"},
		"a revocation list":       {"bootstrap.servers=a\nsecurity.protocol=ssl\nssl.crl.location=/x", "", "does not connect as if it had not been asked for", ""},
		"a module that is none":   {"sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required password=\"" + word + "\";", "", "does not know this login module", ""},
		"a quote left open":       {"sasl.jaas.config=x.PlainLoginModule required password=\"" + word, "", "a quote is not closed", ""},
		"no flag":                 {"sasl.jaas.config=x.PlainLoginModule password=\"" + word + "\";", "", "want MODULE required", ""},
		"client credentials": {"bootstrap.servers=a\nsecurity.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=https://x/t\n" +
			"sasl.jaas.config=a.OAuthBearerLoginModule required clientId=\"c\" clientSecret=\"" + word + "\" scope=\"s\" extension_logicalCluster=\"l\";", `profile "c": SASL_SSL OAUTHBEARER a:9092`, "", ""},
		"MSK": {"bootstrap.servers=a\nsecurity.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName=\"x\";\n" +
			"sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler", `profile "c": SASL_SSL AWS_MSK_IAM a:9092`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := ReadProperties(path)
			if err == nil {
				err = p.check()
			}
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Fatalf("%v, want %q", err, tc.fails)
			}
			if err != nil && strings.Contains(err.Error(), word) {
				t.Errorf("the error tells the secret: %v", err)
			}
			if err == nil && p.String() != tc.want {
				t.Errorf("%v, want %s", p, tc.want)
			}
			if w := strings.Join(p.Warnings, "\n"); strings.Contains(w, "MIIEv") || !strings.Contains(w, tc.warns) || (w == "") != (tc.warns == "") {
				t.Errorf("warns %q, want %q", w, tc.warns)
			}
		})
	}
}

func TestKeyStores(t *testing.T) {
	file := func(name, store, key string) TLS {
		m := Material{Path: testdata(t, name)}
		if store != "" {
			m.Password = Credential{Text: Hide(store)}
		}
		o := TLS{Cert: m}
		if key != "" {
			o.Password = Credential{Text: Hide(key)}
		}
		return o
	}
	for name, tc := range map[string]struct {
		tls   TLS
		chain int
		fails string
	}{
		"JKS":                        {file("client.jks", "storeword", "keyword"), 2, ""},
		"JKS, wrong store":           {file("client.jks", "stoerword", "keyword"), 0, "password of the key store"},
		"JKS, wrong key":             {file("client.jks", "storeword", "kyeword"), 0, "password of the key in the key store"},
		"PKCS#12 of Java":            {file("client-java.p12", "storeword", ""), 2, ""},
		"PKCS#12 of OpenSSL":         {file("client-openssl.p12", "storeword", ""), 2, ""},
		"PKCS#12, wrong word":        {file("client-openssl.p12", "stoerword", ""), 0, "password of the key store"},
		"PKCS#12 of old":             {file("client-legacy.p12", "storeword", ""), 0, "encrypted as of old"},
		"a trust store":              {file("trust.jks", "", ""), 0, "no private key"},
		"PEM without a key":          {file("client.pem", "", ""), 0, "no private key"},
		"PEM with a key":             {file("server.pem", "", ""), 1, ""},
		"PEM, encrypted":             {TLS{Cert: Material{Path: testdata(t, "client.pem")}, Key: Material{Path: testdata(t, "client-encrypted.key")}, Password: Credential{Text: Hide("keyword")}}, 1, ""},
		"PEM, encrypted, wrong word": {TLS{Cert: Material{Path: testdata(t, "client.pem")}, Key: Material{Path: testdata(t, "client-encrypted.key")}, Password: Credential{Text: Hide("kyeword")}}, 0, "the private key cannot be read"},
		"PEM, encrypted, no word":    {TLS{Cert: Material{Path: testdata(t, "client.pem")}, Key: Material{Path: testdata(t, "client-encrypted.key")}}, 0, "there is no key_password"},
		"another one's key":          {TLS{Cert: Material{Path: testdata(t, "server.pem")}, Key: Material{Path: testdata(t, "client.key")}}, 0, "not the key of the certificate"},
		"no store":                   {file("../known.txt", "", ""), 0, "neither PEM, nor a JKS"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := tc.tls.certificate(t.Context())
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Fatalf("%v, want %q", err, tc.fails)
			}
			if len(c.Certificate) != tc.chain {
				t.Errorf("%d certificates, want %d", len(c.Certificate), tc.chain)
			}
		})
	}
	for _, name := range []string{"ca.pem", "trust.jks", "trust.p12"} {
		m := Material{Path: testdata(t, name), Password: Credential{Text: Hide("storeword")}}
		if pool, err := m.pool(t.Context()); err != nil || pool == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzStores(f *testing.F) {
	for _, name := range []string{"client.jks", "trust.jks", "client-java.p12", "trust.p12", "client-encrypted.key", "client.pem"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		_, _ = readJKS(b, "", "keyword") // it is to return, and no more
		_, _ = readPEM(b, "")
		if _, err := readPKCS12(b, ""); err == nil && len(b) == 0 {
			t.Error("nothing is no store")
		}
	})
}

func FuzzProperties(f *testing.F) {
	f.Add("a=b\\\nc\n\\u0041:d\n")
	f.Add("sasl.jaas.config=x.PlainLoginModule required username=\"a\\\"b\" password='c';")
	f.Fuzz(func(t *testing.T, s string) {
		props, err := parseJava(s)
		for _, p := range props {
			if p.line < 1 || p.line > strings.Count(s, "\n")+1 {
				t.Errorf("line %d of %q", p.line, s)
			}
		}
		if err != nil && strings.Count(s, `\u`) == 0 {
			t.Errorf("%q: %v", s, err)
		}
		_ = parseLines(s)
		_, _, _ = parseJAAS(s) // it is to return, and no more
	})
}

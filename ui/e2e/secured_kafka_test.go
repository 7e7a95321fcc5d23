//go:build linux || darwin

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfOtherClientsReachKafka gives a real broker with TLS and SASL the files that Java's clients and kcat read, and
// asks with the file's own client as well as with strata.
func TestFilesOfOtherClientsReachKafka(t *testing.T) {
	certs, err := filepath.Abs("../../store/profile/testdata")
	if err != nil {
		t.Fatal(err)
	}
	at := func() string { return fmt.Sprintf("127.0.0.1:%d", freePort(t)) }
	secure, token, mutual := at(), at(), at()
	others := ",SECURE://" + secure + ",TOKEN://" + token + ",MUTUAL://" + mutual
	const module = "org.apache.kafka.common.security."
	b := startKafka(t,
		"listeners=PLAINTEXT://{addr},CONTROLLER://{controller}"+others,
		"advertised.listeners=PLAINTEXT://{addr}"+others,
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,TOKEN:SASL_PLAINTEXT,MUTUAL:SSL",
		"listener.name.mutual.ssl.client.auth=required",
		"ssl.keystore.type=PEM", "ssl.keystore.location="+certs+"/server.pem", "ssl.truststore.type=PEM", "ssl.truststore.location="+certs+"/ca.pem",
		"sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512,OAUTHBEARER",
		"listener.name.secure.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512",
		"listener.name.token.sasl.enabled.mechanisms=OAUTHBEARER",
		"listener.name.secure.plain.sasl.jaas.config="+module+`plain.PlainLoginModule required user_ada="correct-horse";`,
		"listener.name.secure.scram-sha-512.sasl.jaas.config="+module+"scram.ScramLoginModule required;",
		"listener.name.token.oauthbearer.sasl.jaas.config="+module+`oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";`,
	)
	b.tool("", "configs", "--bootstrap-server", b.addr, "--alter", "--add-config", "SCRAM-SHA-512=[password=correct-horse]", "--entity-type", "users", "--entity-name", "bob")
	b.tool("", "topics", "--bootstrap-server", b.addr, "--create", "--topic", "orders")
	w := newWorld(t)
	for name, tc := range map[string]struct{ addr, file, text string }{
		"Java, PLAIN over TLS": {secure, "client.properties", `security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config=` + module + `plain.PlainLoginModule required \
    username="ada" \
    password="correct-horse";
ssl.truststore.location=` + certs + `/trust.jks
ssl.truststore.password=storeword
`},
		"Java, SCRAM over TLS": {secure, "client.properties", `security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=` + module + `scram.ScramLoginModule required username="bob" password="correct-horse";
ssl.truststore.location=` + certs + `/ca.pem
ssl.truststore.type=PEM
`},
		"Java, mTLS": {mutual, "client.properties", `security.protocol=SSL
ssl.truststore.location=` + certs + `/trust.p12
ssl.truststore.type=PKCS12
ssl.truststore.password=storeword
ssl.keystore.location=` + certs + `/client.jks
ssl.keystore.password=storeword
ssl.key.password=keyword
`},
		"Java, a token": {token, "client.properties", `security.protocol=SASL_PLAINTEXT
sasl.mechanism=OAUTHBEARER
sasl.jaas.config=` + module + `oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="ada";
`},
		"kcat, PLAIN over TLS": {secure, "kcat.conf", `# for kcat -F; SCRAM by librdkafka before 2.8 is refused by brokers that look at the nonce
security.protocol=sasl_ssl
sasl.mechanisms=PLAIN
sasl.username=ada
sasl.password=correct-horse
ssl.ca.location=` + certs + `/ca.pem
`},
		"kcat, mTLS": {mutual, "kcat.conf", `security.protocol=ssl
ssl.ca.location=` + certs + `/ca.pem
ssl.keystore.location=` + certs + `/client-openssl.p12
ssl.keystore.password=storeword
`},
		"kcat, a token": {token, "kcat.conf", `security.protocol=sasl_plaintext
sasl.mechanisms=OAUTHBEARER
enable.sasl.oauthbearer.unsecure.jwt=true
sasl.oauthbearer.config=principal=ada
`},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{t: t, home: w.home, config: w.config, data: w.data}
			path := filepath.Join(t.TempDir(), tc.file)
			if err := os.WriteFile(path, []byte("bootstrap.servers="+tc.addr+"\n"+tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var theirs string
			if kcat, err := exec.LookPath("kcat"); tc.file == "client.properties" {
				theirs = b.tool("", "topics", "--bootstrap-server", tc.addr, "--command-config", path, "--list")
			} else if err == nil {
				out, err := exec.Command(kcat, "-F", path, "-L").CombinedOutput()
				if theirs = string(out); err != nil {
					t.Errorf("kcat: %v\n%s", err, out)
				}
			} else {
				theirs = "orders"
			}
			if !strings.Contains(theirs, "orders") {
				t.Errorf("its own client says %q", theirs)
			}
			if got := field(w.run(0, "", "topics", "--json", "-s", path).objects(t), "name"); strings.Join(got, " ") != "orders" {
				t.Errorf("topics %v", got)
			}
			if r := w.run(0, "", "profile", "test", path); !strings.Contains(r.out, "ok    listener     "+tc.addr) || strings.Contains(r.out+r.err, "correct-horse") {
				t.Errorf("%s%s", r.out, r.err)
			}
		})
	}
}

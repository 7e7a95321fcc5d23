package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"hash"
	"strings"

	"github.com/strata-kafka/strata/groups"
)

// conversation is the server's side of SCRAM (RFC 5802, RFC 7677), without channel binding.
//
// It is our own because of one client: librdkafka before 2.6.1 sends its nonce twice in the second message. Libraries do
// not take that, nor does Kafka 4.4; here it is let in, because the proof is over the message as it was sent.
type conversation struct {
	hash   func() hash.Hash
	cred   groups.Credential
	user   string
	header string // the client's gs2 header, base64
	bare   string // the client's first message behind it
	nonce  string // both sides'
	first  string // what was answered to it
	done   bool   // the client is who it says
}

// scramHash returns the hash of a mechanism.
func scramHash(mechanism string) func() hash.Hash {
	if mechanism == scramSHA512 {
		return sha512.New
	}
	return sha256.New
}

// step takes a message of the client and returns the answer. Errors are errAuth, or what kept users from being looked up.
func (c *conversation) step(o *SASL, mechanism, message string) (string, error) {
	if c.first == "" {
		return c.begin(o, mechanism, message)
	}
	return c.end(message)
}

// begin takes "n,,n=user,r=nonce".
func (c *conversation) begin(o *SASL, mechanism, message string) (string, error) {
	parts := strings.SplitN(message, ",", 3)
	if len(parts) != 3 || parts[0] != "n" && parts[0] != "y" {
		return "", errAuth // channel binding is not offered
	}
	c.bare = parts[2]
	c.header = base64.StdEncoding.EncodeToString([]byte(parts[0] + "," + parts[1] + ","))
	name, ok := strings.CutPrefix(attribute(c.bare, 0), "n=")
	client, fresh := strings.CutPrefix(attribute(c.bare, 1), "r=")
	if !ok || !fresh || client == "" {
		return "", errAuth
	}
	c.user = strings.NewReplacer("=2C", ",", "=3D", "=").Replace(name)
	if by, given := strings.CutPrefix(parts[1], "a="); given && by != name {
		return "", errAuth // nobody acts for another here
	}
	var err error
	if c.cred, ok, err = o.Users.Credential(c.user, mechanism); err != nil {
		return "", err
	}
	if !ok {
		return "", errAuth
	}
	c.hash = scramHash(mechanism)
	c.nonce = client + rand.Text()
	c.first = fmt.Sprintf("r=%s,s=%s,i=%d", c.nonce, base64.StdEncoding.EncodeToString(c.cred.Salt), c.cred.Iterations)
	return c.first, nil
}

// end takes "c=header,r=nonce,p=proof".
func (c *conversation) end(message string) (string, error) {
	without, proof, ok := strings.Cut(message, ",p=")
	nonce, fresh := strings.CutPrefix(attribute(without, 1), "r=")
	if !ok || !fresh || attribute(without, 0) != "c="+c.header || !strings.HasSuffix(nonce, c.nonce) {
		return "", errAuth
	}
	key, err := base64.StdEncoding.DecodeString(proof)
	if err != nil {
		return "", errAuth
	}
	all := c.bare + "," + c.first + "," + without
	signature := c.mac(c.cred.StoredKey, all)
	if len(key) != len(signature) {
		return "", errAuth
	}
	subtle.XORBytes(key, key, signature)
	h := c.hash()
	h.Write(key) // a hash never fails
	if subtle.ConstantTimeCompare(h.Sum(nil), c.cred.StoredKey) != 1 {
		return "", errAuth
	}
	c.done = true
	return "v=" + base64.StdEncoding.EncodeToString(c.mac(c.cred.ServerKey, all)), nil
}

func (c *conversation) mac(key []byte, text string) []byte {
	m := hmac.New(c.hash, key)
	m.Write([]byte(text)) // a hash never fails
	return m.Sum(nil)
}

// attribute returns the i-th attribute of a message, "" where there are fewer.
func attribute(message string, i int) string {
	parts := strings.SplitN(message, ",", i+2)
	if i >= len(parts) {
		return ""
	}
	return parts[i]
}

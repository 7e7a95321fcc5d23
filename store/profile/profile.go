package profile

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// Profile says how a cluster is reached. It can be printed: secrets are not in what is printed.
type Profile struct {
	Name     string   // "" for one that has none
	From     string   // the file that it is from; "" for none
	Brokers  []string // HOST:PORT
	ClientID string   // client.id; "" for strata's own
	TLS      *TLS     // nil: not encrypted
	SASL     *SASL    // nil: nobody says who he is
	Registry *Registry
	ReadOnly bool
	Colour   string // of Colours; "" for none
	Warnings []string
	Err      error // why it cannot be used; nil where it can, as far as reading it tells
}

// TLS says how connections are encrypted.
type TLS struct {
	CA         Material // whom to trust; none for whom the system trusts
	Cert, Key  Material // who the client is; none for nobody. Key may be in Cert
	Password   Credential
	ServerName string // the name that the broker's certificate is to have; "" for the host that is dialled
	Insecure   bool   // the broker's certificate is not looked at
	AnyName    bool   // the broker's certificate may be for any name
}

// Material is what a file holds, or was written in its place.
type Material struct {
	Path     string
	Text     Secret
	Password Credential // of a key store
}

// given reports whether there is any.
func (m Material) given() bool { return m.Path != "" || m.Text.Known() }

// SASL says how a client tells who it is.
type SASL struct {
	Mechanism  string // of Mechanisms
	User       string
	Password   Credential
	Token      Credential // a token, or AWS credentials
	TokenURL   string     // where client credentials are turned into a token
	ClientID   string
	Secret     Credential
	Scope      string
	Extensions map[string]string
	Unsecured  string // the subject of a token that nobody has signed; "" for no such token
}

// Registry says where a schema registry is.
type Registry struct {
	URL      string
	User     string
	Password Credential
	TLS      *TLS
}

// Mechanisms returns the mechanisms of SASL that are spoken.
func Mechanisms() []string {
	return []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM"}
}

// Colours returns the colours that a profile may have.
func Colours() []string { return []string{"red", "yellow", "green", "blue", "magenta", "cyan"} }

// String says what can be shown to anybody.
func (p Profile) String() string {
	return fmt.Sprintf("profile %q: %s %s", p.Name, p.Security(), strings.Join(p.Brokers, ","))
}

// Security says in one word how it is connected, as Kafka names it: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, and the
// mechanism.
func (p Profile) Security() string {
	switch {
	case p.SASL != nil && p.TLS != nil:
		return "SASL_SSL " + p.SASL.Mechanism
	case p.SASL != nil:
		return "SASL_PLAINTEXT " + p.SASL.Mechanism
	case p.TLS != nil && p.TLS.Cert.given():
		return "SSL with a client's certificate"
	case p.TLS != nil:
		return "SSL"
	}
	return "PLAINTEXT"
}

// Who says who the client is there; "" where nobody asks, or where it is not known before a token is there.
func (p Profile) Who() string {
	switch {
	case p.SASL == nil:
		return ""
	case p.SASL.User != "":
		return p.SASL.User
	case p.SASL.ClientID != "":
		return p.SASL.ClientID
	}
	return p.SASL.Unsecured
}

// RegistryURL says where the schema registry is, without a user in it; "" for none.
func (p Profile) RegistryURL() string {
	if p.Registry == nil {
		return ""
	}
	where, _, _, err := splitURL(p.Registry.URL)
	if err != nil {
		return ""
	}
	return where
}

// Bare returns the profile of addresses alone: not encrypted, nobody says who he is. Errors wrap model.ErrInvalid.
func Bare(addresses []string) (Profile, error) {
	p := Profile{}
	for _, a := range addresses {
		a, err := address(a)
		if err != nil {
			return p, err
		}
		p.Brokers = append(p.Brokers, a)
	}
	return p, nil
}

// addresses splits what is written with commas.
func addresses(list string) ([]string, error) {
	var out []string
	for a := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(a) == "" {
			continue
		}
		a, err := address(a)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// address checks HOST:PORT. A protocol before it, as librdkafka takes one, is left out; without a port it is 9092.
func address(word string) (string, error) {
	a := strings.TrimSpace(word)
	if proto, rest, ok := strings.Cut(a, "://"); ok && strings.Trim(proto, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") == "" {
		a = strings.TrimSuffix(rest, "/")
	}
	if strings.Contains(a, "@") {
		return "", fmt.Errorf("%w broker: an address has no user in it; want HOST:PORT, and the user in the profile's sasl", model.ErrInvalid)
	}
	host, port, err := net.SplitHostPort(a)
	if err != nil && a != "" && !strings.ContainsAny(a, ":[]/ ") {
		host, port, err = a, "9092", nil
	}
	n, perr := strconv.ParseUint(port, 10, 16)
	if err != nil || perr != nil || host == "" || n == 0 || strings.ContainsAny(host, "/\\ ") {
		return "", fmt.Errorf("%w broker %q: want HOST:PORT, as kafka-1:9092", model.ErrInvalid, word)
	}
	return net.JoinHostPort(host, port), nil
}

// check looks for what is wrong in itself. Errors wrap model.ErrInvalid.
func (p *Profile) check() error {
	if len(p.Brokers) == 0 {
		return fmt.Errorf("%w: it names no brokers", model.ErrInvalid)
	}
	if p.Colour != "" && !slices.Contains(Colours(), p.Colour) {
		return fmt.Errorf("%w colour %q: want one of %s", model.ErrInvalid, p.Colour, strings.Join(Colours(), ", "))
	}
	if p.TLS != nil && p.TLS.Key.given() && !p.TLS.Cert.given() {
		return fmt.Errorf("%w tls: there is a key and no cert", model.ErrInvalid)
	}
	if p.Registry != nil && p.Registry.URL == "" {
		return fmt.Errorf("%w registry: it has no url", model.ErrInvalid)
	}
	if p.SASL == nil {
		return nil
	}
	return p.SASL.check()
}

func (s *SASL) check() error {
	want := func(what string) error {
		return fmt.Errorf("%w sasl: %s needs %s", model.ErrInvalid, s.Mechanism, what)
	}
	switch s.Mechanism {
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
		if s.User == "" {
			return want("a user")
		}
		if !s.Password.Given() {
			return want("a password: password_env, password_file or password_command")
		}
	case "OAUTHBEARER":
		ways := 0
		for _, is := range []bool{s.Token.Given(), s.TokenURL != "", s.Unsecured != ""} {
			if is {
				ways++
			}
		}
		if ways != 1 {
			return want("either token_command, or token_url with client_id and a secret")
		}
		if s.TokenURL != "" && (s.ClientID == "" || !s.Secret.Given()) {
			return want("client_id and a secret (secret_env, secret_file or secret_command) beside its token_url")
		}
	case "AWS_MSK_IAM":
	case "":
		return fmt.Errorf("%w sasl: it has no mechanism; want one of %s", model.ErrInvalid, strings.Join(Mechanisms(), ", "))
	default:
		return fmt.Errorf("%w sasl mechanism %q: want one of %s", model.ErrInvalid, s.Mechanism, strings.Join(Mechanisms(), ", "))
	}
	return nil
}

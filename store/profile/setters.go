package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// reader gathers what a properties file says, until all of it is known.
type reader struct {
	p       *Profile
	dir     string
	setters map[string]func(r *reader, v Secret) error

	protocol string
	sasl     SASL
	tls      TLS
	secret   bool // there is one in the file
}

// setters returns what each key of Java's and of librdkafka's clients sets.
func setters() map[string]func(*reader, Secret) error {
	text := func(to func(*reader) *string) func(*reader, Secret) error {
		return func(r *reader, v Secret) error {
			*to(r) = strings.TrimSpace(v.Reveal())
			return nil
		}
	}
	hidden := func(to func(*reader) *Credential) func(*reader, Secret) error {
		return func(r *reader, v Secret) error {
			r.secret = r.secret || v.Known()
			*to(r) = Credential{Text: v}
			return nil
		}
	}
	path := func(to func(*reader) *Material) func(*reader, Secret) error {
		return func(r *reader, v Secret) error {
			to(r).Path = r.file(v.Reveal())
			return nil
		}
	}
	pem := func(to func(*reader) *Material) func(*reader, Secret) error {
		return func(r *reader, v Secret) error {
			to(r).Text = Hide(strings.ReplaceAll(v.Reveal(), `\n`, "\n"))
			return nil
		}
	}
	ca, cert, key := func(r *reader) *Material { return &r.tls.CA }, func(r *reader) *Material { return &r.tls.Cert }, func(r *reader) *Material { return &r.tls.Key }
	mechanism := text(func(r *reader) *string { return &r.sasl.Mechanism })
	user := text(func(r *reader) *string { return &r.sasl.User })
	clientID := text(func(r *reader) *string { return &r.sasl.ClientID })
	clientSecret := hidden(func(r *reader) *Credential { return &r.sasl.Secret })
	none := func(*reader, Secret) error { return nil }
	always := func(set func(*reader, Secret)) func(*reader, Secret) error {
		return func(r *reader, v Secret) error {
			set(r, v)
			return nil
		}
	}
	return map[string]func(*reader, Secret) error{
		"bootstrap.servers":    setBrokers,
		"metadata.broker.list": setBrokers,
		"client.id":            text(func(r *reader) *string { return &r.p.ClientID }),
		"security.protocol":    text(func(r *reader) *string { return &r.protocol }),
		"sasl.mechanism":       mechanism,
		"sasl.mechanisms":      mechanism,
		"sasl.username":        user,
		"sasl.password":        hidden(func(r *reader) *Credential { return &r.sasl.Password }),
		"sasl.jaas.config":     setJAAS,
		// What these name is code of Java's; what it does is done here by the mechanism.
		"sasl.login.callback.handler.class":                 none,
		"sasl.client.callback.handler.class":                none,
		"enable.sasl.oauthbearer.unsecure.jwt":              setUnsecured,
		"sasl.oauthbearer.config":                           always(setPrincipal),
		"sasl.oauthbearer.method":                           setMethod,
		"sasl.oauthbearer.client.id":                        clientID,
		"sasl.oauthbearer.client.credentials.client.id":     clientID,
		"sasl.oauthbearer.client.secret":                    clientSecret,
		"sasl.oauthbearer.client.credentials.client.secret": clientSecret,
		"sasl.oauthbearer.scope":                            text(func(r *reader) *string { return &r.sasl.Scope }),
		"sasl.oauthbearer.extensions":                       setExtensions,
		"sasl.oauthbearer.token.endpoint.url":               text(func(r *reader) *string { return &r.sasl.TokenURL }),
		"ssl.ca.location":                                   path(ca),
		"ssl.truststore.location":                           path(ca),
		"ssl.ca.pem":                                        pem(ca),
		"ssl.truststore.certificates":                       pem(ca),
		"ssl.truststore.password":                           hidden(func(r *reader) *Credential { return &r.tls.CA.Password }),
		"ssl.truststore.type":                               none, // the file says it itself
		"ssl.keystore.type":                                 none,
		"ssl.certificate.location":                          path(cert),
		"ssl.keystore.location":                             path(cert),
		"ssl.certificate.pem":                               pem(cert),
		"ssl.keystore.certificate.chain":                    pem(cert),
		"ssl.keystore.password":                             hidden(func(r *reader) *Credential { return &r.tls.Cert.Password }),
		"ssl.key.location":                                  path(key),
		"ssl.key.pem":                                       pem(key),
		"ssl.keystore.key":                                  pem(key),
		"ssl.key.password":                                  hidden(func(r *reader) *Credential { return &r.tls.Password }),
		"ssl.endpoint.identification.algorithm":             setNames,
		"enable.ssl.certificate.verification":               setVerify,
		"ssl.crl.location":                                  unheeded,
		"ssl.engine.location":                               unheeded,
		"ssl.engine.id":                                     unheeded,
		"ssl.engine.factory.class":                          unheeded,
		"schema.registry.url":                               always(setRegistry),
		"basic.auth.user.info":                              always(setRegistryUser),
		"schema.registry.basic.auth.user.info":              always(setRegistryUser),
	}
}

// file makes a path one of this process: what is relative begins where strata was started, as for every client, or else
// beside the file that names it.
func (r *reader) file(path string) string {
	path = strings.TrimSpace(path)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return place(path, r.dir)
}

func setBrokers(r *reader, v Secret) (err error) {
	r.p.Brokers, err = addresses(v.Reveal())
	return err
}

func setNames(r *reader, v Secret) error {
	switch s := strings.ToLower(strings.TrimSpace(v.Reveal())); s {
	case "", "none":
		r.tls.AnyName = true
	case "https":
	default:
		return fmt.Errorf("%w: want https, or nothing", model.ErrInvalid)
	}
	return nil
}

func setVerify(r *reader, v Secret) error {
	yes, err := strconv.ParseBool(strings.TrimSpace(v.Reveal()))
	if err != nil {
		return fmt.Errorf("%w: want true or false", model.ErrInvalid)
	}
	r.tls.Insecure = !yes
	return nil
}

func setUnsecured(r *reader, v Secret) error {
	yes, err := strconv.ParseBool(strings.TrimSpace(v.Reveal()))
	if err != nil {
		return fmt.Errorf("%w: want true or false", model.ErrInvalid)
	}
	if yes && r.sasl.Unsecured == "" {
		r.sasl.Unsecured = "strata"
	}
	return nil
}

func setPrincipal(r *reader, v Secret) {
	for _, f := range strings.Fields(v.Reveal()) {
		if k, s, ok := strings.Cut(f, "="); ok && k == "principal" && s != "" {
			r.sasl.Unsecured = s
		}
	}
}

func setExtensions(r *reader, v Secret) error {
	for kv := range strings.SplitSeq(v.Reveal(), ",") {
		k, s, ok := strings.Cut(strings.TrimSpace(kv), "=")
		if !ok {
			return fmt.Errorf("%w: want NAME=VALUE, with commas between", model.ErrInvalid)
		}
		r.extend(k, s)
	}
	return nil
}

func (r *reader) extend(k, v string) {
	if r.sasl.Extensions == nil {
		r.sasl.Extensions = map[string]string{}
	}
	r.sasl.Extensions[k] = v
}

func unheeded(*reader, Secret) error {
	return fmt.Errorf("%w: strata cannot do this, and does not connect as if it had not been asked for", model.ErrInvalid)
}

func setRegistry(r *reader, v Secret) {
	if r.p.Registry == nil {
		r.p.Registry = &Registry{}
	}
	r.p.Registry.URL = strings.TrimSpace(v.Reveal())
}

func setRegistryUser(r *reader, v Secret) {
	user, password, _ := strings.Cut(v.Reveal(), ":")
	if r.p.Registry == nil {
		r.p.Registry = &Registry{}
	}
	r.p.Registry.User, r.p.Registry.Password = user, Credential{Text: Hide(password)}
	r.secret = true
}

// setMethod takes how librdkafka gets tokens: default is by whoever calls it, which here is a token that nobody has signed.
func setMethod(_ *reader, v Secret) error {
	switch strings.ToLower(strings.TrimSpace(v.Reveal())) {
	case "default", "oidc":
		return nil
	}
	return fmt.Errorf("%w: want default or oidc", model.ErrInvalid)
}

// finish puts together what was gathered.
func (r *reader) finish() error {
	switch proto := strings.ToUpper(r.protocol); proto {
	case "", "PLAINTEXT":
	case "SSL":
		r.p.TLS = &r.tls
	case "SASL_PLAINTEXT":
		r.p.SASL = &r.sasl
	case "SASL_SSL":
		r.p.TLS, r.p.SASL = &r.tls, &r.sasl
	default:
		return fmt.Errorf("%w security.protocol %q: want PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", model.ErrInvalid, r.protocol)
	}
	if r.p.SASL != nil {
		s := r.p.SASL
		s.Mechanism = strings.ToUpper(s.Mechanism)
		if s.Mechanism == "" || s.Mechanism == "GSSAPI" {
			return fmt.Errorf("%w sasl.mechanism: strata does not speak GSSAPI (Kerberos), which is the default; want one of %s", model.ErrInvalid, strings.Join(Mechanisms(), ", "))
		}
		if s.TokenURL != "" {
			s.Unsecured = ""
		}
		if s.Mechanism != "OAUTHBEARER" {
			s.Unsecured = ""
		}
	}
	if r.p.Registry != nil && r.p.Registry.URL == "" {
		r.p.Registry = nil
	}
	return nil
}

// setJAAS takes the login module's options: NAME required key="value" …;
func setJAAS(r *reader, v Secret) error {
	module, options, err := parseJAAS(v.Reveal())
	if err != nil {
		return err
	}
	r.secret = true
	switch {
	case strings.HasSuffix(module, "PlainLoginModule"), strings.HasSuffix(module, "ScramLoginModule"):
		r.sasl.User, r.sasl.Password = options["username"].Reveal(), Credential{Text: options["password"]}
	case strings.HasSuffix(module, "OAuthBearerLoginModule"):
		for k, o := range options {
			switch name, ext := strings.CutPrefix(k, "extension_"); {
			case ext:
				r.extend(name, o.Reveal())
			case k == "clientId":
				r.sasl.ClientID = o.Reveal()
			case k == "clientSecret":
				r.sasl.Secret = Credential{Text: o}
			case k == "scope":
				r.sasl.Scope = o.Reveal()
			case k == "unsecuredLoginStringClaim_sub":
				r.sasl.Unsecured = o.Reveal()
			}
		}
	case strings.HasSuffix(module, "IAMLoginModule"):
		r.secret = false
		if o := options["awsProfileName"]; o.Known() {
			r.sasl.Token = awsExport(o.Reveal())
		}
	default:
		return fmt.Errorf("%w: strata does not know this login module; want one of PlainLoginModule, ScramLoginModule, OAuthBearerLoginModule, IAMLoginModule", model.ErrInvalid)
	}
	return nil
}

var errJAAS = errors.New(`want MODULE required NAME="VALUE" …;`)

// parseJAAS splits a login module's line. Nothing of it is in the error.
func parseJAAS(s string) (module string, options map[string]Secret, err error) {
	options = map[string]Secret{}
	module, s, _ = strings.Cut(strings.TrimSpace(s), " ")
	flag, s, _ := strings.Cut(strings.TrimSpace(s), " ")
	switch strings.TrimSuffix(flag, ";") {
	case "required", "requisite", "sufficient", "optional":
	default:
		return "", nil, fmt.Errorf("%w: %w", model.ErrInvalid, errJAAS)
	}
	for s = strings.TrimSpace(s); s != "" && s != ";"; s = strings.TrimSpace(s) {
		k, rest, ok := strings.Cut(s, "=")
		rest = strings.TrimLeft(rest, " \t\n")
		if !ok || rest == "" {
			return "", nil, fmt.Errorf("%w: %w", model.ErrInvalid, errJAAS)
		}
		var v string
		if q := rest[0]; q == '"' || q == '\'' {
			if v, rest, ok = quoted(rest[1:], q); !ok {
				return "", nil, fmt.Errorf("%w: a quote is not closed: %w", model.ErrInvalid, errJAAS)
			}
		} else {
			end := strings.IndexAny(rest, " \t\n;")
			if end < 0 {
				end = len(rest)
			}
			v, rest = rest[:end], rest[end:]
		}
		options[strings.TrimSpace(k)] = Hide(v)
		s = rest
	}
	return module, options, nil
}

// quoted reads to the closing quote; a backslash escapes.
func quoted(s string, q byte) (v, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == q:
			return b.String(), s[i+1:], true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

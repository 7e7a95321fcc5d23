package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/strata-kafka/strata/model"
)

// maxFile bounds a settings or properties file, bytes.
const maxFile = 1 << 20

// File is what a settings file says of clusters.
type File struct {
	Path     string
	Profiles []Profile // by name; those that cannot be used too, with Err
	Warnings []string
}

// The settings file as TOML has it. What else is in it is somebody else's.
type (
	fileTOML struct {
		Profile map[string]profileTOML `toml:"profile"`
	}
	profileTOML struct {
		Brokers    any           `toml:"brokers"` // a list, or one string with commas
		Properties string        `toml:"properties"`
		ClientID   string        `toml:"client_id"`
		ReadOnly   bool          `toml:"read_only"`
		Colour     string        `toml:"colour"`
		Color      string        `toml:"color"`
		TLS        *tlsTOML      `toml:"tls"`
		SASL       *saslTOML     `toml:"sasl"`
		Registry   *registryTOML `toml:"registry"`
	}
	tlsTOML struct {
		CA              string `toml:"ca"`
		Cert            string `toml:"cert"`
		Key             string `toml:"key"`
		PasswordEnv     string `toml:"key_password_env"`
		PasswordFile    string `toml:"key_password_file"`
		PasswordCommand any    `toml:"key_password_command"`
		ServerName      string `toml:"server_name"`
		Insecure        bool   `toml:"insecure"`
	}
	saslTOML struct {
		Mechanism       string            `toml:"mechanism"`
		User            string            `toml:"user"`
		Password        string            `toml:"password"`
		PasswordEnv     string            `toml:"password_env"`
		PasswordFile    string            `toml:"password_file"`
		PasswordCommand any               `toml:"password_command"`
		TokenCommand    any               `toml:"token_command"`
		TokenURL        string            `toml:"token_url"`
		ClientID        string            `toml:"client_id"`
		Secret          string            `toml:"secret"`
		SecretEnv       string            `toml:"secret_env"`
		SecretFile      string            `toml:"secret_file"`
		SecretCommand   any               `toml:"secret_command"`
		Scope           string            `toml:"scope"`
		Extensions      map[string]string `toml:"extensions"`
	}
	registryTOML struct {
		URL             string `toml:"url"`
		User            string `toml:"user"`
		Password        string `toml:"password"`
		PasswordEnv     string `toml:"password_env"`
		PasswordFile    string `toml:"password_file"`
		PasswordCommand any    `toml:"password_command"`
		CA              string `toml:"ca"`
	}
)

// settingsKeys are the keys of the settings file that are not of profiles.
func settingsKeys() []string { return []string{"data", "tz", "theme", "ascii", "listen", "profile"} }

// Load reads the profiles of a settings file; one that is not there has none. What is wrong with one profile is that one's
// Err, so that the others can be used.
func Load(path string) (File, error) {
	f := File{Path: path}
	b, err := readSmall(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("settings: %w", err)
	}
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	var in fileTOML
	err = d.Decode(&in)
	var odd *toml.StrictMissingError
	unknown := map[string]error{}
	switch {
	case errors.As(err, &odd):
		f.strangers(odd, unknown)
	case err != nil:
		return f, fmt.Errorf("settings %s: %w", path, syntax(err))
	}
	readable := othersMayRead(path)
	for name, t := range in.Profile {
		p := t.profile(name, path)
		if err := unknown[name]; err != nil {
			p.Err = errors.Join(err, p.Err)
		}
		if readable && t.secretInside() {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s holds a secret of profile %s and can be read by others: chmod 600 it, or name the secret by password_env, password_file or password_command", path, name))
		}
		f.Profiles = append(f.Profiles, p)
	}
	slices.SortFunc(f.Profiles, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	return f, nil
}

// syntax says where TOML is wrong. The line itself is not shown: it may hold a secret.
func syntax(err error) error {
	var de *toml.DecodeError
	if !errors.As(err, &de) {
		return fmt.Errorf("%w TOML", model.ErrInvalid)
	}
	row, col := de.Position()
	if k := de.Key(); len(k) > 0 {
		return fmt.Errorf("%w: line %d, column %d: %s has a value of another kind than it takes", model.ErrInvalid, row, col, strings.Join(k, "."))
	}
	return fmt.Errorf("%w: line %d, column %d: this is no TOML", model.ErrInvalid, row, col)
}

// strangers tells of keys that nobody knows: those of a profile are its error, the others a warning.
func (f *File) strangers(odd *toml.StrictMissingError, unknown map[string]error) {
	for i := range odd.Errors {
		e := &odd.Errors[i]
		key := e.Key()
		row, _ := e.Position()
		if len(key) == 0 {
			continue
		}
		if key[0] != "profile" || len(key) < 3 {
			if !slices.Contains(settingsKeys(), key[0]) {
				f.Warnings = append(f.Warnings, fmt.Sprintf("%s, line %d: nobody knows the key %s%s", f.Path, row, key[0], near(key[0], settingsKeys())))
			}
			continue
		}
		last := key[len(key)-1] // without its table, where that is within braces
		err := fmt.Errorf("%w: line %d: nobody knows the key %s%s", model.ErrInvalid, row, strings.Join(key[2:], "."), near(last, keysAt(key[2:len(key)-1])))
		unknown[key[1]] = errors.Join(unknown[key[1]], err)
	}
}

// near names the keys that resemble one.
func near(word string, names []string) string {
	if ns := model.Nearest(word, names); len(ns) > 0 {
		return "; near are " + strings.Join(ns, ", ")
	}
	return "; known are " + strings.Join(names, ", ")
}

// keysAt returns the keys of a table below a profile; of the profile itself, those of all its tables.
func keysAt(path []string) []string {
	if len(path) == 0 {
		all := tableKeys(nil)
		for _, table := range []string{"tls", "sasl", "registry"} {
			all = append(all, tableKeys([]string{table})...)
		}
		return all
	}
	return tableKeys(path)
}

func tableKeys(path []string) []string {
	t := reflect.TypeFor[profileTOML]()
	for _, part := range path {
		next := false
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("toml") == part && f.Type.Kind() == reflect.Pointer {
				t, next = f.Type.Elem(), true
				break
			}
		}
		if !next {
			return nil
		}
	}
	var out []string
	for i := range t.NumField() {
		if k := t.Field(i).Tag.Get("toml"); k != "color" {
			out = append(out, k)
		}
	}
	return out
}

func (t *profileTOML) secretInside() bool {
	return t.SASL != nil && (t.SASL.Password != "" || t.SASL.Secret != "") || t.Registry != nil && (t.Registry.Password != "" || strings.Contains(t.Registry.URL, "@"))
}

// profile makes a profile of a table. What is wrong with it is its Err.
func (t *profileTOML) profile(name, from string) Profile {
	p := Profile{Name: name, From: from}
	fail := func(err error) { p.Err = errors.Join(p.Err, err) }
	dir := filepath.Dir(from)
	if t.Properties != "" {
		base, err := ReadProperties(place(t.Properties, dir))
		if err != nil {
			fail(err)
		}
		p = base
		p.Name, p.From = name, from
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" || name == "" {
		fail(fmt.Errorf("%w name %q: a profile's name has letters, digits, dots, dashes and underscores", model.ErrInvalid, name))
	}
	bs, err := brokers(t.Brokers)
	fail(err)
	if len(bs) > 0 {
		p.Brokers = bs
	}
	p.ReadOnly = p.ReadOnly || t.ReadOnly
	fill(&p.ClientID, t.ClientID)
	fill(&p.Colour, t.Colour)
	fill(&p.Colour, t.Color)
	if t.TLS != nil {
		p.TLS, err = t.TLS.tls(p.TLS, dir)
		fail(err)
	}
	if t.SASL != nil {
		p.SASL, err = t.SASL.sasl(p.SASL, dir)
		fail(err)
	}
	if t.Registry != nil {
		p.Registry, err = t.Registry.registry(dir)
		fail(err)
	}
	if p.Err == nil {
		fail(p.check())
	}
	return p
}

func brokers(v any) ([]string, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return addresses(v)
	case []any:
		var all []string
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return nil, fmt.Errorf("%w brokers: want a list of strings", model.ErrInvalid)
			}
			all = append(all, s)
		}
		return addresses(strings.Join(all, ","))
	}
	return nil, fmt.Errorf("%w brokers: want a list of HOST:PORT", model.ErrInvalid)
}

// fill sets what a value says, where it says something.
func fill(to *string, v string) {
	if v != "" {
		*to = v
	}
}

func (t *tlsTOML) tls(base *TLS, dir string) (*TLS, error) {
	o := TLS{}
	if base != nil {
		o = *base
	}
	for to, v := range map[*Material]string{&o.CA: t.CA, &o.Cert: t.Cert, &o.Key: t.Key} {
		if v != "" {
			*to = Material{Path: place(v, dir)}
		}
	}
	fill(&o.ServerName, t.ServerName)
	o.Insecure = o.Insecure || t.Insecure
	c, err := credential("tls.key_password", "", t.PasswordEnv, place(t.PasswordFile, dir), t.PasswordCommand)
	if c.Given() {
		o.Password = c
	}
	return &o, err
}

func (t *saslTOML) sasl(base *SASL, dir string) (*SASL, error) {
	o := SASL{}
	if base != nil {
		o = *base
	}
	fill(&o.Mechanism, strings.ToUpper(t.Mechanism))
	fill(&o.User, t.User)
	fill(&o.TokenURL, t.TokenURL)
	fill(&o.ClientID, t.ClientID)
	fill(&o.Scope, t.Scope)
	if t.Extensions != nil {
		o.Extensions = t.Extensions
	}
	if t.TokenURL != "" || t.TokenCommand != nil {
		o.Unsecured = ""
	}
	password, err1 := credential("sasl.password", t.Password, t.PasswordEnv, place(t.PasswordFile, dir), t.PasswordCommand)
	secret, err2 := credential("sasl.secret", t.Secret, t.SecretEnv, place(t.SecretFile, dir), t.SecretCommand)
	token, err3 := credential("sasl.token", "", "", "", t.TokenCommand)
	for to, c := range map[*Credential]Credential{&o.Password: password, &o.Secret: secret, &o.Token: token} {
		if c.Given() {
			*to = c
		}
	}
	return &o, errors.Join(err1, err2, err3)
}

func (t *registryTOML) registry(dir string) (*Registry, error) {
	c, err := credential("registry.password", t.Password, t.PasswordEnv, place(t.PasswordFile, dir), t.PasswordCommand)
	r := &Registry{URL: t.URL, User: t.User, Password: c}
	if t.CA != "" {
		r.TLS = &TLS{CA: Material{Path: place(t.CA, dir)}}
	}
	return r, err
}

// credential makes a credential of the four ways to name one; two at once are an error.
func credential(what, text, env, file string, command any) (Credential, error) {
	var c Credential
	n := 0
	if text != "" {
		c, n = Credential{Text: Hide(text)}, n+1
	}
	if env != "" {
		c, n = Credential{Env: env}, n+1
	}
	if file != "" {
		c, n = Credential{File: file}, n+1
	}
	switch v := command.(type) {
	case nil:
	case string:
		c, n = Command(v), n+1
	case []any:
		var args []string
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return Credential{}, fmt.Errorf("%w %s_command: want a string, or a list of strings", model.ErrInvalid, what)
			}
			args = append(args, s)
		}
		c, n = Program(args...), n+1
	default:
		return Credential{}, fmt.Errorf("%w %s_command: want a string, or a list of strings", model.ErrInvalid, what)
	}
	if n > 1 {
		return Credential{}, fmt.Errorf("%w %s: it is given in more than one way", model.ErrInvalid, what)
	}
	return c, nil
}

// place makes a path of a settings file one of this process: ~ is the home directory, and what is relative begins at dir.
func place(path, dir string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return filepath.Join(dir, path)
}

package groups

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// The mechanisms of which credentials are kept. PLAIN is checked against either.
const (
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
)

const (
	// Kafka's bounds of SCRAM's iterations.
	minIterations = 4096
	maxIterations = 16384

	saltBytes = 16
	maxUser   = 249 // bytes of a user's name
)

// Credential is what is kept of a password: salted and hashed, as RFC 5802 has it, so that it cannot be had back.
type Credential struct {
	Mechanism            string
	Iterations           int
	Salt                 []byte
	StoredKey, ServerKey []byte
}

// hashOf returns a mechanism's hash.
func hashOf(mechanism string) (func() hash.Hash, bool) {
	switch mechanism {
	case ScramSHA256:
		return sha256.New, true
	case ScramSHA512:
		return sha512.New, true
	}
	return nil, false
}

// NewCredential makes the credential of a password, with a random salt. iterations is 4096 to 16384; 0 means 4096.
// Errors wrap model.ErrInvalid.
func NewCredential(mechanism, password string, iterations int) (Credential, error) {
	if iterations == 0 {
		iterations = minIterations
	}
	if password == "" {
		return Credential{}, fmt.Errorf("%w password: it is empty", model.ErrInvalid)
	}
	salt := make([]byte, saltBytes)
	rand.Read(salt) // never fails
	h, ok := hashOf(mechanism)
	if !ok {
		return Credential{}, fmt.Errorf("%w mechanism %q: want %s or %s", model.ErrInvalid, mechanism, ScramSHA256, ScramSHA512)
	}
	salted, err := pbkdf2.Key(h, password, salt, iterations, h().Size())
	if err != nil {
		return Credential{}, fmt.Errorf("hash password: %w", err)
	}
	return SaltedCredential(mechanism, salted, salt, iterations)
}

// SaltedCredential makes the credential of a password that its owner has salted, as admin clients do. Errors wrap
// model.ErrInvalid.
func SaltedCredential(mechanism string, salted, salt []byte, iterations int) (Credential, error) {
	h, ok := hashOf(mechanism)
	switch {
	case !ok:
		return Credential{}, fmt.Errorf("%w mechanism %q: want %s or %s", model.ErrInvalid, mechanism, ScramSHA256, ScramSHA512)
	case iterations < minIterations || iterations > maxIterations:
		return Credential{}, fmt.Errorf("%w number of iterations %d: want %d to %d", model.ErrInvalid, iterations, minIterations, maxIterations)
	case len(salt) == 0 || len(salted) == 0:
		return Credential{}, fmt.Errorf("%w credential: its salt or its password is empty", model.ErrInvalid)
	}
	client := mac(h, salted, "Client Key")
	stored := h()
	stored.Write(client) // a hash never fails
	return Credential{Mechanism: mechanism, Iterations: iterations, Salt: slices.Clone(salt), StoredKey: stored.Sum(nil), ServerKey: mac(h, salted, "Server Key")}, nil
}

func mac(h func() hash.Hash, key []byte, text string) []byte {
	m := hmac.New(h, key)
	m.Write([]byte(text)) // a hash never fails
	return m.Sum(nil)
}

// Matches reports whether a password is the credential's.
func (c Credential) Matches(password string) bool {
	h, ok := hashOf(c.Mechanism)
	if !ok {
		return false
	}
	salted, err := pbkdf2.Key(h, password, c.Salt, c.Iterations, h().Size())
	if err != nil {
		return false
	}
	other, err := SaltedCredential(c.Mechanism, salted, c.Salt, c.Iterations)
	return err == nil && subtle.ConstantTimeCompare(other.StoredKey, c.StoredKey) == 1
}

// User is a user's name with what is known of each of its credentials: mechanism and iterations, nothing else.
type User struct {
	Name        string
	Credentials []Credential // without salt and keys, by mechanism
}

// Users keeps who may connect. What it has changed is on the disk.
type Users struct{ db *DB }

// Users returns the store's part for users.
func (db *DB) Users() Users { return Users{db} }

// checkUser says what is wrong with a user's name.
func checkUser(name string) error {
	if name == "" || len(name) > maxUser || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%w user's name %q: want 1 to %d bytes, none of them a control byte", model.ErrInvalid, name, maxUser)
	}
	return nil
}

// userKey is the key of a credential: the mechanism comes last, so that a user's lie together.
func userKey(name, mechanism string) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(name)))
	b = append(b, name...)
	return append(b, mechanism...)
}

func parseUserKey(b []byte) (name, mechanism string, ok bool) {
	if len(b) < 2 || len(b) < 2+int(binary.BigEndian.Uint16(b)) {
		return "", "", false
	}
	n := 2 + int(binary.BigEndian.Uint16(b))
	return string(b[2:n]), string(b[n:]), true
}

func appendCredential(dst []byte, c Credential) []byte {
	dst = append(dst, formatV1)
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Iterations))
	dst = appendLong(dst, string(c.Salt))
	dst = appendLong(dst, string(c.StoredKey))
	return appendLong(dst, string(c.ServerKey))
}

func parseCredential(b []byte) (Credential, error) {
	r := fields{b: b}
	r.format()
	c := Credential{Iterations: int(r.u32())}
	c.Salt, c.StoredKey, c.ServerKey = []byte(r.long()), []byte(r.long()), []byte(r.long())
	return c, r.end()
}

// Credential returns a user's credential of a mechanism; ok is false where there is none.
func (u Users) Credential(name, mechanism string) (c Credential, ok bool, err error) {
	if len(name) > maxUser {
		return c, false, nil
	}
	err = u.db.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(usersBucket))
		if b == nil {
			return nil // a store that an older strata has made, opened for reading
		}
		v := b.Get(userKey(name, mechanism))
		if v == nil {
			return nil
		}
		if c, err = parseCredential(v); err != nil {
			return u.db.corrupt("credential of user %q: %v", name, err)
		}
		ok, c.Mechanism = true, mechanism
		return nil
	})
	if err != nil {
		return c, false, fmt.Errorf("look user up: %w", err)
	}
	return c, ok, nil
}

// List returns all users by name.
func (u Users) List() ([]User, error) {
	var list []User
	err := u.db.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(usersBucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			name, mechanism, ok := parseUserKey(k)
			c, err := parseCredential(v)
			if !ok || err != nil {
				return u.db.corrupt("key %x of a user: %v", k, err)
			}
			if len(list) == 0 || list[len(list)-1].Name != name {
				list = append(list, User{Name: name})
			}
			last := &list[len(list)-1]
			last.Credentials = append(last.Credentials, Credential{Mechanism: mechanism, Iterations: c.Iterations})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	slices.SortFunc(list, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Set gives a user credentials, in place of those of the same mechanisms. Errors wrap model.ErrInvalid for the name.
func (u Users) Set(ctx context.Context, name string, credentials ...Credential) error {
	if err := checkUser(name); err != nil {
		return err
	}
	var all []entry
	for _, c := range credentials {
		all = append(all, entry{bucket: usersBucket, key: userKey(name, c.Mechanism), value: appendCredential(nil, c)})
	}
	if err := u.db.put(ctx, all); err != nil {
		return fmt.Errorf("store user %q: %w", name, err)
	}
	return nil
}

// Remove takes away a user's credentials of some mechanisms, of all where none is named, and reports whether there were
// any.
func (u Users) Remove(ctx context.Context, name string, mechanisms ...string) (bool, error) {
	if mechanisms == nil {
		mechanisms = []string{ScramSHA256, ScramSHA512}
	}
	var all []entry
	for _, m := range mechanisms {
		_, ok, err := u.Credential(name, m)
		if err != nil {
			return false, err
		}
		if ok {
			all = append(all, entry{bucket: usersBucket, key: userKey(name, m)})
		}
	}
	if len(all) == 0 {
		return false, nil
	}
	if err := u.db.put(ctx, all); err != nil {
		return false, fmt.Errorf("remove user %q: %w", name, err)
	}
	return true, nil
}

// Users implements model.UserAdmin.
func (s *Service) Users(context.Context) ([]model.User, error) {
	all, err := s.db.Users().List()
	if err != nil {
		return nil, err
	}
	list := make([]model.User, 0, len(all))
	for _, u := range all {
		out := model.User{Name: u.Name, Mechanisms: []string{"PLAIN"}}
		for _, c := range u.Credentials {
			out.Mechanisms = append(out.Mechanisms, c.Mechanism)
		}
		list = append(list, out)
	}
	return list, nil
}

// SetUser implements model.UserAdmin: the user gets a credential of each mechanism.
func (s *Service) SetUser(ctx context.Context, name, password string) error {
	if err := checkUser(name); err != nil {
		return err
	}
	var all []Credential
	for _, m := range []string{ScramSHA256, ScramSHA512} {
		c, err := NewCredential(m, password, 0)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	return s.db.Users().Set(ctx, name, all...)
}

// RemoveUser implements model.UserAdmin.
func (s *Service) RemoveUser(ctx context.Context, name string) error {
	ok, err := s.db.Users().Remove(ctx, name)
	if err != nil || ok {
		return err
	}
	all, err := s.db.Users().List()
	if err != nil {
		return err
	}
	var names []string
	for _, u := range all {
		names = append(names, u.Name)
	}
	return model.NotFound(model.ErrNoUser, name, names)
}

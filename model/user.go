package model

import "context"

// User is who may connect to the embedded broker where clients have to say who they are.
type User struct {
	Name       string
	Mechanisms []string // SASL mechanisms by which it may, by name
}

// UserAdmin is the ability to say who may connect.
type UserAdmin interface {
	Users(ctx context.Context) ([]User, error) // by name
	// SetUser makes a user, or gives it another password. ErrInvalid.
	SetUser(ctx context.Context, name, password string) error
	// RemoveUser takes a user away. ErrNoUser.
	RemoveUser(ctx context.Context, name string) error
}

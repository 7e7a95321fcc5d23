package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/strata-kafka/strata/model"
)

func (a *app) userCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "user list|add|remove",
		Short: "who may connect where clients have to say who they are (--sasl)",
		Long: `Who may connect to the embedded broker where it is started with --sasl. A user may connect by SASL PLAIN,
SCRAM-SHA-256 and SCRAM-SHA-512. Passwords are kept salted and hashed.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("%w: say what to do: list, add or remove", model.ErrInvalid)
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "list", Short: "name the users", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.withUsers(c, a.listUsers) },
	}, &cobra.Command{
		Use: "add NAME", Short: "make a user, or give it another password, which is read from the terminal or from stdin", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withUsers(c, func(ctx context.Context, u model.UserAdmin) error {
				password, err := a.password(args[0])
				if err != nil {
					return err
				}
				return u.SetUser(ctx, args[0], password)
			})
		},
	}, &cobra.Command{
		Use: "remove NAME", Short: "take a user away", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withUsers(c, func(ctx context.Context, u model.UserAdmin) error { return u.RemoveUser(ctx, args[0]) })
		},
	})
	return c
}

// withUsers opens what keeps the users.
func (a *app) withUsers(c *cobra.Command, do func(context.Context, model.UserAdmin) error) error {
	return a.with(c, Users, func(ctx context.Context, src model.Source) error {
		u, err := ability[model.UserAdmin](src, "change users")
		if err != nil {
			return err
		}
		return do(ctx, u)
	})
}

func (a *app) listUsers(ctx context.Context, u model.UserAdmin) error {
	all, err := u.Users(ctx)
	if err != nil {
		return err
	}
	if a.opts.json {
		var o object
		for _, x := range all {
			o.reset()
			o.str("user", x.Name)
			o.list("mechanisms", x.Mechanisms)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "USER", "MECHANISMS")
	for _, x := range all {
		if err := t.row(safe(x.Name), strings.Join(x.Mechanisms, " ")); err != nil {
			return err
		}
	}
	return t.flush()
}

// maxPassword bounds a password, bytes.
const maxPassword = 4096

// password asks for a password without showing it, or reads the first line of what is no terminal. It is never taken from
// the command line, which other processes can see.
func (a *app) password(user string) (string, error) {
	f, ok := a.io.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(a.io.In, maxPassword)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	ask := func(prompt string) (string, error) {
		fmt.Fprint(a.io.Err, prompt)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.io.Err)
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return string(b), nil
	}
	first, err := ask("password for " + safe(user) + ": ")
	if err != nil {
		return "", err
	}
	second, err := ask("again: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", fmt.Errorf("%w password: the two differ", model.ErrInvalid)
	}
	return first, nil
}

package profile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
)

const (
	maxSecret     = 64 << 10         // bytes of a secret, or of what a command prints
	commandWithin = 60 * time.Second // whoever is asked for a finger or a word has so long
)

// Secret is a text that is never printed: in an error, a log or a screen it is ***. The zero value is none.
type Secret struct{ get func() string }

// Hide makes a secret of a text; "" is none.
func Hide(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{func() string { return s }}
}

// Known reports whether there is one.
func (s Secret) Known() bool { return s.get != nil }

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.get == nil {
		return ""
	}
	return s.get()
}

// String hides it.
func (s Secret) String() string {
	if s.get == nil {
		return ""
	}
	return "***"
}

// GoString hides it.
func (s Secret) GoString() string { return s.String() }

// Format hides it, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) } // a fmt.State takes all

// MarshalText hides it, in JSON too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Credential says where a secret is. The zero value is nowhere.
type Credential struct {
	Text    Secret // it was written down in the file itself
	Env     string // the variable that holds it
	File    string
	command func() []string // hidden as a secret is: its arguments may be some
	name    string          // of the program that it runs
}

// Given reports whether there is one.
func (c Credential) Given() bool {
	return c.Text.Known() || c.Env != "" || c.File != "" || c.command != nil
}

// String says where the secret is, and not what it is.
func (c Credential) String() string {
	switch {
	case c.Text.Known():
		return "***"
	case c.Env != "":
		return "$" + c.Env
	case c.File != "":
		return c.File
	case c.command != nil:
		return "by command"
	}
	return ""
}

// Format is String, whatever the verb.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) } // a fmt.State takes all

// Command returns a credential that a line of the shell prints; "" is none.
func Command(line string) Credential {
	switch {
	case line == "":
		return Credential{}
	case runtime.GOOS == "windows":
		return Program("cmd", "/C", line)
	}
	return Credential{command: func() []string { return []string{"/bin/sh", "-c", line} }, name: program(line)}
}

// Program returns a credential that a program prints, run with arguments; no words are none.
func Program(args ...string) Credential {
	if len(args) == 0 || args[0] == "" {
		return Credential{}
	}
	return Credential{command: func() []string { return args }, name: filepath.Base(args[0])}
}

// Resolve gets the secret. Errors say which way was tried and nothing that came on it.
func (c Credential) Resolve(ctx context.Context) (Secret, error) {
	switch {
	case c.Text.Known():
		return c.Text, nil
	case c.Env != "":
		v := os.Getenv(c.Env)
		if v == "" {
			return Secret{}, fmt.Errorf("the environment variable %s is not set: export it before strata starts", c.Env)
		}
		return Hide(v), nil
	case c.File != "":
		b, err := readSmall(c.File, maxSecret)
		if err != nil {
			return Secret{}, err
		}
		return firstLine(string(b), "the file "+c.File)
	case c.command != nil:
		out, err := run(ctx, c.name, c.command())
		if err != nil {
			return Secret{}, err
		}
		return firstLine(out, "what the command printed")
	}
	return Secret{}, fmt.Errorf("%w: there is none", model.ErrInvalid)
}

func firstLine(s, what string) (Secret, error) {
	line, _, _ := strings.Cut(s, "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return Secret{}, fmt.Errorf("%w: the first line of %s is empty", model.ErrInvalid, what)
	}
	return Hide(line), nil
}

// readSmall reads a file that cannot be large.
func readSmall(path string, most int64) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() || st.Size() > most {
		return nil, fmt.Errorf("%w file %s: it is a directory, or larger than %d bytes", model.ErrInvalid, path, most)
	}
	return os.ReadFile(path)
}

// run returns what a command prints. Its input is empty, and what it says on stderr is nobody's.
func run(ctx context.Context, name string, args []string) (string, error) {
	ctx, done := context.WithTimeout(ctx, commandWithin)
	defer done()
	var out limited
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second // of a child that holds the pipe
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("the command %s has not ended within %v", name, commandWithin)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &exit):
		return "", fmt.Errorf("the command %s ended with %s: run it by hand to see what it says", name, exit.ProcessState)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the command %s is not there", name)
	case err != nil:
		return "", fmt.Errorf("the command %s could not be run: it printed too much, or could not be started", name)
	}
	return out.String(), nil
}

// program is the name of what a command runs, without its arguments.
func program(line string) string {
	word := strings.Fields(line + " ?")[0]
	if strings.ContainsAny(word, "=$\"'`") { // a variable is set before it
		return "of the shell"
	}
	return filepath.Base(word)
}

var errTooMuch = errors.New("too much")

// limited is a buffer that takes so much and no more.
type limited struct{ strings.Builder }

// Write fails where it would grow too large.
func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > maxSecret {
		return 0, errTooMuch
	}
	return l.Builder.Write(b)
}

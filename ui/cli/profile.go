package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// ProfileRow is a profile of the settings file, as anybody may see it.
type ProfileRow struct {
	Name     string
	Brokers  []string
	Security string // PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, with the mechanism
	User     string
	Colour   string
	ReadOnly bool
	Registry string   // URL
	Problem  string   // why it cannot be used; "" where it can
	Warnings []string // what is to be said of it all the same
}

// ProfileStep is a step of the way to a cluster, and how it went.
type ProfileStep struct {
	Name, Target string
	OK           bool
	What         string // what was found, or what went wrong
	Next         string // what to do about it
}

func (a *app) profilesCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "profiles",
		Short: "the clusters that the settings file names: brokers, security, read-only or not",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.listProfiles() },
	}
}

func (a *app) listProfiles() error {
	rows, warnings, err := a.eng.Profiles(a.settingsPath())
	if err != nil {
		return err
	}
	for _, w := range warnings {
		a.warn(w)
	}
	if len(rows) == 0 && !a.opts.json {
		a.warn(a.settingsPath() + ` names no clusters; a profile begins with a line [profile.NAME], then brokers = ["HOST:PORT"]`)
	}
	var o object
	t := newTable(a.out, "NAME", "BROKERS", "SECURITY", "USER", "ACCESS", "COLOUR", "REGISTRY")
	for i := range rows {
		r := &rows[i]
		for _, w := range r.Warnings {
			a.warn(w)
		}
		if r.Problem != "" {
			a.warn("profile " + r.Name + ": " + r.Problem)
			a.code = exitWrong
		}
		if a.opts.json {
			r.toJSON(&o)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
			continue
		}
		access := "read and write"
		switch {
		case r.Problem != "":
			access = "not usable"
		case r.ReadOnly:
			access = "read-only"
		}
		if err := t.row(r.Name, strings.Join(r.Brokers, ","), r.Security, r.User, access, r.Colour, r.Registry); err != nil {
			return err
		}
	}
	if a.opts.json || len(rows) == 0 {
		return nil
	}
	return t.flush()
}

// toJSON writes a profile: name brokers security user readOnly colour registry problem.
func (r *ProfileRow) toJSON(o *object) {
	o.reset()
	o.str("name", r.Name)
	o.list("brokers", r.Brokers)
	o.str("security", r.Security)
	o.maybeStr("user", r.User)
	o.boolean("readOnly", r.ReadOnly)
	o.maybeStr("colour", r.Colour)
	o.maybeStr("registry", r.Registry)
	o.maybeStr("problem", r.Problem)
}

func (a *app) profileCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "profile test",
		Short: "try the way to a cluster step by step",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("%w: say what to do: strata profile test NAME, or strata profiles for a list", model.ErrInvalid)
		},
	}
	c.AddCommand(&cobra.Command{
		Use:   "test NAME|HOST:PORT|FILE",
		Short: "say at which step it fails: DNS, TCP, TLS, ApiVersions, SASL, what brokers tell clients; exit 2 where one does",
		Args:  cobra.ExactArgs(1),
		RunE:  a.testProfile,
	})
	return c
}

func (a *app) testProfile(c *cobra.Command, args []string) error {
	addrs, known, ok, err := a.cluster(args[0])
	if err != nil {
		return err
	}
	if !ok {
		names, _ := a.profileNames() // they were read before
		return fmt.Errorf("%w: %q is no profile of %s, and no HOST:PORT%s", model.ErrInvalid, args[0], known.Settings, nearProfiles(args[0], names))
	}
	var o object
	bad := 0
	err = a.eng.TestProfile(c.Context(), addrs, known, func(s ProfileStep) {
		if !s.OK {
			bad++
		}
		if a.opts.json {
			s.toJSON(&o)
			_, _ = a.out.Write(o.line()) // its error stays in a.out
		} else {
			_, _ = a.out.WriteString(s.text()) // likewise
		}
		a.flush()
	})
	if err != nil && bad == 0 {
		return err
	}
	if bad > 0 {
		a.code = exitCannot
	}
	return nil
}

// toJSON writes a step: step target ok what next.
func (s *ProfileStep) toJSON(o *object) {
	o.reset()
	o.str("step", s.Name)
	o.maybeStr("target", s.Target)
	o.boolean("ok", s.OK)
	o.str("what", s.What)
	o.maybeStr("next", s.Next)
}

// text writes a step as one line, and what to do below it.
func (s *ProfileStep) text() string {
	sign := "ok  "
	if !s.OK {
		sign = "FAIL"
	}
	line := fmt.Sprintf("%s  %-11s  %s", sign, s.Name, safe(s.Target))
	if s.Target != "" {
		line += ": "
	}
	line += safe(s.What) + "\n"
	if s.Next != "" {
		line += strings.Repeat(" ", 19) + safe(s.Next) + "\n"
	}
	return line
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// consumeOptions are the flags of consume.
type consumeOptions struct {
	group    string
	from     string
	protocol string
	read     readOptions // committed, format and limit
}

func (a *app) consumeCmd() *cobra.Command {
	var o consumeOptions
	c := &cobra.Command{
		Use:   "consume TOPIC…",
		Short: "records as a member of a group, committing what it has printed; Ctrl-C leaves",
		Long: `Records of topics, read as a member of a consumer group: those who consume in one group share the partitions, and
each group is given all. What has been printed is committed, so that nothing is lost and, after a crash, some may be
printed again. Ctrl-C leaves the group, and others have the partitions at once.

Where another strata has the data directory open and listens, its broker is the one that is joined; where that one ends,
this one takes its place.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.consume(c.Context(), args, o) },
	}
	f := c.Flags()
	f.StringVarP(&o.group, "group", "g", "default", "the group")
	f.StringVar(&o.from, "from", "earliest", "where to begin when the group has committed nothing: earliest or latest")
	f.StringVar(&o.protocol, "protocol", "classic", "classic, or consumer for the one of Kafka 4 (KIP-848)")
	f.BoolVar(&o.read.committed, "committed", false, "leave aborted and undecided records out")
	f.StringVarP(&o.read.format, "format", "f", "", "print by a format: %t %p %o %k %s %h %T %S %K, \\n \\t")
	f.Int64Var(&o.read.limit, "limit", 0, "stop after so many records (0: no limit)")
	return c
}

// request puts the flags into a request.
func (o *consumeOptions) request(topics []string) (model.JoinRequest, error) {
	r := model.JoinRequest{Group: o.group, Topics: topics, Client: "strata-consume", Committed: o.read.committed, Protocol: o.protocol}
	switch {
	case o.group == "":
		return r, fmt.Errorf("%w -g: a group's name is needed", model.ErrInvalid)
	case o.from != "earliest" && o.from != "latest":
		return r, fmt.Errorf("%w --from %q: want earliest or latest; a group goes on where it has committed, and strata reset moves that", model.ErrInvalid, o.from)
	case o.protocol != "classic" && o.protocol != "consumer":
		return r, fmt.Errorf("%w --protocol %q: want classic or consumer", model.ErrInvalid, o.protocol)
	}
	for _, t := range topics {
		if strings.Contains(t, "/") {
			return r, fmt.Errorf("%w topic %q: a group reads whole topics; strata read %s reads one partition", model.ErrInvalid, t, t)
		}
	}
	r.Earliest = o.from == "earliest"
	return r, nil
}

// consumer is a running consume.
type consumer struct {
	a   *app
	out *printer
	r   model.JoinRequest

	mu    sync.Mutex // guards what follows and Err: members tell of themselves from goroutines of their own
	wrong bool
}

// consume reads as a member until ctx ends or the limit is reached. Where the broker that it has joined ends, it goes on
// with another, or with one of its own.
func (a *app) consume(ctx context.Context, topics []string, o consumeOptions) error {
	r, err := o.request(topics)
	if err != nil {
		return err
	}
	out, err := a.newPrinter(o.read)
	if err != nil {
		return err
	}
	c := &consumer{a: a, out: out, r: r}
	c.r.Moved, c.r.Trouble = c.moved, c.trouble
	for {
		err := a.withPlain(ctx, a.opts.source, Member, DirOptions{Still: true}, c.member)
		if !errors.Is(err, model.ErrGone) || ctx.Err() != nil {
			if c.wrong {
				a.code = exitWrong
			}
			return out.done(err)
		}
		c.say(err.Error() + "; going on without it")
	}
}

// member joins, and prints and commits until something ends it.
func (c *consumer) member(ctx context.Context, src model.Source) error {
	joins, err := ability[model.GroupJoiner](src, "join a group")
	if err != nil {
		return err
	}
	for _, t := range c.r.Topics {
		if _, err := src.Partitions(ctx, t); err != nil {
			return err
		}
	}
	m, err := joins.JoinGroup(ctx, c.r)
	if err != nil {
		return err
	}
	err = c.pump(ctx, m)
	if lerr := m.Leave(context.WithoutCancel(ctx)); lerr != nil && !errors.Is(lerr, model.ErrGone) {
		c.trouble(lerr)
	}
	return err
}

// pump never returns nil.
func (c *consumer) pump(ctx context.Context, m model.Membership) error {
	for {
		rs, err := m.Next(ctx)
		if err != nil {
			return err
		}
		n := 0
		for i := range rs {
			if err = c.out.print(&rs[i]); err == nil || errors.Is(err, errLimit) {
				n++
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				break
			}
		}
		// Only what has left this process is done with.
		if ferr := c.out.w.Flush(); ferr != nil {
			return ferr
		}
		cerr := m.Commit(context.WithoutCancel(ctx), rs[:n])
		switch {
		case errors.Is(cerr, model.ErrGone) && err == nil:
			return cerr
		case cerr != nil:
			c.trouble(fmt.Errorf("%d records that were printed may be read again: %w", n, cerr))
		}
		if err != nil {
			return err
		}
	}
}

// moved tells on a terminal which partitions the member has.
func (c *consumer) moved(now []model.TopicPartition) {
	if !c.a.io.ErrTTY {
		return
	}
	if len(now) == 0 {
		c.say("has no partition")
		return
	}
	names := make([]string, len(now))
	for i, tp := range now {
		names[i] = tp.String()
	}
	c.say("has " + strings.Join(names, ", "))
}

// trouble tells what goes wrong while the member goes on.
func (c *consumer) trouble(err error) {
	c.mu.Lock()
	c.wrong = true
	c.mu.Unlock()
	c.say(err.Error())
}

func (c *consumer) say(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.a.io.Err, "strata: "+safe(line))
}

package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/strata-kafka/strata/model"
)

// Reader is what is copied from: files or a cluster.
type Reader interface {
	model.BatchScanner
	model.GroupReader
	model.ConfigReader
	Partitions(ctx context.Context, topic string) ([]model.Partition, error)
	Groups(ctx context.Context) ([]model.Group, error)
}

// Writer is what is copied to: a cluster, our own listener among them.
type Writer interface {
	model.BatchSender
	CreateTopic(ctx context.Context, s model.TopicSpec) error
	// CheckTopic says which configs a topic would have that CreateTopic made, as far as the other side tells, and makes none.
	CheckTopic(ctx context.Context, s model.TopicSpec) ([]model.ConfigEntry, error)
	AlterTopic(ctx context.Context, topic string, changes []model.ConfigChange) error
	// Commit stores offsets of a group that has no members.
	Commit(ctx context.Context, group string, commits []model.Commit) error
}

// Side is one of the two sources, with its name for people.
type Side struct {
	Reader
	Name string
}

// Target is where is copied to. Without a Writer it can only be planned for.
type Target struct {
	Side
	Writer Writer
}

// Options tunes a Copy. The zero value is the default.
type Options struct {
	// Journal is the directory where it is kept which producer a copy uses, so that a resumed one goes on as the same; "" means
	// that it is kept nowhere.
	Journal string
	// Parallel is how many partitions are copied at a time; 0 means 4.
	Parallel int
	// InFlight is how many batches of a partition may be on their way; 0 means 5, which is also the most that brokers
	// remember.
	InFlight int
	// Patience is how long a partition is tried that makes no progress, in tries of growing distance; 0 means 12 of them,
	// about a minute.
	Patience int
	Now      func() int64 // the clock, ms; nil means the system's
}

const (
	defaultParallel = 4
	maxInFlight     = 5
	defaultPatience = 12
)

// Copy copies between two sources. It implements model.Copier.
type Copy struct {
	from Side
	to   Target
	o    Options
}

// New returns a Copy from one source to another, neither of which it closes.
func New(from Side, to Target, o Options) *Copy {
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.InFlight <= 0 || o.InFlight > maxInFlight {
		o.InFlight = maxInFlight
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	return &Copy{from: from, to: to, o: o}
}

// each runs do for every number below n, some at a time, until one of them fails; that one's error is returned.
func each(ctx context.Context, parallel, n int, do func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(parallel, n) {
		wg.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					stop(err)
					return
				}
			}
		})
	}
feed:
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// again reports whether another try may help.
func again(err error) bool {
	var a interface{ Again() bool }
	return errors.As(err, &a) && a.Again()
}

func (c *Copy) writer() (Writer, error) {
	if c.to.Writer == nil {
		return nil, fmt.Errorf("copy to %s: %w", c.to.Name, model.ErrReadOnly)
	}
	return c.to.Writer, nil
}

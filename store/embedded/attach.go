package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
)

// TopicOwner changes topics of the broker that has the directory.
type TopicOwner interface {
	CreateTopic(ctx context.Context, s model.TopicSpec) error
	GrowTopic(ctx context.Context, topic string, partitions int32) error
	AlterTopic(ctx context.Context, topic string, changes []model.ConfigChange) error
	DeleteTopic(ctx context.Context, topic string) error
	DeleteRecords(ctx context.Context, tp model.TopicPartition, before int64) (int64, error)
}

// ConfigOwner reads configs of topics of the broker that has the directory.
type ConfigOwner interface {
	TopicConfig(ctx context.Context, topic string) ([]model.ConfigEntry, error)
	// SetConfigs returns the configs that are not at their default, by topic; nil topics means all.
	SetConfigs(ctx context.Context, topics []string) (map[string]map[string]string, error)
}

// GroupOwner reads groups of the broker that has the directory, and changes them.
type GroupOwner interface {
	Groups(ctx context.Context) ([]model.Group, error)
	Group(ctx context.Context, id string) (model.Group, error)
	PlanReset(ctx context.Context, r model.ResetRequest) (model.ResetPlan, error)
	ApplyReset(ctx context.Context, p model.ResetPlan) (model.ResetResult, error)
	DeleteGroup(ctx context.Context, id string) error
}

// Owner is the broker that has the directory open for writing, spoken to as any client does. Its calls are bounded in time.
type Owner struct {
	Topics  TopicOwner
	Configs ConfigOwner
	Groups  GroupOwner
	Records model.Producer
	Members model.GroupJoiner
	Close   func() error
}

// Meet returns the broker of a holder: by its door, where it has one. It need not have connected. logs is where lags are counted; tell is called when
// lags have been counted that a listing had no time for.
type Meet func(h store.Holder, logs groups.Logs, tell func()) (Owner, error)

const (
	ownerEvery   = 500 * time.Millisecond // how often it is looked whether the owner lives
	configsEvery = 10 * time.Second       // how often configs are asked for, where something has changed
	configsWait  = 2 * time.Second        // how long the first look at the files waits for them
)

// Attached is a data directory that another process has open for writing: reads go to the files, all else to that process.
//
// Invariants:
//   - link is of the process that holds the lock, or nil: since the last look at it
type Attached struct {
	*look
	meet Meet
	dir  string // whose lock says who the owner is
	news bool   // what the owner does is announced

	run  context.Context // ends with Close
	stop context.CancelFunc
	done sync.WaitGroup

	mu   sync.Mutex
	link *link
	last store.Holder // the owner, or the one that was
	told string       // why configs could not be seen last

	asked   sync.Once
	configs sync.Map // topic → map[string]string
}

// link is the way to one owner.
type link struct {
	holder store.Holder
	owner  Owner
	ctx    context.Context // ends when the owner has
	stop   context.CancelFunc
}

// with makes a call end when the owner does.
func (l *link) with(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if l.ctx.Err() != nil {
		cancel()
	}
	unhook := context.AfterFunc(l.ctx, cancel)
	return ctx, func() {
		unhook()
		cancel()
	}
}

// Attach opens a data directory that another process holds and serves at the address of its Holder.
func Attach(o Options, h store.Holder, meet Meet) (*Attached, error) {
	a := &Attached{meet: meet, last: h, news: !o.Still}
	a.run, a.stop = context.WithCancel(context.Background())
	var err error
	if a.look, err = openLook(o, "", a.configsOf); err != nil {
		a.stop()
		return nil, err
	}
	a.dir = a.broker.LogDirs[0]
	if err := a.follow(h); err != nil {
		a.stop()
		return nil, errors.Join(err, a.look.Close())
	}
	a.done.Go(a.tend)
	return a, nil
}

// follow makes the way to an owner.
func (a *Attached) follow(h store.Holder) error {
	owner, err := a.meet(h, a.look.Dir, func() { a.Announce(model.Change{Groups: true}) })
	if err != nil {
		return fmt.Errorf("attach to process %d at %s: %w", h.PID, h.Address, err)
	}
	l := &link{holder: h, owner: owner}
	l.ctx, l.stop = context.WithCancel(a.run)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.link, a.last = l, h
	return nil
}

// tend looks after the owner until Close: it may end, and another one come. It announces what the owner does with its
// groups, of which the log's files do not tell.
func (a *Attached) tend() {
	every := time.NewTicker(ownerEvery)
	defer every.Stop()
	seen, asked := a.stamp(), time.Now()
	for {
		select {
		case <-a.run.Done():
			return
		case <-every.C:
		}
		if a.look4owner() {
			a.Announce(model.Change{Info: true, Groups: true})
		}
		if !a.news {
			continue
		}
		if now := a.stamp(); now != seen {
			seen = now
			a.Announce(model.Change{Groups: true})
			if time.Since(asked) > configsEvery {
				asked = time.Now()
				a.askConfigs(a.run)
			}
		}
	}
}

// stamp says when the store of groups was written last, and how large it was.
func (a *Attached) stamp() [2]int64 {
	st, err := os.Stat(a.path)
	if err != nil {
		return [2]int64{}
	}
	return [2]int64{st.ModTime().UnixNano(), st.Size()}
}

// look4owner looks who holds the directory now, and reports whether that has changed.
func (a *Attached) look4owner() bool {
	h, held := store.LockHolder(a.dir)
	a.mu.Lock()
	l := a.link
	a.mu.Unlock()
	if l != nil && held && h == l.holder {
		return false
	}
	changed := l != nil
	if l != nil {
		a.mu.Lock()
		a.link = nil
		a.mu.Unlock()
		l.stop()
		_ = l.owner.Close() // there is nobody to whom it could be said
	}
	if held && h.PID != 0 && h.Address != "" && h.PID != os.Getpid() {
		if a.follow(h) == nil {
			return true
		}
	}
	return changed
}

// way returns the way to the owner, or why there is none.
func (a *Attached) way() (*link, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.link == nil {
		return nil, fmt.Errorf("%w: process %d, which had %s open; the files can still be read, start strata anew to write", model.ErrGone, a.last.PID, a.dir)
	}
	return a.link, nil
}

// through asks the owner something; the call ends when the owner does.
func through[T any](ctx context.Context, a *Attached, what func(context.Context, Owner) (T, error)) (T, error) {
	var none T
	l, err := a.way()
	if err != nil {
		return none, err
	}
	ctx, done := l.with(ctx)
	defer done()
	answer, err := what(ctx, l.owner)
	if err != nil && a.run.Err() == nil {
		if h, held := store.LockHolder(a.dir); !held || h.PID != l.holder.PID || l.ctx.Err() != nil {
			return answer, fmt.Errorf("%w: process %d, while it was asked: %w", model.ErrGone, l.holder.PID, err)
		}
	}
	return answer, err
}

func nothing(err error) (struct{}, error) { return struct{}{}, err }

// configsOf returns a topic's configs as the owner tells them; the first call waits for them.
func (a *Attached) configsOf(topic string) map[string]string {
	a.asked.Do(func() {
		ctx, done := context.WithTimeout(a.run, configsWait)
		defer done()
		a.askConfigs(ctx)
	})
	if c, ok := a.configs.Load(topic); ok {
		return c.(map[string]string)
	}
	return nil
}

// askConfigs asks for the configs of all topics.
func (a *Attached) askConfigs(ctx context.Context) {
	all, err := through(ctx, a, func(ctx context.Context, o Owner) (map[string]map[string]string, error) {
		return o.Configs.SetConfigs(ctx, nil)
	})
	a.mu.Lock()
	a.told = ""
	if err != nil {
		a.told = "configs cannot be seen: " + err.Error()
	}
	a.mu.Unlock()
	if err != nil {
		return
	}
	for topic, c := range all {
		a.configs.Store(topic, c)
	}
	a.configs.Range(func(topic, _ any) bool {
		if _, ok := all[topic.(string)]; !ok {
			a.configs.Delete(topic)
		}
		return true
	})
}

// Close implements model.Source.
func (a *Attached) Close() error {
	a.stop()
	a.done.Wait()
	a.mu.Lock()
	l := a.link
	a.link = nil
	a.mu.Unlock()
	var err error
	if l != nil {
		err = l.owner.Close()
	}
	return errors.Join(err, a.look.Close())
}

package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/logdir"
)

// look is the embedded broker's directory, looked at: no lock is taken, and the store of groups is opened for the
// moment of each question, so that it never stands in the way of the broker.
type look struct {
	*logdir.Dir
	path   string
	broker layout.Broker
	state  string
}

// Look opens a data directory for reading. state is what is to be said of that, as "read-only: …"; "" for nothing.
func Look(o Options, state string) (model.Source, error) {
	return openLook(o, state, nil)
}

// openLook opens the files. configs tells a topic's configs; nil means those of the store of groups.
func openLook(o Options, state string, configs func(topic string) map[string]string) (*look, error) {
	l := &look{path: filepath.Join(o.Dir, OffsetsFile), state: state}
	if _, err := os.Stat(o.Dir); err != nil {
		return nil, fmt.Errorf("the embedded broker has no data yet (%w); strata begins it, strata demo shows one, or name a Kafka log directory with --source", err)
	}
	var err error
	if l.broker, err = o.broker(); err != nil {
		return nil, err
	}
	if configs == nil {
		configs = l.storedConfigs()
	}
	l.Dir, err = logdir.Open(l.broker.LogDirs, logdir.Options{Configs: configs, Embedded: true, Guest: true, Name: o.Dir, Still: o.Still})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// storedConfigs reads the topics' configs once.
func (l *look) storedConfigs() func(topic string) map[string]string {
	stored := map[string]map[string]string{}
	err := l.store(func(db *groups.DB) (err error) {
		stored, err = db.TopicConfigs().Load()
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.note(err)
	}
	running := store.KeptDefaults(stored)
	return func(topic string) map[string]string {
		all := maps.Clone(l.broker.Topic)
		maps.Copy(all, running)
		maps.Copy(all, stored[topic])
		return all
	}
}

func (l *look) note(err error) {
	if l.state == "" {
		l.state = "read-only"
	}
	l.state += "; groups and configs cannot be seen: " + err.Error()
}

// store opens the store of groups for reading, for as long as do runs.
func (l *look) store(do func(*groups.DB) error) error {
	if _, err := os.Stat(l.path); err != nil {
		return err
	}
	db, err := groups.OpenDB(l.path, groups.DBOptions{ReadOnly: true, Timeout: 300 * time.Millisecond})
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// ask puts a question to the groups of a look.
func ask[T any](l *look, question func(*groups.Service) (T, error)) (answer T, err error) {
	err = l.store(func(db *groups.DB) error {
		s := groups.New(db, l.Dir, groups.Options{ListBudget: time.Minute, Retention: offsetRetention(l.broker)})
		answer, err = question(s)
		return errors.Join(err, s.Close())
	})
	return answer, err
}

// Info implements model.Source.
func (l *look) Info(ctx context.Context) (model.Info, error) {
	info, err := l.Dir.Info(ctx)
	info.ReadOnly, info.State = true, l.state
	return info, err
}

// Groups implements model.Source.
func (l *look) Groups(ctx context.Context) ([]model.Group, error) {
	gs, err := ask(l, func(s *groups.Service) ([]model.Group, error) { return s.Groups(ctx) })
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return gs, err
}

// Group implements model.GroupReader.
func (l *look) Group(ctx context.Context, id string) (model.Group, error) {
	return ask(l, func(s *groups.Service) (model.Group, error) { return s.Group(ctx, id) })
}

// PlanReset implements model.Resetter; a plan needs no lock.
func (l *look) PlanReset(ctx context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	return l.plan(ask(l, func(s *groups.Service) (model.ResetPlan, error) { return s.PlanReset(ctx, r) }))
}

// PlanUndo implements model.Resetter.
func (l *look) PlanUndo(ctx context.Context, id uint64) (model.ResetPlan, error) {
	return l.plan(ask(l, func(s *groups.Service) (model.ResetPlan, error) { return s.PlanUndo(ctx, id) }))
}

// Journal implements model.Resetter.
func (l *look) Journal(ctx context.Context) ([]model.JournalEntry, error) {
	return ask(l, func(s *groups.Service) ([]model.JournalEntry, error) { return s.Journal(ctx) })
}

// plan refuses a plan where another process holds the directory.
func (l *look) plan(p model.ResetPlan, err error) (model.ResetPlan, error) {
	if l.state != "" && p.Refused == "" {
		p.Refused = l.state
	}
	return p, err
}

// ApplyReset implements model.Resetter.
func (l *look) ApplyReset(context.Context, model.ResetPlan) (model.ResetResult, error) {
	return model.ResetResult{}, l.readOnly()
}

// DeleteGroup implements model.Resetter.
func (l *look) DeleteGroup(context.Context, string) error { return l.readOnly() }

func (l *look) readOnly() error {
	if l.state == "" {
		return model.ErrReadOnly
	}
	return fmt.Errorf("%w: %s", model.ErrReadOnly, l.state)
}

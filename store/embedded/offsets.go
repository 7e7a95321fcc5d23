package embedded

import (
	"context"
	"errors"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// offsets is a look with the store of groups held open for a change.
type offsets struct {
	*look
	*groups.Service
	db *groups.DB
}

// Offsets opens a data directory for reading, and its store of groups for a change of committed offsets. It starts no
// broker; a *groups.HeldError says that another process has the store.
func Offsets(o Options) (model.Source, error) {
	l, err := openLook(o, "", nil)
	if err != nil {
		return nil, err
	}
	s := &offsets{look: l}
	if s.db, err = groups.OpenDB(s.path, groups.DBOptions{TopicsExist: func() bool { return hasTopics(l.broker.LogDirs) }}); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.Service = groups.New(s.db, s.Dir, groups.Options{Retention: offsetRetention(l.broker)})
	return s, nil
}

// Close implements model.Source.
func (s *offsets) Close() error {
	return errors.Join(s.Service.Close(), s.look.Close(), s.db.Close())
}

// Groups implements model.Source.
func (s *offsets) Groups(ctx context.Context) ([]model.Group, error) { return s.Service.Groups(ctx) }

// Group implements model.GroupReader.
func (s *offsets) Group(ctx context.Context, id string) (model.Group, error) {
	return s.Service.Group(ctx, id)
}

// PlanReset implements model.Resetter.
func (s *offsets) PlanReset(ctx context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	return s.Service.PlanReset(ctx, r)
}

// ApplyReset implements model.Resetter.
func (s *offsets) ApplyReset(ctx context.Context, p model.ResetPlan) (model.ResetResult, error) {
	return s.Service.ApplyReset(ctx, p)
}

// PlanUndo implements model.Resetter.
func (s *offsets) PlanUndo(ctx context.Context, id uint64) (model.ResetPlan, error) {
	return s.Service.PlanUndo(ctx, id)
}

// Journal implements model.Resetter.
func (s *offsets) Journal(ctx context.Context) ([]model.JournalEntry, error) {
	return s.Service.Journal(ctx)
}

// DeleteGroup implements model.Resetter.
func (s *offsets) DeleteGroup(ctx context.Context, id string) error {
	return s.Service.DeleteGroup(ctx, id)
}

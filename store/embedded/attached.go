package embedded

import (
	"context"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// What a source can do that is attached to another process: each ability is the owner's.

// Info implements model.Source.
func (a *Attached) Info(ctx context.Context) (model.Info, error) {
	info, err := a.Dir.Info(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.link == nil {
		info.ReadOnly, info.State = true, fmt.Sprintf("process %d has ended", a.last.PID)
		return info, err
	}
	info.Address, info.State = a.link.holder.Address, fmt.Sprintf("attached to process %d", a.last.PID)
	if a.news {
		info.Notices = append(info.Notices, fmt.Sprintf("attached to process %d at %s", a.last.PID, a.last.Address))
	}
	if a.told != "" {
		info.Notices = append(info.Notices, a.told)
	}
	return info, err
}

// Address returns where the owner serves Kafka clients; "" where it has ended.
func (a *Attached) Address() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.link == nil {
		return ""
	}
	return a.link.holder.Address
}

// gone reports whether the owner has ended, so that the store of groups can be read from its file.
func (a *Attached) gone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.link == nil
}

// Groups implements model.Source.
func (a *Attached) Groups(ctx context.Context) ([]model.Group, error) {
	if a.gone() {
		return a.look.Groups(ctx)
	}
	return through(ctx, a, func(ctx context.Context, o Owner) ([]model.Group, error) { return o.Groups.Groups(ctx) })
}

// Group implements model.GroupReader.
func (a *Attached) Group(ctx context.Context, id string) (model.Group, error) {
	if a.gone() {
		return a.look.Group(ctx, id)
	}
	return through(ctx, a, func(ctx context.Context, o Owner) (model.Group, error) { return o.Groups.Group(ctx, id) })
}

// PlanReset implements model.Resetter.
func (a *Attached) PlanReset(ctx context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	return through(ctx, a, func(ctx context.Context, o Owner) (model.ResetPlan, error) { return o.Groups.PlanReset(ctx, r) })
}

// ApplyReset implements model.Resetter. The owner's journal has no entry of it.
func (a *Attached) ApplyReset(ctx context.Context, p model.ResetPlan) (model.ResetResult, error) {
	return through(ctx, a, func(ctx context.Context, o Owner) (model.ResetResult, error) { return o.Groups.ApplyReset(ctx, p) })
}

// DeleteGroup implements model.Resetter.
func (a *Attached) DeleteGroup(ctx context.Context, id string) error {
	_, err := through(ctx, a, func(ctx context.Context, o Owner) (struct{}, error) { return nothing(o.Groups.DeleteGroup(ctx, id)) })
	return err
}

// WhyNoJournal implements model.JournalReason.
func (a *Attached) WhyNoJournal() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.link == nil {
		return ""
	}
	return fmt.Sprintf("process %d keeps the journal, and no client can ask for it: undo there, or once it has ended", a.last.PID)
}

// Journal implements model.Resetter.
func (a *Attached) Journal(ctx context.Context) ([]model.JournalEntry, error) {
	if why := a.WhyNoJournal(); why != "" {
		return nil, fmt.Errorf("%w: %s", model.ErrRefused, why)
	}
	return a.look.Journal(ctx)
}

// PlanUndo implements model.Resetter.
func (a *Attached) PlanUndo(ctx context.Context, id uint64) (model.ResetPlan, error) {
	if why := a.WhyNoJournal(); why != "" {
		return model.ResetPlan{}, fmt.Errorf("%w: %s", model.ErrRefused, why)
	}
	p, err := a.look.PlanUndo(ctx, id)
	if _, gone := a.way(); gone != nil && p.Refused == "" {
		p.Refused = gone.Error()
	}
	return p, err
}

// Produce implements model.Producer.
func (a *Attached) Produce(ctx context.Context, r model.ProduceRequest) ([]model.Produced, error) {
	return through(ctx, a, func(ctx context.Context, o Owner) ([]model.Produced, error) { return o.Records.Produce(ctx, r) })
}

// CreateTopic implements model.TopicAdmin.
func (a *Attached) CreateTopic(ctx context.Context, s model.TopicSpec) error {
	_, err := through(ctx, a, func(ctx context.Context, o Owner) (struct{}, error) { return nothing(o.Topics.CreateTopic(ctx, s)) })
	a.changed(err)
	return err
}

// GrowTopic implements model.TopicAdmin.
func (a *Attached) GrowTopic(ctx context.Context, topic string, partitions int32) error {
	_, err := through(ctx, a, func(ctx context.Context, o Owner) (struct{}, error) {
		return nothing(o.Topics.GrowTopic(ctx, topic, partitions))
	})
	return err
}

// AlterTopic implements model.TopicAdmin.
func (a *Attached) AlterTopic(ctx context.Context, topic string, changes []model.ConfigChange) error {
	_, err := through(ctx, a, func(ctx context.Context, o Owner) (struct{}, error) {
		return nothing(o.Topics.AlterTopic(ctx, topic, changes))
	})
	a.changed(err)
	return err
}

// DeleteTopic implements model.TopicAdmin.
func (a *Attached) DeleteTopic(ctx context.Context, topic string) error {
	_, err := through(ctx, a, func(ctx context.Context, o Owner) (struct{}, error) { return nothing(o.Topics.DeleteTopic(ctx, topic)) })
	return err
}

// TopicConfig implements model.TopicAdmin.
func (a *Attached) TopicConfig(ctx context.Context, topic string) ([]model.ConfigEntry, error) {
	if a.gone() {
		return a.look.TopicConfig(ctx, topic)
	}
	es, err := through(ctx, a, func(ctx context.Context, o Owner) ([]model.ConfigEntry, error) {
		return o.Configs.TopicConfig(ctx, topic)
	})
	for i := range es {
		if def, ok := layout.Config(es[i].Name); ok {
			es[i].Doc, es[i].Default = def.Doc, def.Default
		}
	}
	return es, err
}

// changed asks for the configs anew after a change of them.
func (a *Attached) changed(err error) {
	if err == nil {
		a.askConfigs(a.run)
		a.Announce(model.Change{Topics: true, All: true})
	}
}

// DeleteRecords implements model.RecordDeleter.
func (a *Attached) DeleteRecords(ctx context.Context, tp model.TopicPartition, before int64) (int64, error) {
	return through(ctx, a, func(ctx context.Context, o Owner) (int64, error) { return o.Topics.DeleteRecords(ctx, tp, before) })
}

// JoinGroup implements model.GroupJoiner.
func (a *Attached) JoinGroup(ctx context.Context, r model.JoinRequest) (model.Membership, error) {
	l, err := a.way()
	if err != nil {
		return nil, err
	}
	m, err := l.owner.Members.JoinGroup(ctx, r)
	if err != nil {
		return nil, err
	}
	return &member{Membership: m, link: l}, nil
}

// member is a member of a group of an owner that may end.
type member struct {
	model.Membership
	link *link
}

// Next implements model.Membership.
func (m *member) Next(ctx context.Context) ([]model.Record, error) {
	ctx, done := m.link.with(ctx)
	defer done()
	rs, err := m.Membership.Next(ctx)
	return rs, m.why(err)
}

// Commit implements model.Membership.
func (m *member) Commit(ctx context.Context, records []model.Record) error {
	ctx, done := m.link.with(ctx)
	defer done()
	return m.why(m.Membership.Commit(ctx, records))
}

// Leave implements model.Membership. An owner that has ended need not be told.
func (m *member) Leave(ctx context.Context) error {
	ctx, done := m.link.with(ctx)
	defer done()
	return m.why(m.Membership.Leave(ctx))
}

func (m *member) why(err error) error {
	if err != nil && m.link.ctx.Err() != nil {
		return fmt.Errorf("%w: process %d", model.ErrGone, m.link.holder.PID)
	}
	return err
}

// users says why the users cannot be had from another process.
func (a *Attached) users() error {
	l, err := a.way()
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: process %d keeps the users, and no client can ask for them: stop it for the time of that", model.ErrReadOnly, l.holder.PID)
}

// Users implements model.UserAdmin.
func (a *Attached) Users(context.Context) ([]model.User, error) { return nil, a.users() }

// SetUser implements model.UserAdmin.
func (a *Attached) SetUser(context.Context, string, string) error { return a.users() }

// RemoveUser implements model.UserAdmin.
func (a *Attached) RemoveUser(context.Context, string) error { return a.users() }

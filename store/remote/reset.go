package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// Commit stores offsets of a group that has no members. Errors wrap ErrRefused where it has some.
func (c *Client) Commit(ctx context.Context, group string, commits []model.Commit) error {
	if err := c.writing("commit offsets of group " + group); err != nil {
		return err
	}
	ctx, done := c.bound(ctx)
	defer done()
	var os kadm.Offsets
	for _, k := range commits {
		os.Add(kadm.Offset{Topic: k.Topic, Partition: k.Partition, At: k.Offset, LeaderEpoch: k.LeaderEpoch, Metadata: k.Metadata})
	}
	rs, err := c.admin.CommitOffsets(ctx, group, os)
	rs.Each(func(r kadm.OffsetResponse) {
		if r.Err != nil {
			tp := model.TopicPartition{Topic: r.Topic, Partition: r.Partition}
			err = errors.Join(err, fmt.Errorf("%s: %w", tp, answer(r.Err, "")))
		}
	})
	if err != nil {
		return fmt.Errorf("commit offsets of group %q: %w", group, c.why(ctx, err))
	}
	return nil
}

// forget takes committed offsets away.
func (c *Client) forget(ctx context.Context, group string, tps []model.TopicPartition) error {
	var set kadm.TopicsSet
	for _, tp := range tps {
		set.Add(tp.Topic, tp.Partition)
	}
	rs, err := c.admin.DeleteOffsets(ctx, group, set)
	for topic, ps := range rs {
		for p, perr := range ps {
			if perr != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", model.TopicPartition{Topic: topic, Partition: p}, answer(perr, "")))
			}
		}
	}
	return c.why(ctx, err)
}

// PlanReset computes a reset and changes nothing; Refused says why it could not be applied now. Errors: ErrNoGroup, and
// those of groups.Plan.
func (g *Groups) PlanReset(ctx context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	fail := func(err error) (model.ResetPlan, error) {
		return model.ResetPlan{}, fmt.Errorf("plan a reset of group %q: %w", r.Group, err)
	}
	if r.Group == "" {
		return fail(fmt.Errorf("%w group's name: it is empty", model.ErrInvalid))
	}
	have, stored, err := g.one(ctx, r.Group)
	if err != nil {
		return fail(err)
	}
	if have.State == model.GroupDead && len(stored) == 0 && len(r.Topics) == 0 && r.Where.Kind != model.ToFile && r.Where.Kind != model.ToGroup {
		return fail(g.noGroup(ctx, r.Group))
	}
	in := groups.PlanInput{Request: r, Stored: stored, Now: time.Now()}
	if r.Where.Kind == model.ToGroup {
		if _, in.Like, err = g.one(ctx, r.Where.Group); err != nil {
			return fail(err)
		}
		if len(in.Like) == 0 {
			return fail(g.noGroup(ctx, r.Where.Group))
		}
	}
	plan, err := groups.Plan(ctx, g.logs, in)
	if err != nil {
		return fail(err)
	}
	plan.Refused = groups.Refusal(&have)
	return plan, nil
}

// ApplyReset stores what a plan says and reads it back. Rows taken out and rows that change nothing are not touched. Errors
// wrap ErrRefused when the group is active, or when what a row starts from is no longer what is stored: nothing is changed
// then. When the broker refuses some rows, or the connection is lost, others may be stored; the error says so, and the
// result what is stored. There is no journal: its number is 0.
func (g *Groups) ApplyReset(ctx context.Context, p model.ResetPlan) (model.ResetResult, error) {
	var res model.ResetResult
	fail := func(err error) error { return fmt.Errorf("reset group %q: %w", p.Group, err) }
	if err := g.c.writing("store offsets"); err != nil {
		return res, fail(err)
	}
	if err := groups.CheckPlan(p); err != nil {
		return res, fail(err)
	}
	have, stored, err := g.one(ctx, p.Group)
	if err != nil {
		return res, fail(err)
	}
	if why := groups.Refusal(&have); why != "" {
		return res, fail(fmt.Errorf("%w: %s", model.ErrRefused, why))
	}
	if err := groups.Unmoved(p, stored); err != nil {
		return res, fail(err)
	}
	// From here on it is done, or said what is: whoever leaves the page does not stop it halfway.
	ctx = context.WithoutCancel(ctx)
	if err := g.store(ctx, p); err != nil {
		return res, fail(err)
	}
	_, stored, err = g.one(ctx, p.Group)
	if err != nil {
		return res, fail(fmt.Errorf("it was stored, but could not be read back: %w", err))
	}
	if res.Rows, err = groups.ReadBack(p, stored); err != nil {
		return res, fail(err)
	}
	return res, nil
}

// store stores a plan's changes.
func (g *Groups) store(ctx context.Context, p model.ResetPlan) error {
	var put []model.Commit
	var drop []model.TopicPartition
	for _, r := range groups.Changed(p) {
		if r.To < 0 {
			drop = append(drop, r.TopicPartition)
			continue
		}
		put = append(put, model.Commit{TopicPartition: r.TopicPartition, Offset: r.To, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata})
	}
	if len(put) > 0 {
		if err := g.c.Commit(ctx, p.Group, put); err != nil {
			return err
		}
	}
	if len(drop) == 0 {
		return nil
	}
	ctx, done := g.c.bound(ctx)
	defer done()
	return g.c.forget(ctx, p.Group, drop)
}

// DeleteGroup deletes a group with all that it has committed. ErrNoGroup, ErrRefused.
func (g *Groups) DeleteGroup(ctx context.Context, id string) error {
	if err := g.c.writing("delete group " + id); err != nil {
		return err
	}
	ctx, done := g.c.bound(ctx)
	defer done()
	_, err := g.c.admin.DeleteGroup(ctx, id)
	if err = g.c.why(ctx, err); errors.Is(err, model.ErrNoGroup) {
		return g.noGroup(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("delete group %q: %w", id, err)
	}
	return nil
}

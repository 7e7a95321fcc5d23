package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strata-kafka/strata/model"
)

// planGroups fills in the groups of a plan. why says which cannot be copied.
func (c *Copy) planGroups(ctx context.Context, p *model.CopyPlan) (why []string, err error) {
	ids := p.Query.Groups
	if p.Query.AllGroups {
		all, err := c.from.Groups(ctx)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].Type != "Share" && len(stored(p, &all[i])) > 0 {
				ids = append(ids, all[i].ID)
			}
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		g, err := c.from.Group(ctx, id)
		if err != nil {
			return nil, err
		}
		row := model.CopyGroup{Group: id}
		want := stored(p, &g)
		row.Rows = len(want)
		switch {
		case g.Type == "Share":
			note(&row.Note, "a share group's offsets are no group's offsets: left out")
			row.Rows = 0
		case row.Rows == 0:
			note(&row.Note, "it has committed nothing in these topics")
		case g.Active():
			note(&row.Note, "it is active on the source: what it commits until the records are copied counts")
		}
		there, err := c.there(ctx, id)
		switch {
		case errors.Is(err, model.ErrNoGroup):
		case err != nil:
			return nil, err
		case there.Active():
			why = append(why, fmt.Sprintf("group %q is active there (%s): stop its members first", id, there.State))
		default:
			have := committed(&there)
			for tp := range want {
				if _, ok := have[tp]; ok {
					row.Over++
				}
			}
		}
		p.Groups = append(p.Groups, row)
	}
	return why, nil
}

// there asks for a group on the other side. A cluster that has never had one makes the topic of groups when it is first asked,
// and cannot answer until that is there; so it is asked a few times.
func (c *Copy) there(ctx context.Context, id string) (g model.Group, err error) {
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		g, err = c.to.Group(ctx, id)
		if err == nil || errors.Is(err, model.ErrNoGroup) || ctx.Err() != nil || wait > 3*time.Second {
			return g, err
		}
		if perr := pause(ctx, wait); perr != nil {
			return g, perr
		}
	}
}

// committed is what a group has committed, by partition.
func committed(g *model.Group) map[model.TopicPartition]model.GroupOffset {
	out := map[model.TopicPartition]model.GroupOffset{}
	for _, o := range g.Offsets {
		if o.Committed >= 0 {
			out[o.TopicPartition] = o
		}
	}
	return out
}

// stored is what a group has committed in the topics of a plan, by the partition on the other side.
func stored(p *model.CopyPlan, g *model.Group) map[model.TopicPartition]model.GroupOffset {
	out := map[model.TopicPartition]model.GroupOffset{}
	have := committed(g)
	for i := range p.Topics {
		t := &p.Topics[i]
		for _, part := range t.Partitions {
			if o, ok := have[model.TopicPartition{Topic: t.From, Partition: part.Partition}]; ok {
				out[model.TopicPartition{Topic: t.To, Partition: part.Partition}] = o
			}
		}
	}
	return out
}

// groups stores the offsets of the groups and reads them back.
func (j *job) groups(ctx context.Context) error {
	for _, g := range j.plan.Groups {
		if g.Rows == 0 {
			continue
		}
		out := model.CopiedGroup{Group: g.Group}
		out.Rows, out.Err = j.group(ctx, g.Group)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		j.res.Groups = append(j.res.Groups, out)
	}
	return nil
}

// group stores the offsets of one group, as they are now.
func (j *job) group(ctx context.Context, id string) ([]model.CopiedOffset, error) {
	g, err := j.from.Group(ctx, id)
	if err != nil {
		return nil, err
	}
	var rows []model.CopiedOffset
	var commits []model.Commit
	want := stored(&j.plan, &g)
	for _, p := range j.parts {
		o, ok := want[p.to]
		if !ok {
			continue
		}
		row := model.CopiedOffset{TopicPartition: p.to, From: o.Committed, To: p.m.at(o.Committed)}
		switch {
		case o.LogEnd >= 0 && o.Committed > o.LogEnd:
			row.Note = fmt.Sprintf("it was past the log's end, which is %d on the source", o.LogEnd)
		case o.Committed > p.plan.To:
			row.Note = fmt.Sprintf("offsets %d to %d are not copied: it reads them once they are", p.plan.To, o.Committed-1)
		case o.Committed < p.plan.From:
			row.Note = fmt.Sprintf("offsets %d to %d are lost on the source", o.Committed, p.plan.From-1)
		}
		rows = append(rows, row)
		commits = append(commits, model.Commit{TopicPartition: p.to, Offset: row.To, LeaderEpoch: -1, Metadata: o.Metadata})
	}
	if len(commits) == 0 {
		return nil, nil
	}
	if err := j.w.Commit(ctx, id, commits); err != nil {
		return rows, err
	}
	there, err := j.there(ctx, id)
	if err != nil {
		return rows, fmt.Errorf("read back: %w", err)
	}
	have := committed(&there)
	for _, cm := range commits {
		o, ok := have[cm.TopicPartition]
		if !ok || o.Committed != cm.Offset || o.Metadata != cm.Metadata {
			return rows, fmt.Errorf("%s: %d was stored, and %d is read back", cm.TopicPartition, cm.Offset, o.Committed)
		}
	}
	return rows, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

func (a *app) groupsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "groups",
		Short: "consumer groups: state, members, topics, lag",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.with(c, Look, a.groups) },
	}
}

// exactGroups lists groups. A listing leaves large lags estimates; each such group is asked for by itself.
func exactGroups(ctx context.Context, src model.Source) ([]model.Group, error) {
	gs, err := src.Groups(ctx)
	if err != nil {
		return gs, err
	}
	reader, ok := src.(model.GroupReader)
	for i := range gs {
		if !ok || gs[i].Lag.State == model.CountExact || gs[i].Lag.State == model.CountNone {
			continue
		}
		g, err := reader.Group(ctx, gs[i].ID)
		switch {
		case err == nil:
			gs[i] = g
		case !errors.Is(err, model.ErrNoGroup): // else it went meanwhile
			return gs, err
		}
	}
	return gs, nil
}

func (a *app) groups(ctx context.Context, src model.Source) error {
	gs, err := exactGroups(ctx, src)
	if err != nil {
		return err
	}
	if a.opts.json {
		var o object
		for i := range gs {
			if _, err := a.out.Write(groupJSON(&o, &gs[i])); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "GROUP", "STATE", "TYPE", "PROTOCOL", "ASSIGNOR", ">MEMBERS", ">LAG", "TOPICS")
	for i := range gs {
		g := &gs[i]
		if err := t.row(g.ID, string(g.State), g.Type, g.ProtocolType, g.Protocol, strconv.Itoa(len(g.Members)), count(g.Lag), strings.Join(topicsOf(g), ", ")); err != nil {
			return err
		}
	}
	return t.flush()
}

// topicsOf lists the topics that a group has committed or reads, by name.
func topicsOf(g *model.Group) []string {
	seen := map[string]bool{}
	for _, o := range g.Offsets {
		seen[o.Topic] = true
	}
	for _, m := range g.Members {
		for _, tp := range m.Assignment {
			seen[tp.Topic] = true
		}
	}
	names := make([]string, 0, len(seen))
	for n := range seen {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (a *app) groupCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "group G",
		Short: "one group: state, members, committed offsets, lag",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error { return a.group(ctx, src, args[0]) })
		},
	}
}

func (a *app) group(ctx context.Context, src model.Source, id string) error {
	reader, err := ability[model.GroupReader](src, "read a group")
	if err != nil {
		return err
	}
	g, err := reader.Group(ctx, id)
	if err != nil {
		return err
	}
	if a.opts.json {
		var o object
		if _, err := a.out.Write(groupJSON(&o, &g)); err != nil {
			return err
		}
		for i := range g.Offsets {
			if _, err := a.out.Write(groupOffsetJSON(&o, g.ID, &g.Offsets[i])); err != nil {
				return err
			}
		}
		return nil
	}
	head := fmt.Sprintf("%s  %s  %s  lag %s\n", safe(g.ID), g.State, safe(strings.Join(strings.Fields(g.Type+" "+g.ProtocolType+" "+g.Protocol), " ")), count(g.Lag))
	for _, m := range g.Members {
		var tps []string
		for _, tp := range m.Assignment {
			tps = append(tps, tp.String())
		}
		head += fmt.Sprintf("member %s  client %s  host %s  %s\n", safe(m.ID), safe(m.Client), safe(m.Host), safe(strings.Join(tps, " ")))
	}
	if _, err := a.out.Write([]byte(head)); err != nil {
		return err
	}
	t := newTable(a.out, "PARTITION", ">COMMITTED", ">START", ">END", ">LAG", "COMMITTED AT", "MEMBER", "NOTE")
	for i := range g.Offsets {
		r := &g.Offsets[i]
		committed := "–"
		if r.Committed >= 0 {
			committed = number(r.Committed)
		}
		if err := t.row(r.TopicPartition.String(), committed, offset(r.LogStart), offset(r.LogEnd), count(r.Lag), a.stamp(r.CommittedAt), r.Member, offsetNote(r)); err != nil {
			return err
		}
	}
	return t.flush()
}

func offsetNote(r *model.GroupOffset) string {
	var notes []string
	if r.Lost > 0 {
		notes = append(notes, fmt.Sprintf("%d lost before the log start", r.Lost))
	}
	if r.Ahead > 0 {
		notes = append(notes, fmt.Sprintf("%d past the log end", r.Ahead))
	}
	if r.Err != nil {
		notes = append(notes, r.Err.Error())
	}
	if r.Metadata != "" {
		notes = append(notes, "metadata "+strconv.Quote(r.Metadata))
	}
	return strings.Join(notes, "; ")
}

func (a *app) resetCmd() *cobra.Command {
	var to string
	var topics []string
	var apply bool
	c := &cobra.Command{
		Use:   "reset G --to WHERE",
		Short: "a plan to move a group's committed offsets; writes nothing without --apply",
		Long: `A plan to move a group's committed offsets. It writes nothing without --apply; what is applied can be undone.

WHERE: earliest, latest, OFFSET, TIME, DURATION (ago, as 2h30m), +N, -N (shift), group:NAME, file:CSV (lines of
topic,partition,offset).`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			req, err := a.resetRequest(args[0], to, topics)
			if err != nil {
				return err
			}
			return a.with(c, accessFor(apply), func(ctx context.Context, src model.Source) error {
				r, err := ability[model.Resetter](src, "reset offsets")
				if err != nil {
					return err
				}
				plan, err := r.PlanReset(ctx, req)
				if err != nil {
					return err
				}
				return a.plan(ctx, r, plan, apply)
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "where to (needed)")
	c.Flags().StringArrayVar(&topics, "topic", nil, "TOPIC or TOPIC:P,P; again for more (default: all it has committed)")
	c.Flags().BoolVar(&apply, "apply", false, "apply the plan")
	return c
}

func accessFor(apply bool) Access {
	if apply {
		return Offsets
	}
	return Look
}

func (a *app) resetRequest(group, to string, topics []string) (model.ResetRequest, error) {
	req := model.ResetRequest{Group: group}
	if to == "" {
		return req, fmt.Errorf("%w: --to WHERE is needed; see strata reset --help", model.ErrInvalid)
	}
	var err error
	if req.Where, err = model.ParseWhere(to, a.now(), a.zone); err != nil {
		return req, err
	}
	if req.Where.Kind == model.ToFile {
		b, err := os.ReadFile(req.Where.File)
		if err != nil {
			return req, err
		}
		if req.Where.Rows, err = model.ParseOffsetRows(string(b)); err != nil {
			return req, fmt.Errorf("%s: %w", req.Where.File, err)
		}
	}
	for _, t := range topics {
		sel, err := model.ParseSelector(t)
		if err != nil {
			return req, err
		}
		req.Topics = append(req.Topics, sel)
	}
	return req, nil
}

// plan prints a plan and, if asked to, applies it.
func (a *app) plan(ctx context.Context, r model.Resetter, p model.ResetPlan, apply bool) error {
	if err := a.printPlan(&p); err != nil {
		return err
	}
	if p.Refused != "" {
		a.warn("refused: " + p.Refused)
		a.code = exitWrong
		return nil
	}
	if p.Changes() == 0 {
		a.warn("nothing to do: every partition is there already")
		a.code = exitWrong
		return nil
	}
	if !apply {
		a.warn("this is a plan; nothing was written. Add --apply to apply it")
		return nil
	}
	res, err := r.ApplyReset(ctx, p)
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		if !row.OK {
			a.code = exitWrong
			a.warn(fmt.Sprintf("%s: stored %s, which is not what was planned", row.TopicPartition, offset(row.Stored)))
		}
	}
	back := fmt.Sprintf("strata undo %d takes it back", res.Journal)
	if j, ok := r.(model.JournalReason); ok && res.Journal == 0 {
		back = "no undo: " + j.WhyNoJournal()
	}
	a.warn(fmt.Sprintf("applied and read back: %d partitions; %s", len(res.Rows), back))
	return nil
}

func (a *app) printPlan(p *model.ResetPlan) error {
	if a.opts.json {
		var o object
		for i := range p.Rows {
			if _, err := a.out.Write(planRowJSON(&o, &p.Rows[i])); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "PARTITION", ">COMMITTED", ">WILL BE", ">CHANGE", "NOTE", "FIRST RECORD IT WILL READ")
	for i := range p.Rows {
		r := &p.Rows[i]
		if err := t.row(r.TopicPartition.String(), none(r.From), none(r.To), change(r), r.Note, a.firstRecord(r.First)); err != nil {
			return err
		}
	}
	return t.flush()
}

func none(n int64) string {
	if n < 0 {
		return "–"
	}
	return number(n)
}

func change(r *model.PlanRow) string {
	switch {
	case r.Change.State == model.CountNone:
		return "new"
	case r.From == r.To:
		return "unchanged"
	case r.Change.N < 0:
		return number(-r.Change.N) + " read again"
	}
	return count(r.Change) + " skipped"
}

func (a *app) firstRecord(r *model.Record) string {
	if r == nil {
		return "log end"
	}
	const most = 40
	cell := func(v []byte) string { return string(appendCell(nil, v[:min(len(v), most):min(len(v), most)])) }
	key, value := cell(r.Key), cell(r.Value)
	if r.Key == nil {
		key = "∅"
	}
	if r.Value == nil {
		value = "∅"
	}
	return a.stamp(r.Timestamp) + " " + key + " " + value
}

func (a *app) journalCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "journal",
		Short: "the resets made, newest first",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.with(c, Look, a.journal) },
	}
}

func (a *app) journal(ctx context.Context, src model.Source) error {
	r, err := ability[model.Resetter](src, "read the journal")
	if err != nil {
		return err
	}
	es, err := r.Journal(ctx)
	if err != nil {
		return err
	}
	var o object
	t := newTable(a.out, ">N", "TIME", "GROUP", "TO", ">PARTITIONS", "WHO", "NOTE")
	for i := range es {
		e := &es[i]
		if a.opts.json {
			if _, err := a.out.Write(journalJSON(&o, e)); err != nil {
				return err
			}
			continue
		}
		if err := t.row(strconv.FormatUint(e.ID, 10), a.stamp(e.At), e.Group, e.Where, strconv.Itoa(len(e.Rows)), e.Who, journalNote(e)); err != nil {
			return err
		}
	}
	if a.opts.json {
		return nil
	}
	return t.flush()
}

func journalNote(e *model.JournalEntry) string {
	var notes []string
	if e.UndoOf != 0 {
		notes = append(notes, fmt.Sprintf("takes back %d", e.UndoOf))
	}
	if e.Undone != 0 {
		notes = append(notes, fmt.Sprintf("taken back by %d", e.Undone))
	}
	return strings.Join(notes, ", ")
}

func journalJSON(o *object, e *model.JournalEntry) []byte {
	o.reset()
	o.num("id", int64(e.ID))
	o.num("time", e.At)
	o.str("group", e.Group)
	o.str("where", e.Where)
	o.str("who", e.Who)
	o.num("partitions", int64(len(e.Rows)))
	if e.UndoOf != 0 {
		o.num("undoOf", int64(e.UndoOf))
	} else {
		o.null("undoOf")
	}
	if e.Undone != 0 {
		o.num("undone", int64(e.Undone))
	} else {
		o.null("undone")
	}
	return o.line()
}

func (a *app) undoCmd() *cobra.Command {
	var apply bool
	c := &cobra.Command{
		Use:   "undo [N]",
		Short: "a plan to take back a reset (the newest that stands); writes nothing without --apply",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var id uint64
			if len(args) == 1 {
				n, err := strconv.ParseUint(args[0], 10, 64)
				if err != nil || n == 0 {
					return fmt.Errorf("%w number %q: want a number of strata journal", model.ErrInvalid, args[0])
				}
				id = n
			}
			return a.with(c, accessFor(apply), func(ctx context.Context, src model.Source) error {
				r, err := ability[model.Resetter](src, "undo a reset")
				if err != nil {
					return err
				}
				plan, err := r.PlanUndo(ctx, id)
				if err != nil {
					return err
				}
				return a.plan(ctx, r, plan, apply)
			})
		},
	}
	c.Flags().BoolVar(&apply, "apply", false, "apply the plan")
	return c
}

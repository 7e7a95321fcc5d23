package reset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/offsets"
	"github.com/strata-kafka/strata/ui/page"
)

// planned is a plan, and for an undo the entry that it takes back.
type planned struct {
	plan  model.ResetPlan
	entry *model.JournalEntry
}

// replan asks for the plan of what is chosen.
func (p *reset) replan() tea.Cmd {
	if p.src == nil || p.done != nil || p.asked != nil {
		return nil
	}
	p.began = p.Now()
	if p.undo != 0 {
		return p.planning.Start(p.Ctx, p.planUndo)
	}
	w, err := p.chosen()
	if err != nil {
		if p.wrong = ""; !errors.Is(err, errEmpty) {
			p.wrong = err.Error()
		}
		if p.loaded || p.planning.Busy() {
			return nil
		}
		// Nothing is on screen yet: what is committed is worth seeing while one types.
		return p.planning.Start(p.Ctx, func(ctx context.Context) (planned, error) {
			plan, err := p.src.PlanReset(ctx, model.ResetRequest{Group: p.group, Topics: p.scope, Where: model.Where{Kind: model.ToShift}})
			return planned{plan: plan}, err
		})
	}
	p.wrong = ""
	edits := maps.Clone(p.edits)
	req := model.ResetRequest{Group: p.group, Topics: p.scope, Where: w}
	return p.planning.Start(p.Ctx, func(ctx context.Context) (planned, error) {
		plan, err := makePlan(ctx, p.src, req, edits)
		return planned{plan: plan}, err
	})
}

// makePlan makes a plan and replaces the rows that were edited by the plans of their own places.
func makePlan(ctx context.Context, src model.Resetter, req model.ResetRequest, edits map[model.TopicPartition]model.Where) (model.ResetPlan, error) {
	var err error
	if req.Where, err = readRows(req.Where); err != nil {
		return model.ResetPlan{}, err
	}
	plan, err := src.PlanReset(ctx, req)
	if err != nil {
		return plan, err
	}
	var edited []string
	for i := range plan.Rows {
		r := &plan.Rows[i]
		w, ok := edits[r.TopicPartition]
		if !ok {
			continue
		}
		one, err := src.PlanReset(ctx, model.ResetRequest{Group: req.Group, Where: w,
			Topics: []model.TopicSelector{{Topic: r.Topic, Partitions: []int32{r.Partition}}}})
		if err != nil {
			return plan, err
		}
		for k := range one.Rows {
			if one.Rows[k].TopicPartition == r.TopicPartition {
				plan.Rows[i] = one.Rows[k]
			}
		}
		edited = append(edited, r.TopicPartition.String()+" to "+w.String())
	}
	if len(edited) > 0 {
		plan.Where += ", but " + strings.Join(edited[:min(3, len(edited))], ", ")
		if n := len(edited) - 3; n > 0 {
			plan.Where += " and " + strconv.Itoa(n) + " more"
		}
	}
	return plan, nil
}

func (p *reset) planUndo(ctx context.Context) (planned, error) {
	plan, err := p.src.PlanUndo(ctx, p.undo)
	if err != nil {
		return planned{plan: plan}, err
	}
	out := planned{plan: plan}
	entries, err := p.src.Journal(ctx)
	for i := range entries {
		if entries[i].ID == plan.UndoOf {
			out.entry = &entries[i]
		}
	}
	return out, err
}

// take puts a plan on screen, with what was taken out by hand.
func (p *reset) take(a planned, err error) {
	p.err = err
	p.took = p.Now().Sub(p.began)
	if err != nil {
		return
	}
	if p.refused != "" {
		p.moved = movedRows(p.plan.Rows, a.plan.Rows)
	}
	p.plan, p.entry, p.loaded = a.plan, a.entry, true
	if p.group == "" {
		p.group = a.plan.Group
	}
	for i := range p.plan.Rows {
		r := &p.plan.Rows[i]
		if out, ok := p.out[r.TopicPartition]; ok {
			r.Excluded = out
		}
	}
	_, werr := p.chosen()
	p.stale = p.undo == 0 && werr != nil
	p.fitNames(p.plan.Rows)
	p.table.SetLen(int64(len(p.plan.Rows)))
}

// fitNames gives the column of partitions as much room as the longest name needs, and the records the rest.
func (p *reset) fitNames(rows []model.PlanRow) {
	widest := p.table.Columns[colName].Max
	for i := range rows {
		n := kit.Width(kit.Safe(rows[i].TopicPartition.String(), 300))
		if _, edited := p.edits[rows[i].TopicPartition]; edited {
			n += len(" edited")
		}
		widest = max(widest, min(n, maxName))
	}
	p.table.Columns[colName].Max = widest
}

// movedRows returns what was committed before where it is something else now.
func movedRows(was, now []model.PlanRow) map[model.TopicPartition]int64 {
	before := make(map[model.TopicPartition]int64, len(was))
	for i := range was {
		before[was[i].TopicPartition] = was[i].From
	}
	out := map[model.TopicPartition]int64{}
	for i := range now {
		if b, ok := before[now[i].TopicPartition]; ok && b != now[i].From {
			out[now[i].TopicPartition] = b
		}
	}
	return out
}

// ask asks whether the plan on screen shall be applied, exactly as it is.
func (p *reset) ask() tea.Cmd {
	p.typing = false
	p.planning.Cancel() // what is asked about is what stands there
	plan := p.plan
	plan.Rows = append([]model.PlanRow(nil), p.plan.Rows...)
	p.asked = &plan
	s := offsets.SumUp(&plan)
	title := "reset group " + p.safeGroup() + " " + offsets.WhereWords(plan.Where) + "?"
	if p.undo != 0 {
		title = "take reset " + strconv.FormatUint(plan.UndoOf, 10) + " of group " + p.safeGroup() + " back?"
	}
	body := []string{s.Words(p.Theme)}
	if s.Out > 0 {
		body = append(body, kit.Plural(s.Out, "partition")+" taken out: left as it is")
	}
	body = append(body, "the journal keeps what was before, so that it can be taken back")
	return page.Send(page.Confirm{ID: apply, Title: title, Body: body})
}

func (p *reset) confirmed(c page.Confirmed) tea.Cmd {
	plan := p.asked
	if c.ID != apply || plan == nil {
		return nil
	}
	p.asked = nil
	if !c.OK {
		p.due = true
		return nil
	}
	p.done = nil
	p.pending = *plan
	return p.applying.Start(p.Ctx, func(ctx context.Context) (model.ResetResult, error) { return p.src.ApplyReset(ctx, *plan) })
}

// applied shows what was stored, or why nothing was.
func (p *reset) applied(r model.ResetResult, err error) tea.Cmd {
	if err != nil && len(r.Rows) == 0 {
		p.refused = err.Error()
		if errors.Is(err, model.ErrRefused) {
			return tea.Batch(page.Say(page.Bad, err.Error()), p.replan())
		}
		return page.Say(page.Bad, err.Error())
	}
	plan := p.pending
	kept := plan.Rows[:0:0]
	for _, row := range plan.Rows {
		if !row.Excluded {
			kept = append(kept, row)
		}
	}
	plan.Rows = kept
	p.done = &outcome{plan: plan, result: r, err: err, at: p.Now().UnixMilli()}
	p.refused, p.moved = "", nil
	p.table.Columns = doneColumns()
	p.fitNames(kept)
	p.table.Forget()
	p.table.SetLen(int64(len(kept)))
	if err != nil {
		return page.Say(page.Bad, err.Error())
	}
	if r.Journal == 0 {
		return page.Say(page.Good, "stored and read back; it cannot be taken back: "+offsets.WhyNoJournal(p.Src))
	}
	return page.Say(page.Good, fmt.Sprintf("stored and read back; journal entry %d, u takes it back", r.Journal))
}

// replanFresh leaves what was applied and plans anew.
func (p *reset) replanFresh() tea.Cmd {
	p.done = nil
	p.out, p.edits = map[model.TopicPartition]bool{}, map[model.TopicPartition]model.Where{}
	p.table.Columns = planColumns()
	p.fitNames(p.plan.Rows)
	p.table.Forget()
	p.table.SetLen(int64(len(p.plan.Rows)))
	return p.replan()
}

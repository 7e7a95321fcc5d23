package groups

import (
	"fmt"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// What follows is for those who apply a plan to offsets that are kept elsewhere.

// CheckPlan says what is wrong with a plan as such. Errors wrap ErrInvalid, and ErrRefused where it changes nothing.
func CheckPlan(p model.ResetPlan) error { return checkPlan(p) }

// Changed returns a plan's rows that would store anything else than what they start from, without those taken out.
func Changed(p model.ResetPlan) []model.PlanRow { return changed(p.Rows) }

// Unmoved refuses a plan of which any row starts from something else than what is stored. Errors wrap ErrRefused.
func Unmoved(p model.ResetPlan, stored []Committed) error {
	now := byPartition(stored)
	var moved []string
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Excluded {
			continue
		}
		c, ok := now[r.TopicPartition]
		was := Committed{Commit: model.Commit{Offset: r.From, LeaderEpoch: r.FromEpoch, Metadata: r.FromMetadata}}
		if ok == (r.From >= 0) && (!ok || c.Same(was)) {
			continue
		}
		if !ok {
			c.Offset = model.Unknown
		}
		moved = append(moved, fmt.Sprintf("%s is %s, was %s", r.TopicPartition, word(c.Offset), word(r.From)))
	}
	if len(moved) == 0 {
		return nil
	}
	more := ""
	if len(moved) > 3 {
		moved, more = moved[:3], fmt.Sprintf(" and %d more", len(moved)-3)
	}
	return fmt.Errorf("%w: offsets have moved since the plan was made: %s%s; plan again", model.ErrRefused, strings.Join(moved, "; "), more)
}

// ReadBack compares what is stored with what was planned. The error says how many rows are not as planned.
func ReadBack(p model.ResetPlan, stored []Committed) ([]model.ResetRow, error) {
	now := byPartition(stored)
	var rows []model.ResetRow
	wrong := 0
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Excluded {
			continue
		}
		row := model.ResetRow{TopicPartition: r.TopicPartition, Stored: model.Unknown, OK: r.To < 0}
		if c, ok := now[r.TopicPartition]; ok {
			row.Stored = c.Offset
			row.OK = c.Same(Committed{Commit: model.Commit{Offset: r.To, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata}})
		}
		if !row.OK {
			wrong++
		}
		rows = append(rows, row)
	}
	if wrong > 0 {
		return rows, fmt.Errorf("%d rows are not as planned", wrong)
	}
	return rows, nil
}

// Refusal says why the offsets of a group cannot be moved now: who its members are; "" when they can.
func Refusal(g *model.Group) string {
	if !g.Active() {
		return ""
	}
	names := make([]string, 0, len(g.Members))
	for _, m := range g.Members {
		names = append(names, m.Client+"@"+m.Host)
	}
	if len(names) == 0 {
		return fmt.Sprintf("group is %s", g.State)
	}
	return fmt.Sprintf("group is %s, members %s", g.State, strings.Join(names, ", "))
}

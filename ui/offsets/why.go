package offsets

import (
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

// maxNamed is how many members are named before the rest is only counted.
const maxNamed = 4

// WhyNoReset says why the offsets of a group cannot be moved on a source; "" when they can.
func WhyNoReset(src model.Source, g *model.Group) string {
	if _, ok := src.(model.Resetter); !ok {
		return "this source is read-only: offsets cannot be moved"
	}
	if g == nil || !g.Active() {
		return ""
	}
	if len(g.Members) == 0 {
		return "group is " + kit.Safe(string(g.State), 40) + ": stop its members first"
	}
	return "group has live members: " + Members(g)
}

// WhyNoJournal says why resets on a source have no journal, and cannot be taken back; "" when they have one.
func WhyNoJournal(src model.Source) string {
	if why := WhyNoReset(src, nil); why != "" {
		return why
	}
	if j, ok := src.(model.JournalReason); ok {
		return kit.Safe(j.WhyNoJournal(), 300)
	}
	return ""
}

// Members names the members of a group in safe text: c1@127.0.0.1, c2@127.0.0.1.
func Members(g *model.Group) string {
	var names []string
	for i := range g.Members {
		m := &g.Members[i]
		client := m.Client
		if client == "" {
			client = m.ID
		}
		names = append(names, kit.Safe(client, 60)+"@"+kit.Safe(strings.TrimPrefix(m.Host, "/"), 60))
		if i+1 == maxNamed && len(g.Members) > maxNamed {
			names = append(names, "and "+kit.Number(int64(len(g.Members)-maxNamed))+" more")
			break
		}
	}
	return strings.Join(names, ", ")
}

// Odd says what is odd about a group's row of a partition, and how bad: "12 lost before the log start", "450 past the
// end". It is safe text.
func Odd(t *kit.Theme, o *model.GroupOffset) (string, kit.Style) {
	switch {
	case o.Err != nil:
		return kit.Safe(o.Err.Error(), 300), t.Bad
	case o.Lost > 0:
		return kit.Number(o.Lost) + " lost before the log start", t.Bad
	case o.Ahead > 0:
		return kit.Number(o.Ahead) + " past the end", t.Warn
	}
	return "", kit.Style{}
}

// StateStyle colours a group's state: what reads is good, what rests is plain, the rest is on its way.
func StateStyle(t *kit.Theme, s model.GroupState) kit.Style {
	switch s {
	case model.GroupStable:
		return t.Good
	case model.GroupEmpty:
		return kit.Style{}
	case model.GroupDead, model.GroupUnknown:
		return t.Dim
	}
	return t.Warn
}

// WhereWords puts what a plan or a journal entry says of its place into words that follow "reset": "to earliest", "by
// -100", "to 2h30m0s ago", "as undo of reset 7". It is safe text.
func WhereWords(where string) string {
	first, rest, more := strings.Cut(where, ", but ")
	tail := ""
	if more {
		tail = ", but " + kit.Safe(rest, 300)
	}
	if n, ok := strings.CutPrefix(first, "undo "); ok {
		return "as undo of reset " + kit.Safe(n, 40) + tail
	}
	if first == "delete group" {
		return "by deletion of the group"
	}
	w, err := model.ParseWhere(first, time.Time{}, time.UTC)
	text := kit.Safe(first, 300)
	switch {
	case err != nil:
		return "to " + text + tail
	case w.Kind == model.ToShift:
		return "by " + text + tail
	case w.Kind == model.ToAgo:
		return "to " + ago(w.N) + " ago" + tail
	case w.Kind == model.ToOffset:
		return "to offset " + text + tail
	case w.Kind == model.ToGroup:
		return "to where group " + kit.Safe(w.Group, 200) + " is" + tail
	case w.Kind == model.ToFile:
		return "to the offsets of " + kit.Safe(w.File, 200) + tail
	}
	return "to " + text + tail
}

// ago writes milliseconds as the duration that was typed: 2h30m, not 2h30m0s.
func ago(ms int64) string {
	s := (time.Duration(ms) * time.Millisecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

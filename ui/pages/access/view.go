package access

import (
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	headLines = 2 // above the rules
	// minSplit is the least height at which the quotas are shown below the rules.
	minSplit = 10
)

func (p *access) View(w, h int) string {
	p.seenY = 0
	switch {
	case p.src == nil:
		return kit.Empty(p.Theme, w, h, "this source cannot say who may do what", "a cluster can: strata HOST:PORT opens one; strata user lists those who may connect to the embedded broker")
	case !p.loaded && p.err != nil:
		return kit.Problem(p.Theme, w, h, p.err.Error(), "ctrl-r asks again")
	case !p.loaded && p.load.Slow():
		return kit.Empty(p.Theme, w, h, "asking the cluster who may do what", "its access rules, and its quotas")
	case !p.loaded:
		return kit.Block("", w, h)
	case p.inside && h > 2:
		return page.Rule(p.Theme, w, "client quotas") + "\n" + p.lower(w, h-1, p.Theme)
	case h <= headLines:
		return kit.Block(p.head(w), w, h)
	}
	top := p.head(w) + "\n" + page.Rule(p.Theme, w, "access rules") + "\n"
	h -= headLines
	if h < minSplit {
		return top + p.upper(w, h)
	}
	lower := min(max(1, len(p.bounds))+2, h/2)
	upper := h - lower
	if need := len(p.rows) + 1; len(p.rows) > 0 && need < upper {
		upper = need
	}
	p.seenY = headLines + upper
	return top + kit.Block(p.upper(w, upper)+"\n"+page.Rule(p.Theme, w, "client quotas")+"\n"+p.lower(w, h-upper-1, p.Theme.Resting()), w, h)
}

func (p *access) head(w int) string {
	t := p.Theme
	facts := []page.Fact{{Value: kit.Plural(len(p.got.acls), "rule")}}
	if p.got.aclErr != nil {
		facts[0] = page.Fact{Name: "rules", Value: t.Glyphs.Unknown, Style: t.Dim}
	}
	if p.denied > 0 {
		facts = append(facts, page.Fact{Value: kit.Number(int64(p.denied)) + " deny", Style: t.Warn})
	}
	if p.got.quotaErr != nil {
		facts = append(facts, page.Fact{Name: "quotas", Value: t.Glyphs.Unknown, Style: t.Dim})
	} else {
		facts = append(facts, page.Fact{Value: kit.Plural(len(p.got.quotas), "quota")})
	}
	return page.Facts(t, w, facts...)
}

// upper draws the rules, or says why there are none.
func (p *access) upper(w, h int) string {
	switch {
	case p.got.aclErr != nil:
		next := "quotas do not need it: they stand below, tab gives them the screen"
		if p.got.quotaErr != nil {
			next = "ctrl-r asks again"
		}
		return kit.Problem(p.Theme, w, h, p.got.aclErr.Error(), next)
	case len(p.got.acls) == 0:
		return kit.Empty(p.Theme, w, h, "there is no access rule: what its brokers do without one decides (allow.everyone.if.no.acl.found)", "kafka-acls --add makes rules")
	case len(p.rows) == 0:
		return kit.Empty(p.Theme, w, h, "no rule matches "+kit.Safe(p.filter.Text(), 60), "esc takes the filter away")
	}
	return p.rules.View(w, h, p.row)
}

// lower draws the quotas with a theme, or says why there are none.
func (p *access) lower(w, h int, t *kit.Theme) string {
	why := ""
	switch {
	case p.got.quotaErr != nil:
		why = kit.Safe(p.got.quotaErr.Error(), 400)
	case len(p.got.quotas) == 0:
		why = "no client is bound to a quota"
	case len(p.bounds) == 0:
		why = "no quota matches " + kit.Safe(p.filter.Text(), 60)
	}
	if why != "" {
		var out []string
		for _, line := range kit.Wrap(why, max(10, w-4)) {
			var l kit.Line
			out = append(out, l.Space(2).Add(p.Theme.Dim, line).Fit(w))
		}
		return kit.Block(strings.Join(out, "\n"), w, h)
	}
	p.limits.Theme = t
	s := p.limits.View(w, h, p.quotaRow)
	p.limits.Theme = p.Theme
	return s
}

func (p *access) row(i int64) kit.Row {
	a, t := &p.got.acls[p.rows[i]], p.Theme
	style := t.Good
	if !a.Allow {
		style = t.Warn
	}
	return kit.Row{Cells: []kit.Cell{
		{Spans: p.filter.Spans(t, kit.Style{}, a.Principal, 300)},
		{Text: may(a), Style: style},
		{Spans: p.filter.Spans(t, kit.Style{}, a.Operation, 60)},
		{Spans: p.filter.Spans(t, t.Dim, a.Resource, 60)},
		{Spans: p.name(a)},
		{Spans: p.filter.Spans(t, t.Dim, a.Host, 200)},
	}}
}

// name is what a rule is about: one name, all that begin so, or all.
func (p *access) name(a *model.ACL) []kit.Span {
	t := p.Theme
	spans := p.filter.Spans(t, kit.Style{}, a.Name, 300)
	switch {
	case a.Pattern == "Prefixed":
		return append(spans, kit.Span{Text: t.Glyphs.Ellipsis + " prefixed", Style: t.Dim})
	case a.Pattern == "Literal" && a.Name == "*":
		return append(spans, kit.Span{Text: " all", Style: t.Dim})
	case a.Pattern != "Literal":
		return append(spans, kit.Span{Text: " " + kit.Safe(strings.ToLower(a.Pattern), 20), Style: t.Dim})
	}
	return spans
}

func (p *access) quotaRow(i int64) kit.Row {
	q, t := &p.got.quotas[p.bounds[i]], p.Theme
	return kit.Row{Cells: []kit.Cell{
		{Spans: p.filter.Spans(t, kit.Style{}, q.Entity, 300)},
		{Spans: p.filter.Spans(t, t.Dim, q.Key, 100)},
		p.bound(q),
	}}
}

// bound writes a quota's value in its unit.
func (p *access) bound(q *model.Quota) kit.Cell {
	plain := strconv.FormatFloat(q.Value, 'f', -1, 64)
	if q.Value == float64(int64(q.Value)) {
		plain = kit.Number(int64(q.Value))
	}
	switch {
	case strings.HasSuffix(q.Key, "_byte_rate") && q.Value < 1<<62:
		return kit.Cell{Text: kit.BytesText(int64(q.Value)), Unit: "/ s"}
	case q.Key == "request_percentage":
		return kit.Cell{Text: plain, Unit: "%  "}
	case strings.HasSuffix(q.Key, "_rate"):
		return kit.Cell{Text: plain, Unit: "/ s"}
	}
	return kit.Cell{Text: plain, Unit: "   "}
}

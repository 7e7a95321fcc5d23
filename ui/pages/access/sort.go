package access

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// column is a column of the rules, in the order in which they stand.
type column int

const (
	colPrincipal column = iota
	colMay
	colOperation
	colResource
	colName
	colHost
)

// columns returns the rules' columns. On a narrow screen the host goes first.
func columns() []kit.Column {
	return []kit.Column{
		colPrincipal: {Name: "PRINCIPAL", Grow: true, Min: 12, Max: 60},
		colMay:       {Name: "MAY", Min: 5},
		colOperation: {Name: "OPERATION", Min: 9, Max: 24},
		colResource:  {Name: "RESOURCE", Min: 8, Max: 20, Drop: 1},
		colName:      {Name: "NAME", Grow: true, Min: 14, Max: 80},
		colHost:      {Name: "FROM", Min: 4, Max: 40, Drop: 2},
	}
}

func quotaColumns() []kit.Column {
	return []kit.Column{
		{Name: "WHO", Grow: true, Min: 16, Max: 80},
		{Name: "WHAT", Min: 18, Max: 40},
		{Name: "AT MOST", Right: true, Min: 12},
	}
}

// arrange makes the rows anew: what is shown, and in which order.
func (p *access) arrange() {
	p.rows, p.bounds = p.rows[:0], p.bounds[:0]
	for i := range p.got.acls {
		a := &p.got.acls[i]
		if slices.ContainsFunc([]string{a.Principal, a.Name, a.Operation, a.Resource, a.Host, may(a)}, p.filter.Match) {
			p.rows = append(p.rows, i)
		}
	}
	for i := range p.got.quotas {
		if q := &p.got.quotas[i]; p.filter.Match(q.Entity) || p.filter.Match(q.Key) {
			p.bounds = append(p.bounds, i)
		}
	}
	slices.SortStableFunc(p.rows, p.compare)
	p.rules.SetLen(int64(len(p.rows)))
	p.limits.SetLen(int64(len(p.bounds)))
}

func (p *access) compare(i, j int) int {
	a, b := &p.got.acls[i], &p.got.acls[j]
	n := 0
	switch p.sorted {
	case colPrincipal:
		n = strings.Compare(a.Principal, b.Principal)
	case colMay:
		n = -strings.Compare(may(a), may(b)) // denials first
	case colOperation:
		n = strings.Compare(a.Operation, b.Operation)
	case colResource:
		n = strings.Compare(a.Resource, b.Resource)
	case colName:
		n = strings.Compare(a.Name, b.Name)
	case colHost:
		n = strings.Compare(a.Host, b.Host)
	}
	if p.desc {
		n = -n
	}
	return cmp.Or(n, strings.Compare(a.Principal, b.Principal), cmp.Compare(i, j))
}

// may is the word for what a rule does.
func may(a *model.ACL) string {
	if a.Allow {
		return "allow"
	}
	return "deny"
}

// nextSort sorts by the column right of the one that sorts now.
func (p *access) nextSort() tea.Cmd {
	next := p.sorted + 1
	if int(next) >= len(p.rules.Columns) {
		next = colPrincipal
	}
	p.sorted, p.desc = next, false
	return p.resort()
}

// sortBy sorts by a column, or turns the order when it sorts already.
func (p *access) sortBy(c column) tea.Cmd {
	p.sorted, p.desc = c, c == p.sorted && !p.desc
	return p.resort()
}

func (p *access) resort() tea.Cmd {
	p.rules.Sorted, p.rules.Desc = int(p.sorted)+1, p.desc
	p.rules.Rearrange(p.arrange)
	return page.Send(page.Remember{Key: "sort", Value: page.SortText(&p.rules)})
}

package clients

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// column is a column of the table, in the order in which they stand.
type column int

const (
	colClient column = iota
	colSoftware
	colAddress
	colSince
	colLast
	colRequests
	colIn
	colOut
	colErrors
	colDelivery
	colGroups
)

// columns returns the table's columns. On a narrow screen they go from the highest Drop down; name, rate and delivery
// remain.
func columns() []kit.Column {
	return []kit.Column{
		colClient:   {Name: "CLIENT", Grow: true, Min: 14, Max: 40},
		colSoftware: {Name: "SOFTWARE", Grow: true, Min: 14, Max: 30, Drop: 3},
		colAddress:  {Name: "ADDRESS", Min: 15, Drop: 4},
		colSince:    {Name: "SINCE", Right: true, Min: 6, Drop: 6},
		colLast:     {Name: "LAST", Min: 9, Max: 20, Drop: 8},
		colRequests: {Name: "REQ/S", Right: true, Min: 6},
		colIn:       {Name: "IN/S", Right: true, Min: 8, Drop: 2},
		colOut:      {Name: "OUT/S", Right: true, Min: 8, Drop: 1},
		colErrors:   {Name: "ERRORS", Right: true, Min: 6, Drop: 7},
		colDelivery: {Name: "DELIVERY", Grow: true, Min: 12, Max: 50},
		colGroups:   {Name: "GROUPS", Grow: true, Min: 8, Max: 30, Drop: 5},
	}
}

func apiColumns() []kit.Column {
	return []kit.Column{
		{Name: "API", Min: 24},
		{Name: "REQUESTS", Right: true, Min: 11},
		{Name: "REQ/S", Right: true, Min: 7},
		{Name: "P50", Right: true, Min: 8},
		{Name: "P99", Right: true, Min: 8},
		{Name: "ERRORS", Right: true, Min: 7, Drop: 1},
	}
}

// arrange makes the rows anew: what is shown, and in which order.
func (p *clients) arrange() {
	p.rows = p.rows[:0]
	for i := range p.all {
		c := &p.all[i]
		if p.filter.Match(c.ID) || p.filter.Match(c.Software) || p.filter.Match(c.Address) || p.filter.Match(c.Transactional) ||
			slices.ContainsFunc(c.Groups, p.filter.Match) {
			p.rows = append(p.rows, i)
		}
	}
	slices.SortStableFunc(p.rows, p.compare)
	p.list.SetLen(int64(len(p.rows)))
}

func (p *clients) compare(i, j int) int {
	a, b := &p.all[i], &p.all[j]
	var n int
	switch p.sorted {
	case colClient:
		n = strings.Compare(name(a), name(b))
	case colSoftware:
		n = strings.Compare(software(a), software(b))
	case colAddress:
		n = strings.Compare(a.Address, b.Address)
	case colLast:
		n = strings.Compare(a.LastAPI, b.LastAPI)
	case colRequests:
		n = cmp.Compare(a.RequestRate, b.RequestRate)
	case colIn:
		n = cmp.Compare(a.InRate, b.InRate)
	case colOut:
		n = cmp.Compare(a.OutRate, b.OutRate)
	case colErrors:
		n = cmp.Compare(a.Errors, b.Errors)
	case colDelivery:
		n = strings.Compare(delivery(a), delivery(b))
	case colGroups:
		n = strings.Compare(strings.Join(a.Groups, " "), strings.Join(b.Groups, " "))
	}
	if p.sorted == colSince {
		n = cmp.Compare(a.Since, b.Since)
	}
	if p.desc {
		n = -n
	}
	return cmp.Or(n, cmp.Compare(a.Since, b.Since), strings.Compare(a.Address, b.Address))
}

// figures are sorted from the greatest down at first.
func (c column) figures() bool { return c >= colRequests && c <= colErrors }

// nextSort sorts by the column right of the one that sorts now.
func (p *clients) nextSort() tea.Cmd {
	next := p.sorted + 1
	if int(next) >= len(p.list.Columns) {
		next = colClient
	}
	p.sorted, p.desc = next, next.figures()
	return p.resort()
}

// sortBy sorts by a column, or turns the order when it sorts already.
func (p *clients) sortBy(c column) tea.Cmd {
	if c == p.sorted {
		p.desc = !p.desc
	} else {
		p.sorted, p.desc = c, c.figures()
	}
	return p.resort()
}

func (p *clients) resort() tea.Cmd {
	p.list.Sorted, p.list.Desc = int(p.sorted)+1, p.desc
	p.list.Rearrange(p.arrange)
	return page.Send(page.Remember{Key: "sort", Value: page.SortText(&p.list)})
}

// name is what a client calls itself.
func name(c *model.Client) string {
	if c.User != "" && c.ID != "" {
		return c.User + "/" + c.ID
	}
	return cmp.Or(c.ID, c.User)
}

func software(c *model.Client) string { return strings.TrimSpace(c.Software + " " + c.Version) }

// delivery puts what a client has shown of its delivery settings into words.
func delivery(c *model.Client) string {
	var words []string
	if c.Acks != "" {
		words = append(words, "acks="+c.Acks)
	}
	switch {
	case c.Transactional != "":
		words = append(words, "transactional "+kit.Safe(c.Transactional, 100))
	case c.Idempotent:
		words = append(words, "idempotent")
	}
	return strings.Join(words, " ")
}

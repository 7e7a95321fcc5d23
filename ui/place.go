package ui

import (
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

// first returns the place to begin at.
func (r *root) first() page.Open {
	if r.opts.Kind != "" {
		return page.Open{Kind: r.opts.Kind, Addr: r.opts.Open}
	}
	return r.place(whole(r.opts.Open))
}

// place returns the page that shows an address.
func (r *root) place(a model.Address) page.Open {
	o := page.Open{Addr: a}
	_, files := r.src.(model.SegmentReader)
	switch {
	case a.Group != "":
		o.Kind = page.Group
	case a.Topic == "":
		o.Kind = page.Topics
	case a.Partition < 0:
		o.Kind = page.Partitions
	case a.Segment >= 0:
		o.Kind = page.Batches
	case a.Offset >= 0:
		o.Kind = page.Record
	case files:
		o.Kind = page.Segments
	default:
		o.Kind = page.Records
	}
	return o
}

// parent returns where one would have come from to a layer; false for the list of topics.
func (r *root) parent(l *layer) (page.Open, bool) {
	a := l.address()
	natural := r.place(a)
	if l.open.Kind != natural.Kind && natural.Kind != page.Topics && r.has(natural.Kind) && l.open.Kind != page.Records {
		return natural, true
	}
	for {
		switch {
		case a.Group != "":
			a = model.TopicAddress("")
			if r.has(page.Groups) {
				return page.Open{Kind: page.Groups, Addr: a}, true
			}
		case a.Segment >= 0 || a.Offset >= 0:
			a = model.PartitionAddress(a.TP())
		case a.Partition >= 0:
			a = model.TopicAddress(a.Topic)
		case a.Topic != "":
			a = model.TopicAddress("")
		case l.open.Kind != page.Topics && r.has(page.Topics):
			return page.Open{Kind: page.Topics, Addr: a}, true
		default:
			return page.Open{}, false
		}
		if o := r.place(a); r.has(o.Kind) {
			return o, true
		}
	}
}

func (r *root) has(k page.Kind) bool {
	_, ok := r.pages[k]
	return ok
}

// crumbs returns the breadcrumb of a layer, from the topic on.
func (r *root) crumbs(l *layer) []string {
	a := l.address()
	var out []string
	switch {
	case a.Group != "":
		out = append(out, "groups", a.Group)
	case a.Topic != "":
		out = append(out, a.Topic)
		if a.Partition >= 0 {
			tail := a
			tail.Topic = "x"
			out = append(out, splitPlace(tail.String())...)
		}
	}
	if len(out) == 0 || l.open.Kind != r.place(a).Kind {
		out = append(out, l.page.Title())
	}
	return out
}

// splitPlace takes x/2/000.log or x/2@48 apart.
func splitPlace(s string) []string {
	s = s[len("x/"):]
	for i := range len(s) {
		switch s[i] {
		case '/':
			return []string{s[:i], s[i+1:]}
		case '@':
			return []string{s[:i], s[i:]}
		}
	}
	return []string{s}
}

// view is one of the views that the digits switch between.
type view struct {
	key  string
	kind page.Kind
	name string
	off  func() string
}

// owners says why there is nothing to be seen that only the process knows which has the directory.
func (r *root) owners(ok bool, why string) func() string {
	return func() string {
		if ok {
			return ""
		}
		if j, is := r.src.(model.JournalReason); is && j.WhyNoJournal() != "" {
			return "only the process that serves them shows them; this one is attached"
		}
		return why
	}
}

// views returns what the digits open, and a few more; the palette opens those without a key. A digit keeps its view whatever
// the source can do.
func (r *root) views() []view {
	need := func(ok bool, why string) func() string {
		return func() string {
			if ok {
				return ""
			}
			return why
		}
	}
	_, tails := r.src.(model.Tailer)
	_, searches := r.src.(model.Searcher)
	_, verifies := r.src.(model.Verifier)
	_, resets := r.src.(model.Resetter)
	_, inspects := r.src.(model.Inspector)
	_, segments := r.src.(model.SegmentReader)
	_, clients := r.src.(model.ClientReader)
	_, delivers := r.src.(model.Deliverer)
	_, transacts := r.src.(model.TransactionReader)
	_, nodes := r.src.(model.BrokerReader)
	_, tells := r.src.(model.AccessReader)
	_, registers := r.src.(model.SubjectLister)
	files := func(ok bool, why, near string) func() string { return need(ok, page.NoFiles(r.src, why, near)) }
	all := []view{
		{"1", page.Topics, "topics", nil},
		{"2", page.Groups, "groups", nil},
		{"3", page.Tail, "tail", need(tails, "this source cannot be followed")},
		{"4", page.Search, "search", need(searches, "this source cannot be searched")},
		{"5", page.Check, "check", files(verifies, "this source has no files to check", "strata DIR checks one of its brokers' files")},
		{"6", page.Journal, "journal", func() string {
			if j, ok := r.src.(model.JournalReason); ok && resets {
				return j.WhyNoJournal()
			}
			return need(resets, "offsets cannot be reset on this source, so that there is no journal")()
		}},
		{"7", page.Overview, "overview", files(inspects, "this source is no log directory", "B shows its brokers' log directories")},
		{"8", page.Disk, "disk", need(segments || nodes, "this source shows no files")},
		{"9", page.Clients, "clients", r.owners(clients, "no Kafka client connects to this source")},
		{"0", page.Delivery, "delivery", need(delivers, "this source cannot show deliveries: it runs no broker of its own")},
		{"X", page.Transactions, "transactions", r.owners(transacts, "this source knows no transactions")},
		{"B", page.Brokers, "brokers", need(nodes, "this source is no cluster: it has no brokers to be shown")},
		{"W", page.Access, "access", need(tells, "this source is no cluster: it cannot say who may do what")},
		{"", page.Subjects, "subjects", need(registers, "this source has no schema registry")},
	}
	out := all[:0]
	for _, v := range all {
		if r.has(v.kind) {
			out = append(out, v)
		}
	}
	return out
}

package topics

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

// readers are the groups that read a topic.
type readers struct {
	groups int
	lag    model.Count // of the one that is furthest behind
	lost   int64       // offsets that the worst of them will never read
	rising int         // how many times in a row the lag has grown
}

// reload asks for the topics.
func (p *topics) reload() tea.Cmd { return p.load.Load(p.Ctx, p.Src.Topics) }

func (p *topics) changed(c model.Change) tea.Cmd {
	if c.Groups || c.All || c.Topics {
		p.due = true
	}
	if c.Topics || c.All {
		return p.reload()
	}
	return nil
}

// take puts what the source answered on screen.
func (p *topics) take(topics []model.Topic, err error) tea.Cmd {
	p.err = err
	if err != nil {
		return nil
	}
	now := p.Now()
	same := p.loaded && sameNames(p.all, topics)
	if !same {
		p.meters = carry(p.all, p.meters, topics)
	}
	since := time.Duration(0)
	if p.spread && !p.read.IsZero() {
		since = now.Sub(p.read)
	}
	for i := range topics {
		p.meters[i].add(now, since, topics[i].Appended)
	}
	first := !p.loaded
	p.all, p.loaded, p.spread, p.read = topics, true, false, now
	if !same {
		p.arrange()
	}
	if first {
		return p.readGroups()
	}
	return nil
}

func sameNames(a, b []model.Topic) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Internal != b[i].Internal || a[i].Note != b[i].Note {
			return false
		}
	}
	return true
}

// carry returns the meters of the topics that now are, with what is known of those that were.
func carry(was []model.Topic, meters []meter, now []model.Topic) []meter {
	old := make(map[string]int, len(was))
	for i := range was {
		old[was[i].Name] = i
	}
	out := make([]meter, len(now))
	for i := range now {
		if j, ok := old[now[i].Name]; ok {
			out[i] = meters[j]
		}
	}
	return out
}

// second makes what depends on the time anew: rates, order, and the groups when they have changed.
func (p *topics) second() tea.Cmd {
	now := p.Now()
	moving := p.spark > 1
	for i := range p.meters {
		p.meters[i].roll(now)
		moving = moving || p.meters[i].moving()
	}
	if moving && p.spark == 1 {
		p.spark = sparkCells
		p.setColumns(p.table.Columns[colTopic].Max)
	}
	if p.sorted != colTopic {
		p.arrange()
	}
	if !p.load.Busy() {
		p.spread = false // nothing was missed while the page was covered
	}
	if p.due && p.loaded && !p.reading.Busy() {
		return p.readGroups()
	}
	return nil
}

func (p *topics) readGroups() tea.Cmd {
	p.due = false
	return p.reading.Start(p.Ctx, func(ctx context.Context) (map[string]readers, error) {
		groups, err := p.Src.Groups(ctx)
		if err != nil {
			return nil, err
		}
		return join(groups), nil
	})
}

// join sums each group's lag by topic and keeps the worst.
func join(groups []model.Group) map[string]readers {
	out := map[string]readers{}
	for i := range groups {
		one := map[string]readers{}
		for _, o := range groups[i].Offsets {
			if o.Committed == model.Unknown {
				continue
			}
			r, seen := one[o.Topic]
			if !seen {
				r.lag = model.NoCount()
			}
			r.lag, r.lost = r.lag.Add(o.Lag), r.lost+o.Lost
			one[o.Topic] = r
		}
		for topic, r := range one {
			all, seen := out[topic]
			if !seen || r.lag.Known() && (!all.lag.Known() || r.lag.N > all.lag.N) {
				all.lag = r.lag
			}
			all.groups++
			all.lost = max(all.lost, r.lost)
			out[topic] = all
		}
	}
	return out
}

func (p *topics) takeReaders(r map[string]readers, err error) {
	p.groupErr = err
	if err != nil {
		return
	}
	for topic, now := range r {
		if was, ok := p.readers[topic]; ok && was.lag.Known() && now.lag.N > was.lag.N {
			now.rising = was.rising + 1
			r[topic] = now
		}
	}
	p.readers = r
}

// count makes the counts on screen exact.
func (p *topics) count() tea.Cmd {
	c, ok := p.Src.(model.Counter)
	t, some := p.at()
	if !ok || !some {
		return nil
	}
	names := []string{t.Name}
	if n := p.table.Marks(); n > 0 {
		names = p.marked()
	}
	return p.counter.Start(p.Ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.Count(ctx, names)
	})
}

func (p *topics) counted(err error) tea.Cmd {
	if err != nil {
		return page.Say(page.Bad, "counting: "+kit.Safe(err.Error(), 200))
	}
	return page.Say(page.Good, "counted")
}

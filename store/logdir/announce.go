package logdir

import "github.com/strata-kafka/strata/model"

// Announce merges a change that the files do not tell of into Changes, as when the groups of the embedded broker move.
func (d *Dir) Announce(c model.Change) {
	p := pending{topics: c.Topics, groups: c.Groups, txns: c.Transactions, clients: c.Clients, info: c.Info, all: c.All}
	for _, tp := range c.Partitions {
		p.touch(tp)
	}
	d.out.tell(&p)
}

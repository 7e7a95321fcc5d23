package txn

import (
	"cmp"
	"slices"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// Transactions returns all transactional ids, by id. It waits for steps that are being stored.
func (c *Coordinator) Transactions() []model.Transaction {
	c.mu.Lock()
	all := make([]*txn, 0, len(c.byID))
	for _, t := range c.byID {
		all = append(all, t)
	}
	c.mu.Unlock()
	list := make([]model.Transaction, 0, len(all))
	for _, t := range all {
		if m, ok := t.describe(); ok {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b model.Transaction) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Transaction returns one transactional id; ok is false where it is not known.
func (c *Coordinator) Transaction(id string) (m model.Transaction, ok bool) {
	t := c.find(id)
	if t == nil {
		return m, false
	}
	return t.describe()
}

func (t *txn) describe() (model.Transaction, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone || !t.made {
		return model.Transaction{}, false
	}
	return describe(t.rec), true
}

// describe puts a record into the model's words.
func describe(r groups.TxnRecord) model.Transaction {
	m := model.Transaction{ID: r.ID, ProducerID: r.ProducerID, Epoch: r.Epoch, State: r.State, Timeout: r.Timeout,
		Started: r.Started, Updated: r.Updated, Partitions: slices.Clone(r.Partitions), Groups: slices.Clone(r.Groups)}
	slices.SortFunc(m.Partitions, func(a, b model.TopicPartition) int { return a.Compare(b) })
	return m
}

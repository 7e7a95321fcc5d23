package embedded

import (
	"context"
	"errors"
	"time"

	"github.com/strata-kafka/strata/groups/txn"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// openTxns opens the transaction coordinator. It is there without a listener too: what was begun has to end.
func (b *Broker) openTxns(o Options, broker layout.Broker) (err error) {
	b.txns, err = txn.New(txn.Options{
		Store: b.db.Txns(), Markers: markers{b.Engine}, FirstID: b.firstProducerID,
		MaxTimeout: time.Duration(broker.TxnMaxTimeoutMS) * time.Millisecond,
		Expiry:     time.Duration(broker.TxnIDExpiryMS) * time.Millisecond,
		Step:       o.txnStep,
		Changed:    func(offsets bool) { b.Announce(model.Change{Transactions: true, Groups: offsets}) },
	})
	return err
}

// firstProducerID is the least producer id that no log holds: the store may be new while the logs are not.
func (b *Broker) firstProducerID() int64 {
	highest, _ := b.HighestProducerID() // as far as logs can be read
	return highest + 1
}

// markers writes the ends of transactions through the engine.
type markers struct{ e *store.Engine }

// WriteMarker implements txn.Markers.
func (m markers) WriteMarker(ctx context.Context, tp model.TopicPartition, k txn.Marker) error {
	err := m.e.WriteMarker(ctx, tp, store.Marker{ProducerID: k.ProducerID, Epoch: k.Epoch, CoordinatorEpoch: k.CoordinatorEpoch, Commit: k.Commit})
	var newer *partition.ProducerError
	switch {
	case errors.Is(err, model.ErrNoTopic), errors.Is(err, model.ErrNoPartition):
		return nil // deleted meanwhile
	case errors.As(err, &newer):
		return nil // somebody has ended it with a higher epoch, as an administrator may
	}
	return err
}

// Transactions implements model.TransactionReader.
func (b *Broker) Transactions(ctx context.Context) ([]model.Transaction, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.txns.Transactions(), nil
}

// Producers implements model.TransactionReader.
func (b *Broker) Producers(ctx context.Context, tp model.TopicPartition) ([]model.ProducerState, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := b.Log(tp)
	if err != nil {
		return nil, err
	}
	states, err := l.Producers()
	if err != nil {
		return nil, err
	}
	out := make([]model.ProducerState, 0, len(states))
	for _, s := range states {
		out = append(out, model.ProducerState{TopicPartition: tp, ProducerID: s.ProducerID, Epoch: s.Epoch, LastSequence: s.LastSequence,
			LastOffset: s.LastOffset, LastTimestamp: s.Timestamp, CoordinatorEpoch: s.CoordinatorEpoch, TxnFirst: s.TxnFirst})
	}
	return out, nil
}

package remote

import (
	"context"

	"github.com/strata-kafka/strata/model"
)

// abilities are what a cluster can do that changes nothing.
type abilities interface {
	model.Source
	model.GroupReader
	model.Tailer
	model.Searcher
	model.Counter
	model.LagCounter
	model.ConfigReader
	model.BrokerReader
	model.AccessReader
	model.RackReader
	model.TransactionReader
	model.BatchScanner
	model.BatchLister
	model.Focuser
	model.Profiled
	copied
}

// copied is what a copy asks of a cluster that it reads from.
type copied interface {
	TopicBounds(ctx context.Context, topic string, partitions int) (starts, stables []int64, err error)
	TopicID(ctx context.Context, topic string) (string, error)
}

// Reading is a cluster with the abilities alone that change nothing, so that whoever asks for another one learns that there
// is none. It is for a Cluster with Options.ReadOnly: that one would refuse as well, but only when it is asked.
type Reading struct{ abilities }

// Reading returns the cluster as one that is only read.
func (c *Cluster) Reading() Reading { return Reading{c} }

// Profile implements model.Profiled. A cluster that was opened without a profile has the zero one.
func (c *Cluster) Profile() model.Profile { return c.o.Profile }

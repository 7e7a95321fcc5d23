package embedded

import (
	"math"

	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/store"
)

// assignable is the engine's topics as the group coordinator assigns them.
type assignable struct{ e *store.Engine }

// Version implements coordinator.Topics.
func (a assignable) Version() uint64 { return a.e.TopicsVersion() }

// Names implements coordinator.Topics.
func (a assignable) Names() []string { return a.e.Topics() }

// Topic implements coordinator.Topics.
func (a assignable) Topic(name string) (id assign.Topic, partitions int32, ok bool) {
	known, ok := a.e.TopicID(name)
	n := a.e.PartitionCount(name)
	return assign.Topic(known), int32(min(n, math.MaxInt32)), ok && n > 0
}

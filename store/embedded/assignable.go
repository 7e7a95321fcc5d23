package embedded

import (
	"math"

	"github.com/strata-kafka/strata/groups/assign"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/wire"
)

// assignable is the topics that clients are shown, as the group coordinator assigns them.
type assignable struct{ e *store.Engine }

// Version implements coordinator.Topics.
func (a assignable) Version() uint64 { return a.e.TopicsVersion() }

// Names implements coordinator.Topics.
func (a assignable) Names() []string {
	names := a.e.Topics()
	if a.e.HasTopic(layout.OffsetsTopic) {
		return names
	}
	return append(names, layout.OffsetsTopic)
}

// Topic implements coordinator.Topics.
func (a assignable) Topic(name string) (id assign.Topic, partitions int32, ok bool) {
	known, ok := a.e.TopicID(name)
	if n := a.e.PartitionCount(name); ok && n > 0 {
		return assign.Topic(known), int32(min(n, math.MaxInt32)), true
	}
	if name == layout.OffsetsTopic {
		return assign.Topic(wire.VirtualID(a.e.ClusterID(), name)), wire.VirtualPartitions, true
	}
	return assign.Topic{}, 0, false
}

package wire

import (
	"crypto/sha256"
	"net"
	"strconv"

	"github.com/strata-kafka/strata/store/layout"
)

// Authorised operations, as bits, of someone who may do everything.
const (
	topicOperations   = 3576
	clusterOperations = 8096
	groupOperations   = 3400
)

// endpoint returns the HOST and port that a client is told to connect to: what it has dialled, where nothing else is
// advertised.
func (c *conn) endpoint() (host string, port int32) {
	addr := c.s.o.Advertised
	if addr == "" {
		addr = c.nc.LocalAddr().String()
	}
	h, p, err := net.SplitHostPort(addr)
	if err != nil {
		return addr, -1
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return h, -1
	}
	return h, int32(n)
}

func (s *Server) virtualID(topic string) layout.ID { return VirtualID(s.b.Engine.ClusterID(), topic) }

// VirtualID returns the id of a topic that clients are shown and that has no files: always the same in a cluster.
func VirtualID(cluster, topic string) layout.ID {
	var id layout.ID
	sum := sha256.Sum256([]byte(cluster + "/" + topic))
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// isVirtual reports whether a topic is one of Kafka's own that clients look for, and that we keep elsewhere.
func isVirtual(topic string) bool {
	return topic == layout.OffsetsTopic || topic == layout.TransactionsTopic
}

// topicByID returns the topic, virtual ones too, with an id, "" for none.
func (s *Server) topicByID(id layout.ID) string {
	if name, ok := s.b.Engine.TopicByID(id); ok {
		return name
	}
	return s.virtualByID(id)
}

// committable returns how many partitions of a topic offsets can be committed of. Those of the virtual topic are taken and
// not kept: there is nothing in it to come back to, yet members that subscribe to all topics get its partitions too.
func (s *Server) committable(topic string) (partitions int, kept bool) {
	if n := s.b.Engine.PartitionCount(topic); n > 0 || topic != virtual {
		return n, true
	}
	return virtualPartitions, false
}

// virtualByID returns the virtual topic with an id, "" for none.
func (s *Server) virtualByID(id layout.ID) string {
	for _, t := range [...]string{layout.OffsetsTopic, layout.TransactionsTopic} {
		if id == s.virtualID(t) {
			return t
		}
	}
	return ""
}

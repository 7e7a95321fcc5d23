package wire

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// maxDescribed is how many partitions an answer to DescribeTopicPartitions holds at most, Kafka's
// max.request.partition.size.limit.
const maxDescribed = 2000

// describeTopicPartitions tells of topics' partitions, a page at a time (DescribeTopicPartitions 0): in the order of the
// topics' names, up to the limit, with a cursor to where the next page begins. With no names it tells of all topics; one that
// has gone since the page before is passed over.
func (s *Server) describeTopicPartitions(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeTopicPartitionsRequest)
	r := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	var names []string
	for i := range req.Topics {
		names = append(names, req.Topics[i].Topic)
	}
	all := len(names) == 0
	if all {
		names = append(s.b.Engine.Topics(), virtual)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	first := int32(0)
	if at := req.Cursor; at != nil {
		i, found := slices.BinarySearch(names, at.Topic)
		if at.Partition < 0 || !found && !all {
			for _, name := range names {
				r.Topics = append(r.Topics, describedTopic(name, kerr.InvalidRequest.Code))
			}
			return r, nil
		}
		names = names[i:]
		if found {
			first = at.Partition
		}
	}
	left := min(max(req.ResponsePartitionLimit, 1), maxDescribed)
	for _, name := range names {
		if left <= 0 {
			r.NextCursor = nextCursor(name, 0)
			break
		}
		t, more := s.describeTopic(name, first, &left)
		first = 0
		if all && t.ErrorCode == kerr.UnknownTopicOrPartition.Code {
			continue
		}
		r.Topics = append(r.Topics, t)
		if more >= 0 {
			r.NextCursor = nextCursor(name, more)
			break
		}
	}
	return r, nil
}

func nextCursor(topic string, partition int32) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	n := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	n.Topic, n.Partition = topic, partition
	return &n
}

func describedTopic(name string, code int16) kmsg.DescribeTopicPartitionsResponseTopic {
	t := kmsg.NewDescribeTopicPartitionsResponseTopic()
	t.Topic, t.ErrorCode = &name, code
	return t
}

// describeTopic tells of a topic's partitions from first on, as many as are left, and where the next page begins, -1 where
// it does not begin in this topic.
func (s *Server) describeTopic(name string, first int32, left *int32) (t kmsg.DescribeTopicPartitionsResponseTopic, more int32) {
	t = describedTopic(name, 0)
	t.AuthorizedOperations = topicOperations
	f, ok := s.b.Engine.Facts(name)
	switch {
	case ok:
	case isVirtual(name):
		f.ID, f.Logs = s.virtualID(name), make([]*partition.Log, virtualPartitions)
	case layout.ValidTopic(name) != nil:
		t.ErrorCode = kerr.InvalidTopicException.Code
		return t, -1
	default:
		t.ErrorCode = kerr.UnknownTopicOrPartition.Code
		return t, -1
	}
	t.TopicID, t.IsInternal = f.ID, layout.Internal(name)
	count := int32(len(f.Logs))
	end := count
	if first < count && *left < count-first {
		end = first + *left
	}
	alone, none := []int32{s.b.Engine.NodeID()}, []int32{}
	for i := first; i < end; i++ {
		p := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		p.Partition, p.LeaderID, p.Replicas, p.ISR = i, alone[0], alone, alone
		p.EligibleLeaderReplicas, p.LastKnownELR = none, none
		switch l := f.Logs[i]; {
		case l != nil:
			if epoch, err := l.LeaderEpoch(); err == nil {
				p.LeaderEpoch = epoch
			}
		case isVirtual(name):
			p.LeaderEpoch = 0
		default:
			p.ErrorCode, p.LeaderID, p.OfflineReplicas = kerr.LeaderNotAvailable.Code, -1, alone
		}
		t.Partitions = append(t.Partitions, p)
	}
	*left -= max(end-first, 0)
	if end < count {
		return t, end
	}
	return t, -1
}

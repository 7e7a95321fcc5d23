package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// describeProducers tells which producers partitions remember.
func (s *Server) describeProducers(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeProducersRequest)
	r := req.ResponseKind().(*kmsg.DescribeProducersResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewDescribeProducersResponseTopic()
		rt.Topic = t.Topic
		var whole fault // of the topic
		switch {
		case layout.ValidTopic(t.Topic) != nil:
			whole = refuse(kerr.InvalidTopicException, "%v", layout.ValidTopic(t.Topic))
		case !s.b.Engine.HasTopic(t.Topic) && !isVirtual(t.Topic):
			whole = refuse(kerr.UnknownTopicOrPartition, "There is no topic %s.", t.Topic)
		}
		for _, p := range t.Partitions {
			rp := kmsg.NewDescribeProducersResponseTopicPartition()
			rp.Partition, rp.ErrorCode, rp.ErrorMessage = p, whole.code, whole.message()
			if !whole.bad() {
				rp.ErrorCode, rp.ActiveProducers = s.producersOf(t.Topic, p)
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		r.Topics = append(r.Topics, rt)
	}
	return r, nil
}

// producersOf tells which producers a partition remembers.
func (s *Server) producersOf(topic string, number int32) (int16, []kmsg.DescribeProducersResponseTopicPartitionActiveProducer) {
	l := s.b.Engine.Find([]byte(topic), number)
	if l == nil {
		if topic == virtual && number >= 0 && number < virtualPartitions {
			return 0, nil
		}
		return kerr.UnknownTopicOrPartition.Code, nil
	}
	list, err := l.Producers()
	if err != nil {
		return readCode(err), nil
	}
	var out []kmsg.DescribeProducersResponseTopicPartitionActiveProducer
	for _, p := range list {
		x := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
		x.ProducerID, x.ProducerEpoch = p.ProducerID, int32(p.Epoch)
		x.LastSequence, x.LastTimestamp = p.LastSequence, p.Timestamp
		x.CoordinatorEpoch, x.CurrentTxnStartOffset = p.CoordinatorEpoch, p.TxnFirst
		out = append(out, x)
	}
	return 0, out
}

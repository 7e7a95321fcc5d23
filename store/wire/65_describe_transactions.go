package wire

import (
	"slices"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// describeTransactions says what transactions are about (version 0). Groups whose offsets are committed are shown as
// Kafka keeps them: as partitions of the topic of offsets.
func (s *Server) describeTransactions(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeTransactionsRequest)
	r := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	for _, id := range req.TransactionalIDs {
		out := kmsg.NewDescribeTransactionsResponseTransactionState()
		out.TransactionalID = id
		t, ok := s.b.Txns.Transaction(id)
		switch {
		case id == "":
			out.ErrorCode = kerr.InvalidRequest.Code
		case !ok:
			out.ErrorCode = kerr.TransactionalIDNotFound.Code
		default:
			out.State, out.TimeoutMillis, out.StartTimestamp = string(t.State), int32(t.Timeout), t.Started
			out.ProducerID, out.ProducerEpoch = t.ProducerID, t.Epoch
			out.Topics = partsOf(t)
		}
		r.TransactionStates = append(r.TransactionStates, out)
	}
	return r, nil
}

// partsOf returns the partitions of a transaction, by topic.
func partsOf(t model.Transaction) (list []kmsg.DescribeTransactionsResponseTransactionStateTopic) {
	tps := slices.Clone(t.Partitions)
	for _, g := range t.Groups {
		tp := model.TopicPartition{Topic: layout.OffsetsTopic, Partition: offsetsPartition(g)}
		if !slices.Contains(tps, tp) {
			tps = append(tps, tp)
		}
	}
	slices.SortFunc(tps, func(a, b model.TopicPartition) int { return a.Compare(b) })
	for _, tp := range tps {
		if n := len(list); n == 0 || list[n-1].Topic != tp.Topic {
			to := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
			to.Topic = tp.Topic
			list = append(list, to)
		}
		last := &list[len(list)-1]
		last.Partitions = append(last.Partitions, tp.Partition)
	}
	return list
}

// offsetsPartition returns the partition of the topic of offsets where Kafka would keep a group: by Java's hash of its
// name.
func offsetsPartition(group string) int32 {
	h := int32(0)
	for _, u := range utf16.Encode([]rune(group)) {
		h = 31*h + int32(u)
	}
	return h & 0x7fffffff % virtualPartitions
}

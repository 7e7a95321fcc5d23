package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/txn"
	"github.com/strata-kafka/strata/model"
)

// addPartitionsToTxn makes partitions part of a transaction (versions 0 to 5). Versions 4 and 5 are those of brokers: several
// transactions at once, and the question whether partitions are part of one.
func (s *Server) addPartitionsToTxn(c *call) (reply, error) {
	req := c.req.(*kmsg.AddPartitionsToTxnRequest)
	r := req.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
	if c.version >= 4 {
		for i := range req.Transactions {
			r.Transactions = append(r.Transactions, s.addToTxn(&req.Transactions[i]))
		}
		return r, nil
	}
	one := kmsg.AddPartitionsToTxnRequestTransaction{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch}
	for _, t := range req.Topics {
		one.Topics = append(one.Topics, kmsg.AddPartitionsToTxnRequestTransactionTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	for _, t := range s.addToTxn(&one).Topics {
		out := kmsg.NewAddPartitionsToTxnResponseTopic()
		out.Topic = t.Topic
		for _, p := range t.Partitions {
			to := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
			to.Partition, to.ErrorCode = p.Partition, fencedBefore(2, c.version, groups.Code(p.ErrorCode))
			out.Partitions = append(out.Partitions, to)
		}
		r.Topics = append(r.Topics, out)
	}
	return r, nil
}

// fencedBefore returns a code for a client that knows PRODUCER_FENCED from a version on only.
func fencedBefore(since, version int16, code groups.Code) int16 {
	if code == groups.ProducerFenced && version < since {
		code = groups.InvalidProducerEpoch
	}
	return int16(code)
}

// addToTxn adds all partitions that are asked for, or none.
func (s *Server) addToTxn(req *kmsg.AddPartitionsToTxnRequestTransaction) kmsg.AddPartitionsToTxnResponseTransaction {
	out := kmsg.NewAddPartitionsToTxnResponseTransaction()
	out.TransactionalID = req.TransactionalID
	var tps []model.TopicPartition
	bad := map[model.TopicPartition]groups.Code{}
	for _, t := range req.Topics {
		n := s.b.Engine.PartitionCount(t.Topic)
		for _, p := range t.Partitions {
			tp := model.TopicPartition{Topic: t.Topic, Partition: p}
			tps = append(tps, tp)
			switch {
			case isVirtual(t.Topic):
				bad[tp] = groups.TopicAuthorizationFailed
			case p < 0 || int(p) >= n:
				bad[tp] = groups.UnknownTopicOrPartition
			}
		}
	}
	who := txn.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}
	code := func(model.TopicPartition) groups.Code { return groups.OperationNotAttempted }
	switch {
	case len(bad) > 0 || len(tps) == 0:
	case req.VerifyOnly:
		code = func(tp model.TopicPartition) groups.Code {
			return s.b.Txns.VerifyPartition(req.TransactionalID, who, tp)
		}
	default:
		all := s.b.Txns.AddPartitions(req.TransactionalID, who, tps, 1)
		code = func(model.TopicPartition) groups.Code { return all }
	}
	for _, t := range req.Topics {
		to := kmsg.NewAddPartitionsToTxnResponseTransactionTopic()
		to.Topic = t.Topic
		for _, p := range t.Partitions {
			tp := model.TopicPartition{Topic: t.Topic, Partition: p}
			part := kmsg.NewAddPartitionsToTxnResponseTransactionTopicPartition()
			part.Partition, part.ErrorCode = p, int16(bad[tp])
			if part.ErrorCode == 0 {
				part.ErrorCode = int16(code(tp))
			}
			to.Partitions = append(to.Partitions, part)
		}
		out.Topics = append(out.Topics, to)
	}
	return out
}

package wire

import (
	"github.com/strata-kafka/strata/groups/txn"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
)

// implicitTxns is the version of Produce from which partitions need not be added to transactions beforehand.
const implicitTxns = 12

// enroll makes all the partitions of a request part of their producer's transaction in one step, where one by one would
// cost a write each. What is wrong with any of them is said when its batch is verified.
func (s *Server) enroll(c *call, p *produceRequest) {
	if c.version < implicitTxns || p.transactional == nil || len(p.parts) < 2 {
		return
	}
	var who txn.Producer
	var tps []model.TopicPartition
	for i := range p.parts {
		part := &p.parts[i]
		h, err := record.ParseHeader(part.records)
		if err != nil || !h.Transactional() {
			continue
		}
		l := s.logOf(c, &p.topics[part.topic], part.number)
		if l == nil || s.b.Txns.MayAppend(l.TP(), h.ProducerID, h.ProducerEpoch) {
			continue
		}
		who = txn.Producer{ID: h.ProducerID, Epoch: h.ProducerEpoch}
		tps = append(tps, l.TP())
	}
	if len(tps) > 1 {
		_ = s.b.Txns.AddPartitions(string(p.transactional), who, tps, 2)
	}
}

// logOf finds the log of a partition, nil where there is none.
func (s *Server) logOf(c *call, t *produceTopic, number int32) *partition.Log {
	if c.version >= produceByID {
		l, _ := s.b.Engine.FindByID(t.id, number)
		return l
	}
	return s.b.Engine.Find(t.name, number)
}

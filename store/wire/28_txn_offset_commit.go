package wire

import (
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/txn"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// maxOffsetMetadata is offset.metadata.max.bytes, which Kafka counts in letters of UTF-16.
const maxOffsetMetadata = 4096

// txnOffsetCommit stores offsets that become a group's when the transaction is committed (versions 0 to 6). Version 3 says
// which member commits, 5 makes the group part of the transaction, 6 names topics by id.
func (s *Server) txnOffsetCommit(c *call) (reply, error) {
	req := c.req.(*kmsg.TxnOffsetCommitRequest)
	r := req.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
	var commits []model.Commit
	var wait []*int16 // where the answer of what is committed goes
	for i := range req.Topics {
		r.Topics = append(r.Topics, s.txnOffsets(c, &req.Topics[i], &commits))
	}
	for i := range r.Topics {
		for j := range r.Topics[i].Partitions {
			if p := &r.Topics[i].Partitions[j]; p.ErrorCode == 0 {
				wait = append(wait, &p.ErrorCode)
			}
		}
	}
	if len(wait) == 0 {
		return r, nil
	}
	code := s.txnCommit(c, req, commits)
	for _, p := range wait {
		*p = int16(code)
	}
	return r, nil
}

// txnOffsets takes the offsets of a topic that can be committed, and answers those that cannot.
func (s *Server) txnOffsets(c *call, t *kmsg.TxnOffsetCommitRequestTopic, commits *[]model.Commit) kmsg.TxnOffsetCommitResponseTopic {
	out := kmsg.NewTxnOffsetCommitResponseTopic()
	out.Topic, out.TopicID = t.Topic, t.TopicID
	name, unknown := t.Topic, groups.UnknownTopicOrPartition
	if c.version >= 6 {
		name = s.topicByID(layout.ID(t.TopicID))
		unknown = groups.UnknownTopicID
	}
	n, kept := s.committable(name)
	if n > 0 {
		unknown = groups.UnknownTopicOrPartition
	}
	for _, p := range t.Partitions {
		to := kmsg.NewTxnOffsetCommitResponseTopicPartition()
		to.Partition = p.Partition
		metadata := ""
		if p.Metadata != nil {
			metadata = *p.Metadata
		}
		switch {
		case p.Partition < 0 || int(p.Partition) >= n:
			to.ErrorCode = int16(unknown)
		case len(metadata) > maxOffsetMetadata && len(utf16.Encode([]rune(metadata))) > maxOffsetMetadata:
			to.ErrorCode = int16(groups.OffsetMetadataTooLarge)
		case kept:
			*commits = append(*commits, model.Commit{TopicPartition: model.TopicPartition{Topic: name, Partition: p.Partition},
				Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: metadata})
		}
		out.Partitions = append(out.Partitions, to)
	}
	return out
}

// txnCommit commits offsets within a transaction, for who may commit for the group.
func (s *Server) txnCommit(c *call, req *kmsg.TxnOffsetCommitRequest, commits []model.Commit) groups.Code {
	if req.Group == "" {
		return groups.InvalidGroupID
	}
	who := txn.Producer{ID: req.ProducerID, Epoch: req.ProducerEpoch}
	add := c.version >= 5
	if code := s.b.Txns.MayCommit(req.TransactionalID, who, req.Group, add); code != groups.None {
		return code
	}
	member, instance, generation := "", "", int32(-1)
	if c.version >= 3 {
		member, generation = req.MemberID, req.Generation
		if req.InstanceID != nil {
			instance = *req.InstanceID
		}
	}
	if code := s.b.Coordinator.CheckCommit(req.Group, member, instance, generation); code != groups.None {
		return code
	}
	return s.b.Txns.CommitOffsets(req.TransactionalID, who, req.Group, commits, add)
}

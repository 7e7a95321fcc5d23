package wire

import (
	"time"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/groups/coordinator"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// offsetCommit stores a group's offsets (versions 2 to 10). Versions 2 to 4 may say how long they are to be kept, 6 has
// leader epochs, 7 static members, 10 names topics by id. Offsets of -1 and past the log's end are stored as they come.
func (s *Server) offsetCommit(c *call) (reply, error) {
	req := c.req.(*kmsg.OffsetCommitRequest)
	r := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	expires := model.NoTime
	if c.version <= 4 && req.RetentionTimeMillis >= 0 {
		expires = time.Now().UnixMilli() + req.RetentionTimeMillis
	}
	var commits []groups.Committed
	asked := false // something is there that can be committed
	for i := range req.Topics {
		r.Topics = append(r.Topics, s.commitTopic(c, &req.Topics[i], expires, &commits, &asked))
	}
	if !asked {
		return r, nil
	}
	check := coordinator.CommitCheck{Group: req.Group, Member: req.MemberID, Generation: req.Generation, Old: c.version < 9}
	if req.InstanceID != nil {
		check.Instance = *req.InstanceID
	}
	code := s.b.Coordinator.Commit(c.ctx, check, commits)
	if code == groups.None {
		return r, nil
	}
	for i := range r.Topics {
		for j := range r.Topics[i].Partitions {
			if p := &r.Topics[i].Partitions[j]; p.ErrorCode == 0 || p.ErrorCode == int16(groups.OffsetMetadataTooLarge) {
				p.ErrorCode = int16(code)
			}
		}
	}
	return r, nil
}

// commitTopic takes the offsets of a topic that can be committed, and answers those that cannot.
func (s *Server) commitTopic(c *call, t *kmsg.OffsetCommitRequestTopic, expires int64, commits *[]groups.Committed, asked *bool) kmsg.OffsetCommitResponseTopic {
	out := kmsg.NewOffsetCommitResponseTopic()
	out.Topic, out.TopicID = t.Topic, t.TopicID
	name, unknown := t.Topic, groups.UnknownTopicOrPartition
	if c.version >= 10 {
		name = s.topicByID(layout.ID(t.TopicID))
		unknown = groups.UnknownTopicID
	}
	n, kept := s.committable(name)
	if n > 0 {
		unknown = groups.UnknownTopicOrPartition
	}
	out.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, 0, len(t.Partitions))
	for i := range t.Partitions {
		p := &t.Partitions[i]
		to := kmsg.NewOffsetCommitResponseTopicPartition()
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
			*asked = true
		case !kept:
			*asked = true
		default:
			*asked = true
			*commits = append(*commits, groups.Committed{Expires: expires, Commit: model.Commit{
				TopicPartition: model.TopicPartition{Topic: name, Partition: p.Partition},
				Offset:         p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: metadata,
			}})
		}
		out.Partitions = append(out.Partitions, to)
	}
	return out
}

package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// offsetDelete removes what a group has committed for partitions that no member reads (version 0).
func (s *Server) offsetDelete(c *call) (reply, error) {
	req := c.req.(*kmsg.OffsetDeleteRequest)
	r := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	var tps []model.TopicPartition
	var places []*int16
	topics := make([]kmsg.OffsetDeleteResponseTopic, len(req.Topics))
	for i, t := range req.Topics {
		topics[i].Topic = t.Topic
		topics[i].Partitions = make([]kmsg.OffsetDeleteResponseTopicPartition, len(t.Partitions))
		n, _ := s.committable(t.Topic)
		for j, p := range t.Partitions {
			to := &topics[i].Partitions[j]
			to.Partition = p.Partition
			if p.Partition < 0 || int(p.Partition) >= n {
				to.ErrorCode = int16(groups.UnknownTopicOrPartition)
				continue
			}
			tps, places = append(tps, model.TopicPartition{Topic: t.Topic, Partition: p.Partition}), append(places, &to.ErrorCode)
		}
	}
	codes, code := s.b.Coordinator.DeleteOffsets(c.ctx, req.Group, tps)
	if code != groups.None {
		r.ErrorCode = int16(code)
		return r, nil
	}
	for i, place := range places {
		*place = int16(codes[i])
	}
	r.Topics = topics
	return r, nil
}

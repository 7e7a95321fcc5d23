package wire

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// deleteRecords moves log starts forward.
func (s *Server) deleteRecords(c *call) (reply, error) {
	req := c.req.(*kmsg.DeleteRecordsRequest)
	r := req.ResponseKind().(*kmsg.DeleteRecordsResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewDeleteRecordsResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewDeleteRecordsResponseTopicPartition()
			rp.Partition = p.Partition
			rp.LowWatermark, rp.ErrorCode = s.deleteRecord(c, model.TopicPartition{Topic: t.Topic, Partition: p.Partition}, p.Offset)
			rt.Partitions = append(rt.Partitions, rp)
		}
		r.Topics = append(r.Topics, rt)
	}
	return r, nil
}

// deleteRecord moves one log start, and returns where it is.
func (s *Server) deleteRecord(c *call, tp model.TopicPartition, before int64) (start int64, code int16) {
	switch {
	case isVirtual(tp.Topic):
		return -1, kerr.InvalidTopicException.Code
	case s.b.Engine.Find([]byte(tp.Topic), tp.Partition) == nil:
		return -1, kerr.UnknownTopicOrPartition.Code
	case before == -1:
		before = model.FromEnd
	case before < 0:
		return -1, kerr.OffsetOutOfRange.Code
	}
	start, err := s.b.Admin.DeleteRecords(c.ctx, tp, before)
	switch {
	case err == nil:
		return start, 0
	case errors.Is(err, model.ErrRefused):
		return -1, kerr.PolicyViolation.Code
	case errors.Is(err, model.ErrNoTopic), errors.Is(err, model.ErrNoPartition):
		return -1, kerr.UnknownTopicOrPartition.Code
	}
	return -1, readCode(err)
}

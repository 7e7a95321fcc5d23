package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetForLeaderEpoch tells where leader epochs end.
func (s *Server) offsetForLeaderEpoch(c *call) (reply, error) {
	req := c.req.(*kmsg.OffsetForLeaderEpochRequest)
	r := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			rp.Partition, rp.LeaderEpoch, rp.EndOffset = p.Partition, -1, -1
			l := s.b.Engine.Find([]byte(t.Topic), p.Partition)
			if l == nil {
				rp.ErrorCode = kerr.UnknownTopicOrPartition.Code
			} else if rp.ErrorCode = epochCode(l, p.CurrentLeaderEpoch); rp.ErrorCode == 0 {
				var err error
				rp.LeaderEpoch, rp.EndOffset, err = l.EpochEnd(p.LeaderEpoch)
				rp.ErrorCode = readCode(err)
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		r.Topics = append(r.Topics, rt)
	}
	return r, nil
}

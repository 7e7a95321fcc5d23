package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/partition"
)

// Timestamps that stand for something else.
const (
	atLatest        = -1
	atEarliest      = -2
	atNewest        = -3 // the record with the largest timestamp
	atEarliestLocal = -4 // the same as atEarliest: nothing lies elsewhere
	atLatestTiered  = -5 // likewise, nothing does
	atPending       = -6
)

// since says from which version on a special timestamp is known.
func since(at int64) int16 {
	switch at {
	case atLatest, atEarliest:
		return 0
	case atNewest:
		return 7
	case atEarliestLocal:
		return 8
	case atLatestTiered:
		return 9
	case atPending:
		return 11
	}
	if at >= 0 {
		return 0
	}
	return 1 << 14
}

// listOffsets finds offsets by time.
func (s *Server) listOffsets(c *call) (reply, error) {
	req := c.req.(*kmsg.ListOffsetsRequest)
	r := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	count := map[string]map[int32]int{}
	for _, t := range req.Topics {
		if count[t.Topic] == nil {
			count[t.Topic] = map[int32]int{}
		}
		for _, p := range t.Partitions {
			count[t.Topic][p.Partition]++
		}
	}
	for _, t := range req.Topics {
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewListOffsetsResponseTopicPartition()
			rp.Partition, rp.Timestamp, rp.Offset, rp.LeaderEpoch = p.Partition, -1, -1, -1
			switch n := count[t.Topic][p.Partition]; {
			case n == 0:
				continue // said already
			case n > 1:
				rp.ErrorCode = kerr.InvalidRequest.Code
				count[t.Topic][p.Partition] = 0
			default:
				rp.ErrorCode = s.listOffset(c, req, t.Topic, &p, &rp)
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		if len(rt.Partitions) > 0 {
			r.Topics = append(r.Topics, rt)
		}
	}
	return r, nil
}

// listOffset answers for one partition.
func (s *Server) listOffset(c *call, req *kmsg.ListOffsetsRequest, topic string, p *kmsg.ListOffsetsRequestTopicPartition, rp *kmsg.ListOffsetsResponseTopicPartition) int16 {
	l := s.b.Engine.Find([]byte(topic), p.Partition)
	empty := l == nil && topic == virtual && p.Partition >= 0 && p.Partition < virtualPartitions
	switch {
	case l == nil && !empty:
		return kerr.UnknownTopicOrPartition.Code
	case c.version < since(p.Timestamp):
		return kerr.UnsupportedVersion.Code
	case req.IsolationLevel != readUncommitted && req.IsolationLevel != readCommitted:
		return kerr.UnknownServerError.Code
	case empty:
		if p.Timestamp == atLatest || p.Timestamp == atEarliest || p.Timestamp == atEarliestLocal {
			rp.Offset, rp.LeaderEpoch = 0, 0
		}
		return 0
	}
	if code := epochCode(l, p.CurrentLeaderEpoch); code != 0 {
		return code
	}
	b, err := l.Bounds()
	if err != nil {
		return readCode(err)
	}
	end := b.HighWatermark
	if req.IsolationLevel == readCommitted {
		end = b.LastStable
	}
	switch p.Timestamp {
	case atLatest:
		rp.Offset = end
		rp.LeaderEpoch, err = l.LeaderEpoch()
		return readCode(err)
	case atEarliest, atEarliestLocal:
		rp.Offset = b.Start
		rp.LeaderEpoch, err = l.EpochOf(b.Start)
		return readCode(err)
	case atLatestTiered, atPending:
		return 0
	}
	var d partition.Dated
	var found bool
	if p.Timestamp == atNewest {
		d, found, err = l.Newest(c.ctx)
	} else {
		d, found, err = l.ByTime(c.ctx, p.Timestamp)
	}
	if err == nil && found && d.Offset < end {
		rp.Offset, rp.Timestamp, rp.LeaderEpoch = d.Offset, d.Time, d.Epoch
	}
	return readCode(err)
}

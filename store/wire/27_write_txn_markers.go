package wire

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/partition"
)

// writeTxnMarkers ends transactions in partitions, past their coordinator (versions 1 and 2). Brokers ask each other so;
// here it is administrators, to let go of a transaction that hangs. Offsets of groups are the coordinator's own: their
// partitions have no log and are answered as unknown.
func (s *Server) writeTxnMarkers(c *call) (reply, error) {
	req := c.req.(*kmsg.WriteTxnMarkersRequest)
	r := req.ResponseKind().(*kmsg.WriteTxnMarkersResponse)
	for i := range req.Markers {
		m := &req.Markers[i]
		out := kmsg.NewWriteTxnMarkersResponseMarker()
		out.ProducerID = m.ProducerID
		for _, t := range m.Topics {
			to := kmsg.NewWriteTxnMarkersResponseMarkerTopic()
			to.Topic = t.Topic
			for _, p := range t.Partitions {
				part := kmsg.NewWriteTxnMarkersResponseMarkerTopicPartition()
				part.Partition = p
				part.ErrorCode = s.writeMarker(c.ctx, model.TopicPartition{Topic: t.Topic, Partition: p}, m)
				to.Partitions = append(to.Partitions, part)
			}
			out.Topics = append(out.Topics, to)
		}
		r.Markers = append(r.Markers, out)
	}
	return r, nil
}

func (s *Server) writeMarker(ctx context.Context, tp model.TopicPartition, m *kmsg.WriteTxnMarkersRequestMarker) int16 {
	err := s.b.Engine.WriteMarker(ctx, tp, store.Marker{
		ProducerID: m.ProducerID, Epoch: m.ProducerEpoch, CoordinatorEpoch: m.CoordinatorEpoch, Commit: m.Committed,
	})
	var refused *partition.ProducerError
	if errors.As(err, &refused) {
		if refused.Reason == partition.CoordinatorFenced {
			return kerr.TransactionCoordinatorFenced.Code
		}
		return kerr.InvalidProducerEpoch.Code
	}
	return faultOf(err).code
}

package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// isFailed reports whether an error code stands in a reply: at the top, or in one of its parts.
func isFailed(r reply) bool {
	switch r := r.(type) {
	case nil:
		return false
	case failing:
		return r.failed()
	case *kmsg.ApiVersionsResponse:
		return r.ErrorCode != 0
	case *kmsg.MetadataResponse:
		return some(r.Topics, func(t *kmsg.MetadataResponseTopic) bool { return t.ErrorCode != 0 })
	case *kmsg.ListOffsetsResponse:
		return some(r.Topics, func(t *kmsg.ListOffsetsResponseTopic) bool {
			return some(t.Partitions, func(p *kmsg.ListOffsetsResponseTopicPartition) bool { return p.ErrorCode != 0 })
		})
	case *kmsg.CreateTopicsResponse:
		return some(r.Topics, func(t *kmsg.CreateTopicsResponseTopic) bool { return t.ErrorCode != 0 })
	case *kmsg.DeleteTopicsResponse:
		return some(r.Topics, func(t *kmsg.DeleteTopicsResponseTopic) bool { return t.ErrorCode != 0 })
	case *kmsg.CreatePartitionsResponse:
		return some(r.Topics, func(t *kmsg.CreatePartitionsResponseTopic) bool { return t.ErrorCode != 0 })
	case *kmsg.DeleteRecordsResponse:
		return some(r.Topics, func(t *kmsg.DeleteRecordsResponseTopic) bool {
			return some(t.Partitions, func(p *kmsg.DeleteRecordsResponseTopicPartition) bool { return p.ErrorCode != 0 })
		})
	case *kmsg.OffsetForLeaderEpochResponse:
		return some(r.Topics, func(t *kmsg.OffsetForLeaderEpochResponseTopic) bool {
			return some(t.Partitions, func(p *kmsg.OffsetForLeaderEpochResponseTopicPartition) bool { return p.ErrorCode != 0 })
		})
	case *kmsg.DescribeConfigsResponse:
		return some(r.Resources, func(e *kmsg.DescribeConfigsResponseResource) bool { return e.ErrorCode != 0 })
	case *kmsg.IncrementalAlterConfigsResponse:
		return some(r.Resources, func(e *kmsg.IncrementalAlterConfigsResponseResource) bool { return e.ErrorCode != 0 })
	case *kmsg.AlterConfigsResponse:
		return some(r.Resources, func(e *kmsg.AlterConfigsResponseResource) bool { return e.ErrorCode != 0 })
	}
	return isGroupFailed(r)
}

// isStep reports whether a code only leads a member on in its group's rebalance.
func isStep(code int16) bool {
	return code == kerr.MemberIDRequired.Code || code == kerr.RebalanceInProgress.Code
}

// isGroupFailed is isFailed for what coordinators answer.
func isGroupFailed(r reply) bool {
	switch r := r.(type) {
	case *kmsg.FindCoordinatorResponse:
		return r.ErrorCode != 0 || some(r.Coordinators, func(k *kmsg.FindCoordinatorResponseCoordinator) bool { return k.ErrorCode != 0 })
	case *kmsg.JoinGroupResponse:
		return r.ErrorCode != 0 && !isStep(r.ErrorCode)
	case *kmsg.SyncGroupResponse:
		return r.ErrorCode != 0 && !isStep(r.ErrorCode)
	case *kmsg.HeartbeatResponse:
		return r.ErrorCode != 0 && !isStep(r.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		return r.ErrorCode != 0 || some(r.Members, func(m *kmsg.LeaveGroupResponseMember) bool { return m.ErrorCode != 0 })
	case *kmsg.OffsetCommitResponse:
		return some(r.Topics, func(t *kmsg.OffsetCommitResponseTopic) bool {
			return some(t.Partitions, func(p *kmsg.OffsetCommitResponseTopicPartition) bool { return p.ErrorCode != 0 })
		})
	case *kmsg.OffsetFetchResponse:
		return r.ErrorCode != 0 || some(r.Groups, func(g *kmsg.OffsetFetchResponseGroup) bool { return g.ErrorCode != 0 })
	case *kmsg.ConsumerGroupHeartbeatResponse:
		return r.ErrorCode != 0
	case *kmsg.DeleteGroupsResponse:
		return some(r.Groups, func(g *kmsg.DeleteGroupsResponseGroup) bool { return g.ErrorCode != 0 })
	case *kmsg.DescribeGroupsResponse:
		return some(r.Groups, func(g *kmsg.DescribeGroupsResponseGroup) bool { return g.ErrorCode != 0 })
	case *kmsg.OffsetDeleteResponse:
		return r.ErrorCode != 0
	case *kmsg.InitProducerIDResponse:
		return r.ErrorCode != 0
	case *kmsg.AddPartitionsToTxnResponse:
		return r.ErrorCode != 0 || some(r.Topics, func(t *kmsg.AddPartitionsToTxnResponseTopic) bool {
			return some(t.Partitions, func(p *kmsg.AddPartitionsToTxnResponseTopicPartition) bool { return p.ErrorCode != 0 })
		})
	case *kmsg.AddOffsetsToTxnResponse:
		return r.ErrorCode != 0
	case *kmsg.EndTxnResponse:
		return r.ErrorCode != 0
	case *kmsg.TxnOffsetCommitResponse:
		return some(r.Topics, func(t *kmsg.TxnOffsetCommitResponseTopic) bool {
			return some(t.Partitions, func(p *kmsg.TxnOffsetCommitResponseTopicPartition) bool { return p.ErrorCode != 0 })
		})
	case *kmsg.SASLAuthenticateResponse:
		return r.ErrorCode != 0
	case *kmsg.SASLHandshakeResponse:
		return r.ErrorCode != 0
	}
	return false
}

// some reports whether any element is so.
func some[T any](list []T, so func(*T) bool) bool {
	for i := range list {
		if so(&list[i]) {
			return true
		}
	}
	return false
}

package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// electLeaders answers that every partition has the leader it should have (ElectLeaders 0-2): its one replica. With no topics
// it names all, and none of their partitions, as there is nothing to tell of them.
func (s *Server) electLeaders(c *call) (reply, error) {
	req := c.req.(*kmsg.ElectLeadersRequest)
	r := req.ResponseKind().(*kmsg.ElectLeadersResponse)
	r.Topics = []kmsg.ElectLeadersResponseTopic{}
	unknown := c.version >= 1 && req.ElectionType != 0 && req.ElectionType != 1
	if unknown {
		r.ErrorCode = kerr.InvalidRequest.Code
	}
	if req.Topics == nil {
		for _, name := range s.b.Engine.Topics() {
			t := kmsg.NewElectLeadersResponseTopic()
			t.Topic = name
			r.Topics = append(r.Topics, t)
		}
		return r, nil
	}
	for i := range req.Topics {
		asked := &req.Topics[i]
		t := kmsg.NewElectLeadersResponseTopic()
		t.Topic = asked.Topic
		for _, n := range asked.Partitions {
			f := s.hosted(asked.Topic, n)
			switch {
			case unknown:
				f = refuse(kerr.InvalidRequest, "Unknown election type %d", req.ElectionType)
			case !f.bad():
				f = refuse(kerr.ElectionNotNeeded, "Leader election not needed for topic partition.")
			}
			p := kmsg.NewElectLeadersResponseTopicPartition()
			p.Partition, p.ErrorCode, p.ErrorMessage = n, f.code, f.message()
			t.Partitions = append(t.Partitions, p)
		}
		r.Topics = append(r.Topics, t)
	}
	return r, nil
}

// hosted says that there is no such partition, where there is none.
func (s *Server) hosted(topic string, number int32) fault {
	count := s.b.Engine.PartitionCount(topic)
	if isVirtual(topic) && count == 0 {
		count = virtualPartitions
	}
	switch {
	case count == 0:
		return refuse(kerr.UnknownTopicOrPartition, "No such topic as %s", topic)
	case number < 0 || int(number) >= count:
		return refuse(kerr.UnknownTopicOrPartition, "No such partition as %s-%d", topic, number)
	}
	return fault{}
}

package wire

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// deleteTopics deletes topics (DeleteTopics 1-6; by id from 6 on). A topic that is named twice, by name, by id or by both, is
// refused once. When the answer leaves, the topic is gone; its files go after file.delete.delay.ms. Left out:
// delete.topic.enable=false.
func (s *Server) deleteTopics(c *call) (reply, error) {
	req := c.req.(*kmsg.DeleteTopicsRequest)
	r := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	names := map[string]int{}
	topics := make([]doomed, 0, len(req.TopicNames)+len(req.Topics))
	if c.version < 6 {
		for _, name := range req.TopicNames {
			topics = append(topics, doomed{name: &name})
		}
	} else {
		for _, t := range req.Topics {
			topics = append(topics, doomed{name: t.Topic, id: t.TopicID})
		}
	}
	for i := range topics {
		if d := &topics[i]; s.resolve(d) {
			names[*d.name]++
		}
	}
	var gone []string
	at := map[string]*doomed{}
	for i := range topics {
		d := &topics[i]
		if d.fault.bad() {
			continue
		}
		if at[*d.name] != nil {
			d.skip = true
			continue
		}
		at[*d.name] = d
		if names[*d.name] > 1 {
			d.fault, d.id = refuse(kerr.InvalidRequest, "Duplicate topic name."), layout.ID{}
		} else if d.fault = s.deletable(d); !d.fault.bad() {
			gone = append(gone, *d.name)
		}
	}
	if len(gone) > 0 {
		for i, err := range s.b.Admin.DeleteTopics(c.ctx, gone) {
			at[gone[i]].fault = faultOf(err)
		}
	}
	for _, d := range topics {
		if d.skip {
			continue
		}
		a := kmsg.NewDeleteTopicsResponseTopic()
		a.Topic, a.TopicID, a.ErrorCode, a.ErrorMessage = d.name, d.id, d.fault.code, d.fault.message()
		r.Topics = append(r.Topics, a)
	}
	return r, nil
}

// doomed is a topic to be deleted.
type doomed struct {
	name  *string
	id    layout.ID
	fault fault
	skip  bool // it is answered with another of the same name
}

// resolve finds a topic's name, which an id may stand for, or else the fault.
func (s *Server) resolve(d *doomed) bool {
	switch {
	case d.name != nil && !d.id.IsZero():
		d.fault = refuse(kerr.InvalidRequest, "You may not specify both topic name and topic id.")
	case d.name == nil && d.id.IsZero():
		d.fault = refuse(kerr.InvalidRequest, "Neither topic name nor id were specified.")
	case d.name == nil:
		name, ok := s.b.Engine.TopicByID(d.id)
		if !ok {
			d.fault = refuse(kerr.UnknownTopicID, "This server does not host this topic ID.")
			return false
		}
		d.name = &name
	}
	return !d.fault.bad()
}

// deletable says why a topic cannot be deleted, or else learns its id.
func (s *Server) deletable(d *doomed) fault {
	if isVirtual(*d.name) && !s.b.Engine.HasTopic(*d.name) {
		return refuse(kerr.InvalidTopicException, "The topic %s is the broker's own.", *d.name)
	}
	id, ok := s.b.Engine.TopicID(*d.name)
	if !ok {
		return refuse(kerr.UnknownTopicOrPartition, "This server does not host this topic-partition.")
	}
	d.id = id
	return fault{}
}

package wire

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
)

// Metadata, 0-13: the broker, and topics with their partitions: all, or those named, from version 10 on by id too. A
// topic that is not there is made where the configs and the request allow it, and is in the answer at once; Kafka says
// UNKNOWN_TOPIC_OR_PARTITION first. Listed beside the topics that are there is __consumer_offsets, which tools look for.
func (s *Server) metadata(c *call) (reply, error) {
	req := c.req.(*kmsg.MetadataRequest)
	r := req.ResponseKind().(*kmsg.MetadataResponse)
	if code := badMetadata(req); code != 0 {
		for i := range req.Topics {
			t := kmsg.NewMetadataResponseTopic()
			name := ""
			if p := req.Topics[i].Topic; p != nil {
				name = *p
			}
			t.ErrorCode, t.Topic, t.TopicID = code, &name, req.Topics[i].TopicID
			r.Topics = append(r.Topics, t)
		}
		return r, nil
	}
	node := s.b.Engine.NodeID()
	b := kmsg.NewMetadataResponseBroker()
	b.NodeID = node
	b.Host, b.Port = c.conn.endpoint()
	cluster := s.b.Engine.ClusterID()
	r.Brokers, r.ClusterID, r.ControllerID = append(r.Brokers, b), &cluster, node
	if req.IncludeClusterAuthorizedOperations && c.version >= 8 && c.version <= 10 {
		r.AuthorizedOperations = clusterOperations
	}
	m := metadataAnswer{s: s, c: c, req: req, r: r, alone: []int32{node}}
	m.topics()
	return r, nil
}

// learn reads what Metadata has to tell of each partition and what is on the disk only, so that the first client that asks
// for all of ten thousand does not wait for it.
func (s *Server) learn() {
	for _, name := range s.b.Engine.Topics() {
		f, _ := s.b.Engine.Facts(name)
		for _, l := range f.Logs {
			if s.ctx.Err() != nil {
				return
			}
			if l != nil {
				_, _ = l.LeaderEpoch() // what fails here is told to who asks
			}
		}
	}
}

// badMetadata returns the code for a request that is refused as a whole.
func badMetadata(req *kmsg.MetadataRequest) int16 {
	for i := range req.Topics {
		t := &req.Topics[i]
		switch {
		case req.Version >= 10 && req.Version < 12 && t.TopicID != [16]byte{}:
			return kerr.InvalidRequest.Code
		case req.Version >= 10 && req.Version < 12 && t.Topic == nil:
			return kerr.InvalidRequest.Code
		case req.Version >= 12 && t.Topic == nil && t.TopicID == [16]byte{}:
			return kerr.UnknownServerError.Code
		}
	}
	return 0
}

// metadataAnswer is an answer in the making.
type metadataAnswer struct {
	s     *Server
	c     *call
	req   *kmsg.MetadataRequest
	r     *kmsg.MetadataResponse
	alone []int32 // the one broker, as a list of replicas
}

func (m *metadataAnswer) topics() {
	if m.req.Topics == nil || m.c.version == 0 && len(m.req.Topics) == 0 {
		m.all()
		return
	}
	byID := false
	for i := range m.req.Topics {
		byID = byID || m.req.Topics[i].TopicID != [16]byte{}
	}
	seen := make(map[string]bool, len(m.req.Topics))
	var known []kmsg.MetadataResponseTopic
	for i := range m.req.Topics {
		t := &m.req.Topics[i]
		if byID {
			if t.TopicID != [16]byte{} {
				known = m.byID(known, t.TopicID, seen)
			}
			continue
		}
		if seen[*t.Topic] {
			continue
		}
		seen[*t.Topic] = true
		known = append(known, m.byName(*t.Topic))
	}
	m.r.Topics = known
}

func (m *metadataAnswer) all() {
	real := false
	all := m.s.b.Engine.Topics()
	m.r.Topics = make([]kmsg.MetadataResponseTopic, 0, len(all)+1)
	for _, name := range all {
		real = real || name == virtual
		if f, ok := m.s.b.Engine.Facts(name); ok {
			m.r.Topics = append(m.r.Topics, m.topic(f))
		}
	}
	if !real {
		m.r.Topics = append(m.r.Topics, m.virtual(virtual))
	}
}

func (m *metadataAnswer) byID(list []kmsg.MetadataResponseTopic, id layout.ID, seen map[string]bool) []kmsg.MetadataResponseTopic {
	name, ok := m.s.b.Engine.TopicByID(id)
	if !ok {
		name = m.s.virtualByID(id)
	}
	if name == "" {
		t := kmsg.NewMetadataResponseTopic()
		t.ErrorCode, t.TopicID = kerr.UnknownTopicID.Code, id
		return append(list, t)
	}
	if seen[name] {
		return list
	}
	seen[name] = true
	return append(list, m.byName(name))
}

func (m *metadataAnswer) byName(name string) kmsg.MetadataResponseTopic {
	if f, ok := m.s.b.Engine.Facts(name); ok {
		return m.topic(f)
	}
	if isVirtual(name) {
		return m.virtual(name)
	}
	t := kmsg.NewMetadataResponseTopic()
	t.Topic = &name
	if layout.ValidTopic(name) != nil {
		t.ErrorCode = kerr.InvalidTopicException.Code
		return t
	}
	t.ErrorCode = kerr.UnknownTopicOrPartition.Code
	if m.s.o.AutoCreate != nil && !*m.s.o.AutoCreate || m.c.version >= 4 && !m.req.AllowAutoTopicCreation || layout.Internal(name) {
		return t
	}
	switch err := m.s.b.Admin.CreateTopic(m.c.ctx, model.TopicSpec{Name: name}); {
	case err == nil, errors.Is(err, model.ErrExists):
		if f, ok := m.s.b.Engine.Facts(name); ok {
			return m.topic(f)
		}
	case errors.Is(err, model.ErrInvalid):
		t.ErrorCode = kerr.InvalidTopicException.Code
	case errors.Is(err, context.Canceled), errors.Is(err, model.ErrClosed):
		t.ErrorCode = kerr.LeaderNotAvailable.Code
	}
	return t
}

// topic tells of a topic that is there. A partition whose folder is missing has no leader.
func (m *metadataAnswer) topic(f store.TopicFacts) kmsg.MetadataResponseTopic {
	t := m.named(f.Name, f.ID, len(f.Logs))
	for i, l := range f.Logs {
		p := m.partition(int32(i))
		if l == nil {
			p.ErrorCode, p.Leader, p.OfflineReplicas = kerr.LeaderNotAvailable.Code, -1, m.alone
		} else if m.c.version >= 7 {
			if epoch, err := l.LeaderEpoch(); err == nil {
				p.LeaderEpoch = epoch
			}
		}
		t.Partitions = append(t.Partitions, p)
	}
	return t
}

// virtual tells of a topic that only clients see.
func (m *metadataAnswer) virtual(name string) kmsg.MetadataResponseTopic {
	t := m.named(name, m.s.virtualID(name), virtualPartitions)
	for i := range int32(virtualPartitions) {
		p := m.partition(i)
		p.LeaderEpoch = 0
		t.Partitions = append(t.Partitions, p)
	}
	return t
}

func (m *metadataAnswer) named(name string, id layout.ID, partitions int) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.IsInternal = &name, id, layout.Internal(name)
	t.Partitions = make([]kmsg.MetadataResponseTopicPartition, 0, partitions)
	if m.req.IncludeTopicAuthorizedOperations && m.c.version >= 8 {
		t.AuthorizedOperations = topicOperations
	}
	return t
}

func (m *metadataAnswer) partition(number int32) kmsg.MetadataResponseTopicPartition {
	p := kmsg.NewMetadataResponseTopicPartition()
	p.Partition, p.Leader, p.Replicas, p.ISR = number, m.alone[0], m.alone, m.alone
	return p
}

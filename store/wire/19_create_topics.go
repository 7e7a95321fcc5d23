package wire

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// maxChanges bounds what one request may change in topics: partitions, topics and configs together. Kafka's controller
// writes no more records in one step.
const maxChanges = 10_000

// createTopics makes topics (CreateTopics 2-7). Each topic is made whole or not at all, whatever becomes of the others;
// what is refused in one does not touch the others, but too many partitions in all, which refuse everything. Replication is
// of one broker: factor 1, or -1. Left out: create.topic.policy, controller mutation quotas.
func (s *Server) createTopics(c *call) (reply, error) {
	req := c.req.(*kmsg.CreateTopicsRequest)
	r := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	seen := map[string]int{}
	changes := 0
	for i := range req.Topics {
		t := &req.Topics[i]
		seen[t.Topic]++
		changes = min(maxChanges+1, changes+1+len(t.Configs)+max(len(t.ReplicaAssignment), min(int(max(t.NumPartitions, 0)), maxChanges)))
	}
	answered := map[string]bool{}
	var specs []model.TopicSpec
	var at []int // the answers that the specs belong to
	l := s.layers()
	for i := range req.Topics {
		t := &req.Topics[i]
		if answered[t.Topic] {
			continue
		}
		answered[t.Topic] = true
		a := kmsg.NewCreateTopicsResponseTopic()
		a.Topic, a.Configs = t.Topic, []kmsg.CreateTopicsResponseTopicConfig{}
		var f fault
		var spec model.TopicSpec
		switch {
		case seen[t.Topic] > 1:
			f = refuse(kerr.InvalidRequest, "Duplicate topic name.")
		case changes > maxChanges:
			f = refuse(kerr.PolicyViolation, "Excessively large number of partitions, topics and configs in one request: at most %d.", maxChanges)
		default:
			spec, f = s.newTopic(t)
		}
		if a.ErrorCode, a.ErrorMessage = f.code, f.message(); !f.bad() {
			specs, at = append(specs, spec), append(at, len(r.Topics))
		}
		r.Topics = append(r.Topics, a)
	}
	var errs []error
	if !req.ValidateOnly && len(specs) > 0 {
		errs = s.b.Admin.CreateTopics(c.ctx, specs)
	}
	for i, spec := range specs {
		a := &r.Topics[at[i]]
		switch {
		case req.ValidateOnly:
			a.TopicID = layout.NewID() // as Kafka, which makes the topic and drops it
		case errs[i] != nil:
			f := createFault(errs[i])
			a.ErrorCode, a.ErrorMessage = f.code, f.message()
			continue
		default:
			a.TopicID, _ = s.b.Engine.TopicID(spec.Name) // none where it is gone already
		}
		created(a, l, spec)
	}
	return r, nil
}

// created tells what a topic has come to be.
func created(a *kmsg.CreateTopicsResponseTopic, l layers, spec model.TopicSpec) {
	a.NumPartitions, a.ReplicationFactor = spec.Partitions, 1
	own := map[string]string{}
	for _, change := range spec.Configs {
		own[change.Name] = change.Value
	}
	for _, e := range topicConfigs(l, own, nil) {
		a.Configs = append(a.Configs, kmsg.CreateTopicsResponseTopicConfig{Name: e.name, Value: &e.value, Source: int8(e.source)})
	}
}

// createFault puts the reason why a topic was not made into the protocol's words. Names were looked at before: one that is
// invalid now collides with another of the request, or of one that came in between.
func createFault(err error) fault {
	if errors.Is(err, model.ErrInvalid) {
		return refuse(kerr.InvalidTopicException, "%v", err)
	}
	return faultOf(err)
}

// newTopic says what a topic is to be, or why there cannot be such a one.
func (s *Server) newTopic(t *kmsg.CreateTopicsRequestTopic) (spec model.TopicSpec, f fault) {
	if f := s.creatable(t.Topic); f.bad() {
		return spec, f
	}
	spec = model.TopicSpec{Name: t.Topic, Partitions: max(t.NumPartitions, 0)}
	if spec.Configs, f = newConfigs(t.Configs); f.bad() {
		return spec, f
	}
	switch {
	case len(t.ReplicaAssignment) > 0:
		spec.Partitions = int32(len(t.ReplicaAssignment))
		return spec, s.assigned(t)
	case t.ReplicationFactor == 0 || t.ReplicationFactor < -1:
		return spec, refuse(kerr.InvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	case t.NumPartitions == 0 || t.NumPartitions < -1:
		return spec, refuse(kerr.InvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	case t.ReplicationFactor > 1:
		return spec, refuse(kerr.InvalidReplicationFactor,
			"Unable to replicate the partition %d time(s): The target replication factor of %[1]d cannot be reached because only 1 broker(s) are registered.", t.ReplicationFactor)
	}
	if spec.Partitions == 0 {
		spec.Partitions = s.b.Engine.DefaultPartitions()
	}
	return spec, fault{}
}

// creatable says why no topic of a name can be made.
func (s *Server) creatable(name string) fault {
	switch {
	case name == layout.MetadataTopic:
		return refuse(kerr.TopicAuthorizationFailed, "The topic %s is the broker's own.", name)
	case isVirtual(name):
		return refuse(kerr.TopicAlreadyExists, "Topic '%s' already exists.", name)
	case layout.Internal(name):
		return refuse(kerr.InvalidTopicException, "The topic %s is the broker's own.", name)
	}
	if err := layout.ValidTopic(name); err != nil {
		return refuse(kerr.InvalidTopicException, "%v", err)
	}
	if s.b.Engine.HasTopic(name) {
		return refuse(kerr.TopicAlreadyExists, "Topic '%s' already exists.", name)
	}
	if other := s.b.Engine.Collides(name); other != "" {
		return refuse(kerr.InvalidTopicException, "Topic '%s' collides with existing topic: %s", name, other)
	}
	return fault{}
}

// newConfigs takes the configs of a new topic; of a name given twice the last one counts.
func newConfigs(list []kmsg.CreateTopicsRequestTopicConfig) ([]model.ConfigChange, fault) {
	var changes []model.ConfigChange
	at := map[string]int{}
	for _, c := range list {
		i, twice := at[c.Name]
		if !twice {
			i = len(changes)
			at[c.Name] = i
			changes = append(changes, model.ConfigChange{Name: c.Name})
		}
		if c.Value == nil {
			return nil, refuse(kerr.InvalidConfig, "Null value not supported for topic configs: %s", c.Name)
		}
		changes[i].Value = *c.Value
	}
	for _, c := range changes {
		if err := layout.ValidateConfig(c.Name, c.Value); err != nil {
			return nil, refuse(kerr.InvalidConfig, "%v", err)
		}
	}
	return changes, fault{}
}

// assigned says what is wrong with partitions that the client has placed itself.
func (s *Server) assigned(t *kmsg.CreateTopicsRequestTopic) fault {
	if t.ReplicationFactor != -1 {
		return refuse(kerr.InvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	}
	if t.NumPartitions != -1 {
		return refuse(kerr.InvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	placed := make(map[int32]bool, len(t.ReplicaAssignment))
	for _, p := range t.ReplicaAssignment {
		if placed[p.Partition] {
			return refuse(kerr.InvalidReplicaAssignment, "Found multiple manual partition assignments for partition %d", p.Partition)
		}
		placed[p.Partition] = true
		if f := s.placed(p.Replicas); f.bad() {
			return f
		}
	}
	for i := range int32(len(t.ReplicaAssignment)) {
		if !placed[i] {
			return refuse(kerr.InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
	}
	return fault{}
}

// placed says what is wrong with a partition's replicas: the one broker must be their only one.
func (s *Server) placed(replicas []int32) fault {
	self := s.b.Engine.NodeID()
	var why string
	switch {
	case len(replicas) == 0:
		why = "an empty replica list"
	case replicas[0] != self:
		why = fmt.Sprintf("broker %d, but no such broker is registered", replicas[0])
	case len(replicas) > 1 && replicas[1] == self:
		why = fmt.Sprintf("the broker %d more than once", self)
	case len(replicas) > 1:
		why = fmt.Sprintf("broker %d, but no such broker is registered", replicas[1])
	default:
		return fault{}
	}
	return refuse(kerr.InvalidReplicaAssignment, "The manual partition assignment includes %s.", why)
}

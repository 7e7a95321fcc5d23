package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
)

// resource is something whose configs are to be changed.
type resource struct {
	kind kmsg.ConfigResourceType
	name string
}

// edit is a change of one config.
type edit struct {
	name  string
	op    kmsg.IncrementalAlterConfigOp
	value *string
}

// alter changes the configs of a resource as edits say, all of them or none; where whole, what is not among them falls back
// to its default.
func (s *Server) alter(c *call, r resource, edits []edit, whole, validateOnly bool) fault {
	seen := map[string]bool{}
	for _, e := range edits {
		if seen[e.name] {
			return refuse(kerr.InvalidRequest, "Error due to duplicate config keys: %s", e.name)
		}
		seen[e.name] = true
		if e.op < kmsg.IncrementalAlterConfigOpSet || e.op > kmsg.IncrementalAlterConfigOpSubtract {
			return refuse(kerr.InvalidRequest, "Unknown operation type %d for %s", e.op, e.name)
		}
	}
	for _, e := range edits {
		if e.value == nil && e.op != kmsg.IncrementalAlterConfigOpDelete {
			return refuse(kerr.InvalidRequest, "Null value not supported for : %s", e.name)
		}
	}
	// What a list grows by depends on what it is: one change at a time.
	s.altering.Lock()
	defer s.altering.Unlock()
	switch r.kind {
	case kmsg.ConfigResourceTypeTopic:
		return s.alterTopic(c, r.name, edits, whole, validateOnly)
	case kmsg.ConfigResourceTypeBroker:
		return s.alterBroker(c, r.name, edits, whole, validateOnly)
	case kmsg.ConfigResourceTypeGroupConfig:
		return s.alterGroup(c, r.name, edits, whole, validateOnly)
	case kmsg.ConfigResourceTypeBrokerLogger:
		if f := s.self(r.name); f.bad() || len(edits) == 0 {
			return f
		}
		return refuse(kerr.InvalidConfig, "Logger %s does not exist!", edits[0].name)
	case clientMetrics:
		return refuse(kerr.InvalidRequest, "No client metrics are collected here.")
	}
	return refuse(kerr.InvalidRequest, "Unexpected resource type %d.", r.kind)
}

func (s *Server) alterTopic(c *call, name string, edits []edit, whole, validateOnly bool) fault {
	switch {
	case name == "":
		return refuse(kerr.InvalidRequest, "Default topic resources are not allowed.")
	case layout.ValidTopic(name) != nil:
		return refuse(kerr.InvalidTopicException, "%v", layout.ValidTopic(name))
	case isVirtual(name) && !s.b.Engine.HasTopic(name):
		return refuse(kerr.InvalidTopicException, "The topic %s is the broker's own.", name)
	case !s.b.Engine.HasTopic(name):
		return refuse(kerr.UnknownTopicOrPartition, "The topic '%s' does not exist.", name)
	}
	own := s.b.Engine.OwnConfigs(name)
	values := map[string]string{}
	for _, v := range topicConfigs(s.layers(), own, editNames(edits)) {
		values[v.name] = v.value
	}
	changes, f := topicChanges(edits, values)
	if f.bad() {
		return f
	}
	if whole {
		changes = append(fallBack(own, edits), changes...)
	}
	changes = slices.DeleteFunc(changes, func(c model.ConfigChange) bool {
		_, set := own[c.Name]
		return c.Unset && !set
	})
	if validateOnly || len(changes) == 0 {
		return fault{}
	}
	return faultOf(s.b.Admin.AlterTopic(c.ctx, name, changes))
}

// editNames returns the names of what is edited. It is never empty, for that would ask for all.
func editNames(edits []edit) []string {
	names := []string{""}
	for _, e := range edits {
		names = append(names, e.name)
	}
	return names
}

// topicChanges turns edits of a topic's configs, which have these values now, into changes.
func topicChanges(edits []edit, values map[string]string) ([]model.ConfigChange, fault) {
	var changes []model.ConfigChange
	for _, e := range edits {
		d, known := layout.Config(e.name)
		if e.op == kmsg.IncrementalAlterConfigOpDelete {
			changes = append(changes, model.ConfigChange{Name: e.name, Unset: true})
			continue
		}
		value := *e.value
		if f := grow(e, known && d.Type == layout.List, values[e.name], &value); f.bad() {
			return nil, f
		}
		if err := layout.ValidateConfig(e.name, value); err != nil {
			return nil, refuse(kerr.InvalidConfig, "%v", err)
		}
		changes = append(changes, model.ConfigChange{Name: e.name, Value: value})
	}
	return changes, fault{}
}

// grow works out what a list is once something was added to it or taken off.
func grow(e edit, list bool, now string, value *string) fault {
	if e.op == kmsg.IncrementalAlterConfigOpSet {
		return fault{}
	}
	if !list {
		return refuse(kerr.InvalidConfig, "Can't add to or take off the key %s because its type is not LIST.", e.name)
	}
	parts := layout.SplitList(now)
	for _, p := range layout.SplitList(*e.value) {
		at := slices.Index(parts, p)
		switch {
		case e.op == kmsg.IncrementalAlterConfigOpAppend && at < 0:
			parts = append(parts, p)
		case e.op == kmsg.IncrementalAlterConfigOpSubtract && at >= 0:
			parts = slices.Delete(parts, at, at+1)
		}
	}
	*value = strings.Join(parts, ",")
	return fault{}
}

// fallBack returns the changes that take back what was set and is not among edits.
func fallBack(own map[string]string, edits []edit) []model.ConfigChange {
	var changes []model.ConfigChange
	for name := range own {
		if !slices.ContainsFunc(edits, func(e edit) bool { return e.name == name }) {
			changes = append(changes, model.ConfigChange{Name: name, Unset: true})
		}
	}
	return changes
}

// alterBroker changes what this broker, or with no name all brokers, go by. What cannot be changed while the broker runs, or
// means nothing here, is refused as Kafka refuses the former.
func (s *Server) alterBroker(c *call, name string, edits []edit, whole, validateOnly bool) fault {
	cluster := name == ""
	if !cluster {
		n, err := strconv.ParseInt(name, 10, 32)
		if err != nil {
			return refuse(kerr.InvalidRequest, "Node id must be an integer, but it is: %s", name)
		}
		if self := s.b.Engine.NodeID(); int32(n) != self {
			return refuse(kerr.InvalidRequest, "Unexpected broker id, expected %d, but received %s", self, name)
		}
	}
	own, all := s.b.Engine.BrokerConfigs()
	if cluster {
		own = all
	}
	values := map[string]string{}
	for _, v := range brokerConfigs(s.layers(), editNames(edits)) {
		values[v.name] = v.value
	}
	var changes []model.ConfigChange
	for _, e := range edits {
		change, f := brokerChange(e, values[e.name])
		if f.bad() {
			return f
		}
		if e.name == minInsync && (!cluster || change.Unset) {
			return refuse(kerr.InvalidConfig, "%s is set for all brokers, and always.", minInsync)
		}
		changes = append(changes, change)
	}
	if whole {
		changes = append(fallBack(own, edits), changes...)
	}
	if validateOnly || len(changes) == 0 {
		return fault{}
	}
	return faultOf(s.b.Engine.AlterBroker(c.ctx, cluster, changes))
}

func brokerChange(e edit, now string) (model.ConfigChange, fault) {
	d, known := layout.BrokerConfig(e.name)
	change := model.ConfigChange{Name: e.name, Unset: e.op == kmsg.IncrementalAlterConfigOpDelete}
	if !change.Unset {
		change.Value = *e.value
		if f := grow(e, known && d.Type == layout.List, now, &change.Value); f.bad() {
			return change, f
		}
	}
	if err := store.CheckBrokerConfig(change); err != nil {
		return change, refuse(kerr.InvalidRequest, "Cannot update these configs dynamically: [%s]: %v", e.name, err)
	}
	return change, fault{}
}

// alterGroup changes a group's configs.
func (s *Server) alterGroup(c *call, name string, edits []edit, whole, validateOnly bool) fault {
	if name == "" {
		return refuse(kerr.InvalidRequest, "Default group resources are not allowed.")
	}
	l, own := s.layers(), s.b.Engine.GroupConfigs(name)
	var changes []model.ConfigChange
	for _, e := range edits {
		change := model.ConfigChange{Name: e.name, Unset: e.op == kmsg.IncrementalAlterConfigOpDelete}
		d, err := layout.GroupConfig(e.name)
		switch {
		case err != nil && change.Unset:
			continue
		case err != nil:
			return refuse(kerr.InvalidConfig, "%v", err)
		case e.op > kmsg.IncrementalAlterConfigOpDelete:
			return grow(e, false, "", nil)
		case !change.Unset:
			change.Value = *e.value
			if f := groupValue(l, d, change.Value); f.bad() {
				return f
			}
		}
		changes = append(changes, change)
	}
	if whole {
		changes = append(fallBack(own, edits), changes...)
	}
	if validateOnly || len(changes) == 0 {
		return fault{}
	}
	return faultOf(s.b.Engine.AlterGroup(c.ctx, name, changes))
}

// groupValue says what is wrong with the value of a group's config, which the broker's configs bound.
func groupValue(l layers, d layout.GroupDef, value string) fault {
	if err := d.Validate(value); err != nil {
		return refuse(kerr.InvalidConfig, "%v", err)
	}
	if d.Least == "" {
		return fault{}
	}
	bound := func(name string) int64 {
		v, ok := l.static[name]
		if !ok {
			if b, known := layout.BrokerConfig(name); known {
				v = b.Default
			}
		}
		n, _ := strconv.ParseInt(v, 10, 64) // validated when it was read
		return n
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64) // validated above
	if least, most := bound(d.Least), bound(d.Most); n < least || n > most {
		return refuse(kerr.InvalidConfig, "%s must be in the range %d to %d inclusive.", d.Name, least, most)
	}
	return fault{}
}

package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// The configs that were set while the broker ran, of the broker, of all brokers and of groups, are kept beside those of
// topics, under names that no topic can have: "broker:1", "broker:", "group:payments".
const (
	brokerPrefix = "broker:"
	groupPrefix  = "group:"
)

// dynamic is what was set while the broker ran. It is never changed, only replaced.
type dynamic struct {
	node    map[string]string            // of this broker
	cluster map[string]string            // of all brokers
	groups  map[string]map[string]string // by group
	topic   map[string]string            // the defaults of topics, by the topic's name, that node and cluster come to
}

// settle works out what the broker's configs mean for topics.
func (d *dynamic) settle() *dynamic {
	d.topic = DynamicDefaults(d.cluster, d.node)
	return d
}

// DynamicDefaults returns the topic configs, by the topic's name, that layers of broker configs set for all topics; later
// layers go before earlier ones.
func DynamicDefaults(layers ...map[string]string) map[string]string {
	topic := map[string]string{}
	for _, layer := range layers {
		for key, value := range layer {
			if d, ok := layout.BrokerConfig(key); ok && d.Topic != "" && d.Dynamic && d.Validate(value) == nil {
				topic[d.Topic] = value
			}
		}
	}
	return topic
}

// KeptDefaults returns the topic configs that a ConfigStore's entries set for all topics of a directory with one node.
func KeptDefaults(all map[string]map[string]string) map[string]string {
	layers := []map[string]string{all[brokerPrefix]}
	for name, configs := range all {
		if strings.HasPrefix(name, brokerPrefix) && name != brokerPrefix {
			layers = append(layers, configs)
		}
	}
	return DynamicDefaults(layers...)
}

// takeDynamic takes an entry of the ConfigStore that belongs to no topic; ok is false for any other.
func (e *Engine) takeDynamic(d *dynamic, name string, configs map[string]string) (ok bool) {
	if group, isGroup := strings.CutPrefix(name, groupPrefix); isGroup {
		d.groups[group] = configs
		return true
	}
	node, isBroker := strings.CutPrefix(name, brokerPrefix)
	switch {
	case !isBroker:
		return false
	case node == "":
		d.cluster = configs
	case node == strconv.Itoa(int(e.NodeID())):
		d.node = configs
	}
	return true
}

// StaticConfigs returns the topic configs that flags and the server.properties set for all topics, by the topic's name.
func (e *Engine) StaticConfigs() map[string]string {
	all := maps.Clone(e.broker.Topic)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, e.o.Broker)
	return all
}

// Flags returns the topic configs that flags set for all topics, by the topic's name. They are not to be changed.
func (e *Engine) Flags() map[string]string { return e.o.Broker }

// Broker returns what the server.properties sets.
func (e *Engine) Broker() layout.Broker { return e.broker }

// BrokerConfigs returns the configs that were set while the broker ran: its own, and those of all brokers. They are not to
// be changed.
func (e *Engine) BrokerConfigs() (node, cluster map[string]string) {
	d := e.dynamic.Load()
	return d.node, d.cluster
}

// GroupConfigs returns the configs that a group was given. They are not to be changed.
func (e *Engine) GroupConfigs(group string) map[string]string { return e.dynamic.Load().groups[group] }

// ConfiguredGroups returns the groups that were given configs, in order.
func (e *Engine) ConfiguredGroups() []string {
	return slices.Sorted(maps.Keys(e.dynamic.Load().groups))
}

// AlterBroker changes the configs of this broker, or of all where cluster, from now on; what they mean for topics is looked
// at by their retention. A name that no broker knows is kept, as Kafka does. Errors wrap model.ErrInvalid; then nothing is
// changed.
func (e *Engine) AlterBroker(ctx context.Context, cluster bool, changes []model.ConfigChange) error {
	return e.alterDynamic(ctx, func(d *dynamic) (string, map[string]string, error) {
		have, name := d.node, brokerPrefix+strconv.Itoa(int(e.NodeID()))
		if cluster {
			have, name = d.cluster, brokerPrefix
		}
		for _, c := range changes {
			if err := CheckBrokerConfig(c); err != nil {
				return "", nil, err
			}
		}
		have = apply(have, changes)
		if cluster {
			d.cluster = have
		} else {
			d.node = have
		}
		return name, have, nil
	})
}

// CheckBrokerConfig says why a broker's config cannot be changed so while it runs. Errors wrap model.ErrInvalid.
func CheckBrokerConfig(c model.ConfigChange) error {
	d, ok := layout.BrokerConfig(c.Name)
	switch {
	case !ok && !layout.KnownToBrokers(c.Name):
		return nil
	case !ok:
		return fmt.Errorf("%w change of %s: it has no effect here", model.ErrInvalid, c.Name)
	case d.Fixed || !d.Dynamic:
		return fmt.Errorf("%w change of %s: it cannot be changed while the broker runs", model.ErrInvalid, c.Name)
	case c.Unset:
		return nil
	}
	return d.Validate(c.Value)
}

// AlterGroup changes a group's configs, from now on. Errors wrap model.ErrInvalid; then nothing is changed.
func (e *Engine) AlterGroup(ctx context.Context, group string, changes []model.ConfigChange) error {
	return e.alterDynamic(ctx, func(d *dynamic) (string, map[string]string, error) {
		for _, c := range changes {
			def, err := layout.GroupConfig(c.Name)
			if c.Unset {
				continue // a name that is not known any more can be taken back
			}
			if err == nil {
				err = def.Validate(c.Value)
			}
			if err != nil {
				return "", nil, err
			}
		}
		have := apply(d.groups[group], changes)
		d.groups = maps.Clone(d.groups)
		if d.groups[group] = have; len(have) == 0 {
			delete(d.groups, group)
		}
		return groupPrefix + group, have, nil
	})
}

// apply returns configs with changes made.
func apply(configs map[string]string, changes []model.ConfigChange) map[string]string {
	out := maps.Clone(configs)
	if out == nil {
		out = map[string]string{}
	}
	for _, c := range changes {
		if c.Unset {
			delete(out, c.Name)
		} else {
			out[c.Name] = strings.TrimSpace(c.Value)
		}
	}
	return out
}

// alterDynamic replaces what was set while the broker ran, on disk first. edit changes a copy, and names the entry that it
// has changed.
func (e *Engine) alterDynamic(ctx context.Context, edit func(*dynamic) (name string, configs map[string]string, err error)) error {
	done, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	e.admin.Lock()
	defer e.admin.Unlock()
	next := *e.dynamic.Load()
	before := next.topic
	name, configs, err := edit(&next)
	if err != nil {
		return err
	}
	if err := e.save(name, configs); err != nil {
		return fmt.Errorf("keep configs of %s: %w", strings.TrimSuffix(name, ":"), err)
	}
	e.dynamic.Store(next.settle())
	if maps.Equal(before, next.topic) {
		return nil
	}
	e.mu.Lock()
	all := slices.Collect(maps.Values(e.topics))
	for _, t := range all {
		t.effective = nil
	}
	effective := make([]layout.TopicConfig, len(all))
	for i, t := range all {
		effective[i] = e.effective(t)
	}
	e.mu.Unlock()
	for i, t := range all {
		for _, l := range e.topicLogs(t.name) {
			l.SetConfig(effective[i])
		}
	}
	e.lookSoon("")
	return nil
}

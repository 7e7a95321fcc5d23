package wire

import (
	"maps"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// setting is a config as it is described. A sensitive one's values are not shown.
type setting struct {
	name      string
	kind      kmsg.ConfigType
	doc       string
	readOnly  bool
	sensitive bool
	null      bool // it has no value
	value     string
	source    kmsg.ConfigSource
	// synonyms are the values that were given to it under any name, the one that counts first. A default that goes by no
	// such name is not among them.
	synonyms []valued
}

// valued is a value of a config, under the name by which it was given.
type valued struct {
	name   string
	value  string
	source kmsg.ConfigSource
}

// add gives a config a value that counts where there is none before.
func (s *setting) add(name, value string, source kmsg.ConfigSource) {
	if len(s.synonyms) == 0 {
		s.value, s.source, s.null = value, source, false
	}
	s.synonyms = append(s.synonyms, valued{name, value, source})
}

// configType puts a config's type into the protocol's words.
func configType(t layout.ConfigType) kmsg.ConfigType {
	switch t {
	case layout.Boolean:
		return kmsg.ConfigTypeBoolean
	case layout.Int:
		return kmsg.ConfigTypeInt
	case layout.Short:
		return kmsg.ConfigTypeShort
	case layout.Long:
		return kmsg.ConfigTypeLong
	case layout.Double:
		return kmsg.ConfigTypeDouble
	case layout.List:
		return kmsg.ConfigTypeList
	}
	return kmsg.ConfigTypeString
}

// layers are the configs that lie below those of topics and groups.
type layers struct {
	node, cluster map[string]string // set while the broker ran
	static        map[string]string // by the broker's names: what the broker was started with
	topic         map[string]string // by the topics' names: what the broker was started with
	inherited     []setting         // the configs of a topic that sets none, by name
}

// layers returns the configs as they are now.
func (s *Server) layers() layers {
	l := layers{static: s.staticConfigs(), topic: s.b.Engine.StaticConfigs()}
	l.node, l.cluster = s.clusterConfigs()
	for _, d := range layout.Configs() {
		c := setting{name: d.Name, kind: configType(d.Type), doc: d.Doc, value: d.Default, source: kmsg.ConfigSourceDefaultConfig}
		c.inherit(l, d)
		l.inherited = append(l.inherited, c)
	}
	return l
}

const minInsync = "min.insync.replicas"

// clusterConfigs returns what was set while the broker ran. min.insync.replicas is always set for the cluster, as in Kafka
// since it knows eligible leader replicas.
func (s *Server) clusterConfigs() (node, cluster map[string]string) {
	node, own := s.b.Engine.BrokerConfigs()
	cluster = map[string]string{minInsync: "1"}
	maps.Copy(cluster, own)
	return node, cluster
}

// staticConfigs returns what the broker was started with, by the broker's names.
func (s *Server) staticConfigs() map[string]string {
	m := maps.Clone(s.b.Engine.Broker().Known)
	if m == nil {
		m = map[string]string{}
	}
	for name, value := range s.b.Engine.Flags() {
		if d, ok := layout.Config(name); ok && len(d.Broker) > 0 {
			m[d.Broker[0]] = value
		}
	}
	id := strconv.Itoa(int(s.b.Engine.NodeID()))
	m["node.id"], m["broker.id"] = id, id
	m["num.partitions"] = strconv.Itoa(int(s.b.Engine.DefaultPartitions()))
	m["process.roles"] = "broker,controller"
	delete(m, "log.dir")
	m["log.dirs"] = strings.Join(s.b.Engine.Dirs(), ",")
	s.listenConfigs(m)
	return m
}

// listenConfigs adds what the listener itself goes by.
func (s *Server) listenConfigs(m map[string]string) {
	m["listeners"] = s.protocol() + "://" + s.Address()
	if s.o.Advertised != "" {
		m["advertised.listeners"] = s.protocol() + "://" + s.o.Advertised
	} else {
		delete(m, "advertised.listeners")
	}
	set := func(name string, v int64) {
		if d, ok := layout.BrokerConfig(name); ok {
			if delete(m, name); d.Default != strconv.FormatInt(v, 10) {
				m[name] = strconv.FormatInt(v, 10)
			}
		}
	}
	set("max.connections", int64(s.o.MaxConns))
	set("socket.request.max.bytes", int64(s.o.MaxRequest))
	set("connections.max.idle.ms", s.o.IdleTimeout.Milliseconds())
	if s.o.AutoCreate != nil && !*s.o.AutoCreate {
		m["auto.create.topics.enable"] = "false"
	} else {
		delete(m, "auto.create.topics.enable")
	}
}

// protocol returns Kafka's name of how the listener is secured.
func (s *Server) protocol() string {
	switch {
	case s.o.SASL != nil && s.o.TLS != nil:
		return "SASL_SSL"
	case s.o.SASL != nil:
		return "SASL_PLAINTEXT"
	case s.o.TLS != nil:
		return "SSL"
	}
	return "PLAINTEXT"
}

// named reports whether a config is asked for; nil and empty ask for all.
func named(names []string, name string) bool {
	if len(names) == 0 {
		return true
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// topicConfigs returns the configs of a topic that has set own itself, by name, as far as they are asked for.
func topicConfigs(l layers, own map[string]string, names []string) []setting {
	var list []setting
	for _, s := range l.inherited {
		if !named(names, s.name) {
			continue
		}
		if v, ok := own[s.name]; ok {
			s.value, s.source = v, kmsg.ConfigSourceDynamicTopicConfig
			s.synonyms = append([]valued{{s.name, v, s.source}}, s.synonyms...)
		}
		list = append(list, s)
	}
	return list
}

// inherit adds the values that a topic's config has below the topic.
func (s *setting) inherit(l layers, d layout.ConfigDef) {
	if len(d.Broker) == 0 {
		if v, ok := l.topic[d.Name]; ok {
			s.add(d.Name, v, kmsg.ConfigSourceStaticBrokerConfig)
		}
		return
	}
	if v, ok := l.node[d.Broker[0]]; ok {
		s.add(d.Broker[0], v, kmsg.ConfigSourceDynamicBrokerConfig)
	}
	if v, ok := l.cluster[d.Broker[0]]; ok {
		s.add(d.Broker[0], v, kmsg.ConfigSourceDynamicDefaultBrokerConfig)
	}
	if v, ok := l.topic[d.Name]; ok {
		counts := len(s.synonyms) == 0
		for _, key := range d.Broker {
			if v, ok := l.static[key]; ok {
				s.add(key, v, kmsg.ConfigSourceStaticBrokerConfig)
			}
		}
		if counts {
			s.value, s.source = v, kmsg.ConfigSourceStaticBrokerConfig // in the topic's unit
		}
	}
	last, ok := layout.BrokerConfig(d.Broker[0])
	if ok && last.Null {
		// The default goes by the name of an older config, and is listed under it behind what else there is.
		if last, ok = hours(d); len(s.synonyms) == 0 {
			return
		}
	}
	if ok {
		s.add(last.Name, last.Default, kmsg.ConfigSourceDefaultConfig)
	}
}

// hours returns the config in hours that a topic's config has its default of; false where there is none.
func hours(d layout.ConfigDef) (layout.BrokerDef, bool) {
	return layout.BrokerConfig(d.Broker[len(d.Broker)-1])
}

// brokerConfigs returns the configs of this broker, by name, as far as they are asked for.
func brokerConfigs(l layers, names []string) []setting {
	var list []setting
	known := map[string]bool{}
	for _, d := range layout.BrokerConfigs() {
		known[d.Name] = true
		if !named(names, d.Name) {
			continue
		}
		s := setting{name: d.Name, kind: configType(d.Type), doc: d.Doc, readOnly: !d.Dynamic, null: true, source: kmsg.ConfigSourceDefaultConfig}
		if v, ok := l.node[d.Name]; ok {
			s.add(d.Name, v, kmsg.ConfigSourceDynamicBrokerConfig)
		}
		if v, ok := l.cluster[d.Name]; ok {
			s.add(d.Name, v, kmsg.ConfigSourceDynamicDefaultBrokerConfig)
		}
		if v, ok := l.static[d.Name]; ok {
			s.add(d.Name, v, kmsg.ConfigSourceStaticBrokerConfig)
		}
		switch {
		case !d.Null:
			s.add(d.Name, d.Default, kmsg.ConfigSourceDefaultConfig)
		case d.Name == "log.retention.ms" && len(s.synonyms) > 0:
			s.add("log.retention.hours", "168", kmsg.ConfigSourceDefaultConfig)
		}
		list = append(list, s)
	}
	return append(list, unknownConfigs(l.node, kmsg.ConfigSourceDynamicBrokerConfig, known, names)...)
}

// unknownConfigs returns what was set under names that no broker knows. Nobody can say what it is: it counts as a secret.
func unknownConfigs(values map[string]string, source kmsg.ConfigSource, known map[string]bool, names []string) []setting {
	var list []setting
	for k, v := range values {
		if !known[k] && named(names, k) {
			s := setting{name: k, readOnly: true, sensitive: true}
			s.add(k, v, source)
			list = append(list, s)
		}
	}
	return list
}

// defaultConfigs returns the configs that were set for all brokers while they ran.
func defaultConfigs(l layers, names []string) []setting {
	var list []setting
	known := map[string]bool{}
	for _, d := range layout.BrokerConfigs() {
		known[d.Name] = true
		if v, ok := l.cluster[d.Name]; ok && named(names, d.Name) {
			s := setting{name: d.Name, kind: configType(d.Type), doc: d.Doc}
			s.add(d.Name, v, kmsg.ConfigSourceDynamicDefaultBrokerConfig)
			list = append(list, s)
		}
	}
	return append(list, unknownConfigs(l.cluster, kmsg.ConfigSourceDynamicDefaultBrokerConfig, known, names)...)
}

// groupConfigs returns the configs of a group that was given own.
func groupConfigs(l layers, own map[string]string, names []string) []setting {
	var list []setting
	for _, d := range layout.GroupConfigs() {
		if !named(names, d.Name) {
			continue
		}
		s := setting{name: d.Name, kind: configType(d.Type), doc: d.Doc}
		if v, ok := own[d.Name]; ok {
			s.add(d.Name, v, kmsg.ConfigSourceGroupConfig)
		}
		if v, ok := l.static[d.Broker]; ok {
			s.add(d.Broker, v, kmsg.ConfigSourceStaticBrokerConfig)
		}
		s.add(d.Broker, d.Default, kmsg.ConfigSourceDefaultConfig)
		list = append(list, s)
	}
	return list
}

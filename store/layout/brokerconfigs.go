package layout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/strata-kafka/strata/model"
)

// BrokerDef defines a broker's config that means something here, or that tools ask for.
type BrokerDef struct {
	ConfigDef
	// Topic is the topic's config for which this one sets the default; "" for none. Both have the same unit where Dynamic.
	Topic string
	// Null says that the default is no value at all.
	Null bool
	// Dynamic says that a broker takes a new value while it runs.
	Dynamic bool
	// Fixed says that a new value is refused here, though Kafka's broker takes one while it runs.
	Fixed bool
}

// BrokerConfigs returns the definitions of all broker configs, by name. They are the caller's to keep, but for their slices.
func BrokerConfigs() []BrokerDef { return slices.Clone(brokerTable()) }

// BrokerConfig returns the definition of a broker config.
func BrokerConfig(name string) (BrokerDef, bool) {
	t := brokerTable()
	i, ok := slices.BinarySearchFunc(t, name, func(d BrokerDef, name string) int { return cmp.Compare(d.Name, name) })
	if !ok {
		return BrokerDef{}, false
	}
	return t[i], true
}

// KnownToBrokers reports whether Kafka's brokers know a config of that name, whether or not it means something here.
func KnownToBrokers(name string) bool {
	return slices.Contains(strings.Fields(brokerKeys), name)
}

// brokerTable is made once, and never changed.
var brokerTable = sync.OnceValue(func() []BrokerDef {
	defs := slices.Concat(topicDefaults(), nodeConfigs(), listenerConfigs(), storageConfigs(), coordinatorConfigs())
	slices.SortFunc(defs, func(a, b BrokerDef) int { return cmp.Compare(a.Name, b.Name) })
	return defs
})

// topicDefaults are the configs that set the defaults of topics.
func topicDefaults() []BrokerDef {
	var defs []BrokerDef
	for _, d := range table() {
		for i, key := range d.Broker {
			if key == "log.flush.scheduler.interval.ms" {
				continue // it has a meaning of its own too
			}
			b := BrokerDef{ConfigDef: d, Topic: d.Name, Dynamic: true}
			b.Name, b.Broker = key, nil
			b.Doc = "For topics that do not set " + d.Name + " themselves: " + strings.ToLower(d.Doc[:1]) + d.Doc[1:]
			// Of several keys the last one has the default, and the first one may be changed.
			b.Null = len(d.Broker) > 1 && key != "log.retention.hours" && key != "log.roll.hours" && key != "log.roll.jitter.hours"
			if unit := keyUnit(key); unit > 1 {
				b.Type, b.Max, b.Dynamic = Int, math.MaxInt32, false
				b.Doc += " Here in " + key[strings.LastIndexByte(key, '.')+1:] + "; " + d.Broker[0] + " goes before it."
				b.Default = hoursOf(d.Default)
			}
			b.Dynamic = b.Dynamic && i == 0
			defs = append(defs, b)
		}
	}
	return defs
}

// hoursOf turns a default in ms into hours.
func hoursOf(ms string) string {
	if ms == "604800000" {
		return "168"
	}
	return "0"
}

// keyUnit returns how many of the topic config's units one of a broker's key is.
func keyUnit(key string) int64 {
	switch {
	case strings.HasSuffix(key, ".hours"):
		return 3_600_000
	case strings.HasSuffix(key, ".minutes"):
		return 60_000
	}
	return 1
}

func brokerNumber(t ConfigType, name, def string, low int64, doc string) BrokerDef {
	return BrokerDef{ConfigDef: number(t, name, def, low, doc)}
}

func brokerText(t ConfigType, name, def, doc string) BrokerDef {
	return BrokerDef{ConfigDef: ConfigDef{Name: name, Default: def, Type: t, Doc: doc}, Null: def == ""}
}

func nodeConfigs() []BrokerDef {
	idle := func(name, def string) BrokerDef {
		d := brokerNumber(Int, name, def, 1, "Kafka's default, for tools that ask: here each connection is served by a goroutine of its own, and no number bounds them.")
		d.Dynamic, d.Fixed = true, true
		return d
	}
	on := func(name, doc string) BrokerDef {
		d := BrokerDef{ConfigDef: boolean(name, doc)}
		d.Default = "true"
		return d
	}
	node := brokerNumber(Int, "node.id", "", 0, "The id of this node, which its data directory keeps.")
	roles := brokerText(List, "process.roles", "", "What this process is: there is one node, broker and controller in one.")
	node.Null = true
	return []BrokerDef{
		node, roles,
		brokerNumber(Int, "broker.id", "-1", -1, "The id of this node, by its older name."),
		brokerText(String, "broker.rack", "", "Where the broker stands."),
		on("auto.create.topics.enable", "A topic that a client asks for and that is not there is made, where the client allows it."),
		on("delete.topic.enable", "Topics may be deleted."),
		brokerNumber(Int, "default.replication.factor", "1", 1, "How many replicas a partition gets whose topic is created without a number; there is one broker."),
		brokerNumber(Int, "num.partitions", "1", 1, "How many partitions a topic gets that is created without a number."),
		brokerNumber(Int, "max.request.partition.size.limit", "2000", 1, "How many partitions one answer to DescribeTopicPartitions may hold."),
		idle("num.io.threads", "8"),
		idle("num.network.threads", "3"),
	}
}

func listenerConfigs() []BrokerDef {
	list := func(name, doc string) BrokerDef { return brokerText(List, name, "", doc) }
	conns := brokerNumber(Int, "max.connections", "4096", 1, "How many clients may be connected at once.")
	conns.Dynamic, conns.Fixed = true, true
	listeners := list("listeners", "Where clients are served.")
	listeners.Dynamic, listeners.Fixed = true, true
	return []BrokerDef{
		listeners,
		list("advertised.listeners", "Where clients are told to go; they are told what they have dialled where this is not set."),
		conns,
		brokerNumber(Long, "connections.max.idle.ms", "600000", 1, "A connection is closed when its client has said nothing for so many ms."),
		brokerNumber(Int, "socket.request.max.bytes", "104857600", 1, "A request of more bytes than this closes its connection."),
	}
}

func storageConfigs() []BrokerDef {
	cleaner := BrokerDef{ConfigDef: boolean("log.cleaner.enable", "Topics whose cleanup.policy says so are compacted.")}
	cleaner.Default = "true"
	recovery := brokerNumber(Int, "num.recovery.threads.per.data.dir", "2", 1, "How many logs are checked at once after a stop that was not clean, in each data directory.")
	recovery.Dynamic, recovery.Fixed = true, true
	producers := brokerNumber(Int, "producer.id.expiration.ms", "86400000", 1, "A producer id that wrote nothing for so many ms is forgotten.")
	producers.Dynamic, producers.Fixed = true, true
	threads := brokerNumber(Int, "log.cleaner.threads", "1", 1, "How many logs are compacted at once.")
	memory := brokerNumber(Long, "log.cleaner.dedupe.buffer.size", "134217728", 1<<20, "How many bytes of memory the keys of the logs that are being compacted may take.")
	backoff := brokerNumber(Long, "log.cleaner.backoff.ms", "15000", 0, "What is to be compacted is looked for every so many ms.")
	for _, d := range []*BrokerDef{&threads, &memory, &backoff} {
		d.Dynamic, d.Fixed = true, true
	}
	return []BrokerDef{
		cleaner, threads, memory, backoff, recovery, producers,
		brokerText(List, "log.dir", "", "The data directory, where log.dirs does not say."),
		brokerText(List, "log.dirs", "", "The data directories."),
		brokerNumber(Long, "log.retention.check.interval.ms", "300000", 1, "Retention is looked at every so many ms."),
		brokerNumber(Long, "log.flush.scheduler.interval.ms", unlimited, 1, "flush.ms is looked at every so many ms, but at least every second here."),
		brokerNumber(Int, "log.flush.offset.checkpoint.interval.ms", "60000", 0, "How far logs have been forced to disk is written down every so many ms."),
		brokerNumber(Int, "log.flush.start.offset.checkpoint.interval.ms", "60000", 0, "Where logs begin is written down every so many ms."),
		brokerNumber(Long, "replica.high.watermark.checkpoint.interval.ms", "5000", 1, "High watermarks are written down every so many ms."),
	}
}

func coordinatorConfigs() []BrokerDef {
	return []BrokerDef{
		brokerText(List, "group.coordinator.rebalance.protocols", "classic,consumer", "The protocols by which groups share partitions out."),
		brokerNumber(Int, "group.initial.rebalance.delay.ms", "0", 0, "An empty classic group waits so many ms for more members before its first rebalance. Kafka waits 3 s."),
		brokerNumber(Int, "group.min.session.timeout.ms", "6000", 1, "The least session timeout of a member of a classic group, ms."),
		brokerNumber(Int, "group.max.session.timeout.ms", "1800000", 1, "The greatest session timeout of a member of a classic group, ms."),
		brokerNumber(Int, "group.max.size", "2147483647", 1, "How many members a classic group may have."),
		brokerText(List, "group.consumer.assignors", "uniform,range", "The broker's assignors, the one that groups get which name none first."),
		brokerNumber(Int, "group.consumer.session.timeout.ms", "45000", 1, "A member of a consumer group that is silent for so many ms is put out."),
		brokerNumber(Int, "group.consumer.min.session.timeout.ms", "45000", 1, "The least consumer.session.timeout.ms a group may set, ms."),
		brokerNumber(Int, "group.consumer.max.session.timeout.ms", "60000", 1, "The greatest consumer.session.timeout.ms a group may set, ms."),
		brokerNumber(Int, "group.consumer.heartbeat.interval.ms", "5000", 1, "A member of a consumer group is to be heard of every so many ms."),
		brokerNumber(Int, "group.consumer.min.heartbeat.interval.ms", "5000", 1, "The least consumer.heartbeat.interval.ms a group may set, ms."),
		brokerNumber(Int, "group.consumer.max.heartbeat.interval.ms", "15000", 1, "The greatest consumer.heartbeat.interval.ms a group may set, ms."),
		brokerText(String, "group.consumer.migration.policy", "bidirectional", "Which groups may change their protocol while they have members: bidirectional, upgrade, downgrade or disabled."),
		brokerNumber(Int, "group.consumer.max.size", "2147483647", 1, "How many members a consumer group may have."),
		brokerNumber(Int, "offset.metadata.max.bytes", "4096", 0, "How long the text may be that is committed with an offset."),
		brokerNumber(Int, "offsets.retention.minutes", "10080", 1, "The offsets of a group without members are forgotten after so many minutes."),
		brokerNumber(Long, "offsets.retention.check.interval.ms", "600000", 1, "Offsets that are to be forgotten are looked for every so many ms."),
		brokerNumber(Int, "offsets.topic.num.partitions", "50", 1, "How many partitions __consumer_offsets shows. It has no files: offsets are kept elsewhere."),
		brokerNumber(Short, "offsets.topic.replication.factor", "1", 1, "How many replicas the partitions of __consumer_offsets show."),
		brokerNumber(Int, "transaction.max.timeout.ms", "900000", 1, "The greatest timeout a transactional producer may ask for, ms."),
		brokerNumber(Int, "transactional.id.expiration.ms", "604800000", 1, "A transactional id that nothing was done with for so many ms is forgotten."),
	}
}

// GroupDef defines a group's config.
type GroupDef struct {
	ConfigDef
	Broker string // the broker's config that sets the default
	// Least and Most are the broker's configs that bound it; "" for none.
	Least, Most string
}

// GroupConfigs returns the definitions of the configs of groups of the consumer protocol, by name.
func GroupConfigs() []GroupDef {
	return []GroupDef{
		{ConfigDef: number(Int, "consumer.heartbeat.interval.ms", "5000", 1, "A member of the group is to be heard of every so many ms."),
			Broker: "group.consumer.heartbeat.interval.ms", Least: "group.consumer.min.heartbeat.interval.ms", Most: "group.consumer.max.heartbeat.interval.ms"},
		{ConfigDef: number(Int, "consumer.session.timeout.ms", "45000", 1, "A member of the group that is silent for so many ms is put out."),
			Broker: "group.consumer.session.timeout.ms", Least: "group.consumer.min.session.timeout.ms", Most: "group.consumer.max.session.timeout.ms"},
	}
}

// GroupConfig returns the definition of a group config. The error wraps model.ErrInvalid.
func GroupConfig(name string) (GroupDef, error) {
	var names []string
	for _, d := range GroupConfigs() {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return GroupDef{}, fmt.Errorf("%w group config %q: there are %s", model.ErrInvalid, name, strings.Join(names, ", "))
}

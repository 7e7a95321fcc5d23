package layout

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// ConfigType is what kind of value a config takes.
type ConfigType string

// The kinds of value.
const (
	Boolean ConfigType = "boolean"
	Int     ConfigType = "int"
	Short   ConfigType = "short"
	Long    ConfigType = "long"
	Double  ConfigType = "double"
	String  ConfigType = "string" // one of ConfigDef.Values
	List    ConfigType = "list"   // separated by commas, of ConfigDef.Values where there are any
)

// ConfigDef defines a topic's config: Kafka's name, default and range.
type ConfigDef struct {
	Name    string
	Default string
	Type    ConfigType
	// Min and Max bound a number, both included.
	Min, Max int64
	// Also is one number outside of Min and Max that is allowed too; only where HasAlso.
	Also    int64
	HasAlso bool
	Values  []string // what a String may be, or the parts of a List; nil: any
	// Broker holds the keys of server.properties that set the default for all topics, the one that counts first.
	Broker []string
	Doc    string // a sentence
}

// Configs returns the definitions of all topic configs, by name. They are the caller's to keep, but for their slices.
func Configs() []ConfigDef { return slices.Clone(table()) }

// table is made once, and never changed.
var table = sync.OnceValue(func() []ConfigDef {
	defs := slices.Concat(segmentConfigs(), retentionConfigs(), compactionConfigs(), messageConfigs(), clusterConfigs())
	slices.SortFunc(defs, func(a, b ConfigDef) int { return cmp.Compare(a.Name, b.Name) })
	return defs
})

// Config returns the definition of a topic config.
func Config(name string) (ConfigDef, bool) {
	for _, d := range table() {
		if d.Name == name {
			return d, true
		}
	}
	return ConfigDef{}, false
}

// Unlimited is the number that stands for no limit where a config's unit is milliseconds or messages.
const Unlimited = math.MaxInt64

const unlimited = "9223372036854775807"

// After returns the time, ms, that lies wait ms behind another one, and math.MaxInt64 where there is no such time: configs
// go up to Unlimited. wait is not negative.
func After(ms, wait int64) int64 {
	if ms > math.MaxInt64-wait {
		return math.MaxInt64
	}
	return ms + wait
}

func number(t ConfigType, name, def string, low int64, doc string, broker ...string) ConfigDef {
	high := int64(math.MaxInt64)
	switch t {
	case Int:
		high = math.MaxInt32
	case Short:
		high = math.MaxInt16
	}
	return ConfigDef{Name: name, Default: def, Type: t, Min: low, Max: high, Doc: doc, Broker: broker}
}

func boolean(name, doc string, broker ...string) ConfigDef {
	return ConfigDef{Name: name, Default: "false", Type: Boolean, Doc: doc, Broker: broker}
}

// minSegment is the least segment.bytes: what one batch's head takes. Brokers since 4.0 want a MiB at least, older ones
// take what we take.
const minSegment = 14

func segmentConfigs() []ConfigDef {
	return []ConfigDef{
		number(Int, "segment.bytes", "1073741824", minSegment,
			"A segment is closed and the next one begun before its .log would grow beyond so many bytes.", "log.segment.bytes"),
		number(Long, "segment.ms", "604800000", 1,
			"A segment is closed at the first append whose newest timestamp lies more than so many ms after the segment's first batch.",
			"log.roll.ms", "log.roll.hours"),
		number(Long, "segment.jitter.ms", "0", 0,
			"So many ms at most, by chance, are taken off segment.ms, so that not all segments close at once.",
			"log.roll.jitter.ms", "log.roll.jitter.hours"),
		number(Int, "segment.index.bytes", "10485760", 4,
			"The offset index and the time index of the active segment take so many bytes each; a full index closes the segment.",
			"log.index.size.max.bytes"),
		number(Int, "index.interval.bytes", "4096", 0,
			"The indexes get an entry when so many bytes were appended since the last one.", "log.index.interval.bytes"),
		boolean("preallocate", "A new segment's .log gets its full size on disk at once, filled with zeros.", "log.preallocate"),
		number(Long, "flush.messages", unlimited, 1,
			"The log is forced to disk after so many records.", "log.flush.interval.messages"),
		number(Long, "flush.ms", unlimited, 0,
			"The log is forced to disk when its oldest unforced record has waited so many ms.",
			"log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
		number(Long, "file.delete.delay.ms", "60000", 0,
			"A deleted segment's files stay as .deleted for so many ms.", "log.segment.delete.delay.ms"),
	}
}

func retentionConfigs() []ConfigDef {
	return []ConfigDef{
		{Name: "cleanup.policy", Default: "delete", Type: List, Values: []string{"compact", "delete"}, Broker: []string{"log.cleanup.policy"},
			Doc: "How old records go: delete drops whole old segments, compact keeps the newest record of each key; both may be named, and none keeps everything."},
		number(Long, "retention.ms", "604800000", -1,
			"A segment is deleted when its newest record is more than so many ms old; -1 means never.",
			"log.retention.ms", "log.retention.minutes", "log.retention.hours"),
		number(Long, "retention.bytes", "-1", math.MinInt64,
			"The oldest segments of a partition are deleted while what is left is no smaller than so many bytes; negative means never.",
			"log.retention.bytes"),
		number(Long, "local.retention.ms", "-2", -2,
			"With tiered storage, so many ms of records stay on the local disk; -2 means as retention.ms.", "log.local.retention.ms"),
		number(Long, "local.retention.bytes", "-2", -2,
			"With tiered storage, so many bytes of a partition stay on the local disk; -2 means as retention.bytes.", "log.local.retention.bytes"),
		boolean("remote.storage.enable", "Closed segments are copied to tiered storage."),
		boolean("remote.log.copy.disable", "Nothing more is copied to tiered storage; what lies there stays readable."),
		boolean("remote.log.delete.on.disable", "What lies in tiered storage is deleted when remote.storage.enable is taken back."),
		number(Long, "remote.copy.lag.ms", "0", -1,
			"A closed segment is copied to tiered storage when its newest record is so many ms old; 0 means at once, -1 as local.retention.ms.",
			"log.remote.copy.lag.ms"),
		number(Long, "remote.copy.lag.bytes", "-1", -1,
			"A closed segment is copied to tiered storage when so many bytes lie behind it; 0 means at once, -1 as local.retention.bytes.",
			"log.remote.copy.lag.bytes"),
	}
}

func compactionConfigs() []ConfigDef {
	return []ConfigDef{
		number(Long, "min.compaction.lag.ms", "0", 0,
			"A record is safe from compaction for so many ms.", "log.cleaner.min.compaction.lag.ms"),
		number(Long, "max.compaction.lag.ms", unlimited, 1,
			"A record is compacted so many ms after it was written at the latest; where this is less than segment.ms, it closes segments too.",
			"log.cleaner.max.compaction.lag.ms"),
		{Name: "min.cleanable.dirty.ratio", Default: "0.5", Type: Double, Min: 0, Max: 1, Broker: []string{"log.cleaner.min.cleanable.ratio"},
			Doc: "A log is compacted when at least this part of its bytes was written since the last compaction."},
		number(Long, "delete.retention.ms", "86400000", 0,
			"A tombstone stays for so many ms after the compaction that first met it.", "log.cleaner.delete.retention.ms"),
	}
}

func messageConfigs() []ConfigDef {
	level := func(name, def string, low, high int64, doc string) ConfigDef {
		return ConfigDef{Name: name, Default: def, Type: Int, Min: low, Max: high, Doc: doc, Broker: []string{name}}
	}
	gzip := level("compression.gzip.level", "-1", 1, 9, "How hard gzip works, where compression.type is gzip; -1 is its own choice.")
	gzip.Also, gzip.HasAlso = -1, true
	return []ConfigDef{
		number(Int, "max.message.bytes", "1048588", 0,
			"A batch of more bytes than this, compressed as it comes, is refused.", "message.max.bytes"),
		{Name: "max.decompressed.message.bytes", Default: "2147483639", Type: Int, Min: 1, Max: 2147483639,
			Broker: []string{"max.decompressed.message.bytes"}, Doc: "A compressed batch with a record of more bytes than this is refused."},
		{Name: "message.timestamp.type", Default: "CreateTime", Type: String, Values: []string{"CreateTime", "LogAppendTime"},
			Broker: []string{"log.message.timestamp.type"}, Doc: "Who dates a record: its producer (CreateTime) or the broker at the append (LogAppendTime)."},
		number(Long, "message.timestamp.before.max.ms", unlimited, 0,
			"A record dated more than so many ms before the broker's clock is refused; not with LogAppendTime.", "log.message.timestamp.before.max.ms"),
		number(Long, "message.timestamp.after.max.ms", "3600000", 0,
			"A record dated more than so many ms after the broker's clock is refused; not with LogAppendTime.", "log.message.timestamp.after.max.ms"),
		{Name: "compression.type", Default: "producer", Type: String, Values: []string{"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"},
			Broker: []string{"compression.type"}, Doc: "The codec that batches are stored in; producer keeps each as it came."},
		gzip,
		level("compression.lz4.level", "9", 1, 17, "How hard lz4 works, where compression.type is lz4."),
		level("compression.zstd.level", "3", -131072, 22, "How hard zstd works, where compression.type is zstd."),
	}
}

func clusterConfigs() []ConfigDef {
	throttle := func(name, side string) ConfigDef {
		return ConfigDef{Name: name, Type: List, Doc: "Replicas, as partition:broker or * for all, whose copying is slowed down on the " + side + "'s side."}
	}
	return []ConfigDef{
		number(Int, "min.insync.replicas", "1", 1,
			"A write with acks=all is refused while fewer replicas than this, the leader included, are in sync.", "min.insync.replicas"),
		boolean("unclean.leader.election.enable", "A replica that is not in sync may become leader when no other is left, at the price of lost records.",
			"unclean.leader.election.enable"),
		boolean("errors.deadletterqueue.group.enable", "Share groups may write here what they could not deliver."),
		throttle("leader.replication.throttled.replicas", "leader"),
		throttle("follower.replication.throttled.replicas", "follower"),
	}
}

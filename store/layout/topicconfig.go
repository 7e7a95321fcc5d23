package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// TopicConfig holds the configs that a log lives by, as values. What concerns a cluster or tiered storage is left out.
type TopicConfig struct {
	SegmentBytes       int64
	SegmentMS          int64
	SegmentJitterMS    int64
	SegmentIndexBytes  int64
	IndexIntervalBytes int64
	Preallocate        bool
	FlushMessages      int64 // Unlimited: never by this rule
	FlushMS            int64 // Unlimited: never by this rule
	FileDeleteDelayMS  int64
	Delete, Compact    bool  // cleanup.policy
	RetentionMS        int64 // negative: for ever
	RetentionBytes     int64 // negative: any size
	MinCompactionLagMS int64
	MaxCompactionLagMS int64
	MinDirtyRatio      float64
	DeleteRetentionMS  int64
	MaxMessageBytes    int64
	MaxRecordBytes     int64 // max.decompressed.message.bytes
	LogAppendTime      bool
	TimestampBeforeMS  int64  // Unlimited: any
	TimestampAfterMS   int64  // Unlimited: any
	Compression        string // producer, uncompressed, gzip, snappy, lz4, zstd
	CompressionLevel   int    // of Compression, where it is gzip, lz4 or zstd; else 0
}

// ParseTopicConfig takes the values of a topic's configs from layers of names and values, the first that has a name
// wins; what none has is at its default, and names that are no topic config are passed over. A value that
// ValidateConfig refuses counts as not there.
func ParseTopicConfig(layers ...map[string]string) TopicConfig {
	v := values{}
	for _, d := range table() {
		v.settle(d, layers)
	}
	c := TopicConfig{
		SegmentBytes:       v.long("segment.bytes"),
		SegmentMS:          v.long("segment.ms"),
		SegmentJitterMS:    v.long("segment.jitter.ms"),
		SegmentIndexBytes:  v.long("segment.index.bytes"),
		IndexIntervalBytes: v.long("index.interval.bytes"),
		Preallocate:        v.is("preallocate", "true"),
		FlushMessages:      v.long("flush.messages"),
		FlushMS:            v.long("flush.ms"),
		FileDeleteDelayMS:  v.long("file.delete.delay.ms"),
		Delete:             slices.Contains(SplitList(v["cleanup.policy"]), "delete"),
		Compact:            slices.Contains(SplitList(v["cleanup.policy"]), "compact"),
		RetentionMS:        v.long("retention.ms"),
		RetentionBytes:     v.long("retention.bytes"),
		MinCompactionLagMS: v.long("min.compaction.lag.ms"),
		MaxCompactionLagMS: v.long("max.compaction.lag.ms"),
		DeleteRetentionMS:  v.long("delete.retention.ms"),
		MaxMessageBytes:    v.long("max.message.bytes"),
		MaxRecordBytes:     v.long("max.decompressed.message.bytes"),
		LogAppendTime:      v.is("message.timestamp.type", "LogAppendTime"),
		TimestampBeforeMS:  v.long("message.timestamp.before.max.ms"),
		TimestampAfterMS:   v.long("message.timestamp.after.max.ms"),
		Compression:        v["compression.type"],
	}
	c.MinDirtyRatio, _ = strconv.ParseFloat(v["min.cleanable.dirty.ratio"], 64) // validated above
	switch c.Compression {
	case "gzip", "lz4", "zstd":
		c.CompressionLevel = int(v.long("compression." + c.Compression + ".level"))
		if c.Compression == "gzip" && c.CompressionLevel == -1 {
			c.CompressionLevel = 0 // its own choice
		}
	}
	return c
}

// Retention returns what the topics page says of the configs.
func (c TopicConfig) Retention() model.Retention {
	r := model.Retention{Known: true, Delete: c.Delete, Compact: c.Compact, MS: c.RetentionMS, Bytes: c.RetentionBytes}
	if c.Compact {
		r.DirtyRatio = c.MinDirtyRatio
	}
	return r
}

// ParseRetention is ParseTopicConfig(layers...).Retention() for a twentieth of its cost: a list of topics asks for it row by
// row.
func ParseRetention(layers ...map[string]string) model.Retention {
	v := values{}
	for _, name := range [...]string{"cleanup.policy", "retention.ms", "retention.bytes"} {
		if d, ok := Config(name); ok {
			v.settle(d, layers)
		}
	}
	policy := SplitList(v["cleanup.policy"])
	c := TopicConfig{
		Delete: slices.Contains(policy, "delete"), Compact: slices.Contains(policy, "compact"),
		RetentionMS: v.long("retention.ms"), RetentionBytes: v.long("retention.bytes"),
	}
	if d, ok := Config("min.cleanable.dirty.ratio"); ok && c.Compact {
		v.settle(d, layers)
		c.MinDirtyRatio, _ = strconv.ParseFloat(v[d.Name], 64) // validated
	}
	return c.Retention()
}

// values are validated configs by name.
type values map[string]string

// settle takes a config's value from the first layer that has a valid one, or else its default.
func (v values) settle(d ConfigDef, layers []map[string]string) {
	v[d.Name] = d.Default
	for _, layer := range layers {
		if s, ok := layer[d.Name]; ok && d.Validate(s) == nil {
			v[d.Name] = strings.TrimSpace(s)
			return
		}
	}
}

func (v values) long(name string) int64 {
	n, _ := strconv.ParseInt(v[name], 10, 64) // validated before
	return n
}

func (v values) is(name, value string) bool { return strings.EqualFold(v[name], value) }

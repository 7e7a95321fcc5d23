package layout

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// TestConfigsAreKafkas holds the table against what a 4.4.0 broker's classes say: name, type, default, range.
func TestConfigsAreKafkas(t *testing.T) {
	b, err := os.ReadFile("testdata/kafka-4.4-configs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		names = append(names, f[0])
		d, ok := Config(f[0])
		if !ok {
			t.Errorf("%s is missing", f[0])
			continue
		}
		if !strings.EqualFold(string(d.Type), f[1]) || d.Default != f[2] {
			t.Errorf("%s is %s %q, Kafka says %s %q", d.Name, d.Type, d.Default, f[1], f[2])
		}
		var want string
		switch {
		case d.Name == "segment.bytes": // wider than Kafka's on purpose
			continue
		case d.Type == List && d.Values == nil || d.Type == Boolean:
			continue
		case d.Values != nil:
			want = "[" + strings.Join(d.Values, ", ") + "]"
		case d.Min == math.MinInt64:
			want = "null"
		case d.Max == math.MaxInt64 || d.Type == Int && d.Max == math.MaxInt32:
			want = fmt.Sprintf("[%d,...]", d.Min)
		default:
			want = fmt.Sprintf("[%d,...,%d]", d.Min, d.Max)
		}
		if d.HasAlso {
			want += fmt.Sprintf(" or %d", d.Also)
		}
		if want != f[3] {
			t.Errorf("%s takes %s, Kafka says %s", d.Name, want, f[3])
		}
	}
	if len(names) != len(Configs()) || !slices.IsSorted(names) {
		t.Errorf("%d configs, Kafka has %d", len(Configs()), len(names))
	}
}

func TestEveryConfigIsWhole(t *testing.T) {
	for _, d := range Configs() {
		if err := ValidateConfig(d.Name, d.Default); err != nil {
			t.Errorf("default: %v", err)
		}
		if d.Doc == "" || !strings.HasSuffix(d.Doc, ".") || d.Allowed() == "" {
			t.Errorf("%s: %q, %q", d.Name, d.Doc, d.Allowed())
		}
		for _, key := range d.Broker {
			if !slices.Contains(strings.Fields(brokerKeys), key) {
				t.Errorf("%s: no broker knows %s", d.Name, key)
			}
		}
	}
	Configs()[0].Name = "changed"
	if Configs()[0].Name == "changed" {
		t.Error("the table can be changed")
	}
}

func TestValidateConfig(t *testing.T) {
	for name, tc := range map[string]struct{ config, value, err string }{
		"number":             {"retention.ms", "60000", ""},
		"blanks":             {"retention.ms", " 60000 ", ""},
		"off":                {"retention.ms", "-1", ""},
		"too low":            {"retention.ms", "-2", `invalid value "-2" for retention.ms: want a whole number from -1`},
		"a word":             {"retention.ms", "7d", `invalid value "7d" for retention.ms: want a whole number from -1`},
		"too great":          {"segment.bytes", "2147483648", `invalid value "2147483648" for segment.bytes: want a whole number from 14 to 2147483647`},
		"small segments":     {"segment.bytes", "16384", ""},
		"any number":         {"retention.bytes", "-99", ""},
		"no number":          {"retention.bytes", "", `invalid value "" for retention.bytes: want a whole number`},
		"beyond 64 bits":     {"retention.ms", "9223372036854775808", `invalid value "9223372036854775808" for retention.ms: want a whole number from -1`},
		"ratio":              {"min.cleanable.dirty.ratio", "0.01", ""},
		"ratio too great":    {"min.cleanable.dirty.ratio", "1.5", `invalid value "1.5" for min.cleanable.dirty.ratio: want a number from 0 to 1`},
		"ratio is no number": {"min.cleanable.dirty.ratio", "NaN", `invalid value "NaN" for min.cleanable.dirty.ratio: want a number from 0 to 1`},
		"boolean":            {"preallocate", "TRUE", ""},
		"no boolean":         {"preallocate", "yes", `invalid value "yes" for preallocate: want true or false`},
		"one of":             {"compression.type", "zstd", ""},
		"none of":            {"compression.type", "zst", `invalid value "zst" for compression.type: want one of uncompressed, zstd, lz4, snappy, gzip, producer; did you mean zstd?`},
		"none":               {"compression.type", "none", `invalid value "none" for compression.type: want one of uncompressed, zstd, lz4, snappy, gzip, producer`},
		"level":              {"compression.gzip.level", "-1", ""},
		"level between":      {"compression.gzip.level", "0", `invalid value "0" for compression.gzip.level: want a whole number from 1 to 9, or -1`},
		"both policies":      {"cleanup.policy", "compact, delete", ""},
		"no policy":          {"cleanup.policy", "", ""},
		"a policy twice":     {"cleanup.policy", "delete,delete", `invalid value "delete,delete" for cleanup.policy: want a list of compact, delete`},
		"a wrong policy":     {"cleanup.policy", "compacted", `invalid value "compacted" for cleanup.policy: want a list of compact, delete; did you mean compact?`},
		"throttled":          {"leader.replication.throttled.replicas", "0:1,1:2", ""},
		"throttled all":      {"leader.replication.throttled.replicas", "*", ""},
		"throttled wrongly":  {"leader.replication.throttled.replicas", "0:1,*", `invalid value "0:1,*" for leader.replication.throttled.replicas: want a list of partition:broker, or *`},
		"misspelt":           {"retention.sm", "1", `invalid config "retention.sm": there is none of that name; did you mean retention.ms?`},
		"a broker's":         {"log.retention.hours", "1", `invalid config log.retention.hours: that is the broker's name; a topic's is retention.ms`},
		"gone":               {"message.format.version", "3.0", `invalid config message.format.version: there is none of that name since Kafka 4.0`},
		"far off":            {"xyzzyxyzzyxyzzy", "1", `invalid config "xyzzyxyzzyxyzzy": there is none of that name`},
	} {
		t.Run(name, func(t *testing.T) {
			err := ValidateConfig(tc.config, tc.value)
			if message(err) != tc.err || err != nil && !errors.Is(err, model.ErrInvalid) {
				t.Errorf("%v\nwant %s", err, tc.err)
			}
		})
	}
}

func TestParseTopicConfig(t *testing.T) {
	c := ParseTopicConfig()
	if c.SegmentBytes != 1<<30 || c.SegmentMS != 604800000 || !c.Delete || c.Compact || c.RetentionMS != 604800000 || c.RetentionBytes != -1 ||
		c.FlushMessages != Unlimited || c.TimestampAfterMS != 3600000 || c.MinDirtyRatio != 0.5 || c.Compression != "producer" || c.CompressionLevel != 0 ||
		c.MaxMessageBytes != 1048588 || c.IndexIntervalBytes != 4096 || c.SegmentIndexBytes != 10485760 || c.LogAppendTime || c.MaxRecordBytes != 2147483639 {
		t.Errorf("defaults: %+v", c)
	}
	c = ParseTopicConfig(
		map[string]string{"segment.bytes": "16384", "cleanup.policy": "compact,delete", "retention.ms": "wrong", "compression.type": "zstd"},
		map[string]string{"segment.bytes": "1", "retention.ms": "60000", "message.timestamp.type": "LogAppendTime", "preallocate": "True"},
	)
	if c.SegmentBytes != 16384 || !c.Compact || !c.Delete || c.RetentionMS != 60000 || !c.LogAppendTime || !c.Preallocate || c.CompressionLevel != 3 {
		t.Errorf("layers: %+v", c)
	}
	if r := c.Retention(); r != (model.Retention{Known: true, Delete: true, Compact: true, MS: 60000, Bytes: -1, DirtyRatio: c.MinDirtyRatio}) {
		t.Errorf("%+v", r)
	}
	if c := ParseTopicConfig(map[string]string{"cleanup.policy": ""}); c.Delete || c.Compact {
		t.Errorf("no policy: %+v", c)
	}
}

func TestBrokerDefaults(t *testing.T) {
	props, err := ParseProperties([]byte(`# a broker's
process.roles=broker,controller
node.id=4
listeners=PLAINTEXT://:9092
listener.name.plaintext.ssl.keystore.location=/x
log.dir=/ignored
log.dirs=/data/a, /data/b
num.partitions=3
log.retention.hours=2
log.retention.minutes=5
log.segment.bytes=16384
log.roll.hours=1
log.retention.check.interval.ms=1000
log.cleanup.policy=compact,delete
log.cleaner.min.cleanable.ratio=0.1
log.message.timestamp.type=LogAppendTime
message.max.bytes=2000000
compression.type=lz4
log.flush.interval.messages=0
num.partitons=4
retention.ms=1
auto.create.topics.enable= False
offsets.retention.minutes=60
zookeeper.connect=localhost:2181
log.preallocate=maybe
`))
	if err != nil {
		t.Fatal(err)
	}
	b := BrokerDefaults(props)
	if b.NodeID != 4 || b.Partitions != 3 || !reflect.DeepEqual(b.LogDirs, []string{"/data/a", "/data/b"}) ||
		b.RetentionCheckMS != 1000 || b.OffsetRetentionMS != 3600000 || b.FlushCheckMS != Unlimited || b.ProducerExpiryMS != 86400000 {
		t.Errorf("%+v", b)
	}
	topic := map[string]string{
		"retention.ms": "300000", "segment.bytes": "16384", "segment.ms": "3600000", "cleanup.policy": "compact,delete",
		"min.cleanable.dirty.ratio": "0.1", "message.timestamp.type": "LogAppendTime", "max.message.bytes": "2000000", "compression.type": "lz4",
	}
	if !reflect.DeepEqual(b.Topic, topic) {
		t.Errorf("topic configs %v, want %v", b.Topic, topic)
	}
	if want := []string{
		"line 20: no broker knows num.partitons; did you mean num.partitions?",
		"line 21: no broker knows retention.ms; it is a topic's config, a broker's is log.retention.ms",
	}; len(b.Unknown) != 2 || !strings.HasPrefix(b.Unknown[0], want[0][:len(want[0])-1]) || b.Unknown[1] != want[1] {
		t.Errorf("unknown: %q", b.Unknown)
	}
	if want := []string{"process.roles", "listener.name.plaintext.ssl.keystore.location", "zookeeper.connect"}; !reflect.DeepEqual(b.Unused, want) {
		t.Errorf("unused: %q", b.Unused)
	}
	if b.Known["auto.create.topics.enable"] != "false" {
		t.Errorf("auto.create.topics.enable is known as %q", b.Known["auto.create.topics.enable"])
	}
	if want := []string{
		`line 19: log.flush.interval.messages is "0": want a whole number from 1`,
		`line 25: log.preallocate is "maybe": want true or false`,
	}; !reflect.DeepEqual(b.Invalid, want) {
		t.Errorf("invalid: %q", b.Invalid)
	}
}

func TestBrokerWithoutAFile(t *testing.T) {
	b := BrokerDefaults(nil)
	if b.NodeID != -1 || b.LogDirs != nil || b.Partitions != 1 || len(b.Topic) != 0 || b.RetentionCheckMS != 300000 ||
		b.RecoveryPointMS != 60000 || b.OffsetRetentionMS != 604800000 || b.Unknown != nil || b.Invalid != nil {
		t.Errorf("%+v", b)
	}
	for hours, want := range map[string]string{"-1": "-1", "168": "604800000", "2147483647": "7730941129200000"} {
		b := BrokerDefaults([]Property{{Key: "log.retention.hours", Value: hours}})
		if b.Topic["retention.ms"] != want || b.Invalid != nil {
			t.Errorf("%s hours are %s, %q", hours, b.Topic["retention.ms"], b.Invalid)
		}
	}
}

func TestAfter(t *testing.T) {
	for _, tc := range []struct{ ms, wait, want int64 }{
		{5, 7, 12}, {-1, 0, -1}, {1, Unlimited, Unlimited}, {0, Unlimited, Unlimited}, {Unlimited, 1, Unlimited}, {-3, Unlimited, Unlimited - 3},
	} {
		if got := After(tc.ms, tc.wait); got != tc.want {
			t.Errorf("After(%d, %d) = %d, want %d", tc.ms, tc.wait, got, tc.want)
		}
	}
}

// TestParseRetention holds that it says what ParseTopicConfig does.
func TestParseRetention(t *testing.T) {
	for name, layers := range map[string][]map[string]string{
		"nothing set": nil,
		"own":         {{"retention.ms": " -1 ", "retention.bytes": "7", "cleanup.policy": "compact"}},
		"two layers":  {{"retention.ms": "5"}, {"retention.ms": "6", "cleanup.policy": "compact, delete"}},
		"invalid":     {{"retention.ms": "soon", "cleanup.policy": "keep"}, nil, {"retention.ms": "9"}},
		"of others":   {{"segment.bytes": "100", "no.such": "1"}},
	} {
		if got, want := ParseRetention(layers...), ParseTopicConfig(layers...).Retention(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// BenchmarkParseRetention measures a row of a list of topics.
func BenchmarkParseRetention(b *testing.B) {
	own := map[string]string{"retention.ms": "1000"}
	for b.Loop() {
		ParseRetention(own, nil, nil)
	}
}

package layout

import (
	"slices"
	"strings"
	"testing"
)

// TestBrokerConfigs holds the broker's table together: names that brokers know, in order, each with a sentence, and defaults
// that are valid.
func TestBrokerConfigs(t *testing.T) {
	defs := BrokerConfigs()
	for i, d := range defs {
		if i > 0 && defs[i-1].Name >= d.Name {
			t.Errorf("%s comes behind %s", d.Name, defs[i-1].Name)
		}
		if !KnownToBrokers(d.Name) {
			t.Errorf("no broker knows %s", d.Name)
		}
		if !strings.HasSuffix(d.Doc, ".") {
			t.Errorf("%s is explained by %q", d.Name, d.Doc)
		}
		if d.Dynamic && !d.Fixed && d.Topic == "" {
			t.Errorf("%s is to be changed while the broker runs, and nothing goes by it", d.Name)
		}
		if number := d.Type != List && d.Type != String; number && !d.Null && d.Validate(d.Default) != nil && d.Default != "-1" {
			t.Errorf("%s: %v", d.Name, d.Validate(d.Default))
		}
		if got, ok := BrokerConfig(d.Name); !ok || got.Name != d.Name {
			t.Errorf("%s is not found", d.Name)
		}
	}
	if _, ok := BrokerConfig("nonsense"); ok {
		t.Error("nonsense is found")
	}
}

// TestTopicDefaults holds what Kafka 4.4 says of the configs that topics get their defaults of.
func TestTopicDefaults(t *testing.T) {
	for name, tc := range map[string]struct {
		kind    ConfigType
		def     string
		null    bool
		dynamic bool
		topic   string
	}{
		"log.retention.ms":            {Long, "", true, true, "retention.ms"},
		"log.retention.minutes":       {Int, "", true, false, "retention.ms"},
		"log.retention.hours":         {Int, "168", false, false, "retention.ms"},
		"log.roll.ms":                 {Long, "", true, true, "segment.ms"},
		"log.roll.hours":              {Int, "168", false, false, "segment.ms"},
		"log.roll.jitter.ms":          {Long, "", true, true, "segment.jitter.ms"},
		"log.roll.jitter.hours":       {Int, "0", false, false, "segment.jitter.ms"},
		"log.flush.interval.ms":       {Long, "", true, true, "flush.ms"},
		"log.segment.bytes":           {Int, "1073741824", false, true, "segment.bytes"},
		"log.segment.delete.delay.ms": {Long, "60000", false, true, "file.delete.delay.ms"},
		"message.max.bytes":           {Int, "1048588", false, true, "max.message.bytes"},
		"min.insync.replicas":         {Int, "1", false, true, "min.insync.replicas"},
		"compression.type":            {String, "producer", false, true, "compression.type"},
		"log.cleanup.policy":          {List, "delete", false, true, "cleanup.policy"},
	} {
		d, ok := BrokerConfig(name)
		if !ok || d.Type != tc.kind || d.Null != tc.null || d.Dynamic != tc.dynamic || d.Topic != tc.topic || !tc.null && d.Default != tc.def {
			t.Errorf("%s: %+v, want %+v", name, d, tc)
		}
	}
}

func TestGroupConfigs(t *testing.T) {
	for _, d := range GroupConfigs() {
		b, ok := BrokerConfig(d.Broker)
		if !ok || b.Default != d.Default || b.Type != d.Type {
			t.Errorf("%s gets its default of %s, which is %+v", d.Name, d.Broker, b)
		}
		for _, bound := range []string{d.Least, d.Most} {
			if _, ok := BrokerConfig(bound); !ok && bound != "" {
				t.Errorf("%s is bounded by %s, which there is not", d.Name, bound)
			}
		}
		if _, err := GroupConfig(d.Name); err != nil {
			t.Error(err)
		}
	}
	if _, err := GroupConfig("nonsense"); err == nil || !strings.Contains(err.Error(), GroupConfigs()[0].Name) {
		t.Errorf("nonsense: %v", err)
	}
	if !slices.IsSortedFunc(GroupConfigs(), func(a, b GroupDef) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("they are not in order")
	}
}

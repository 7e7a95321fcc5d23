package wire

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
)

// describe asks for configs of one resource, with synonyms.
func (c *client) describe(kind kmsg.ConfigResourceType, name string, keys ...string) (code int16, configs map[string]string) {
	c.t.Helper()
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, keys
	req.Resources = append(req.Resources, r)
	a := c.ask(req, 4).(*kmsg.DescribeConfigsResponse).Resources[0]
	configs = map[string]string{}
	for _, e := range a.Configs {
		s := "null"
		if e.Value != nil {
			s = *e.Value
		}
		s += fmt.Sprintf(" %d", e.Source)
		for _, y := range e.ConfigSynonyms {
			v := "null"
			if y.Value != nil {
				v = *y.Value
			}
			s += fmt.Sprintf(" %s=%s(%d)", y.Name, v, y.Source)
		}
		configs[e.Name] = s
		if e.ConfigType != 0 && (e.Documentation == nil || *e.Documentation == "") {
			c.t.Errorf("%s is not explained", e.Name)
		}
	}
	return a.ErrorCode, configs
}

// changeRequest asks for changes of one resource's configs: "name=value" sets, a leading - deletes, + appends, / subtracts; a name
// alone sets null.
func changeRequest(kind kmsg.ConfigResourceType, name string, changes ...string) *kmsg.IncrementalAlterConfigsRequest {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, c := range changes {
		e := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		if i := strings.IndexByte("-+/", c[0]); i >= 0 {
			e.Op, c = kmsg.IncrementalAlterConfigOp(i+1), c[1:]
		}
		k, v, given := strings.Cut(c, "=")
		if e.Name = k; given {
			e.Value = &v
		}
		r.Configs = append(r.Configs, e)
	}
	req.Resources = append(req.Resources, r)
	return req
}

const (
	ofTopic  = kmsg.ConfigResourceTypeTopic
	ofBroker = kmsg.ConfigResourceTypeBroker
	ofGroup  = kmsg.ConfigResourceTypeGroupConfig
)

func TestDescribeConfigs(t *testing.T) {
	dir := t.TempDir()
	properties := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(properties, []byte("log.retention.hours=2\nmessage.max.bytes=2000\nnum.partitions=3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := startEngine(t, dir, store.Options{Properties: properties, Broker: map[string]string{"segment.ms": "5000"}})
	if err := s.engine.CreateTopic(t.Context(), model.TopicSpec{Name: "t", Configs: []model.ConfigChange{{Name: "retention.ms", Value: "7"}}}); err != nil {
		t.Fatal(err)
	}
	create := func(name string) {
		if err := s.engine.CreateTopic(t.Context(), model.TopicSpec{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	create("plain")
	c := s.dial()
	for name, tc := range map[string]struct {
		kind kmsg.ConfigResourceType
		of   string
		keys []string
		code int16
		want map[string]string // name: value, source, synonyms
	}{
		"a topic's own":              {ofTopic, "t", []string{"retention.ms"}, 0, map[string]string{"retention.ms": "7 1 retention.ms=7(1) log.retention.hours=2(4) log.retention.hours=168(5)"}},
		"in hours":                   {ofTopic, "plain", []string{"retention.ms"}, 0, map[string]string{"retention.ms": "7200000 4 log.retention.hours=2(4) log.retention.hours=168(5)"}},
		"by a flag":                  {ofTopic, "plain", []string{"segment.ms"}, 0, map[string]string{"segment.ms": "5000 4 log.roll.ms=5000(4) log.roll.hours=168(5)"}},
		"the broker's":               {ofTopic, "plain", []string{"max.message.bytes"}, 0, map[string]string{"max.message.bytes": "2000 4 message.max.bytes=2000(4) message.max.bytes=1048588(5)"}},
		"a default":                  {ofTopic, "t", []string{"segment.bytes"}, 0, map[string]string{"segment.bytes": "1073741824 5 log.segment.bytes=1073741824(5)"}},
		"a default that has no name": {ofTopic, "t", []string{"flush.ms"}, 0, map[string]string{"flush.ms": "9223372036854775807 5"}},
		"in sync":                    {ofTopic, "t", []string{"min.insync.replicas"}, 0, map[string]string{"min.insync.replicas": "1 3 min.insync.replicas=1(3) min.insync.replicas=1(5)"}},
		"an unknown key":             {ofTopic, "t", []string{"nonsense"}, 0, nil},
		"an unknown topic":           {ofTopic, "none", nil, 3, nil},
		"a bad name":                 {ofTopic, "a b", nil, 17, nil},
		"no name":                    {ofTopic, "", nil, 17, nil},
		"the groups' offsets":        {ofTopic, "__consumer_offsets", []string{"cleanup.policy"}, 0, map[string]string{"cleanup.policy": "compact 1 cleanup.policy=compact(1) log.cleanup.policy=delete(5)"}},
		"the broker":                 {ofBroker, "1", []string{"log.retention.hours", "log.retention.ms", "num.partitions"}, 0, map[string]string{"log.retention.hours": "2 4 log.retention.hours=2(4) log.retention.hours=168(5)", "log.retention.ms": "null 5", "num.partitions": "3 4 num.partitions=3(4) num.partitions=1(5)"}},
		"the broker by a flag":       {ofBroker, "1", []string{"log.roll.ms"}, 0, map[string]string{"log.roll.ms": "5000 4 log.roll.ms=5000(4)"}},
		"who it is":                  {ofBroker, "1", []string{"node.id", "broker.id"}, 0, map[string]string{"node.id": "1 4 node.id=1(4)", "broker.id": "1 4 broker.id=1(4) broker.id=-1(5)"}},
		"where it listens":           {ofBroker, "1", []string{"listeners"}, 0, map[string]string{"listeners": "PLAINTEXT://" + s.Address() + " 4 listeners=PLAINTEXT://" + s.Address() + "(4)"}},
		"all brokers":                {ofBroker, "", nil, 0, map[string]string{"min.insync.replicas": "1 3 min.insync.replicas=1(3)"}},
		"another broker":             {ofBroker, "9", nil, 42, nil},
		"a broker that is no number": {ofBroker, "one", nil, 42, nil},
		"a group":                    {ofGroup, "g", []string{"consumer.session.timeout.ms"}, 0, map[string]string{"consumer.session.timeout.ms": "45000 5 group.consumer.session.timeout.ms=45000(5)"}},
		"a group without a name":     {ofGroup, "", nil, 42, nil},
		"loggers":                    {kmsg.ConfigResourceTypeBrokerLogger, "1", nil, 0, nil},
		"another broker's loggers":   {kmsg.ConfigResourceTypeBrokerLogger, "9", nil, 42, nil},
		"client metrics":             {clientMetrics, "m", nil, 0, nil},
		"nothing there is":           {77, "t", nil, 42, nil},
	} {
		t.Run(name, func(t *testing.T) {
			code, got := c.describe(tc.kind, tc.of, tc.keys...)
			if code != tc.code || len(got) != len(tc.want) {
				t.Errorf("code %d, configs %q, want %d, %q", code, got, tc.code, tc.want)
			}
			for k, v := range tc.want {
				if got[k] != v {
					t.Errorf("%s is %q, want %q", k, got[k], v)
				}
			}
		})
	}
	if _, all := c.describe(ofTopic, "t"); len(all) != 37 {
		t.Errorf("%d topic configs, want the 37 of Kafka 4.4", len(all))
	}
	if _, all := c.describe(ofBroker, "1"); len(all) < 80 {
		t.Errorf("%d broker configs", len(all))
	}
}

// startEngine is a listener over an engine with options of its own.
func startEngine(t testing.TB, dir string, o store.Options) *core {
	t.Helper()
	e, err := store.Open([]string{filepath.Join(dir, "data")}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return serveEngine(t, e)
}

func TestIncrementalAlterConfigs(t *testing.T) {
	s := startCore(t, Options{}, model.TopicSpec{Name: "t", Partitions: 1, Configs: []model.ConfigChange{{Name: "retention.ms", Value: "7"}}})
	c := s.dial()
	for _, tc := range []struct {
		what string
		req  *kmsg.IncrementalAlterConfigsRequest
		code int16
		want map[string]string // the topic's own configs
	}{
		{"set", changeRequest(ofTopic, "t", "retention.ms=8"), 0, map[string]string{"retention.ms": "8"}},
		{"append to a default", changeRequest(ofTopic, "t", "+cleanup.policy=compact"), 0, map[string]string{"retention.ms": "8", "cleanup.policy": "delete,compact"}},
		{"append what is there", changeRequest(ofTopic, "t", "+cleanup.policy=compact"), 0, map[string]string{"retention.ms": "8", "cleanup.policy": "delete,compact"}},
		{"subtract", changeRequest(ofTopic, "t", "/cleanup.policy=delete"), 0, map[string]string{"retention.ms": "8", "cleanup.policy": "compact"}},
		{"subtract what is not there", changeRequest(ofTopic, "t", "/cleanup.policy=delete"), 0, map[string]string{"retention.ms": "8", "cleanup.policy": "compact"}},
		{"subtract the last", changeRequest(ofTopic, "t", "/cleanup.policy=compact"), 0, map[string]string{"retention.ms": "8", "cleanup.policy": ""}},
		{"append to what is no list", changeRequest(ofTopic, "t", "+retention.ms=1"), 40, nil},
		{"append to what there is not", changeRequest(ofTopic, "t", "+nonsense=1"), 40, nil},
		{"append what may not be", changeRequest(ofTopic, "t", "+cleanup.policy=burn"), 40, nil},
		{"delete", changeRequest(ofTopic, "t", "-cleanup.policy"), 0, map[string]string{"retention.ms": "8"}},
		{"delete what is not set", changeRequest(ofTopic, "t", "-segment.ms"), 0, map[string]string{"retention.ms": "8"}},
		{"delete what there is not", changeRequest(ofTopic, "t", "-nonsense"), 0, map[string]string{"retention.ms": "8"}},
		{"set what there is not", changeRequest(ofTopic, "t", "nonsense=1"), 40, nil},
		{"set a bad value", changeRequest(ofTopic, "t", "retention.ms=soon"), 40, nil},
		{"set null", changeRequest(ofTopic, "t", "retention.ms"), 42, nil},
		{"a key twice", changeRequest(ofTopic, "t", "retention.ms=1", "retention.ms=2"), 42, nil},
		{"nothing", changeRequest(ofTopic, "t"), 0, nil},
		{"a good and a bad one", changeRequest(ofTopic, "t", "retention.ms=9", "nonsense=1"), 40, nil},
		{"validated", func() *kmsg.IncrementalAlterConfigsRequest {
			r := changeRequest(ofTopic, "t", "retention.ms=9")
			r.ValidateOnly = true
			return r
		}(), 0, nil},
		{"an operation there is not", func() *kmsg.IncrementalAlterConfigsRequest {
			r := changeRequest(ofTopic, "t", "retention.ms=9")
			r.Resources[0].Configs[0].Op = 9
			return r
		}(), 42, nil},
		{"a resource twice", func() *kmsg.IncrementalAlterConfigsRequest {
			r := changeRequest(ofTopic, "t", "retention.ms=9")
			r.Resources = append(r.Resources, r.Resources[0])
			return r
		}(), 42, nil},
		{"an unknown topic", changeRequest(ofTopic, "none", "retention.ms=1"), 3, nil},
		{"a bad name", changeRequest(ofTopic, "a b", "retention.ms=1"), 17, nil},
		{"no name", changeRequest(ofTopic, "", "retention.ms=1"), 42, nil},
		{"the groups' offsets", changeRequest(ofTopic, "__consumer_offsets", "retention.ms=1"), 17, nil},
		{"another broker", changeRequest(ofBroker, "9", "log.retention.ms=1"), 42, nil},
		{"what a broker must be started with", changeRequest(ofBroker, "1", "log.retention.hours=1"), 42, nil},
		{"what brokers know and we do not", changeRequest(ofBroker, "1", "broker.rack=a"), 42, nil},
		{"what no number is changed of", changeRequest(ofBroker, "1", "num.io.threads=9"), 42, nil},
		{"a broker's bad value", changeRequest(ofBroker, "1", "log.segment.bytes=few"), 42, nil},
		{"in sync, of one broker", changeRequest(ofBroker, "1", "min.insync.replicas=2"), 40, nil},
		{"in sync, taken back", changeRequest(ofBroker, "", "-min.insync.replicas"), 40, nil},
		{"what no broker knows", changeRequest(ofBroker, "1", "nonsense.key=a"), 0, nil},
		{"a group's bad value", changeRequest(ofGroup, "g", "consumer.session.timeout.ms=5"), 40, nil},
		{"a group's unknown key", changeRequest(ofGroup, "g", "nonsense=5"), 40, nil},
		{"a group without a name", changeRequest(ofGroup, "", "consumer.session.timeout.ms=50000"), 42, nil},
		{"a logger", changeRequest(kmsg.ConfigResourceTypeBrokerLogger, "1", "a.B=INFO"), 40, nil},
		{"client metrics", changeRequest(clientMetrics, "m", "interval.ms=1"), 42, nil},
		{"a kind there is not", changeRequest(77, "t", "a=b"), 42, nil},
	} {
		t.Run(tc.what, func(t *testing.T) {
			before := s.engine.OwnConfigs("t")
			for _, a := range c.ask(tc.req, 1).(*kmsg.IncrementalAlterConfigsResponse).Resources {
				if a.ErrorCode != tc.code || (a.ErrorCode != 0) != (a.ErrorMessage != nil) {
					t.Errorf("code %d, message %v, want %d", a.ErrorCode, a.ErrorMessage, tc.code)
				}
			}
			want := tc.want
			if want == nil {
				want = before
			}
			if got := s.engine.OwnConfigs("t"); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("configs %q, want %q", got, want)
			}
		})
	}
}

func TestAlterConfigs(t *testing.T) {
	s := startCore(t, Options{}, model.TopicSpec{Name: "t", Partitions: 1, Configs: []model.ConfigChange{{Name: "retention.ms", Value: "7"}, {Name: "segment.ms", Value: "8"}}})
	c := s.dial()
	for _, tc := range []struct {
		what  string
		of    string
		value map[string]*string
		code  int16
		want  map[string]string
	}{
		{"a bad value", "t", map[string]*string{"retention.ms": kmsg.StringPtr("soon")}, 40, map[string]string{"retention.ms": "7", "segment.ms": "8"}},
		{"null", "t", map[string]*string{"retention.ms": nil}, 42, map[string]string{"retention.ms": "7", "segment.ms": "8"}},
		{"an unknown topic", "none", nil, 3, map[string]string{"retention.ms": "7", "segment.ms": "8"}},
		{"one, the others fall back", "t", map[string]*string{"retention.ms": kmsg.StringPtr("9")}, 0, map[string]string{"retention.ms": "9"}},
		{"none", "t", nil, 0, map[string]string{}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			r := kmsg.NewAlterConfigsRequestResource()
			r.ResourceType, r.ResourceName = ofTopic, tc.of
			for k, v := range tc.value {
				r.Configs = append(r.Configs, kmsg.AlterConfigsRequestResourceConfig{Name: k, Value: v})
			}
			a := c.ask(&kmsg.AlterConfigsRequest{Resources: []kmsg.AlterConfigsRequestResource{r}}, 2).(*kmsg.AlterConfigsResponse).Resources[0]
			if a.ErrorCode != tc.code || fmt.Sprint(s.engine.OwnConfigs("t")) != fmt.Sprint(tc.want) {
				t.Errorf("code %d, configs %q, want %d, %q", a.ErrorCode, s.engine.OwnConfigs("t"), tc.code, tc.want)
			}
		})
	}
}

// TestDynamicConfigs changes what a broker and groups go by while it runs: topics that do not say otherwise go by it too, and
// all of it is there after a restart.
func TestDynamicConfigs(t *testing.T) {
	dir, kept := t.TempDir(), memory{}
	o := store.Options{Configs: kept}
	e, err := store.Open([]string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	s := serveEngine(t, e)
	c := s.dial()
	set := func(kind kmsg.ConfigResourceType, of string, changes ...string) {
		t.Helper()
		if a := c.ask(changeRequest(kind, of, changes...), 1).(*kmsg.IncrementalAlterConfigsResponse).Resources[0]; a.ErrorCode != 0 {
			t.Fatalf("code %d, %s", a.ErrorCode, *a.ErrorMessage)
		}
	}
	if code := c.ask(topicRequest("t", 1, 1), 7).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode; code != 0 {
		t.Fatalf("code %d", code)
	}
	set(ofBroker, "1", "message.max.bytes=300", "secret.of.a.plugin=pearl")
	set(ofBroker, "", "message.max.bytes=400", "log.retention.ms=5000")
	set(ofGroup, "g", "consumer.session.timeout.ms=50000")
	check := func(e *store.Engine, c *client) {
		t.Helper()
		l, err := e.Log(model.TopicPartition{Topic: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if cfg := l.Config(); cfg.MaxMessageBytes != 300 || cfg.RetentionMS != 5000 {
			t.Errorf("the log goes by %d bytes, %d ms, want 300 and 5000", cfg.MaxMessageBytes, cfg.RetentionMS)
		}
		for _, tc := range []struct {
			kind    kmsg.ConfigResourceType
			of, key string
			want    string
		}{
			{ofTopic, "t", "max.message.bytes", "300 2 message.max.bytes=300(2) message.max.bytes=400(3) message.max.bytes=1048588(5)"},
			{ofTopic, "t", "retention.ms", "5000 3 log.retention.ms=5000(3) log.retention.hours=168(5)"},
			{ofBroker, "1", "message.max.bytes", "300 2 message.max.bytes=300(2) message.max.bytes=400(3) message.max.bytes=1048588(5)"},
			{ofBroker, "1", "log.retention.ms", "5000 3 log.retention.ms=5000(3) log.retention.hours=168(5)"},
			{ofBroker, "1", "secret.of.a.plugin", "null 2 secret.of.a.plugin=null(2)"},
			{ofBroker, "", "message.max.bytes", "400 3 message.max.bytes=400(3)"},
			{ofGroup, "g", "consumer.session.timeout.ms", "50000 8 consumer.session.timeout.ms=50000(8) group.consumer.session.timeout.ms=45000(5)"},
		} {
			if _, got := c.describe(tc.kind, tc.of, tc.key); got[tc.key] != tc.want {
				t.Errorf("%s of %q is %q, want %q", tc.key, tc.of, got[tc.key], tc.want)
			}
		}
	}
	check(e, c)
	list := c.ask(&kmsg.ListConfigResourcesRequest{ResourceTypes: []int8{32, 4}}, 1).(*kmsg.ListConfigResourcesResponse)
	var names []string
	for _, r := range list.ConfigResources {
		names = append(names, fmt.Sprint(r.Type, " ", r.Name))
	}
	if slices.Sort(names); !slices.Equal(names, []string{"32 g", "4 1"}) {
		t.Errorf("resources %q", names)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = store.Open([]string{dir}, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s = serveEngine(t, e)
	c = s.dial()
	check(e, c)
	set(ofBroker, "1", "-message.max.bytes", "-secret.of.a.plugin")
	set(ofBroker, "", "-message.max.bytes", "-log.retention.ms")
	set(ofGroup, "g", "-consumer.session.timeout.ms")
	if _, got := c.describe(ofTopic, "t", "max.message.bytes"); got["max.message.bytes"] != "1048588 5 message.max.bytes=1048588(5)" {
		t.Errorf("taken back: %q", got)
	}
	if len(kept) != 0 {
		t.Errorf("kept: %q", kept)
	}
}

// memory is a ConfigStore that outlives an engine.
type memory map[string]map[string]string

func (m memory) Load() (map[string]map[string]string, error)        { return m, nil }
func (m memory) Save(topic string, configs map[string]string) error { m[topic] = configs; return nil }
func (m memory) Delete(topic string) error                          { delete(m, topic); return nil }
func (m memory) Lost() bool                                         { return false }
func (m memory) Replace(map[string]map[string]string) error         { return nil }

// serveEngine is a listener over an engine that somebody else closes.
func serveEngine(t testing.TB, e *store.Engine) *core {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(ln, Broker{Engine: e, Admin: e}, Options{})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &core{t: t, Server: s, engine: e}
}

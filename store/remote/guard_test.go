package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// sink is a connection that remembers what was written.
type sink struct {
	net.Conn
	got []byte
}

func (s *sink) Write(b []byte) (int, error) {
	s.got = append(s.got, b...)
	return len(b), nil
}

func framed(r kmsg.Request) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("strata")).AppendRequest(nil, r, 7)
}

func metadata(version int16, makes bool, topics ...string) *kmsg.MetadataRequest {
	m := kmsg.NewPtrMetadataRequest()
	m.Version, m.AllowAutoTopicCreation = version, makes
	for _, t := range topics {
		m.Topics = append(m.Topics, kmsg.MetadataRequestTopic{Topic: &t})
	}
	return m
}

func TestTheGuardLetsReadingThrough(t *testing.T) {
	fetch, produce, handshake, login := kmsg.NewPtrFetchRequest(), kmsg.NewPtrProduceRequest(), kmsg.NewPtrSASLHandshakeRequest(), kmsg.NewPtrSASLHandshakeRequest()
	fetch.Version, produce.Version, login.Version = 4, 3, 1
	unknown := framed(fetch)
	binary.BigEndian.PutUint16(unknown[4:], 999)
	later := framed(metadata(9, false))
	binary.BigEndian.PutUint16(later[6:], 99)
	for name, tc := range map[string]struct {
		bytes []byte
		pass  bool
	}{
		"a fetch":                          {framed(fetch), true},
		"two":                              {append(framed(fetch), framed(metadata(9, false, "a"))...), true},
		"a produce":                        {framed(produce), false},
		"a produce behind a fetch":         {append(framed(fetch), framed(produce)...), false},
		"half a fetch":                     {framed(fetch)[:20], false},
		"a fetch and a half":               {append(framed(fetch), framed(fetch)[:5]...), false},
		"a length that is not true":        {[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, false},
		"a huge length":                    {[]byte{255, 255, 255, 255, 0, 1, 0, 4, 0, 0, 0, 0, 0}, false},
		"an API that nobody knows":         {unknown, false},
		"metadata":                         {framed(metadata(4, false, "a")), true},
		"metadata, flexible":               {framed(metadata(12, false, "a")), true},
		"metadata that makes topics":       {framed(metadata(4, true, "a")), false},
		"metadata that makes, flexible":    {framed(metadata(12, true, "a")), false},
		"metadata of old, of all":          {framed(metadata(1, false)), true},
		"metadata of old, of one":          {framed(metadata(3, false, "a")), false},
		"metadata of a later version":      {later, false},
		"a login":                          {framed(login), true},
		"a login that hides what is sent":  {framed(handshake), false},
		"nothing":                          {nil, true},
		"a request to commit offsets":      {framed(kmsg.NewPtrOffsetCommitRequest()), false},
		"a request to join a group":        {framed(kmsg.NewPtrJoinGroupRequest()), false},
		"a fetch that takes for the group": {framed(kmsg.NewPtrShareFetchRequest()), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			n, err := guard{s}.Write(tc.bytes)
			if tc.pass {
				if err != nil || n != len(tc.bytes) || !slices.Equal(s.got, tc.bytes) {
					t.Errorf("%d of %d, %v", n, len(s.got), err)
				}
				return
			}
			if !errors.Is(err, model.ErrReadOnly) || n != 0 || len(s.got) != 0 {
				t.Errorf("%d, %v; %d bytes were sent", n, err, len(s.got))
			}
		})
	}
}

// recorded is a fake cluster that remembers which requests reached it.
type recorded struct {
	*kfake.Cluster
	mu   sync.Mutex
	keys map[int16]bool
}

func recording(t *testing.T) *recorded {
	t.Helper()
	f, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	r := &recorded{Cluster: f, keys: map[int16]bool{}}
	f.Control(func(q kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.keys[q.Key()] = true
		return nil, nil, false
	})
	return r
}

// writes returns the names of the requests that reached the cluster and that write.
func (r *recorded) writes() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.keys {
		if !reading(k) {
			names = append(names, kmsg.NameForKey(k))
		}
	}
	slices.Sort(names)
	return names
}

// tryAll calls every method that a value has, with arguments that make sense for a topic orders, and returns the errors
// by the methods' names.
func tryAll(t *testing.T, v any, except ...string) map[string]error {
	t.Helper()
	rv := reflect.ValueOf(v)
	errs := map[string]error{}
	for _, last := range []bool{false, true} { // what deletes comes last
		for i := range rv.NumMethod() {
			name := rv.Type().Method(i).Name
			if !slices.Contains(except, name) && strings.HasPrefix(name, "Delete") == last {
				errs[name] = try(t, rv.Method(i))
			}
		}
	}
	return errs
}

func try(t *testing.T, m reflect.Value) error {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 3*time.Second)
	defer done()
	args := make([]reflect.Value, m.Type().NumIn())
	for i := range args {
		args[i] = argument(ctx, m.Type().In(i))
	}
	call := m.Call
	if m.Type().IsVariadic() {
		call = m.CallSlice
	}
	var err error
	for _, out := range call(args) {
		switch out := out.Interface().(type) {
		case error:
			err = out
		case func() (int64, error):
			_, err = out()
		case model.Tail:
			_ = out.Close() // it was to begin, and no more
		case model.Membership:
			_, err = out.Next(ctx)
			_ = out.Commit(ctx, nil) // what comes of it is recorded
			_ = out.Leave(ctx)
		}
	}
	return err
}

// argument makes an argument of a type.
func argument(ctx context.Context, of reflect.Type) reflect.Value {
	tp := model.TopicPartition{Topic: "orders"}
	one := []model.ProduceRecord{{Value: []byte("v"), Partition: 0}}
	known := []any{
		tp, "orders", int32(3), int64(1), []string{"orders"}, one,
		[]byte{0, 0, 0, 0},
		model.ProduceRequest{Topic: "orders", Records: one, Acks: -1},
		model.TopicSpec{Name: "new", Partitions: 1},
		[]model.ConfigChange{{Name: "retention.ms", Value: "1000"}},
		model.RecordQuery{TP: tp, Max: 1},
		model.TailQuery{Topics: []string{"orders"}},
		model.SearchQuery{Partitions: []model.TopicPartition{tp}},
		model.ScanQuery{TP: tp, To: 1},
		model.JoinRequest{Group: "g", Topics: []string{"orders"}},
		model.ResetRequest{Group: "g", Topics: []model.TopicSelector{{Topic: "orders"}}, Where: model.Where{Kind: model.ToEarliest}},
		model.ResetPlan{Group: "g", Rows: []model.PlanRow{{TopicPartition: tp, From: model.Unknown, To: 0}}},
		[]model.Commit{{TopicPartition: tp, Offset: 1}},
	}
	for _, k := range known {
		if v := reflect.ValueOf(k); v.Type() == of {
			return v
		}
	}
	if of == reflect.TypeFor[context.Context]() {
		return reflect.ValueOf(ctx)
	}
	if of.Kind() == reflect.Func {
		return reflect.MakeFunc(of, func([]reflect.Value) []reflect.Value {
			out := make([]reflect.Value, of.NumOut())
			for i := range out {
				out[i] = reflect.Zero(of.Out(i))
			}
			return out
		})
	}
	return reflect.Zero(of)
}

// writers are the abilities of a Cluster that write.
var writers = []string{"ApplyReset", "AlterTopic", "Commit", "CreateTopic", "DeleteGroup", "DeleteRecords", "DeleteTopic", "GrowTopic", "JoinGroup", "NewProducer", "Produce", "SendBatch"}

func TestNothingThatWritesLeavesAReadOnlyCluster(t *testing.T) {
	for name, tc := range map[string]struct {
		o     Options
		sends []string // at least
	}{
		"read-only":      {Options{ReadOnly: true}, nil},
		"read and write": {Options{}, []string{"CreatePartitions", "CreateTopics", "DeleteRecords", "DeleteTopics", "InitProducerID", "JoinGroup", "Produce"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := recording(t)
			tc.o.Timeout = 2 * time.Second
			c, err := OpenCluster(t.Context(), f.ListenAddrs(), tc.o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}()
			errs := tryAll(t, c, "Close")
			for _, w := range writers {
				err, tried := errs[w]
				if !tried || tc.o.ReadOnly && !errors.Is(err, model.ErrReadOnly) {
					t.Errorf("%s: %v (tried: %v)", w, err, tried)
				}
			}
			got := f.writes()
			if tc.o.ReadOnly && len(got) > 0 {
				t.Errorf("requests reached the cluster: %v", got)
			}
			for _, w := range tc.sends {
				if !slices.Contains(got, w) {
					t.Errorf("no %s reached the cluster, which this test is to tell: %v", w, got)
				}
			}
			if len(f.keys) < 6 {
				t.Errorf("hardly any request reached the cluster: %v", f.keys)
			}
		})
	}
}

// TestNothingGoesRoundTheGuard asks the client itself for what no ability would ask for.
func TestNothingGoesRoundTheGuard(t *testing.T) {
	f := recording(t)
	c, err := OpenCluster(t.Context(), f.ListenAddrs(), Options{ReadOnly: true, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	bulk, err := c.bulk()
	if err != nil {
		t.Fatal(err)
	}
	for _, cl := range []*kgo.Client{c.kgo, bulk} {
		for k := range int16(kmsg.MaxKey + 1) {
			req := kmsg.RequestForKey(k)
			if req == nil || reading(k) {
				continue
			}
			ctx, done := context.WithTimeout(t.Context(), time.Second)
			if _, err := cl.Request(ctx, req); err == nil {
				t.Errorf("%s was answered", kmsg.NameForKey(k))
			}
			done()
		}
	}
	if got := f.writes(); len(got) > 0 {
		t.Errorf("requests reached the cluster: %v", got)
	}
	if _, err := c.Topics(t.Context()); err != nil {
		t.Errorf("reading is over afterwards: %v", err)
	}
}

func TestAReadingClusterHasNoAbilityToWrite(t *testing.T) {
	var src any = (&Cluster{Client: &Client{}}).Reading()
	for name, has := range map[string]bool{
		"Resetter": is[model.Resetter](src), "Producer": is[model.Producer](src), "TopicAdmin": is[model.TopicAdmin](src), "RecordDeleter": is[model.RecordDeleter](src),
		"GroupJoiner": is[model.GroupJoiner](src), "BatchSender": is[model.BatchSender](src), "UserAdmin": is[model.UserAdmin](src), "Deliverer": is[model.Deliverer](src),
	} {
		if has {
			t.Errorf("it has %s", name)
		}
	}
	whole := reflect.TypeFor[*Cluster]()
	kept := reflect.TypeFor[Reading]()
	for i := range whole.NumMethod() {
		name := whole.Method(i).Name
		if _, has := kept.MethodByName(name); has == (slices.Contains(writers, name) || slices.Contains(beside, name)) {
			t.Errorf("%s: it has it: %v. A new method belongs to the abilities of reading.go, or to the writers or those beside in this test", name, has)
		}
	}
}

// beside are the methods of a Cluster that a Reading does without, though they write nothing.
var beside = []string{"PlanReset", "PlanUndo", "Journal", "WhyNoJournal", "PreviewDelete", "PreviewAlter", "CheckTopic", "Reading", "Ping", "TopicNames", "SetConfigs"}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

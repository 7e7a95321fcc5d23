package delivery

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// run is one run of one mode with one fault.
type run struct {
	o     Options
	mode  model.DeliveryMode
	fault model.DeliveryFault
	n     int
	chunk int
	topic string   // where the producer writes
	out   string   // exactly once: where the consumer's work is written
	id    [16]byte // of topic
	began time.Time

	mu      sync.Mutex // guards what follows, and the calls of tell
	tell    func(model.DeliveryEvent) bool
	stopped atomic.Bool // tell has had enough

	worked []int // numbers of records in the order in which they were worked on; not of exactly once
}

func newRun(o Options, m model.DeliveryMode, f model.DeliveryFault, n int, tell func(model.DeliveryEvent) bool) *run {
	t := topicOf(m, f)
	return &run{o: o, mode: m, fault: f, n: n, chunk: (n + chunks - 1) / chunks, topic: t, out: t + ".work", tell: tell, began: time.Now()}
}

// step tells of something that has happened.
func (x *run) step(who, what string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stopped.Load() {
		return
	}
	s := model.DeliveryStep{Mode: x.mode, Fault: x.fault, At: time.Since(x.began).Milliseconds(), Who: who, What: what}
	if !x.tell(model.DeliveryEvent{Step: &s}) {
		x.stopped.Store(true)
	}
}

// errEnough is the error of a run that nobody wants to see any more.
var errEnough = errors.New("stopped")

func (x *run) going(ctx context.Context) error {
	if x.stopped.Load() {
		return errEnough
	}
	return ctx.Err()
}

// client connects a client. l may be nil.
func (x *run) client(l *line, name string, opts ...kgo.Opt) (*kgo.Client, error) {
	all := append([]kgo.Opt{
		kgo.SeedBrokers(x.o.Address()), kgo.ClientID("strata-delivery-" + name),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		kgo.MetadataMinAge(10 * time.Millisecond), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, x.o.Client...)
	if l != nil {
		all = append(all, kgo.Dialer(l.dial))
	}
	c, err := kgo.NewClient(append(all, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", x.o.Address(), err)
	}
	return c, nil
}

// prepare makes the topics anew.
func (x *run) prepare(ctx context.Context) error {
	c, err := x.client(nil, "setup")
	if err != nil {
		return err
	}
	defer c.Close()
	names := []string{x.topic}
	if x.mode == model.ExactlyOnce {
		names = append(names, x.out)
	}
	drop := kmsg.NewPtrDeleteTopicsRequest()
	drop.TimeoutMillis = 5000
	create := kmsg.NewPtrCreateTopicsRequest()
	create.TimeoutMillis = 5000
	for i := range names {
		d := kmsg.NewDeleteTopicsRequestTopic()
		d.Topic = &names[i]
		drop.Topics, drop.TopicNames = append(drop.Topics, d), append(drop.TopicNames, names[i])
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = names[i], 1, 1
		create.Topics = append(create.Topics, t)
	}
	gone, err := drop.RequestWith(ctx, c)
	if err != nil {
		return fmt.Errorf("delete the topics of the run before: %w", err)
	}
	for _, t := range gone.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("delete the topic of the run before: %w", err)
		}
	}
	made, err := create.RequestWith(ctx, c)
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	for _, t := range made.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fmt.Errorf("create topic %s: %w", t.Topic, err)
		}
		if t.Topic == x.topic {
			x.id = t.TopicID
		}
	}
	return x.forget(ctx, c)
}

// forget takes away what the consumer of the run before has committed.
func (x *run) forget(ctx context.Context, c *kgo.Client) error {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{x.topic}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return fmt.Errorf("delete the group of the run before: %w", err)
	}
	for _, g := range resp.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			return fmt.Errorf("delete group %s: %w", g.Group, err)
		}
	}
	return nil
}

// record makes the record of a number.
func record(topic string, n int) *kgo.Record {
	return &kgo.Record{Topic: topic, Value: []byte(strconv.Itoa(n))}
}

// batch are the records of [from, to).
func batch(topic string, from, to int) []*kgo.Record {
	var list []*kgo.Record
	for n := from; n < to; n++ {
		list = append(list, record(topic, n))
	}
	return list
}

// span writes numbers as people do: 40–49.
func span(from, to int) string {
	if to-from == 1 {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d–%d", from, to-1)
}

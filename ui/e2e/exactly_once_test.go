package e2e

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var killRounds = flag.Int("txn.kills", 4, "how often the broker is killed under transactions")

// served is strata serve, that can be killed and comes again at the same address.
type served struct {
	w    *world
	addr string
	cmd  *exec.Cmd
}

func newServed(t *testing.T) *served {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &served{w: newWorld(t), addr: ln.Addr().String()}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	b.start()
	t.Cleanup(b.kill)
	return b
}

// start returns when the broker is ready.
func (b *served) start() {
	b.w.t.Helper()
	b.cmd = exec.Command(binary, "serve", "--data", b.w.data, "--listen", b.addr)
	b.cmd.Env, b.cmd.Dir = b.w.env(), b.w.home
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		b.w.t.Fatal(err)
	}
	var errs strings.Builder
	b.cmd.Stderr = &errs
	if err := b.cmd.Start(); err != nil {
		b.w.t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "ready ") {
			return
		}
	}
	b.kill()
	b.w.t.Fatalf("strata serve is not ready: %s", errs.String())
}

func (b *served) kill() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// loop reads numbers from one topic and writes them to another, within transactions, with some aborted on purpose.
type loop struct {
	addr, name string
	r          *rand.Rand
	commits    *atomic.Int64
}

// run goes on until ctx ends, with a new client whenever one has lost its way.
func (l *loop) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := l.session(ctx); err != nil && ctx.Err() == nil {
			select { // the broker may be down: a client's own patience is for its requests only
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

func (l *loop) session(ctx context.Context) error {
	s, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(l.addr), kgo.TransactionalID(l.name), kgo.TransactionTimeout(3*time.Second), kgo.ConsumerGroup("loop"),
		kgo.ConsumeTopics("in"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		kgo.FetchMaxWait(200*time.Millisecond), kgo.MetadataMinAge(50*time.Millisecond),
	)
	if err != nil {
		return err
	}
	defer s.Close()
	for ctx.Err() == nil {
		fs := s.PollRecords(ctx, 50)
		if fs.NumRecords() == 0 {
			continue
		}
		if err := s.Begin(); err != nil {
			return err
		}
		abort := l.r.IntN(4) == 0
		var failed kgo.FirstErrPromise
		fs.EachRecord(func(r *kgo.Record) {
			v := string(r.Value)
			if abort {
				v = "aborted"
			}
			s.Produce(ctx, &kgo.Record{Topic: "out", Partition: l.r.Int32N(3), Value: []byte(v)}, failed.Promise())
		})
		err := failed.Err()
		committed, eerr := s.End(ctx, kgo.TransactionEndTry(err == nil && !abort))
		if eerr != nil {
			return eerr
		}
		if committed {
			l.commits.Add(1)
		}
	}
	return nil
}

// TestExactlyOnceUnderKills has two loops read, work and write within transactions while the broker is killed at any
// moment, and what they read is written meanwhile. In the end every number is in the output once, nothing that was
// aborted is seen, and no transaction is left hanging.
func TestExactlyOnceUnderKills(t *testing.T) {
	b := newServed(t)
	createTopics(t, b.addr, map[string]int32{"in": 3, "out": 3})
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	var commits, sent atomic.Int64
	for i := range 2 {
		l := &loop{b.addr, fmt.Sprintf("loop-%d", i), rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano()))), &commits}
		working.Go(func() { l.run(ctx) })
	}
	feed, full := context.WithCancel(ctx)
	var feeding sync.WaitGroup
	feeding.Go(func() { feedNumbers(t, feed, b.addr, &sent) })

	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 7))
	for range *killRounds {
		was := commits.Load()
		waitUntil(t, time.Minute, "transactions are committed", func() bool { return commits.Load() >= was+2 })
		select { // at any moment of what is going on
		case <-time.After(time.Duration(r.IntN(300)) * time.Millisecond):
		case <-t.Context().Done():
		}
		b.kill()
		b.start()
	}
	full()
	feeding.Wait()
	seen := readNumbers(t, b.addr, sent.Load())
	stop()
	working.Wait()
	if seen["aborted"] > 0 {
		t.Errorf("%d records of aborted transactions are seen", seen["aborted"])
	}
	for i := range sent.Load() {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Errorf("number %d is there %d times", i, n)
		}
	}
	t.Logf("%d numbers, %d transactions committed, %d kills", sent.Load(), commits.Load(), *killRounds)
}

func createTopics(t *testing.T, addr string, topics map[string]int32) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	for name, n := range topics {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, n, 1
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range resp.Topics {
		if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
			t.Fatalf("create %s: %v", topic.Topic, err)
		}
	}
}

// feedNumbers writes numbers one after the other until ctx ends, and says how many are acknowledged.
func feedNumbers(t *testing.T, ctx context.Context, addr string, sent *atomic.Int64) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic("in"), kgo.ProducerLinger(5*time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.MaxBufferedRecords(100))
	if err != nil {
		t.Error(err)
		return
	}
	defer cl.Close()
	for i := int64(0); ctx.Err() == nil; i++ {
		// Not with ctx: a number that is begun has to be there.
		cl.Produce(context.Background(), &kgo.Record{Value: []byte(fmt.Sprint(i))}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Errorf("number %d: %v", i, err)
			}
		})
		sent.Store(i + 1)
		if i%20 == 0 {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	if err := cl.Flush(context.Background()); err != nil {
		t.Error(err)
	}
}

// readNumbers reads the output as a reader of committed records does, until it holds as many as there are numbers, and no
// transaction holds anything back.
func readNumbers(t *testing.T, addr string, want int64) map[string]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics("out"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	seen := map[string]int{}
	got := int64(0)
	for got < want {
		fs := cl.PollFetches(ctx)
		fs.EachRecord(func(r *kgo.Record) {
			seen[string(r.Value)]++
			got++
		})
		if err := ctx.Err(); err != nil {
			t.Errorf("%d of %d numbers after two minutes: %v", got, want, errors.Join(err, fs.Err()))
			return seen
		}
	}
	waitUntil(t, 30*time.Second, "nothing is held back", func() bool { return held(t, addr) == 0 })
	return seen
}

// held returns how many records lie between the last stable offsets and the ends of the output.
func held(t *testing.T, addr string) int64 {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	var ends [2]int64
	for isolation := range ends {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID, req.IsolationLevel = -1, int8(isolation)
		topic := kmsg.NewListOffsetsRequestTopic()
		topic.Topic = "out"
		for p := range int32(3) {
			part := kmsg.NewListOffsetsRequestTopicPartition()
			part.Partition, part.Timestamp = p, -1
			topic.Partitions = append(topic.Partitions, part)
		}
		req.Topics = append(req.Topics, topic)
		for _, r := range cl.RequestSharded(t.Context(), req) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			for _, topic := range r.Resp.(*kmsg.ListOffsetsResponse).Topics {
				for _, p := range topic.Partitions {
					ends[isolation] += p.Offset
				}
			}
		}
	}
	return ends[0] - ends[1]
}

// waitUntil waits for a state that comes by itself.
func waitUntil(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("after %v it is not so that %s", limit, what)
		}
	}
}

package embedded

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/strata-kafka/strata/model"
)

// TestKilledBetweenTheStepsOfATransaction takes the data directory as it is before each step of a transaction, as a
// process killed there would leave it, and opens each: the transaction is committed or aborted as a whole, in both
// partitions and with its offsets, as far as it had been decided; and nothing is held back.
func TestKilledBetweenTheStepsOfATransaction(t *testing.T) {
	for _, commit := range []bool{true, false} {
		t.Run(fmt.Sprintf("commit %v", commit), func(t *testing.T) {
			stops := transact(t, commit)
			var names []string
			for _, s := range stops {
				names = append(names, s.next)
			}
			for _, next := range []string{"init", "add", "offsets", "prepare", "marker", "complete", "answer"} {
				if !slices.Contains(names, next) {
					t.Errorf("no stop before %q: %v", next, names)
				}
			}
			for i, s := range stops {
				t.Run(fmt.Sprintf("%d before %s", i, s.next), func(t *testing.T) {
					t.Parallel()
					reopen(t, s.dir, commit && s.prepared)
				})
			}
		})
	}
}

// stop is a data directory as it was before a step.
type stop struct {
	next     string
	dir      string
	prepared bool // how the transaction ends had been stored
}

// transact goes through a transaction of two partitions and a group, and returns the directory before each of its steps.
func transact(t *testing.T, commit bool) (stops []stop) {
	t.Helper()
	dir, copies := t.TempDir(), t.TempDir()
	var mu sync.Mutex
	b, err := Open(Options{Dir: dir, Listen: "127.0.0.1:0", txnStep: func(next string) error {
		mu.Lock()
		defer mu.Unlock()
		s := stop{next: next, dir: filepath.Join(copies, fmt.Sprint(len(stops)))}
		s.prepared = next == "marker" || next == "complete" || next == "answer"
		stops = append(stops, s)
		return os.CopyFS(s.dir, os.DirFS(dir))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, b)
	spec := model.TopicSpec{Name: "t", Partitions: 2, Configs: []model.ConfigChange{{Name: "segment.index.bytes", Value: "4000"}}}
	if err := b.CreateTopic(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	cl := client(t, b, kgo.TransactionalID("a"), kgo.TransactionTimeout(time.Second), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(t.Context(), records("first")...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	commitInTxn(t, b, cl, 7)
	if err := cl.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return stops
}

func client(t *testing.T, b *Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(b.Address()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// records are a record for each of two partitions.
func records(value string) []*kgo.Record {
	return []*kgo.Record{{Topic: "t", Partition: 0, Value: []byte(value)}, {Topic: "t", Partition: 1, Value: []byte(value)}}
}

// commitInTxn commits an offset of partition 0 for group g within the client's transaction, which the group becomes part
// of with that.
func commitInTxn(t *testing.T, b *Broker, cl *kgo.Client, offset int64) {
	t.Helper()
	id, epoch, err := cl.ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.Group, req.ProducerID, req.ProducerEpoch, req.Generation = "a", "g", id, epoch, -1
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = "t"
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Offset = offset
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	old := kversion.Stable()
	old.SetMaxKeyVersion(int16(kmsg.TxnOffsetCommit), 5) // the last that names topics
	raw := client(t, b, kgo.MaxVersions(old))
	resp, err := req.RequestWith(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode); err != nil {
		t.Fatal(err)
	}
}

// reopen opens a directory that a killed process has left, and looks at what became of the transaction.
func reopen(t *testing.T, dir string, committed bool) {
	b, err := Open(Options{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for open := true; open; {
		list, err := b.Transactions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		open = len(list) > 0 && list[0].State.Open()
		if open {
			select {
			case <-b.Changes():
			case <-time.After(20 * time.Millisecond): // for a change that was told before it was asked
			case <-ctx.Done():
				t.Fatalf("for ever it is %+v", list)
			}
		}
	}
	held := int64(0)
	for p := range int32(2) {
		l, err := b.Log(model.TopicPartition{Topic: "t", Partition: p})
		if err != nil {
			t.Fatal(err)
		}
		bounds, err := l.Bounds()
		if err != nil {
			t.Fatal(err)
		}
		held += bounds.HighWatermark - bounds.LastStable
	}
	if held > 0 {
		t.Errorf("%d records are held back", held)
	}
	// One record more, written after, ends the reading.
	cl := client(t, b, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ConsumeTopics("t"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err := cl.ProduceSync(ctx, records("last")...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for seen["last"] < 2 && ctx.Err() == nil {
		cl.PollFetches(ctx).EachRecord(func(r *kgo.Record) { seen[string(r.Value)]++ })
	}
	want := map[string]int{"last": 2}
	if committed {
		want["first"] = 2
	}
	if !maps.Equal(seen, want) {
		t.Errorf("a reader of committed records sees %v, want %v", seen, want)
	}
	cs, err := b.Fetch(ctx, "g", nil)
	if err != nil {
		t.Fatal(err)
	}
	if has := len(cs) == 1 && cs[0].Offset == 7; has != committed || len(cs) > 1 {
		t.Errorf("committed offsets %+v, want 7: %v", cs, committed)
	}
	if wait, err := b.PendingIn("g"); err != nil || wait != nil {
		t.Errorf("pending offsets %v, %v", wait, err)
	}
	sum, err := b.Verify(ctx, model.VerifyQuery{Partition: -1, Segment: model.Unknown}, func(model.VerifyEvent) {})
	if err != nil || sum.Damage+sum.Warnings > 0 {
		t.Errorf("verify: %+v, %v", sum, err)
	}
}

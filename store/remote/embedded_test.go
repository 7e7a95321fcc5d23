package remote

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/embedded"
)

// TestSameAsTheFiles reads a broker of our own by its files and by the network, and holds the one against the other.
func TestSameAsTheFiles(t *testing.T) {
	b, err := embedded.Open(embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := t.Context()
	info, err := b.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, err := OpenCluster(ctx, []string{info.Address}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := c.CreateTopic(ctx, model.TopicSpec{Name: "orders", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	tp := model.TopicPartition{Topic: "orders"}
	rnd := rand.New(rand.NewPCG(1, 2))
	fillAtRandom(t, c, info.Address, tp, rnd)
	if _, err := c.DeleteRecords(ctx, tp, 17); err != nil {
		t.Fatal(err)
	}
	for { // the files are looked at as they change
		ours, err := c.Partitions(ctx, "orders")
		if err != nil {
			t.Fatal(err)
		}
		if theirs, err := b.Partitions(ctx, "orders"); err == nil && theirs[0].LogEnd == ours[0].HighWatermark && theirs[0].LogStart == ours[0].LogStart {
			break
		}
		select {
		case <-b.Changes():
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
	for i := range 400 {
		q := model.RecordQuery{TP: tp, From: rnd.Int64N(420), Max: 1 + rnd.IntN(60), Backward: i%2 == 0, Committed: i%3 == 0, Control: i%5 < 2}
		if i%11 == 0 {
			q.From = model.FromEnd
		}
		theirs, err := b.Records(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := c.Records(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := pageWords(ours), pageWords(theirs); a != b {
			t.Fatalf("%+v\nnetwork: %s\nfiles:   %s", q, a, b)
		}
	}
	theirs, terr := b.Partitions(ctx, "orders")
	ours, err := c.Partitions(ctx, "orders")
	if err != nil || terr != nil {
		t.Fatal(err, terr)
	}
	if a, b := ours[0], theirs[0]; a.LogStart != b.LogStart || a.HighWatermark != b.LogEnd || a.LastStable != b.LastStable {
		t.Errorf("network: %+v\nfiles:   %+v", a, b)
	}
	if err := c.Count(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Count(ctx, nil); err != nil {
		t.Fatal(err)
	}
	theirTopics, terr := b.Topics(ctx)
	ourTopics, err := c.Topics(ctx)
	if err != nil || terr != nil {
		t.Fatal(err, terr)
	}
	for i := range theirTopics { // the files have no internal topics: what these hold is kept elsewhere
		b := theirTopics[i]
		j := slices.IndexFunc(ourTopics, func(a model.Topic) bool { return a.Name == b.Name })
		if j < 0 {
			t.Fatalf("%s is missing", b.Name)
		}
		if a := ourTopics[j]; a.Records != b.Records || a.Partitions != b.Partitions {
			t.Errorf("network: %+v\nfiles:   %+v", a, b)
		}
	}
}

func pageWords(p model.RecordPage) string {
	return fmt.Sprintf("%s; next %d prev %d log %d to %d, end %t start %t", listed(p), p.Next, p.Prev, p.Start, p.End, p.AtEnd, p.AtStart)
}

// fillAtRandom appends plain batches, transactions that are committed and aborted, and one that stays open, in many sizes and
// codecs.
func fillAtRandom(t *testing.T, c *Cluster, addr string, tp model.TopicPartition, rnd *rand.Rand) {
	t.Helper()
	producer := func(id string) *kgo.Client {
		cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.TransactionalID(id), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	some := func(cl *kgo.Client, n int) {
		for range n {
			cl.Produce(t.Context(), &kgo.Record{Topic: tp.Topic, Value: []byte("in a transaction")}, nil)
		}
		if err := cl.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tx, open := producer("closed"), producer("open")
	codecs := []string{"", "gzip", "snappy", "lz4", "zstd"}
	for i := range 40 {
		switch {
		case i == 30:
			if err := open.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			some(open, 3)
		case rnd.IntN(3) > 0:
			var rs []model.ProduceRecord
			for j := range 1 + rnd.IntN(15) {
				rs = append(rs, model.ProduceRecord{Key: fmt.Appendf(nil, "k%d", j), Value: fmt.Appendf(nil, "v%d-%d", i, j)})
			}
			if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: tp.Topic, Records: rs, Acks: -1, Codec: codecs[rnd.IntN(len(codecs))]}); err != nil {
				t.Fatal(err)
			}
		default:
			if err := tx.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			some(tx, 1+rnd.IntN(8))
			if err := tx.EndTransaction(t.Context(), kgo.TransactionEndTry(rnd.IntN(2) > 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

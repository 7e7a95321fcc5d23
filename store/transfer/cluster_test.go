package transfer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/transfer"
)

// writer is a transactional producer of a topic with one partition.
func writer(t *testing.T, address, id string) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.TransactionalID(id), kgo.DefaultProduceTopic("t"), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	must(t, err)
	t.Cleanup(cl.Close)
	return cl
}

// TestFromCluster copies over the network what is full of transactions: committed and aborted ones that overlap, and one that
// is still open. What is copied is held against the files of the source.
func TestFromCluster(t *testing.T) {
	a, b := start(t, t.TempDir()), start(t, t.TempDir())
	must(t, a.CreateTopic(t.Context(), model.TopicSpec{Name: "t", Partitions: 1, Configs: []model.ConfigChange{{Name: "segment.bytes", Value: "16384"}}}))
	one, two := writer(t, a.Address(), "one"), writer(t, a.Address(), "two")
	put := func(cl *kgo.Client, n, round int) {
		for i := range n {
			must(t, cl.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprintf("%d of round %d", i, round))).FirstErr())
		}
	}
	for round := range 30 {
		must(t, one.BeginTransaction())
		put(one, 3, round)
		must(t, two.BeginTransaction())
		put(two, 2, round)
		must(t, one.EndTransaction(t.Context(), kgo.TransactionEndTry(round%3 == 0)))
		put(two, 1, round)
		must(t, two.EndTransaction(t.Context(), kgo.TransactionEndTry(round%2 == 0)))
	}
	must(t, one.BeginTransaction())
	put(one, 5, 99) // and it stays open
	fill(t, a, "t", 0, 10, 100, "gzip")

	src := files(t, true, a.dir)
	tp := model.TopicPartition{Topic: "t"}
	_, offsets := read(t, src, tp)
	g := model.Group{ID: "g", State: model.GroupEmpty, Offsets: []model.GroupOffset{commit(tp, offsets[40])}}
	good(t, transferred(t, there{connect(t, a.Address()), g}, to(b.cluster), model.CopyQuery{Topics: []string{"t"}, Configs: true, Groups: []string{"g"}}, transfer.Options{}))
	if n := equal(t, src, files(t, true, b.dir), tp, tp); n != 10*3+15*3 {
		t.Errorf("%d records are committed, want %d", n, 10*3+15*3)
	}
	got, err := b.Service.Group(t.Context(), "g")
	must(t, err)
	if len(got.Offsets) != 1 || got.Offsets[0].Committed != 40 {
		t.Errorf("the group has %+v, want offset 40", got.Offsets)
	}
	must(t, one.EndTransaction(t.Context(), kgo.TryAbort))
}

// TestDamaged copies what is damaged on the source: the batch is left out, and told of, and all others are there.
func TestDamaged(t *testing.T) {
	a, b := many(t, 20), start(t, t.TempDir())
	want, _ := read(t, files(t, true, a.dir), model.TopicPartition{Topic: "t"})
	path := filepath.Join(a.dir, "t-0", "00000000000000000000.log")
	log, err := os.ReadFile(path)
	must(t, err)
	h, err := record.ParseHeader(log)
	must(t, err)
	log[h.Size()-1] ^= 0x40
	must(t, os.WriteFile(path, log, 0o644))
	src := files(t, true, a.dir)
	for name, from := range map[string]transfer.Reader{"files": src, "cluster": connect(t, a.Address())} {
		t.Run(name, func(t *testing.T) {
			res := transferred(t, from, to(b.cluster), model.CopyQuery{Topics: []string{"t"}, Configs: true, Rename: map[string]string{"t": name}}, transfer.Options{})
			if len(res.Faults) != 1 || res.Faults[0].Offset != h.BaseOffset || !res.Bad() || res.Differs() {
				t.Errorf("the faults are %+v", res.Faults)
			}
			got, _ := read(t, files(t, true, b.dir), model.TopicPartition{Topic: name})
			same(t, model.TopicPartition{Topic: name}, got, want[h.Count:])
		})
	}
}

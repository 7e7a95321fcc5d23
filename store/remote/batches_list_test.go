package remote

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/embedded"
)

// wholly lists all batches of a partition, in runs of so many.
func wholly(t *testing.T, c *Cluster, tp model.TopicPartition, most int) (all []model.Batch) {
	t.Helper()
	for at := model.FromStart; ; {
		run, err := c.ListBatches(t.Context(), tp, at, most)
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Batches) > most || run.Next <= at {
			t.Fatalf("from %d: %d batches, next %d", at, len(run.Batches), run.Next)
		}
		all, at = append(all, run.Batches...), run.Next
		if at >= run.End {
			return all
		}
	}
}

// TestBatchesAreThoseOfTheFiles lists a broker's batches by the network and by its files: codecs, transactions that are
// committed, aborted and open, their markers.
func TestBatchesAreThoseOfTheFiles(t *testing.T) {
	b, err := embedded.Open(embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	info, err := b.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := OpenCluster(t.Context(), []string{info.Address}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tp := model.TopicPartition{Topic: "orders"}
	if err := c.CreateTopic(t.Context(), model.TopicSpec{Name: "orders", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	fillAtRandom(t, c, info.Address, tp, rand.New(rand.NewPCG(1, 2)))
	for _, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: "orders", Acks: -1, Codec: codec, Records: []model.ProduceRecord{{Value: bytes.Repeat([]byte("again"), 900)}}}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := b.Batches(t.Context(), model.BatchQuery{TP: tp, Max: 1000, Check: true})
	for errors.Is(err, model.ErrNoTopic) || err == nil && len(files.Batches) < 40 { // files are seen when the watcher has seen them
		select {
		case <-b.Changes():
		case <-t.Context().Done():
			t.Fatal("the files are never seen")
		}
		files, err = b.Batches(t.Context(), model.BatchQuery{TP: tp, Max: 1000, Check: true})
	}
	if err != nil || !files.Whole || len(files.Batches) < 40 {
		t.Fatalf("%d batches, %v", len(files.Batches), err)
	}
	seen := map[string]int{}
	for i := range files.Batches {
		b := &files.Batches[i]
		b.Position = model.Unknown
		seen[b.Codec]++
		seen[b.Control]++
		if b.Transactional && b.Control == "" {
			seen["transactional"]++
		}
	}
	for _, want := range []string{"none", "gzip", "snappy", "lz4", "zstd", "commit", "abort", "transactional"} {
		if seen[want] == 0 {
			t.Errorf("no batch is %s, which this test is to tell: %v", want, seen)
		}
	}
	for _, most := range []int{1, 7, 1000} {
		if got := wholly(t, c, tp, most); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", files.Batches) {
			t.Errorf("%d at a time\nnetwork: %+v\nfiles:   %+v", most, got, files.Batches)
		}
	}
	all := files.Batches
	end := all[len(all)-1].Last + 1
	many := slices.IndexFunc(all, func(b model.Batch) bool { return b.Count > 2 })
	for name, tc := range map[string]struct {
		from        int64
		most        int
		first, next int64
	}{
		"within a batch":     {all[many].Base + 1, 1, all[many].Base, all[many].Last + 1},
		"the start":          {model.FromStart, 1, 0, all[0].Last + 1},
		"the end":            {model.FromEnd, 1, all[len(all)-1].Base, end},
		"behind the end":     {end + 5, 10, model.Unknown, end + 5},
		"from zero, by name": {0, 2, 0, all[1].Last + 1},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := c.Reading().ListBatches(t.Context(), tp, tc.from, tc.most)
			first := model.Unknown
			if len(run.Batches) > 0 {
				first = run.Batches[0].Base
			}
			if err != nil || first != tc.first || run.Next != tc.next || run.Start != 0 || run.End != end {
				t.Errorf("first %d, %+v, %v", first, run, err)
			}
		})
	}
	if _, err := c.DeleteRecords(t.Context(), tp, 17); err != nil {
		t.Fatal(err)
	}
	run, err := c.ListBatches(t.Context(), tp, 0, 1)
	if err != nil || run.Start != 17 || run.Batches[0].Base > 17 || run.Batches[0].Last < 17 {
		t.Errorf("below the log start: %+v, %v", run, err)
	}
}

func TestBatchesAroundCompactedHoles(t *testing.T) {
	for name, step := range map[string]int64{"few holes": 3, "wide holes": 10_000, "hardly anything left": 50_000_000} {
		t.Run(name, func(t *testing.T) {
			c, tp := holey(t, 60, step), model.TopicPartition{Topic: "state"}
			got := wholly(t, c, tp, 25)
			if len(got) != 60 {
				t.Fatalf("%d batches, want 60", len(got))
			}
			for i, b := range got {
				if b.Base != int64(i)*step || !b.Valid || b.Err != nil || b.Position != model.Unknown {
					t.Errorf("batch %d: %+v", i, b)
				}
			}
		})
	}
}

func TestARunOfBatchesIsBounded(t *testing.T) {
	_, c := open(t, Options{}, 1, "orders")
	tp := model.TopicPartition{Topic: "orders"}
	value := make([]byte, 700_000)
	for range 9 {
		if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: "orders", Acks: -1, Records: []model.ProduceRecord{{Value: value}}}); err != nil {
			t.Fatal(err)
		}
	}
	run, err := c.ListBatches(t.Context(), tp, model.FromStart, 0)
	if err != nil || len(run.Batches) != 6 || run.Next != 6 || run.End != 9 {
		t.Errorf("%d batches, next %d of %d, %v", len(run.Batches), run.Next, run.End, err)
	}
	if _, err := c.ListBatches(t.Context(), model.TopicPartition{Topic: "ordres"}, 0, 0); !errors.Is(err, model.ErrNoTopic) {
		t.Error(err)
	}
	if _, err := c.ListBatches(t.Context(), model.TopicPartition{Topic: "orders", Partition: 7}, 0, 0); !errors.Is(err, model.ErrNoPartition) {
		t.Error(err)
	}
}

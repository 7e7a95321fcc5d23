package remote

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/embedded"
)

// benchRecords is how many records of about 500 bytes are searched.
const benchRecords = 200_000

// fed is the address of a broker with a topic to be searched: one of our own, or the one of STRATA_BENCH_KAFKA.
func fed(b *testing.B) string {
	b.Helper()
	addr := os.Getenv("STRATA_BENCH_KAFKA")
	if addr == "" {
		own, err := embedded.Open(embedded.Options{Dir: b.TempDir(), Listen: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := own.Close(); err != nil {
				b.Error(err)
			}
		})
		info, err := own.Info(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		addr = info.Address
	}
	return addr
}

// BenchmarkSearch searches a topic of three partitions for what is not in it, beside a bare loop of the client library that
// looks for the same.
func BenchmarkSearch(b *testing.B) {
	addr := fed(b)
	topic := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	c, err := OpenCluster(b.Context(), []string{addr}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.CreateTopic(b.Context(), model.TopicSpec{Name: topic, Partitions: 3}); err != nil {
		b.Fatal(err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.Close()
	for i := range benchRecords {
		cl.Produce(b.Context(), &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "key-%d", i), Value: fmt.Appendf(nil, `{"id":%d,"text":"%s"}`, i, bytes.Repeat([]byte{byte('a' + i%26)}, 400+i%200))}, nil)
	}
	if err := cl.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	tps := []model.TopicPartition{{Topic: topic}, {Topic: topic, Partition: 1}, {Topic: topic, Partition: 2}}
	var mine, bare time.Duration
	for b.Loop() {
		begin := time.Now()
		seen := int64(0)
		end, err := c.Search(b.Context(), model.SearchQuery{Partitions: tps, Pattern: "needle"}, func(e model.SearchEvent) bool { seen = e.Records; return true })
		if err != nil || !end.Whole || seen != benchRecords {
			b.Fatal(seen, end, err)
		}
		mine += time.Since(begin)
		begin = time.Now()
		bareLoop(b, addr, topic)
		bare += time.Since(begin)
	}
	b.ReportMetric(bare.Seconds()/mine.Seconds(), "x-bare-kgo")
	b.ReportMetric(float64(b.N)*benchRecords/mine.Seconds(), "records/s")
}

func bareLoop(b *testing.B, addr, topic string) {
	b.Helper()
	at := kgo.NewOffset().AtStart()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: at, 1: at, 2: at}}))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.Close()
	ctx, done := context.WithTimeout(b.Context(), time.Minute)
	defer done()
	needle := []byte("needle")
	for n := 0; n < benchRecords; {
		fs := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			b.Fatal("not all records came: ", n)
		}
		fs.EachRecord(func(r *kgo.Record) {
			n++
			if bytes.Contains(r.Key, needle) || bytes.Contains(r.Value, needle) {
				b.Error("found")
			}
		})
	}
}

// BenchmarkTail appends records one by one, and takes the time from when the broker has each until the tail shows it.
func BenchmarkTail(b *testing.B) {
	addr := fed(b)
	topic := fmt.Sprintf("tail-%d", time.Now().UnixNano())
	c, err := OpenCluster(b.Context(), []string{addr}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.CreateTopic(b.Context(), model.TopicSpec{Name: topic, Partitions: 1}); err != nil {
		b.Fatal(err)
	}
	t, err := c.Tail(b.Context(), model.TailQuery{Topics: []string{topic}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = t.Close() }()
	r := model.ProduceRequest{Topic: topic, Acks: -1, Records: []model.ProduceRecord{{Value: []byte("x")}}}
	var took []time.Duration
	for n := int64(0); b.Loop(); n++ {
		if _, err := c.Produce(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		for t.Stats().Matched == n {
			if err := t.Wait(b.Context(), n); err != nil {
				b.Fatal(err)
			}
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
}

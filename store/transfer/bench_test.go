package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/transfer"
)

const (
	benchRecords = 100_000
	benchSize    = 1000
)

// produce writes as a producer does that writes as fast as it can.
func produce(b *testing.B, address, topic string) time.Duration {
	b.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(50_000),
		kgo.ProducerLinger(5*time.Millisecond))
	must(b, err)
	defer cl.Close()
	value := bytes.Repeat([]byte("0123456789"), benchSize/10)
	began := time.Now()
	for range benchRecords {
		cl.Produce(context.Background(), &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				b.Error(err)
			}
		})
	}
	must(b, cl.Flush(context.Background()))
	return time.Since(began)
}

// copyOnce makes a copy and returns how long the sending took: the topic is there then, as a producer's is.
func copyOnce(b *testing.B, src transfer.Reader, target transfer.Target, as string) time.Duration {
	b.Helper()
	cp := transfer.New(transfer.Side{Reader: src, Name: "here"}, target, transfer.Options{})
	p, err := cp.Plan(b.Context(), model.CopyQuery{Topics: []string{"t"}, Rename: map[string]string{"t": as}, Unverified: true})
	must(b, err)
	var began, ended time.Time
	res, err := cp.Apply(b.Context(), p, func(e model.CopyEvent) {
		if began.IsZero() {
			began = time.Now()
		}
		ended = time.Now()
	})
	must(b, err)
	if res.Records != benchRecords {
		b.Fatalf("%d records were copied", res.Records)
	}
	return ended.Sub(began)
}

// BenchmarkCopy copies from files to a broker of our own, and measures a producer of the same records beside it.
func BenchmarkCopy(b *testing.B) {
	for _, partitions := range []int32{1, 4} {
		b.Run(fmt.Sprint(partitions), func(b *testing.B) {
			a, c := start(b, b.TempDir()), start(b, b.TempDir())
			must(b, a.CreateTopic(b.Context(), model.TopicSpec{Name: "t", Partitions: partitions}))
			produce(b, a.Address(), "t")
			src := files(b, true, a.dir)
			var copied, produced time.Duration
			for n := 0; b.Loop(); n++ {
				to_ := fmt.Sprint("made-", n)
				must(b, c.CreateTopic(b.Context(), model.TopicSpec{Name: to_, Partitions: partitions}))
				produced += produce(b, c.Address(), to_)
				copied += copyOnce(b, src, to(c.cluster), fmt.Sprint("copied-", n))
			}
			b.ReportMetric(float64(b.N)*benchRecords*benchSize/copied.Seconds()/1e6, "MB/s")
			b.ReportMetric(produced.Seconds()/copied.Seconds(), "x-producer")
		})
	}
}

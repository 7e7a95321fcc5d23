package groups

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// bareDB opens a bbolt file with its defaults and one bucket: the peer of the benchmarks.
func bareDB(b *testing.B) *bbolt.DB {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte(offsetsBucket))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// drive lets n committers commit each rounds times, and returns commits a second and all latencies, ascending.
func drive(b *testing.B, n, rounds int, one func(who, round int) error) (rate float64, lat []time.Duration) {
	b.Helper()
	var wg sync.WaitGroup
	all := make([][]time.Duration, n)
	begin := time.Now()
	for who := range n {
		wg.Go(func() {
			for r := range rounds {
				t := time.Now()
				if err := one(who, r); err != nil {
					b.Error(err)
					return
				}
				all[who] = append(all[who], time.Since(t))
			}
		})
	}
	wg.Wait()
	d := time.Since(begin)
	for _, l := range all {
		lat = append(lat, l...)
	}
	slices.Sort(lat)
	return float64(len(lat)) / d.Seconds(), lat
}

// BenchmarkCommit has 100 committers at once, each waiting for its commit to be durable, through bbolt's own Batch and
// through the store, in turns. x/Batch is the ratio of the medians of the rates, goal ≥ 10; p99 goal ≤ 3 ms. A commit waits
// for two transactions at most, so p99 is the disk's: update-p99-ms is that of bare bbolt Updates in the same run.
func BenchmarkCommit(b *testing.B) {
	const committers = 100
	bare := bareDB(b)
	db := openDB(b, DBOptions{})
	s := New(db, &fakeLogs{}, Options{})
	defer s.Close()
	groups, keys := make([]string, committers), make([][]byte, committers)
	for i := range groups {
		groups[i] = fmt.Sprintf("group-%d", i)
		keys[i] = appendOffsetKey(nil, groups[i], at("orders", int32(i)))
	}
	ctx := b.Context()
	ours := func(who, round int) error {
		return s.Commit(ctx, groups[who], []model.Commit{offset("orders", int32(who), int64(round))})
	}
	theirs := func(who, round int) error {
		v := appendCommitted(nil, Committed{Commit: offset("orders", int32(who), int64(round)), At: 1, Expires: model.NoTime})
		return bare.Batch(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(offsetsBucket)).Put(keys[who], v) })
	}
	var fast, slow []float64
	var p99, p50, alone []time.Duration
	for b.Loop() {
		_, one := drive(b, 1, 100, func(who, round int) error {
			return bare.Update(func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte(offsetsBucket)).Put([]byte("k"), []byte{byte(round)})
			})
		})
		alone = append(alone, one[len(one)*99/100])
		r, _ := drive(b, committers, 10, theirs)
		slow = append(slow, r)
		r, lat := drive(b, committers, 100, ours)
		fast = append(fast, r)
		p99 = append(p99, lat[len(lat)*99/100])
		p50 = append(p50, lat[len(lat)/2])
	}
	b.ReportMetric(median(fast), "commits/s")
	b.ReportMetric(median(fast)/median(slow), "x/Batch")
	b.ReportMetric(float64(median(p50).Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(median(p99).Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(median(alone).Microseconds())/1000, "update-p99-ms")
}

func median[T float64 | time.Duration](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkReset applies a reset of one partition, checked, journalled and read back, and a bare bbolt Update of one key,
// in turns. x/Update is the ratio of the medians, goal ≤ 1.3.
func BenchmarkReset(b *testing.B) {
	bare := bareDB(b)
	c := clockAt(1)
	s := New(openDB(b, DBOptions{}), (&fakeLogs{}).fill("orders", 1, 0, 10), Options{Now: c.now, Who: "me@here"})
	defer s.Close()
	commit(b, s, "billing", offset("orders", 0, 0))
	from := int64(0)
	var ours, theirs []time.Duration
	for b.Loop() {
		t := time.Now()
		err := bare.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(offsetsBucket)).Put([]byte("k"), binary.BigEndian.AppendUint64(nil, uint64(from)))
		})
		if err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(t))
		p := model.ResetPlan{Group: "billing", Where: "latest", Rows: []model.PlanRow{
			{TopicPartition: at("orders", 0), From: from, FromEpoch: -1, To: from + 1, LeaderEpoch: -1, Change: model.Exactly(1)},
		}}
		t = time.Now()
		if _, err := s.ApplyReset(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(t))
		from++
	}
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "x/Update")
	b.ReportMetric(float64(median(theirs).Microseconds()), "update-µs")
	b.ReportMetric(float64(median(ours).Microseconds()), "reset-µs")
}

// BenchmarkGroups lists 1,000 groups of ten partitions each while all logs grow and all groups read on, as a screen does
// that looks every second.
func BenchmarkGroups(b *testing.B) {
	logs := &fakeLogs{}
	logs.fill("t", 10, 0, 100)
	s := New(openDB(b, DBOptions{}), logs, Options{ListBudget: time.Minute, CountTTL: time.Hour})
	defer s.Close()
	for g := range 1000 {
		var cs []model.Commit
		for p := range int32(10) {
			cs = append(cs, offset("t", p, int64(g%100)))
		}
		commit(b, s, fmt.Sprintf("group-%d", g), cs...)
	}
	for b.Loop() {
		if gs, err := s.Groups(b.Context()); err != nil || len(gs) != 1000 {
			b.Fatal(len(gs), err)
		}
	}
}

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// clock is a clock that stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.UnixMilli(1700000000000)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func open(t testing.TB, o Options, dirs ...string) *Engine {
	t.Helper()
	e, err := Open(dirs, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func create(t testing.TB, e *Engine, name string, partitions int32, configs ...string) {
	t.Helper()
	s := model.TopicSpec{Name: name, Partitions: partitions}
	for _, c := range configs {
		k, v, _ := strings.Cut(c, "=")
		s.Configs = append(s.Configs, model.ConfigChange{Name: k, Value: v})
	}
	if err := e.CreateTopic(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// produce writes values to a partition, all in one request.
func produce(t testing.TB, e *Engine, tp model.TopicPartition, values ...string) []model.Produced {
	t.Helper()
	r := model.ProduceRequest{Topic: tp.Topic, Acks: 1}
	for _, v := range values {
		r.Records = append(r.Records, model.ProduceRecord{Key: []byte("k"), Value: []byte(v), Partition: tp.Partition})
	}
	out, err := e.Produce(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// values reads all records of a partition's folder, by the read side, and checks every byte of it.
func values(t testing.TB, dir string, tp model.TopicPartition) []string {
	t.Helper()
	v, err := partition.OpenView(filepath.Join(dir, layout.DirName(tp)), tp, model.Live, partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown, EndIsHW: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Verify(context.Background(), model.Unknown, func(ev model.VerifyEvent) {
		if ev.Fault != nil && ev.Fault.Severity != model.SevInfo {
			t.Errorf("verify: %+v", *ev.Fault)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	q := model.RecordQuery{TP: tp, From: model.FromStart, Max: 10000}
	for {
		p, err := v.Records(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Records {
			all = append(all, string(r.Value))
		}
		if p.AtEnd || len(p.Records) == 0 {
			return all
		}
		q.From = p.Next
	}
}

func tp(topic string, p int32) model.TopicPartition {
	return model.TopicPartition{Topic: topic, Partition: p}
}

func file(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func folders(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestLife opens, writes, stops cleanly and opens again: the files directly in the directory are Kafka's.
func TestLife(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	e := open(t, Options{NodeID: 7, ClusterID: "AAAAAAAAAAAAAAAAAAAAAA"}, dir)
	create(t, e, "orders", 2)
	produce(t, e, tp("orders", 1), "a", "b", "c")
	if _, err := os.Stat(filepath.Join(dir, layout.CleanShutdownFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a mark of a clean stop while open: %v", err)
	}
	meta, err := layout.ParseMeta([]byte(file(t, dir, layout.MetaFile)))
	if err != nil || meta.Version != 1 || meta.NodeID != 7 || meta.ClusterID != "AAAAAAAAAAAAAAAAAAAAAA" || len(meta.DirectoryID) != 22 {
		t.Errorf("meta.properties %+v, %v", meta, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if _, err := e.Produce(t.Context(), model.ProduceRequest{Topic: "orders"}); !errors.Is(err, model.ErrClosed) {
		t.Errorf("Produce after Close: %v", err)
	}
	for name, want := range map[string]string{
		layout.RecoveryPointFile: "0\n2\norders 0 0\norders 1 3\n",
		layout.HighWatermarkFile: "0\n2\norders 0 0\norders 1 3\n",
		layout.LogStartFile:      "0\n0\n",
		layout.CleanShutdownFile: `{"version":0,"brokerEpoch":-1}`,
	} {
		if got := file(t, dir, name); got != want {
			t.Errorf("%s %q, want %q", name, got, want)
		}
	}
	if exists(filepath.Join(dir, layout.LockFile)) {
		t.Error("the lock's file is left after a clean stop")
	}
	e = open(t, Options{}, dir)
	if e.NodeID() != 7 || e.ClusterID() != "AAAAAAAAAAAAAAAAAAAAAA" {
		t.Errorf("opened as node %d of %s", e.NodeID(), e.ClusterID())
	}
	if out := produce(t, e, tp("orders", 1), "d"); out[0].Offset != 3 {
		t.Errorf("appended at %d, want 3", out[0].Offset)
	}
	if n := e.Notices(); len(n) > 0 {
		t.Errorf("notices %v", n)
	}
	if got := values(t, dir, tp("orders", 1)); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("values %v", got)
	}
	if _, err := Open([]string{dir}, Options{ClusterID: "another"}); err == nil {
		t.Error("opened as another cluster")
	}
}

// TestTopics makes, grows and deletes topics.
func TestTopics(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	e := open(t, Options{Partitions: 3, Now: c.now}, dir)
	ctx := t.Context()
	create(t, e, "a.b", 0)
	for name, tc := range map[string]struct {
		spec model.TopicSpec
		err  error
	}{
		"exists":         {model.TopicSpec{Name: "a.b"}, model.ErrExists},
		"collides":       {model.TopicSpec{Name: "a_b"}, model.ErrInvalid},
		"bad name":       {model.TopicSpec{Name: "a/b"}, model.ErrInvalid},
		"dots":           {model.TopicSpec{Name: ".."}, model.ErrInvalid},
		"long name":      {model.TopicSpec{Name: strings.Repeat("x", 250)}, model.ErrInvalid},
		"no partitions":  {model.TopicSpec{Name: "n", Partitions: -1}, model.ErrInvalid},
		"unknown config": {model.TopicSpec{Name: "n", Configs: []model.ConfigChange{{Name: "retention", Value: "1"}}}, model.ErrInvalid},
		"bad value":      {model.TopicSpec{Name: "n", Configs: []model.ConfigChange{{Name: "retention.ms", Value: "soon"}}}, model.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if err := e.CreateTopic(ctx, tc.spec); !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
		})
	}
	if got := folders(t, dir); !slices.Equal(got, []string{"a.b-0", "a.b-1", "a.b-2"}) {
		t.Errorf("folders %v", got)
	}
	if err := e.GrowTopic(ctx, "a.b", 3); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("grow to as many: %v", err)
	}
	if err := e.GrowTopic(ctx, "a.b", 5); err != nil {
		t.Error(err)
	}
	if a, b := file(t, dir, "a.b-0", layout.PartitionMetaFile), file(t, dir, "a.b-4", layout.PartitionMetaFile); a != b {
		t.Errorf("topic ids differ: %q, %q", a, b)
	}
	if err := e.GrowTopic(ctx, "a.c", 5); !errors.Is(err, model.ErrNoTopic) || !strings.Contains(err.Error(), "a.b") {
		t.Errorf("grow an unknown topic: %v", err)
	}
	produce(t, e, tp("a.b", 4), "x")
	if err := e.DeleteTopic(ctx, "a.b"); err != nil {
		t.Fatal(err)
	}
	for _, name := range folders(t, dir) {
		d, ok := layout.ParseDirName(name)
		if !ok || d.State != model.Deleting || d.TP.Topic != "a.b" || len(d.ID) != 32 {
			t.Errorf("folder %s, %+v", name, d)
		}
	}
	if _, err := e.Produce(ctx, model.ProduceRequest{Topic: "a.b"}); !errors.Is(err, model.ErrNoTopic) {
		t.Errorf("produce to a deleted topic: %v", err)
	}
	create(t, e, "a.b", 1)
	produce(t, e, tp("a.b", 0), "anew")
	c.move(59 * time.Second)
	if err := e.Sweep(); err != nil || len(folders(t, dir)) != 6 {
		t.Errorf("before its delay: %v, %v", folders(t, dir), err)
	}
	c.move(2 * time.Second)
	if err := e.Sweep(); err != nil || !slices.Equal(folders(t, dir), []string{"a.b-0"}) {
		t.Errorf("after its delay: %v, %v", folders(t, dir), err)
	}
	if got := values(t, dir, tp("a.b", 0)); !slices.Equal(got, []string{"anew"}) {
		t.Errorf("values %v", got)
	}
}

// TestDeletingOverRestart goes on with a deletion that was not finished.
func TestDeletingOverRestart(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	e := open(t, Options{Now: c.now}, dir)
	create(t, e, "gone", 2)
	if err := e.DeleteTopic(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, Options{Now: c.now}, dir)
	if got := e.Topics(); len(got) != 0 {
		t.Errorf("topics %v", got)
	}
	c.move(2 * time.Minute)
	if err := e.Sweep(); err != nil || len(folders(t, dir)) != 0 {
		t.Errorf("folders %v, %v", folders(t, dir), err)
	}
}

// TestDeletionCutShort opens what a process leaves that was killed while it deleted a topic: it says so, and the deletion
// can be made again.
func TestDeletionCutShort(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{}, dir)
	create(t, e, "t", 3)
	produce(t, e, tp("t", 2), "a")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t-0", "t-1"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+".0123456789abcdef0123456789abcdef-delete")); err != nil {
			t.Fatal(err)
		}
	}
	e = open(t, Options{}, dir)
	if n := strings.Join(e.Notices(), "\n"); !strings.Contains(n, "folders of 2 of its 3 partitions are missing") {
		t.Errorf("notices %q", n)
	}
	if got := values(t, dir, tp("t", 2)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("records %q", got)
	}
	if err := e.DeleteTopic(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if got := e.Topics(); len(got) != 0 {
		t.Errorf("topics %v", got)
	}
}

// TestDeletedForEver keeps the files of what was deleted where the config says that they are never to be removed.
func TestDeletedForEver(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	e := open(t, Options{Now: c.now}, dir)
	create(t, e, "gone", 1, "file.delete.delay.ms=9223372036854775807")
	if err := e.DeleteTopic(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	c.move(24 * time.Hour)
	if err := e.Sweep(); err != nil || len(folders(t, dir)) != 1 {
		t.Errorf("folders %v, %v", folders(t, dir), err)
	}
}

// memory is a store of configs as main hands it in.
type memory struct {
	all  map[string]map[string]string
	lost bool
}

func (m *memory) Lost() bool { return m.lost }

func (m *memory) Load() (map[string]map[string]string, error) { return m.all, nil }
func (m *memory) Save(topic string, c map[string]string) error {
	m.all[topic] = maps.Clone(c)
	return nil
}
func (m *memory) Delete(topic string) error { delete(m.all, topic); return nil }
func (m *memory) Replace(all map[string]map[string]string) error {
	m.all, m.lost = maps.Clone(all), false
	return nil
}

// TestLostConfigsDeleteNothing opens topics whose configs are gone: the defaults must not delete what was kept for ever.
func TestLostConfigsDeleteNothing(t *testing.T) {
	dir := t.TempDir()
	m := &memory{all: map[string]map[string]string{}}
	o := Options{OpenConfigs: func() (ConfigStore, error) { return m, nil }}
	e := open(t, o, dir)
	create(t, e, "kept", 1, "retention.ms=-1")
	old := model.ProduceRecord{Value: []byte("v"), Timestamp: 1}
	if _, err := e.Produce(t.Context(), model.ProduceRequest{Topic: "kept", Records: []model.ProduceRecord{old}, Acks: -1}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	m.all, m.lost = map[string]map[string]string{}, true
	e = open(t, o, dir)
	if err := e.Retain(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := e.Log(model.TopicPartition{Topic: "kept"})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := l.Bounds(); err != nil || b.Start != 0 || b.End != 1 {
		t.Errorf("%+v, %v: want the record kept", b, err)
	}
	if m.all["kept"]["retention.ms"] != "-1" {
		t.Errorf("saved %v, want that it is kept also at the next start", m.all)
	}
	if !strings.Contains(strings.Join(e.Notices(), "\n"), "were lost") {
		t.Errorf("nothing said: %q", e.Notices())
	}
}

// TestConfigs layers the topic's own configs over flags, a server.properties and the defaults.
func TestConfigs(t *testing.T) {
	dir := t.TempDir()
	props := filepath.Join(t.TempDir(), "server.properties")
	text := "log.retention.hours=2\nlog.segment.bytes=5000\nnum.partitions=4\nlog.retention.byte=3\nnum.network.threads=3\nlog.roll.ms=no\n"
	if err := os.WriteFile(props, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m := &memory{all: map[string]map[string]string{}}
	o := Options{Properties: props, Broker: map[string]string{"segment.bytes": "6000"}, OpenConfigs: func() (ConfigStore, error) { return m, nil }}
	e := open(t, o, dir)
	ctx := t.Context()
	create(t, e, "t", 0, "retention.bytes=77")
	if got := len(folders(t, dir)); got != 4 {
		t.Errorf("%d partitions, want those of num.partitions", got)
	}
	notices := strings.Join(e.Notices(), "\n")
	for _, want := range []string{"log.retention.byte", "log.retention.bytes", "num.network.threads has no effect", "log.roll.ms"} {
		if !strings.Contains(notices, want) {
			t.Errorf("notices %q do not name %s", notices, want)
		}
	}
	check := func(name, value, source string) {
		t.Helper()
		all, err := e.TopicConfig(ctx, "t")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(c model.ConfigEntry) bool { return c.Name == name })
		if c := all[i]; c.Value != value || c.Source != source || c.Doc == "" {
			t.Errorf("%+v, want %s by %s", c, value, source)
		}
	}
	check("retention.ms", "7200000", "file")
	check("segment.bytes", "6000", "broker")
	check("retention.bytes", "77", "topic")
	check("index.interval.bytes", "4096", "default")
	if err := e.AlterTopic(ctx, "t", []model.ConfigChange{{Name: "segment.bytes", Value: "7000"}, {Name: "retention.bytes", Unset: true}}); err != nil {
		t.Fatal(err)
	}
	check("segment.bytes", "7000", "topic")
	check("retention.bytes", "-1", "default")
	for _, bad := range []model.ConfigChange{{Name: "segment.byte", Value: "1"}, {Name: "segment.bytes", Value: "-1"}, {Name: "nothing", Unset: true}} {
		if err := e.AlterTopic(ctx, "t", []model.ConfigChange{{Name: "retention.bytes", Value: "5"}, bad}); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	check("retention.bytes", "-1", "default")
	if l, err := e.Log(tp("t", 0)); err != nil || l.Config().SegmentBytes != 7000 || l.Config().RetentionMS != 7200000 {
		t.Errorf("the log lives by %+v, %v", l.Config(), err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, o, dir)
	check("segment.bytes", "7000", "topic")
	if err := e.DeleteTopic(ctx, "t"); err != nil || len(m.all) != 0 {
		t.Errorf("%v, left %v", err, m.all)
	}
	if _, err := Open([]string{t.TempDir()}, Options{Broker: map[string]string{"segment.byte": "1"}}); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("a wrong flag: %v", err)
	}
}

// TestManyDirs puts each new partition where there are fewest.
func TestManyDirs(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	e := open(t, Options{}, a, b)
	create(t, e, "one", 1)
	create(t, e, "two", 3)
	if x, y := folders(t, a), folders(t, b); !slices.Equal(x, []string{"one-0", "two-1"}) || !slices.Equal(y, []string{"two-0", "two-2"}) {
		t.Errorf("folders %v and %v", x, y)
	}
	ma, _ := layout.ParseMeta([]byte(file(t, a, layout.MetaFile)))
	mb, _ := layout.ParseMeta([]byte(file(t, b, layout.MetaFile)))
	if ma.ClusterID != mb.ClusterID || ma.DirectoryID == mb.DirectoryID {
		t.Errorf("%+v and %+v", ma, mb)
	}
	for p := range int32(3) {
		produce(t, e, tp("two", p), "x")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := file(t, b, layout.RecoveryPointFile); got != "0\n2\ntwo 0 1\ntwo 2 1\n" {
		t.Errorf("recovery points %q", got)
	}
	e = open(t, Options{}, b, a)
	for p := range int32(3) {
		if out := produce(t, e, tp("two", p), "y"); out[0].Offset != 1 {
			t.Errorf("partition %d: %+v", p, out)
		}
	}
}

// wait returns when a state is reached.
func wait(t *testing.T, reached func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !reached() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not come to that")
		}
	}
}

// TestWriters keeps few files open, whatever the number of partitions written to.
func TestWriters(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{Writers: 8}, dir)
	create(t, e, "t", 40)
	for round := range 3 {
		for p := range int32(40) {
			produce(t, e, tp("t", p), fmt.Sprint(round))
		}
	}
	full := 0
	for p := range 40 {
		fi, err := os.Stat(filepath.Join(dir, fmt.Sprintf("t-%d", p), layout.FileName(0, layout.KindIndex)))
		if err != nil {
			t.Fatal(err)
		}
		if fi.Size() > 0 {
			full++
		}
	}
	if full > 8 {
		t.Errorf("%d partitions are open for appending, want 8 at most", full)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for p := range int32(40) {
		if got := values(t, dir, tp("t", p)); !slices.Equal(got, []string{"0", "1", "2"}) {
			t.Errorf("partition %d: %v", p, got)
		}
	}
}

// TestConcurrent has many producers on few partitions, topics made and deleted and configs changed meanwhile: all that
// was acknowledged is there, once, in order.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{Writers: 3, FlushEvery: time.Millisecond, CheckpointEvery: time.Millisecond, HighWaterEvery: time.Millisecond}, dir)
	create(t, e, "t", 4, "segment.bytes=3000", "flush.ms=1")
	var wg sync.WaitGroup
	acked := make([]map[int64]string, 4)
	var mu sync.Mutex
	for i := range acked {
		acked[i] = map[int64]string{}
	}
	for w := range 6 {
		wg.Go(func() {
			for i := range 60 {
				r := model.ProduceRequest{Topic: "t", Acks: -1}
				for k := range i%5 + 1 {
					r.Records = append(r.Records, model.ProduceRecord{Value: fmt.Appendf(nil, "%d-%d-%d", w, i, k), Partition: int32(i % 4)})
				}
				out, err := e.Produce(t.Context(), r)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for k, p := range out {
					if old, twice := acked[p.Partition][p.Offset]; twice {
						t.Errorf("offset %d was given to %s too", p.Offset, old)
					}
					acked[p.Partition][p.Offset] = string(r.Records[k].Value)
				}
				mu.Unlock()
			}
		})
	}
	wg.Go(func() {
		for i := range 15 {
			name := fmt.Sprintf("side-%d", i)
			create(t, e, name, 2)
			produce(t, e, tp(name, 1), "x")
			if err := e.AlterTopic(t.Context(), "t", []model.ConfigChange{{Name: "segment.bytes", Value: fmt.Sprint(2000 + i*100)}}); err != nil {
				t.Error(err)
			}
			if err := e.DeleteTopic(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for p := range int32(4) {
		got := values(t, dir, tp("t", p))
		if len(got) != len(acked[p]) {
			t.Errorf("partition %d: %d records, %d acknowledged", p, len(got), len(acked[p]))
			continue
		}
		for offset, v := range acked[p] {
			if got[offset] != v {
				t.Errorf("partition %d offset %d: %s, want %s", p, offset, got[offset], v)
			}
		}
	}
}

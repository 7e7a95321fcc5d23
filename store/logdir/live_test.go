package logdir

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

// fakeBroker writes partitions as a broker does, one small batch at a time.
type fakeBroker struct {
	t    testing.TB
	root string
	next map[string]int64 // log end by folder
	base map[string]int64 // active segment by folder
	n    int              // value of the last record
	last map[string]int64 // size of the last batch
	sent map[string][]int // values by folder, those that were truncated left out
	cut  map[int]bool     // values that were truncated
}

func newBroker(t testing.TB, root string) *fakeBroker {
	return &fakeBroker{t: t, root: root, next: map[string]int64{}, base: map[string]int64{}, last: map[string]int64{},
		sent: map[string][]int{}, cut: map[int]bool{}}
}

func (b *fakeBroker) log(part string) string {
	return filepath.Join(b.root, part, fmt.Sprintf("%020d.log", b.base[part]))
}

func (b *fakeBroker) append(part string, records int) {
	b.t.Helper()
	var all []byte
	for range records {
		b.n++
		one := batchOf(b.t, b.next[part], 1, strconv.Itoa(b.n))
		b.next[part]++
		b.sent[part] = append(b.sent[part], b.n)
		b.last[part] = int64(len(one))
		all = append(all, one...)
	}
	f, err := os.OpenFile(b.log(part), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	must(b.t, err)
	_, err = f.Write(all)
	must(b.t, err)
	must(b.t, f.Close())
}

func (b *fakeBroker) create(part string, records int) {
	must(b.t, os.Mkdir(filepath.Join(b.root, part), 0o755))
	b.append(part, records)
}

func (b *fakeBroker) roll(part string) {
	b.base[part] = b.next[part]
	f, err := os.Create(b.log(part))
	must(b.t, err)
	must(b.t, f.Close())
}

// truncate cuts the last batch off.
func (b *fakeBroker) truncate(part string) {
	info, err := os.Stat(b.log(part))
	must(b.t, err)
	must(b.t, os.Truncate(b.log(part), info.Size()-b.last[part]))
	b.next[part]--
	sent := b.sent[part]
	b.cut[sent[len(sent)-1]] = true
	b.sent[part] = sent[:len(sent)-1]
}

// caughtUp waits until a tail has shown so many records.
func caughtUp(t *testing.T, tail model.Tail, n int64) {
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for {
		s := tail.Stats()
		if s.Matched >= n {
			return
		}
		if err := tail.Wait(ctx, s.Matched); err != nil {
			t.Errorf("waited for %d records: %v; stats %+v", n, err, s)
			return
		}
	}
}

// gathered is what a tail shows, by partition, in the order in which it shows it.
type gathered struct {
	recs map[model.TopicPartition][]int
	stop context.CancelFunc
	done chan struct{}
}

// gather takes what a tail shows until stopped.
func gather(t *testing.T, tail model.Tail) *gathered {
	ctx, stop := context.WithCancel(t.Context())
	g := &gathered{recs: map[model.TopicPartition][]int{}, stop: stop, done: make(chan struct{})}
	go func() { // ends with stop
		defer close(g.done)
		for seen := int64(0); ; {
			s := tail.Stats()
			recs, first := tail.Window(s.Matched, int(s.Matched-seen))
			if first != seen && len(recs) > 0 {
				t.Errorf("window begins at %d, want %d", first, seen)
			}
			for _, r := range recs {
				v, err := strconv.Atoi(string(r.Value))
				if err != nil {
					t.Error(err)
				}
				g.recs[r.TopicPartition] = append(g.recs[r.TopicPartition], v)
			}
			seen = s.Matched
			tail.Release(seen)
			if tail.Wait(ctx, seen) != nil {
				return
			}
		}
	}()
	return g
}

// check holds what was shown against what was sent.
func (g *gathered) check(t *testing.T, b *fakeBroker, topic string) {
	t.Helper()
	g.stop()
	<-g.done
	for part, want := range b.sent {
		n, err := strconv.Atoi(strings.TrimPrefix(part, topic+"-"))
		must(t, err)
		got := g.recs[model.TopicPartition{Topic: topic, Partition: int32(n)}]
		kept := slices.DeleteFunc(slices.Clone(got), func(v int) bool { return b.cut[v] })
		if !slices.Equal(kept, want) {
			t.Errorf("%s: shown %d records, want %d; first difference %s", part, len(kept), len(want), difference(kept, want))
		}
		if all := slices.Sorted(slices.Values(got)); len(slices.Compact(all)) != len(got) {
			t.Errorf("%s: a record is shown twice", part)
		}
	}
}

func difference(a, b []int) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("at %d: %d, want %d", i, a[i], b[i])
		}
	}
	return "at the end"
}

// TestEverythingAtOnce is a topic's whole life in about a second, under a tail: 20 partitions made with a segment
// filled already, 10,000 small writes, 30 rolls, the oldest segments renamed and unlinked, truncations by a batch, and
// at last the folders renamed as for a deletion.
func TestEverythingAtOnce(t *testing.T) {
	root := t.TempDir()
	b := newBroker(t, root)
	must(t, os.Mkdir(filepath.Join(root, "other-0"), 0o755))
	b.create("t-0", 10)
	d, err := Open([]string{root}, Options{})
	must(t, err)
	defer d.Close()
	tail, err := d.Tail(t.Context(), model.TailQuery{Topics: []string{"t"}, Partitions: []model.TopicPartition{{Topic: "t"}},
		From: []int64{model.FromStart}, Block: true, Keep: 500})
	must(t, err)
	changes := make(chan model.Change, 1)
	go func() { // ends with the source
		for c := range d.Changes() {
			select {
			case changes <- c:
			default:
			}
		}
	}()

	g := gather(t, tail)
	rnd := rand.New(rand.NewPCG(1, 2))
	done := make(chan struct{})
	go func() { // the broker; ends by itself
		defer close(done)
		for p := 1; p < 20; p++ {
			b.create(fmt.Sprintf("t-%d", p), 100)
		}
		for i, rolls, cuts := 0, 0, 0; i < 10_000; i++ {
			part := fmt.Sprintf("t-%d", rnd.IntN(20))
			b.append(part, 1)
			if i%333 == 332 && rolls < 30 {
				rolls++
				old := b.log(part)
				b.roll(part)
				if rolls%3 == 0 { // what is deleted before it was read cannot be shown
					caughtUp(t, tail, int64(b.n-len(b.cut)))
					must(t, os.Rename(old, old+".deleted"))
					must(t, os.Remove(old+".deleted"))
				}
			}
			if i%1000 == 999 {
				cuts++
				b.truncate(part)
				b.append(part, 1+cuts%2)
			}
		}
		for p := range 20 {
			part := fmt.Sprintf("t-%d", p)
			must(t, os.Rename(filepath.Join(root, part), filepath.Join(root, part+".0123456789abcdef0123456789abcdef-delete")))
		}
	}()
	<-done
	caughtUp(t, tail, int64(b.n-len(b.cut)))
	g.check(t, b, "t")

	// The deletion is told, and nothing is watched any more but the root.
	deadline := time.After(20 * time.Second)
	for {
		topics, err := d.Topics(t.Context())
		must(t, err)
		if len(topics) == 1 && topics[0].Name == "other" {
			break
		}
		select {
		case <-changes:
		case <-deadline:
			t.Fatalf("still listed: %+v", topics)
		}
	}
	must(t, tail.Close())
	if n := d.watch.Folders(); n > 2 { // the root, and other-0
		t.Errorf("%d folders are watched still", n)
	}
	if s := tail.Stats(); s.Err == nil || !strings.Contains(s.Err.Error(), "deleted") {
		t.Errorf("the deletion is not told: %v", s.Err)
	}
}

// TestIndexThatGivesNoEvent has the index grow by a mapping, which no event tells of: it is right when it is asked for.
func TestIndexThatGivesNoEvent(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "t-0"), 0o755))
	seg, err := openIndexed(filepath.Join(root, "t-0", "00000000000000000000"))
	must(t, err)
	defer seg.close()
	d, err := Open([]string{root}, Options{})
	must(t, err)
	defer d.Close()
	one := batchOf(t, 0, 1, strings.Repeat("x", 1000))
	tp := model.TopicPartition{Topic: "t"}
	for range 3 {
		for range 50 {
			must(t, seg.append(one, 1))
		}
		entries, n, err := d.IndexEntries(t.Context(), tp, 0, model.OffsetIndex, 0, 1000)
		must(t, err)
		if int(n) != seg.n/8 || len(entries) != seg.n/8 {
			t.Errorf("%d entries, %d given, want %d", n, len(entries), seg.n/8)
		}
		if r, err := d.Lookup(t.Context(), tp, model.Target{Offset: seg.next - 1}); err != nil || !r.Found || r.Offset != seg.next-1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

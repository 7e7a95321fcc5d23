package partition

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// TestRetain has four segments of two batches of 75 bytes each, and a fifth with one: bases 0, 2, 4, 6, 8; their newest
// records are 40, 30, 20, 10 and 0 s old.
func TestRetain(t *testing.T) {
	for name, tc := range map[string]retainCase{
		"young enough":                {map[string]string{"retention.ms": "40000"}, nil, 0, nil, "", 0, false},
		"one too old":                 {map[string]string{"retention.ms": "39999"}, nil, 0, []int64{0}, "retention.ms", 2, false},
		"three too old":               {map[string]string{"retention.ms": "15000"}, nil, 0, []int64{0, 2, 4}, "retention.ms", 6, false},
		"for ever":                    {map[string]string{"retention.ms": "-1"}, nil, 0, nil, "", 0, false},
		"all too old but the newest":  {map[string]string{"retention.ms": "1"}, nil, 0, []int64{0, 2, 4, 6}, "retention.ms", 8, false},
		"all too old":                 {map[string]string{"retention.ms": "1"}, []int64{50, 50, 50, 50, 50, 50, 50, 50, 50}, 0, []int64{0, 2, 4, 6, 8}, "retention.ms", 9, true},
		"a future one holds the rest": {map[string]string{"retention.ms": "1"}, []int64{50, 50, 50, -60, 50, 50, 50, 50, 50}, 0, []int64{0}, "retention.ms", 2, false},
		"policy compact":              {map[string]string{"retention.ms": "1", "cleanup.policy": "compact"}, nil, 0, nil, "", 0, false},
		"policy compact and delete":   {map[string]string{"retention.ms": "39999", "cleanup.policy": "compact,delete"}, nil, 0, []int64{0}, "retention.ms", 2, false},
		// 4 × 150 + 75 = 675 bytes
		"size just kept":         {map[string]string{"retention.bytes": "526"}, nil, 0, nil, "", 0, false},
		"size one over":          {map[string]string{"retention.bytes": "525"}, nil, 0, []int64{0}, "retention.bytes", 2, false},
		"size all":               {map[string]string{"retention.bytes": "0"}, nil, 0, []int64{0, 2, 4, 6, 8}, "retention.bytes", 9, true},
		"size off":               {map[string]string{"retention.bytes": "-1"}, nil, 0, nil, "", 0, false},
		"below the log start":    {nil, nil, 5, []int64{0, 2}, "log start", 5, false},
		"at the log start":       {nil, nil, 4, []int64{0, 2}, "log start", 4, false},
		"log start at the end":   {nil, nil, 9, []int64{0, 2, 4, 6}, "log start", 9, false},
		"start first, size next": {map[string]string{"retention.bytes": "225"}, nil, 2, []int64{0, 2, 4}, "log start", 6, false},
	} {
		for _, how := range []string{"live", "reopened"} {
			t.Run(name+"/"+how, func(t *testing.T) { checkRetain(t, tc, how == "reopened") })
		}
	}
}

// retainCase is a look of the retention at nine batches, and what it comes to.
type retainCase struct {
	configs map[string]string
	ages    []int64 // instead of those of TestRetain, s; negative in the future
	start   int64   // log start by DeleteRecords before
	gone    []int64 // bases
	rule    string
	left    int64 // log start afterwards
	active  bool  // a new active segment was begun
}

func checkRetain(t *testing.T, tc retainCase, reopened bool) {
	configs := map[string]string{"segment.bytes": "172", "segment.ms": "9000000", "message.timestamp.after.max.ms": "9000000"}
	for k, v := range tc.configs {
		configs[k] = v
	}
	b := newBench(t, configs)
	list := []int64{41, 40, 31, 30, 21, 20, 11, 10, 0}
	if tc.ages != nil {
		list = tc.ages
	}
	for _, s := range list {
		b.append(1, day0-s*1000)
	}
	if reopened {
		b.reopen()
	}
	if tc.start > 0 {
		if start, err := b.log.DeleteRecords(tc.start); start != tc.start || err != nil {
			t.Fatalf("DeleteRecords: %d, %v", start, err)
		}
	}
	plan, err := b.log.Plan(b.log.Config(), 0)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := b.log.Retain()
	if err != nil {
		t.Fatal(err)
	}
	var bases []int64
	for i, g := range gone {
		bases = append(bases, g.Base)
		if !plan[i].Now || plan[i].Segment.Base != g.Base || plan[i].Segment.Rule != g.Rule || plan[i].Segment.Bytes != g.Bytes {
			t.Errorf("planned %+v, done %+v", plan[i], g)
		}
	}
	if len(plan) > len(gone) && plan[len(gone)].Now {
		t.Errorf("planned %+v too", plan[len(gone)])
	}
	if !slices.Equal(bases, tc.gone) || len(gone) > 0 && gone[0].Rule != tc.rule {
		t.Errorf("gone %+v, want %v by %s", gone, tc.gone, tc.rule)
	}
	if got := b.bounds(); got.Start != tc.left || got.End != 9 {
		t.Errorf("bounds %+v, want %d to 9", got, tc.left)
	}
	if active := slices.Contains(b.files(".log"), "9.log"); active != tc.active {
		t.Errorf("segments %v, want a new one: %v", b.files(".log"), tc.active)
	}
	b.append(1, day0)
	b.verify()
}

// TestRetainByFileTime goes by when the file was last written where no record has a time.
func TestRetainByFileTime(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "172", "retention.ms": "1000"})
	for range 3 {
		b.append(1, model.NoTime)
	}
	at := func(ms int64) {
		if err := os.Chtimes(filepath.Join(b.dir, layout.FileName(0, layout.KindLog)), time.Time{}, time.UnixMilli(ms)); err != nil {
			t.Fatal(err)
		}
	}
	at(day0 - 1000)
	if gone, err := b.log.Retain(); len(gone) != 0 || err != nil {
		t.Fatalf("gone %v, %v", gone, err)
	}
	b.reopen()
	at(day0 - 1001)
	if gone, err := b.log.Retain(); len(gone) != 1 || err != nil {
		t.Fatalf("gone %v, %v", gone, err)
	}
}

// TestRetainRenames keeps the deleted files for a while under another name, the producer snapshot among them.
func TestRetainRenames(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "172", "retention.ms": "1", "file.delete.delay.ms": "500"})
	var paths []string
	var due int64
	b.log.o.Deleted = func(p []string, at int64) { paths, due = append(paths, p...), at }
	for range 5 {
		b.append(1, day0-5000)
	}
	b.append(1, day0)
	if _, err := b.log.Retain(); err != nil {
		t.Fatal(err)
	}
	want := []string{".index.deleted", ".log.deleted", ".timeindex.deleted", "2.index.deleted", "2.log.deleted", "2.snapshot.deleted", "2.timeindex.deleted"}
	if got := b.files(".deleted"); !slices.Equal(got, want) {
		t.Errorf("deleted %v, want %v", got, want)
	}
	if len(paths) != 7 || due != day0+500 {
		t.Errorf("told of %d files due %d", len(paths), due)
	}
	if got := b.read(layout.EpochsFile); got != "0\n1\n0 4\n" {
		t.Errorf("epochs %q, want them moved up to the log start", got)
	}
	b.reopen()
	b.bounds()
	if got := b.files(".deleted"); len(got) != 0 {
		t.Errorf("after a restart there are %v", got)
	}
}

func TestDeleteRecords(t *testing.T) {
	for name, tc := range map[string]struct {
		configs map[string]string
		before  int64
		start   int64
		err     error
	}{
		"within a batch":     {nil, 4, 4, nil},
		"to the end":         {nil, model.FromEnd, 9, nil},
		"at the end":         {nil, 9, 9, nil},
		"below the start":    {nil, 1, 2, nil},
		"beyond the end":     {nil, 10, 0, model.ErrOutOfRange},
		"negative":           {nil, -2, 0, model.ErrOutOfRange},
		"a compacted topic":  {map[string]string{"cleanup.policy": "compact"}, 4, 0, model.ErrRefused},
		"compact and delete": {map[string]string{"cleanup.policy": "compact,delete"}, 4, 4, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.configs)
			for range 3 {
				b.append(3, day0)
			}
			if _, err := b.log.DeleteRecords(2); err != nil && tc.err != model.ErrRefused {
				t.Fatal(err)
			}
			start, err := b.log.DeleteRecords(tc.before)
			if start != tc.start || !errors.Is(err, tc.err) {
				t.Fatalf("%d, %v; want %d, %v", start, err, tc.start, tc.err)
			}
			if err != nil {
				return
			}
			if line, ok := b.log.StartLine(); line != tc.start || !ok {
				t.Errorf("checkpoint line %d, %v", line, ok)
			}
			b.reopen()
			if got := b.bounds(); got.Start != tc.start || got.End != 9 {
				t.Errorf("bounds after a restart %+v", got)
			}
			if _, err := b.log.Read(nil, tc.start-1, 99, 1); !errors.Is(err, model.ErrOutOfRange) {
				t.Errorf("read below the log start: %v", err)
			}
		})
	}
}

// TestPlanLater says when the segments that stay are due, each no sooner than the one before it.
func TestPlanLater(t *testing.T) {
	b := newBench(t, map[string]string{"segment.bytes": "172", "segment.ms": "9000000"})
	for _, s := range []int64{30, 20, 40, 10, 0} {
		b.append(1, day0-s*1000)
	}
	plan, err := b.log.Plan(layout.ParseTopicConfig(map[string]string{"retention.ms": "25000"}), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{day0 + 5001, day0 + 15001, day0 + 25001}
	for i, p := range plan {
		if p.Now || p.Segment.Leaves != want[i] || p.Segment.Rule != "retention.ms" {
			t.Errorf("segment %d: %+v, want it due at %d", i, p, want[i])
		}
	}
	plan, err = b.log.Plan(layout.ParseTopicConfig(map[string]string{"retention.ms": "9223372036854775807"}), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plan {
		if p.Now || p.Segment.Leaves != model.NoTime || p.Segment.Rule != "never" {
			t.Errorf("segment %d, kept to the end of time: %+v", i, p)
		}
	}
	plan, err = b.log.Plan(b.log.Config(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if !plan[0].Now || plan[0].Segment.Rule != "log start" || plan[1].Now {
		t.Errorf("plan with log start 3: %+v", plan)
	}
	if got := b.bounds(); got.Start != 0 {
		t.Errorf("a plan moved the log start to %d", got.Start)
	}
	if got := strings.Join(b.files(".log"), " "); got != ".log 2.log 4.log" {
		t.Errorf("a plan left %s", got)
	}
}

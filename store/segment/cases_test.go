package segment_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

// item is a line of a scan, in words.
func scan(t *testing.T, f *segment.File, o segment.ScanOptions) []string {
	t.Helper()
	var out []string
	s := f.Scanner(o)
	for {
		at := s.Next()
		line := ""
		switch at {
		case segment.End:
			return out
		case segment.Failed:
			t.Fatal(s.Err())
		case segment.Batch:
			h := s.Header()
			line = fmt.Sprintf("%d+%d %d..%d", s.Pos(), s.Len(), h.BaseOffset, h.LastOffset())
			if o.Check {
				if stored, computed := s.Sum(); stored != computed {
					line += fmt.Sprintf(" bad %08x", stored)
				}
			}
		case segment.Torn:
			line = fmt.Sprintf("%d torn %d of %d", s.Pos(), s.Len(), s.Need())
		case segment.Zeros:
			line = fmt.Sprintf("%d zeros %d", s.Pos(), s.Len())
		case segment.Damage:
			line = fmt.Sprintf("%d damage %d", s.Pos(), s.Len())
		}
		out = append(out, line)
	}
}

// write makes a folder with one .log and returns its segment, opened.
func write(t *testing.T, log []byte) *segment.File {
	t.Helper()
	dir := t.TempDir()
	segtest.Write(t, dir, 0, layout.KindLog, log)
	return open(t, dir)
}

func open(t *testing.T, dir string) *segment.File {
	t.Helper()
	f, err := segment.OpenFile(dir, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// verify returns the faults of a segment as lines.
func verify(t *testing.T, f *segment.File, o segment.VerifyOptions) []string {
	t.Helper()
	var out []string
	o.Tell = func(x model.Fault) {
		out = append(out, fmt.Sprintf("%s %s+%d %s: %s", x.Severity, strings.TrimLeft(strings.TrimSuffix(x.File, ".log"), "0"), x.Position, x.Kind, x.What))
	}
	if _, err := f.Verify(o); err != nil {
		t.Fatal(err)
	}
	return out
}

var kitchenLines = []string{"0+94 0..2", "94+79 3..4", "173+78 5..5", "251+79 6..7", "330+78 8..8", "408+80 9..10", "488+61 11..15",
	"549+111 16..19", "660+79 20..29", "739+81 30..31", "820+73 32..32"}

func with(lines []string, change func([]string) []string) []string {
	return change(slices.Clone(lines))
}

func TestScanCases(t *testing.T) {
	k := segtest.Kitchen()
	bad := bytes.Clone(k)
	bad[317] ^= 1
	longer := bytes.Clone(k) // the third batch's length covers the fourth
	longer[173+11] += 79
	shorter := bytes.Clone(k)
	shorter[173+11] -= 20
	beyond := bytes.Clone(k)
	beyond[173+8] = 0x7f
	for name, tc := range map[string]struct {
		in   []byte
		want []string
	}{
		"S01 the kitchen":      {k, kitchenLines},
		"S05 a bad checksum":   {bad, with(kitchenLines, func(l []string) []string { l[3] += " bad d2473122"; return l })},
		"S06 a zero tail":      {append(bytes.Clone(k), make([]byte, 4096)...), append(slices.Clone(kitchenLines), "893 zeros 4096")},
		"S09 out of order":     {append(bytes.Clone(k[408:488]), k[:94]...), []string{"0+80 9..10", "80+94 0..2"}},
		"S11 cut to 860":       {k[:860], append(slices.Clone(kitchenLines[:10]), "820 torn 40 of 73")},
		"S11 cut to 832":       {k[:832], append(slices.Clone(kitchenLines[:10]), "820 torn 12 of 73")},
		"S11 cut to 825":       {k[:825], append(slices.Clone(kitchenLines[:10]), "820 zeros 5")},
		"S11 cut to 820":       {k[:820], kitchenLines[:10]},
		"S11 cut to 50":        {k[:50], []string{"0 torn 50 of 94"}},
		"S11 cut to 0":         {nil, nil},
		"length covers next":   {longer, with(kitchenLines, func(l []string) []string { l[2] = "173 damage 78"; return l })},
		"length too short":     {shorter, with(kitchenLines, func(l []string) []string { l[2] = "173 damage 78"; return l })},
		"length beyond file":   {beyond, with(kitchenLines, func(l []string) []string { l[2] = "173 damage 78"; return l })},
		"bytes lost":           {slices.Concat(k[:100], k[251:]), append([]string{kitchenLines[0], "94 damage 6"}, shift(kitchenLines[3:], -151)...)},
		"zeros in the middle":  {slices.Concat(k[:94], make([]byte, 500), k[94:]), append([]string{kitchenLines[0], "94 damage 500"}, shift(kitchenLines[1:], 500)...)},
		"garbage at the end":   {append(bytes.Clone(k), bytes.Repeat([]byte{0xfe}, 300)...), append(slices.Clone(kitchenLines), "893 damage 300")},
		"nothing but garbage":  {bytes.Repeat([]byte{7}, 5000), []string{"0 damage 5000"}},
		"nothing but zeros":    {make([]byte, 5000), []string{"0 zeros 5000"}},
		"garbage, then a cut":  {append(bytes.Repeat([]byte{7}, 50), k[:100]...), []string{"0 damage 50", "50+94 0..2", "144 zeros 6"}},
		"a batch in a value":   nested(t),
		"bad with batch in it": nestedBad(t),
	} {
		t.Run(name, func(t *testing.T) {
			f := write(t, tc.in)
			for _, buffer := range []int{0, 64, 200} {
				if got := scan(t, f, segment.ScanOptions{Check: true, Buffer: buffer}); !slices.Equal(got, tc.want) {
					t.Errorf("buffer %d: got %q\nwant %q", buffer, got, tc.want)
				}
			}
		})
	}
}

func shift(lines []string, by int) []string {
	var out []string
	for _, l := range lines {
		pos, rest, _ := strings.Cut(l, "+")
		n := 0
		fmt.Sscan(pos, &n)
		out = append(out, fmt.Sprintf("%d+%s", n+by, rest))
	}
	return out
}

// nested is a batch whose value holds batches that look like those that follow it.
func nested(t *testing.T) struct {
	in   []byte
	want []string
} {
	k := segtest.Kitchen()
	b := segtest.Batch(t, record.Spec{}, record.Input{Timestamp: segtest.T, Value: k[94:]})
	return struct {
		in   []byte
		want []string
	}{b, []string{fmt.Sprintf("0+%d 0..0", len(b))}}
}

// nestedBad is the same, with a flipped bit in the record and a batch behind it: what is inside is still no batch of the
// log, but it cannot be told from one whose length is wrong, so that what can be read is given.
func nestedBad(t *testing.T) struct {
	in   []byte
	want []string
} {
	k := segtest.Kitchen()
	b := segtest.Batch(t, record.Spec{}, record.Input{Timestamp: segtest.T, Value: bytes.Repeat([]byte("x"), 100)})
	n := len(b)
	b = append(b, k[94:]...)
	b[70] ^= 4
	return struct {
		in   []byte
		want []string
	}{b, append([]string{fmt.Sprintf("0+%d 0..0 bad %08x", n, b[17:21])}, shift(kitchenLines[1:], n-94)...)}
}

func TestHeadersOnlyScanSeesTheSame(t *testing.T) {
	k := segtest.Kitchen()
	for cut := 0; cut <= len(k); cut++ {
		f := write(t, k[:cut])
		a, b := scan(t, f, segment.ScanOptions{}), scan(t, f, segment.ScanOptions{Headers: true})
		if !slices.Equal(a, b) {
			t.Fatalf("cut to %d: %q, headers only %q", cut, a, b)
		}
	}
}

func TestSparseTailCostsNothing(t *testing.T) {
	dir := segtest.Dir(t)
	segtest.Grow(t, filepath.Join(dir, layout.FileName(0, layout.KindLog)), 1<<30)
	f := open(t, dir)
	begin := time.Now()
	got := scan(t, f, segment.ScanOptions{Check: true})
	if want := append(slices.Clone(kitchenLines), fmt.Sprintf("893 zeros %d", 1<<30-893)); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	tail, err := f.Tail(nil)
	if err != nil || tail.Next != 33 || tail.End != 893 || !tail.Zeros || tail.Trailing != 1<<30-893 {
		t.Errorf("tail %+v, %v", tail, err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("a hole of 1 GiB took %v", took)
	}
	if got := verify(t, f, segment.VerifyOptions{Active: true}); !slices.Equal(got, []string{"info +893 zeros: zero tail 1,073,740,931 bytes (preallocated)"}) {
		t.Errorf("got %q", got)
	}
}

func TestSeekOffsetCases(t *testing.T) {
	k := segtest.Kitchen()
	good := []segtest.Pair{{4, 94}, {8, 330}, {15, 488}, {29, 660}}
	for name, tc := range map[string]struct {
		log     []byte
		index   []byte
		target  int64
		pos     int64 // -1: not found
		entry   int64
		fault   string
		scanned int64 // 0: not looked at
	}{
		"S03 by an entry":                {k, segtest.OffsetIndex(0, good), 9, 408, 1, "", 158},
		"S03 an entry's own offset":      {k, segtest.OffsetIndex(0, good), 8, 330, 1, "", 78},
		"S03 before the first entry":     {k, segtest.OffsetIndex(0, good), 3, 94, -1, "", 173},
		"S03 says 6":                     {k, segtest.OffsetIndex(0, []segtest.Pair{{4, 94}, {6, 330}, {15, 488}, {29, 660}}), 7, 251, 0, "index says 6, batch at 330 ends at 8", 0},
		"first offset":                   {k, segtest.OffsetIndex(0, []segtest.Pair{{3, 94}, {6, 251}}), 7, 251, 1, "", 79},
		"what compaction has left":       {k, segtest.OffsetIndex(0, []segtest.Pair{{4, 94}, {27, 660}}), 29, 660, 1, "", 79},
		"S03 no batch there":             {k, segtest.OffsetIndex(0, []segtest.Pair{{4, 94}, {8, 331}, {15, 488}, {29, 660}}), 8, 330, 0, "no batch at 331", 0},
		"S07 a zero tail":                {k, append(segtest.OffsetIndex(0, good), make([]byte, 1<<20)...), 32, 820, 3, "", 0},
		"no index":                       {k, nil, 31, 739, -1, "", 820},
		"an index of zeros":              {k, make([]byte, 800), 31, 739, -1, "", 820},
		"a hole":                         {k, segtest.OffsetIndex(0, good), 12, 488, 1, "", 0},
		"an entry beyond the file":       {k, segtest.OffsetIndex(0, []segtest.Pair{{4, 94}, {8, 5000}}), 8, 330, 0, "entry 1 says offset 8 at byte 5000, which is outside the segment", 0},
		"an entry beyond the base":       {k, segtest.OffsetIndex(0, []segtest.Pair{{4, 94}, {-8, 330}}), 8, 330, -1, "outside the segment", 0},
		"behind the end":                 {k, segtest.OffsetIndex(0, good), 33, -1, 3, "", 0},
		"S09 out of order":               {append(bytes.Clone(k[408:488]), k[:94]...), nil, 1, 80, -1, "", 0},
		"S05 behind a bad checksum":      {flip(k, 317), segtest.OffsetIndex(0, good), 8, 330, 1, "", 0},
		"damage on the way is passed by": {flip(k, 173+8), nil, 8, 330, -1, "goes beyond the end", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			segtest.Write(t, dir, 0, layout.KindLog, tc.log)
			if tc.index != nil {
				segtest.Write(t, dir, 0, layout.KindIndex, tc.index)
			}
			p, err := open(t, dir).SeekOffset(tc.target, nil)
			if err != nil {
				t.Fatal(err)
			}
			if p.Found != (tc.pos >= 0) || p.Found && p.Pos != tc.pos || p.Entry != tc.entry || tc.scanned > 0 && p.Scanned != tc.scanned {
				t.Errorf("got %+v", p)
			}
			checkFaults(t, p.Faults, tc.fault)
		})
	}
}

func checkFaults(t *testing.T, got []model.Fault, want string) {
	t.Helper()
	if want == "" {
		if len(got) > 0 {
			t.Errorf("fault %+v", got[0])
		}
		return
	}
	if len(got) == 0 || !strings.Contains(got[0].What, want) {
		t.Errorf("faults %+v, want %q", got, want)
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x40
	return b
}

func TestSeekTimeCases(t *testing.T) {
	k, T := segtest.Kitchen(), segtest.T
	offsets := segtest.OffsetIndex(0, []segtest.Pair{{4, 94}, {8, 330}, {15, 488}, {29, 660}})
	for name, times := range map[string][]segtest.Pair{
		"S04 an offset inside the batch": {{T + 101, 4}, {T + 2500, 10}, {T + 5010, 27}},
		"S04 the batch's last offset":    {{T + 101, 4}, {T + 2500, 10}, {T + 5010, 29}},
		"S04 times fall":                 {{T + 101, 4}, {T + 5010, 27}, {T + 2500, 10}},
		"times that the log contradicts": {{T + 50, 4}, {T + 60, 10}, {T + 70, 27}},
		"none":                           nil,
		"as a broker writes it":          segtest.KitchenTimes(),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			segtest.Write(t, dir, 0, layout.KindLog, k)
			segtest.Write(t, dir, 0, layout.KindIndex, offsets)
			segtest.Write(t, dir, 0, layout.KindTimeIndex, segtest.TimeIndex(0, times))
			for ms, pos := range map[int64]int64{0: 0, T: 0, T + 1: 0, T + 6: 94, T + 102: 173, T + 201: 251, T + 202: 330, T + 2500: 408,
				T + 2501: 488, T + 4600: 660, T + 5010: 660, T + 5011: -1} {
				p, err := open(t, dir).SeekTime(ms, 0, nil)
				if err != nil {
					t.Fatal(err)
				}
				// T+1 lies within the first batch, T+202 between two: the batch is found by its largest timestamp.
				if p.Found != (pos >= 0) || p.Found && p.Pos != pos {
					t.Errorf("T+%d: %+v, want byte %d", ms-T, p, pos)
				}
				if name == "S04 times fall" {
					checkFaults(t, p.Faults, "times fall at entry 2")
				}
			}
		})
	}
}

func TestVerifyCases(t *testing.T) {
	k, T := segtest.Kitchen(), segtest.T
	type files struct {
		log          []byte
		index, times []segtest.Pair
		grow         int64
		upper        int64
		active       bool
		epochs       []layout.Epoch
		txns         []segtest.Txn
	}
	ok := func(change func(*files)) files {
		f := files{log: k, index: segtest.KitchenIndex(), times: segtest.KitchenTimes(), txns: []segtest.Txn{{1001, 6, 8, 9}}}
		change(&f)
		return f
	}
	for name, tc := range map[string]struct {
		in   files
		want []string
	}{
		"S01":       {ok(func(f *files) { f.epochs = []layout.Epoch{{Epoch: 0}, {Epoch: 2, Start: 30}, {Epoch: 4, Start: 33}} }), nil},
		"S03 valid": {ok(func(f *files) { f.index = []segtest.Pair{{4, 94}, {8, 330}, {15, 488}, {29, 660}} }), nil},
		"S03 says 6": {ok(func(f *files) { f.index = []segtest.Pair{{4, 94}, {6, 330}, {15, 488}, {29, 660}} }),
			[]string{"warning .index+8 index: index says 6, batch at 330 ends at 8"}},
		"first offsets, as brokers before 2.0 wrote": {ok(func(f *files) { f.index = []segtest.Pair{{3, 94}, {6, 251}, {9, 408}, {20, 660}} }), nil},
		"first offsets, then last ones":              {ok(func(f *files) { f.index = []segtest.Pair{{3, 94}, {6, 251}, {10, 408}, {29, 660}} }), nil},
		"what compaction has left":                   {ok(func(f *files) { f.index = []segtest.Pair{{4, 94}, {27, 660}} }), nil},
		"what compaction has left, of two batches":   {ok(func(f *files) { f.index = []segtest.Pair{{4, 94}, {27, 549}} }), nil},
		"not the last that compaction has left": {ok(func(f *files) { f.index = []segtest.Pair{{4, 94}, {23, 660}} }),
			[]string{"warning .index+8 index: index says 23, batch at 660 ends at 29"}},
		"a first offset behind last ones": {ok(func(f *files) { f.index = []segtest.Pair{{3, 94}, {7, 251}, {10, 408}, {20, 660}} }),
			[]string{"warning .index+24 index: index says 20, batch at 660 ends at 29"}},
		"S03 no batch": {ok(func(f *files) { f.index = []segtest.Pair{{4, 94}, {8, 331}, {15, 488}, {29, 660}} }),
			[]string{"warning .index+8 index: no batch at 331"}},
		"S04 inside": {ok(func(f *files) { f.times = []segtest.Pair{{T + 101, 4}, {T + 2500, 10}, {T + 5010, 27}} }), nil},
		"S04 last":   {ok(func(f *files) { f.times = []segtest.Pair{{T + 101, 4}, {T + 2500, 10}, {T + 5010, 29}} }), nil},
		"S04 times fall": {ok(func(f *files) {
			f.active = true
			f.times = []segtest.Pair{{T + 101, 4}, {T + 5010, 27}, {T + 2500, 10}}
		}),
			[]string{"warning .timeindex+24 timeindex: times fall at entry 2"}},
		"S05": {ok(func(f *files) { f.log = bytes.Clone(k); f.log[317] ^= 1 }),
			[]string{"damage +251 crc: checksum is d2473122, computed 0f6e5a0f"}},
		"S06": {ok(func(f *files) { f.log = append(bytes.Clone(k), make([]byte, 4096)...) }),
			[]string{"info +893 zeros: zero tail 4,096 bytes (preallocated)"}},
		"S07": {ok(func(f *files) { f.grow = 10_485_760 }), nil},
		"S09": {ok(func(f *files) {
			f.log, f.index, f.times, f.txns = append(bytes.Clone(k[408:488]), k[:94]...), nil, []segtest.Pair{{T + 2500, 10}}, nil
		}), []string{"warning +80 order: offsets go back at byte 80: 0 follows 10"}},
		"S11 active": {ok(func(f *files) { f.log, f.active, f.index = k[:860], true, segtest.KitchenIndex()[:9] }),
			[]string{"info +820 torn: torn batch: has 40 of 73 bytes"}},
		"S11 sealed": {ok(func(f *files) { f.log, f.index = k[:860], segtest.KitchenIndex()[:9] }),
			[]string{"damage +820 torn: torn batch: has 40 of 73 bytes"}},
		"an abort that is not listed": {ok(func(f *files) { f.txns = nil }),
			[]string{"warning .txnindex+-1 txnindex: the abort at offset 8 of producer 1001 is missing"}},
		"a commit that is listed": {ok(func(f *files) { f.txns = []segtest.Txn{{1000, 3, 5, 6}, {1001, 6, 8, 9}} }),
			[]string{"warning .txnindex+0 txnindex: entry 0 says that offset 5 is an abort, it is not"}},
		"another producer": {ok(func(f *files) { f.txns = []segtest.Txn{{1003, 6, 8, 9}} }),
			[]string{"warning .txnindex+0 txnindex: entry 0 says producer 1003, the marker at 8 says 1001"}},
		"offsets of another segment": {ok(func(f *files) { f.upper = 32 }),
			[]string{"damage +820 order: offsets 32 to 32 do not belong into a segment of 0 to 31"}},
		"a leader epoch that is not in the checkpoint": {ok(func(f *files) { f.epochs = []layout.Epoch{{Epoch: 0}, {Epoch: 1, Start: 30}} }),
			[]string{"warning +739 epochs: leader epoch is 2, leader-epoch-checkpoint says 1"}},
		"a time index that ends early": {ok(func(f *files) { f.times = f.times[:4] }),
			[]string{"warning .timeindex+-1 timeindex: it ends with 1700000000250, the youngest record is of 1700000005010"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			segtest.Write(t, dir, 0, layout.KindLog, tc.in.log)
			x := segtest.Write(t, dir, 0, layout.KindIndex, segtest.OffsetIndex(0, tc.in.index))
			y := segtest.Write(t, dir, 0, layout.KindTimeIndex, segtest.TimeIndex(0, tc.in.times))
			if tc.in.grow > 0 {
				segtest.Grow(t, x, tc.in.grow)
				segtest.Grow(t, y, tc.in.grow/12*12)
			}
			if tc.in.txns != nil {
				segtest.Write(t, dir, 0, layout.KindTxnIndex, segtest.TxnIndex(tc.in.txns))
			}
			got := verify(t, open(t, dir), segment.VerifyOptions{Active: tc.in.active, Upper: tc.in.upper, Epochs: tc.in.epochs})
			if name == "S05" {
				for i := range got {
					got[i], _, _ = strings.Cut(got[i], ", computed")
				}
				tc.want[0], _, _ = strings.Cut(tc.want[0], ", computed")
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestTailCases(t *testing.T) {
	k := segtest.Kitchen()
	for name, tc := range map[string]struct {
		cut                 int
		next, end, trailing int64
		need                int64
	}{
		"whole":     {893, 33, 893, 0, 0},
		"cut":       {860, 32, 820, 40, 73},
		"head only": {832, 32, 820, 12, 73},
		"clean cut": {820, 32, 820, 0, 0},
		"no batch":  {50, 0, 0, 50, 94},
		"empty":     {0, 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := write(t, k[:tc.cut]).Tail(nil)
			if err != nil || got.Next != tc.next || got.End != tc.end || got.Trailing != tc.trailing || got.Need != tc.need {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	t.Run("goes on where it was", func(t *testing.T) {
		dir := t.TempDir()
		p := segtest.Write(t, dir, 0, layout.KindLog, k[:860])
		before, err := open(t, dir).Tail(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, k, 0o644); err != nil {
			t.Fatal(err)
		}
		after, err := open(t, dir).TailAfter(before, nil)
		if err != nil || after.Next != 33 || after.Scanned != 73 {
			t.Errorf("got %+v, %v", after, err)
		}
		if err := os.WriteFile(p, append(bytes.Clone(k[:739]), k[:500]...), 0o644); err != nil {
			t.Fatal(err)
		}
		if again, err := open(t, dir).TailAfter(after, nil); err != nil || again.Next != 30 || again.Scanned < 1000 {
			t.Errorf("a file that was written anew: %+v, %v", again, err)
		}
	})
}

// TestMappedFileIsCut truncates a file under a scan that has mapped it.
func TestMappedFileIsCut(t *testing.T) {
	dir := t.TempDir()
	log, _, _, _ := segtest.Fill(t, record.Spec{}, 4<<20, 1, 8000)
	p := segtest.Write(t, dir, 0, layout.KindLog, log)
	f := open(t, dir)
	for _, left := range []int64{1 << 20, 0} {
		s := f.Scanner(segment.ScanOptions{Headers: true, Map: true})
		for range 150 {
			if k := s.Next(); k != segment.Batch {
				t.Fatal(k)
			}
		}
		if err := os.Truncate(p, left); err != nil {
			t.Fatal(err)
		}
		k := s.Next()
		n := 0
		for ; k == segment.Batch; k = s.Next() {
			n++
		}
		if k == segment.Failed || n > 64 {
			t.Errorf("cut to %d: ended with %v after %d batches: %v", left, k, n, s.Err())
		}
		s.Close()
		if err := os.WriteFile(p, log, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFloorOfLargeIndexes holds lookups in indexes of every shape against a plain look at all entries.
func TestFloorOfLargeIndexes(t *testing.T) {
	for name, step := range map[string]func(i int64) int64{
		"even":    func(int64) int64 { return 10 },
		"dense":   func(i int64) int64 { return 1 + i/100 },
		"a leap":  func(i int64) int64 { return 1 + i/1500*1_000_000*(i%1500/1499) },
		"one end": func(i int64) int64 { return max(1, 100_000-i*100) },
	} {
		t.Run(name, func(t *testing.T) {
			var pairs, stamps []segtest.Pair
			at := int64(0)
			for i := range int64(3000) {
				at += step(i)
				pairs, stamps = append(pairs, segtest.Pair{at, (i + 1) * 4096}), append(stamps, segtest.Pair{segtest.T + at, at})
			}
			a, b := segtest.OffsetIndex(0, pairs), segtest.TimeIndex(0, stamps)
			x := segment.NewOffsetIndex(bytes.NewReader(a), int64(len(a)), 0)
			y := segment.NewTimeIndex(bytes.NewReader(b), int64(len(b)), 0)
			for i := int64(-1); i < 3000; i++ {
				o := int64(0)
				if i >= 0 {
					o = pairs[i][0]
				}
				if got, _ := x.Floor(o); got != i {
					t.Fatalf("offset %d: entry %d, want %d", o, got, i)
				}
				if got, _ := y.Floor(segtest.T + o); got != i {
					t.Fatalf("time %d: entry %d, want %d", o, got, i)
				}
			}
			if got, _ := x.Floor(1 << 40); got != 2999 {
				t.Errorf("behind the end: %d", got)
			}
		})
	}
}

// TestVerifyWhileItGrows checks what is written to meanwhile: the indexes know more than was read of the log.
func TestVerifyWhileItGrows(t *testing.T) {
	dir := segtest.Dir(t)
	p := filepath.Join(dir, layout.FileName(0, layout.KindLog))
	if err := os.Truncate(p, 549); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir)
	if err := os.WriteFile(p, segtest.Kitchen(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, f, segment.VerifyOptions{Active: true}); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

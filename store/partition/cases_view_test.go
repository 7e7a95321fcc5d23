package partition_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

var kitchenTP = model.TopicPartition{Topic: "kitchen"}

func unknownBounds() partition.ViewOptions {
	return partition.ViewOptions{LogStart: model.Unknown, HighWatermark: model.Unknown}
}

func openView(t testing.TB, dir string) *partition.View {
	t.Helper()
	v, err := partition.OpenView(dir, kitchenTP, model.Live, unknownBounds())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// logDir makes a folder that holds one .log and nothing else.
func logDir(t testing.TB, b []byte) string {
	t.Helper()
	dir := t.TempDir()
	segtest.Write(t, dir, 0, layout.KindLog, b)
	return dir
}

func page(t testing.TB, v *partition.View, q model.RecordQuery) model.RecordPage {
	t.Helper()
	p, err := v.Records(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func offsets(list []model.Record) []int64 {
	var out []int64
	for _, r := range list {
		out = append(out, r.Offset)
	}
	return out
}

// kinds of folder that all hold the kitchen segment, with and without what a broker keeps beside it.
func kitchens(t *testing.T) map[string]*partition.View {
	split := t.TempDir()
	k := segtest.Kitchen()
	segtest.Write(t, split, 0, layout.KindLog, k[:251])
	segtest.Write(t, split, 6, layout.KindLog, k[251:])
	snap := segtest.Dir(t)
	segtest.Write(t, snap, 4, layout.KindSnapshot, layout.AppendSnapshot(nil, []layout.ProducerEntry{{ProducerID: 1000, LastOffset: 3, TxnFirst: 3, CoordinatorEpoch: -1}}))
	bad := segtest.Dir(t)
	segtest.Write(t, bad, 20, layout.KindSnapshot, []byte("no snapshot"))
	return map[string]*partition.View{
		"with its indexes":      openView(t, segtest.Dir(t)),
		"the .log alone":        openView(t, logDir(t, k)),
		"S08 split at byte 251": openView(t, split),
		"with a snapshot":       openView(t, snap),
		"with a bad snapshot":   openView(t, bad),
	}
}

func TestKitchen(t *testing.T) {
	T := segtest.T
	for name, v := range kitchens(t) {
		t.Run(name, func(t *testing.T) {
			p := v.Partition()
			if p.LogStart != 0 || p.LogEnd != 33 || p.LastStable != 33 || p.HighWatermark != 33 || p.Newest != T+5010 || p.LeaderEpoch != 2 {
				t.Errorf("partition %+v", p)
			}
			all := page(t, v, model.RecordQuery{From: model.FromStart, Control: true})
			if got, want := offsets(all.Records), []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 19, 23, 27, 30, 31, 32}; !slices.Equal(got, want) {
				t.Errorf("offsets %v", got)
			}
			if !all.AtEnd || !all.AtStart || all.Next != 33 || all.Prev != 0 || len(all.Faults) > 0 {
				t.Errorf("page %+v", all)
			}
			by := map[int64]model.Record{}
			for _, r := range all.Records {
				by[r.Offset] = r
			}
			for o, want := range map[int64]string{
				0: "k0=v0", 5: "commit", 8: "abort", 9: fmt.Sprint(T + 2500), 10: fmt.Sprint(T + 2500), 16: "k0=null", 17: "null=nokey",
				18: "k1=", 19: "=x h=null h= h2=\x00\xff", 30: "r=9 epoch 2", 31: fmt.Sprint(T + 500), 32: "no-ts",
			} {
				if got := words(by[o]); !strings.Contains(got, want) {
					t.Errorf("offset %d: %q, want %q", o, got, want)
				}
			}
			if by[32].Timestamp != model.NoTime || by[30].Timestamp != T+4500 || by[9].TimestampType != model.LogAppendTime || by[30].Sequence != -1 || by[7].Sequence != 1 || by[7].ProducerID != 1001 {
				t.Errorf("records %+v", by)
			}
			for o, want := range map[int64]model.Visibility{4: model.Visible, 5: model.Visible, 6: model.Aborted, 7: model.Aborted, 8: model.Visible, 9: model.Visible} {
				if by[o].Visibility != want {
					t.Errorf("offset %d is %v", o, by[o].Visibility)
				}
			}
			if n := len(page(t, v, model.RecordQuery{From: model.FromStart}).Records); n != 18 {
				t.Errorf("%d data records", n)
			}
			committed := page(t, v, model.RecordQuery{From: model.FromStart, Committed: true})
			if got := offsets(committed.Records); len(got) != 16 || slices.Contains(got, 6) || slices.Contains(got, 7) {
				t.Errorf("committed %v", got)
			}
			if n, err := v.Count(t.Context(), model.FromStart, model.FromEnd); err != nil || n != 18 {
				t.Errorf("count %d, %v", n, err)
			}
			border := page(t, v, model.RecordQuery{From: 4, Max: 3, Control: true})
			if got := offsets(border.Records); !slices.Equal(got, []int64{4, 5, 6}) || border.Next != 7 {
				t.Errorf("across the border %v", got)
			}
			back := page(t, v, model.RecordQuery{From: 7, Max: 3, Control: true, Backward: true})
			if got := offsets(back.Records); !slices.Equal(got, []int64{4, 5, 6}) || back.Prev != 4 || back.Next != 7 {
				t.Errorf("back across the border %v", got)
			}
		})
	}
}

func words(r model.Record) string {
	null := func(b []byte) string {
		if b == nil {
			return "null"
		}
		return string(b)
	}
	s := null(r.Key) + "=" + null(r.Value)
	for _, h := range r.Headers {
		s += " " + h.Name + "=" + null(h.Value)
	}
	return fmt.Sprintf("%s epoch %d %d %s", s, r.LeaderEpoch, r.Timestamp, r.Control)
}

func TestLookupByTimeCases(t *testing.T) {
	T := segtest.T
	swapped := segtest.Dir(t)
	segtest.Write(t, swapped, 0, layout.KindTimeIndex, segtest.TimeIndex(0, []segtest.Pair{{T + 101, 4}, {T + 5010, 27}, {T + 2500, 10}}))
	segtest.Write(t, swapped, 0, layout.KindIndex, segtest.OffsetIndex(0, []segtest.Pair{{4, 94}, {6, 330}, {15, 488}, {29, 660}}))
	views := kitchens(t)
	views["S04 times fall and S03 an entry is wrong"] = openView(t, swapped)
	views["S06 a zero tail"] = openView(t, logDir(t, append(segtest.Kitchen(), make([]byte, 4096)...)))
	for name, v := range views {
		t.Run(name, func(t *testing.T) {
			for ms, want := range map[int64]int64{T + 102: 5, T + 202: 8, T + 201: 7, T + 2501: 16, T: 0, T + 1: 1, T + 6: 3, T + 2500: 9,
				T + 4600: 23, T + 5010: 27, T + 5011: 33, 0: 0} {
				r, err := v.Lookup(t.Context(), model.Target{ByTime: true, Time: ms})
				if err != nil || r.Offset != want || r.Found != (want < 33) {
					t.Errorf("T+%d: %+v, %v, want %d", ms-T, r, err, want)
				}
			}
		})
	}
}

func TestLookupTellsItsSteps(t *testing.T) {
	v := openView(t, segtest.Dir(t))
	for name, tc := range map[string]struct {
		target model.Target
		want   string
	}{
		"an offset": {model.Target{Offset: 7}, "segments: binary search over 1 base offset, 1 compared → 00000000000000000000.log\n" +
			"index: binary search over 10 entries, 4 compared → entry 2: offset 7 at byte 251\n" +
			"scan: from byte 251: 1 batch, 79 bytes → batch 6 to 7 at byte 251\n" +
			"batch: record, 2 of 2 → offset 7, 2023-11-14T22:13:20.201Z\n"},
		"a hole": {model.Target{Offset: 24}, "segments: binary search over 1 base offset, 1 compared → 00000000000000000000.log\n" +
			"index: binary search over 10 entries, 4 compared → entry 6: offset 19 at byte 549\n" +
			"scan: from byte 549: 2 batches, 190 bytes → batch 20 to 29 at byte 660\n" +
			"batch: record, 2 of 2 → offset 27, 2023-11-14T22:13:25.010Z\n"},
		"a time": {model.Target{ByTime: true, Time: segtest.T + 202}, "segments: the first of 1 with a record that young, 0 before it → 00000000000000000000.log, youngest 2023-11-14T22:13:25.010Z\n" +
			"timeindex: binary search over 8 entries, 3 compared → entry 2: nothing younger than 2023-11-14T22:13:20.201Z up to offset 7\n" +
			"index: binary search over 10 entries, 4 compared → entry 2: offset 7 at byte 251\n" +
			"scan: from byte 251: 2 batches, 157 bytes → batch 8 to 8 at byte 330\n" +
			"batch: control record, 1 of 1 → offset 8, 2023-11-14T22:13:20.250Z\n"},
		"the end": {model.Target{Offset: 33}, "range: offset 33 is not below the log end → the log ends at 33\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := v.Lookup(t.Context(), tc.target)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, s := range r.Steps {
				fmt.Fprintf(&got, "%s: %s → %s\n", s.Step, s.What, s.Value)
			}
			if got.String() != tc.want {
				t.Errorf("got\n%swant\n%s", got.String(), tc.want)
			}
		})
	}
}

func TestDamageCostsOnlyItself(t *testing.T) {
	k := segtest.Kitchen()
	bad := bytes.Clone(k)
	bad[317] ^= 1
	length := bytes.Clone(k)
	length[251+11] ^= 0x80
	base := bytes.Clone(k)
	base[251] ^= 0x40
	low := bytes.Clone(k)
	low[251+5] ^= 1
	count := bytes.Clone(k)
	binary.BigEndian.PutUint32(count[251+57:], 2_000_000_000)
	codec := bytes.Clone(k)
	codec[251+22] |= 5
	refix(codec[251:330])
	for name, tc := range map[string]struct {
		in        []byte
		offsets   []int64 // of data records
		untrusted []int64
		fault     string
	}{
		"S05 a flipped bit in a key":     {bad, kitchenData(), []int64{6, 7}, "crc at 251: checksum is d2473122, computed"},
		"a flipped bit in a length":      {length, without(kitchenData(), 6, 7), nil, "length at 251"},
		"a flipped bit in a base offset": {base, append([]int64{0, 1, 2, 3, 4, 4611686018427387910, 4611686018427387911}, kitchenData()[7:]...), []int64{4611686018427387910, 4611686018427387911}, "order at 251"},
		"a low bit in a base offset":     {low, append([]int64{0, 1, 2, 3, 4, 65542, 65543}, kitchenData()[7:]...), []int64{65542, 65543}, "order at 251"},
		"a count":                        {count, without(kitchenData(), 6, 7), nil, "crc at 251"},
		"S12 an unknown codec":           {codec, without(kitchenData(), 6, 7), nil, "codec at 272: unknown codec 5"},
		"bytes lost":                     {slices.Concat(k[:260], k[330:]), without(kitchenData(), 6, 7), nil, "length at 251"},
	} {
		t.Run(name, func(t *testing.T) {
			v := openView(t, logDir(t, tc.in))
			p := page(t, v, model.RecordQuery{From: model.FromStart})
			if got := offsets(p.Records); !slices.Equal(got, tc.offsets) {
				t.Errorf("got %v", got)
			}
			var untrusted []int64
			for _, r := range p.Records {
				if r.Untrusted {
					untrusted = append(untrusted, r.Offset)
				}
			}
			if !slices.Equal(untrusted, tc.untrusted) {
				t.Errorf("untrusted %v", untrusted)
			}
			if len(p.Faults) == 0 || !strings.HasPrefix(fmt.Sprintf("%s at %d: %s", p.Faults[0].Kind, p.Faults[0].Position, p.Faults[0].What), tc.fault) {
				t.Errorf("faults %+v", p.Faults)
			}
			// What has an impossible offset may come with more than one page.
			got := slices.DeleteFunc(readThrough(t, v), func(o int64) bool { return o > 33 })
			want := slices.DeleteFunc(slices.Clone(tc.offsets), func(o int64) bool { return o > 33 })
			if !slices.Equal(got, want) {
				t.Errorf("page by page %v", got)
			}
		})
	}
}

func kitchenData() []int64 {
	return []int64{0, 1, 2, 3, 4, 6, 7, 9, 10, 16, 17, 18, 19, 23, 27, 30, 31, 32}
}

func without(list []int64, from, to int64) []int64 {
	return slices.DeleteFunc(list, func(o int64) bool { return o >= from && o <= to })
}

// refix gives a batch the checksum that its bytes have.
func refix(b []byte) {
	_, computed := record.Checksum(b)
	binary.BigEndian.PutUint32(b[17:], computed)
}

// readThrough reads a damaged log in pages of two, and fails when it does not come to an end.
func readThrough(t *testing.T, v *partition.View) []int64 {
	t.Helper()
	var out []int64
	from := model.FromStart
	for range 1000 {
		p := page(t, v, model.RecordQuery{From: from, Max: 2})
		out = append(out, offsets(p.Records)...)
		if p.AtEnd {
			return out
		}
		from = p.Next
	}
	t.Fatal("no end")
	return nil
}

func TestOutOfOrder(t *testing.T) {
	k := segtest.Kitchen()
	v := openView(t, logDir(t, append(bytes.Clone(k[408:488]), k[:94]...)))
	if got := offsets(page(t, v, model.RecordQuery{From: model.FromStart}).Records); !slices.Equal(got, []int64{9, 10, 0, 1, 2}) {
		t.Errorf("S09: got %v", got)
	}
	if got := offsets(page(t, v, model.RecordQuery{From: 1}).Records); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("S09 from 1: got %v", got)
	}
	r, err := v.Lookup(t.Context(), model.Target{Offset: 1})
	if err != nil || r.Offset != 1 || r.Position != 80 {
		t.Errorf("S09 lookup: %+v, %v", r, err)
	}
	var faults []string
	if _, err := v.Verify(t.Context(), 0, func(e model.VerifyEvent) {
		if e.Fault != nil && e.Fault.Kind == "order" {
			faults = append(faults, e.Fault.What)
		}
	}); err != nil || !slices.Equal(faults, []string{"offsets go back at byte 80: 0 follows 10"}) {
		t.Errorf("S09 verify: %q, %v", faults, err)
	}
}

func TestCutOff(t *testing.T) {
	k := segtest.Kitchen()
	for cut, want := range map[int]struct {
		end     int64
		batches int
		torn    string
	}{
		860: {32, 10, "torn batch (has 40 of 73 bytes)"},
		832: {32, 10, "torn batch (has 12 of 73 bytes)"},
		820: {32, 10, ""},
		50:  {0, 0, "torn batch (has 50 of 94 bytes)"},
		0:   {0, 0, ""},
	} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			v := openView(t, logDir(t, k[:cut]))
			if p := v.Partition(); p.LogEnd != want.end || p.Err != nil {
				t.Errorf("partition %+v", p)
			}
			b, err := v.Batches(t.Context(), model.BatchQuery{})
			if err != nil {
				t.Fatal(err)
			}
			torn := ""
			if n := len(b.Batches); n > 0 && b.Batches[n-1].Torn {
				torn = b.Batches[n-1].Err.Error()
				b.Batches = b.Batches[:n-1]
			}
			if len(b.Batches) != want.batches || torn != want.torn || !b.Whole || b.Total != int64(want.batches) {
				t.Errorf("%d batches, %q, %+v", len(b.Batches), torn, b)
			}
			if p := page(t, v, model.RecordQuery{From: model.FromEnd, Backward: true}); !p.AtStart || len(p.Faults) > 0 {
				t.Errorf("page %+v", p)
			}
		})
	}
}

func TestEveryCodecReadsAlike(t *testing.T) {
	in := []record.Input{{Timestamp: segtest.T, Key: []byte("a"), Value: []byte("one")}, {Timestamp: segtest.T + 1, Value: bytes.Repeat([]byte("two"), 100)}}
	var log []byte
	for c := record.None; c <= record.Zstd; c++ {
		log = append(log, segtest.Batch(t, record.Spec{BaseOffset: int64(c) * 2, Codec: c}, in...)...)
	}
	v := openView(t, logDir(t, log))
	p := page(t, v, model.RecordQuery{From: 0})
	if len(p.Records) != 10 || len(p.Faults) > 0 {
		t.Fatalf("%d records, %+v", len(p.Records), p.Faults)
	}
	for i := 0; i < 10; i += 2 {
		if string(p.Records[i].Value) != "one" || len(p.Records[i+1].Value) != 300 || p.Records[i+1].Key != nil {
			t.Errorf("records %+v", p.Records[i:i+2])
		}
	}
	s, err := v.Segments(t.Context(), model.Retention{}, 0)
	if err != nil || s[0].Inflated <= s[0].Bytes || s[0].Records != model.Exactly(10) {
		t.Errorf("segment %+v, %v", s, err)
	}
}

// TestHostileBatchesCostNoMemory reads what claims to be large.
func TestHostileBatchesCostNoMemory(t *testing.T) {
	bomb := segtest.Batch(t, record.Spec{Codec: record.Gzip}, record.Input{Timestamp: segtest.T, Value: make([]byte, 100<<20)})
	length := segtest.Batch(t, record.Spec{}, record.Input{Timestamp: segtest.T})
	binary.BigEndian.PutUint32(length[8:], 0x7fffffff)
	count := segtest.Batch(t, record.Spec{}, record.Input{Timestamp: segtest.T})
	binary.BigEndian.PutUint32(count[57:], 2_000_000_000)
	refix(count)
	varint := segtest.Batch(t, record.Spec{}, record.Input{Timestamp: segtest.T, Value: bytes.Repeat([]byte{0xff}, 20)})
	copy(varint[61:], bytes.Repeat([]byte{0xff}, 11))
	refix(varint)
	key := segtest.Batch(t, record.Spec{}, record.Input{Timestamp: segtest.T, Key: []byte("k")})
	key[61+4] = 3 // -2
	refix(key)
	for name, tc := range map[string]struct {
		in   []byte
		want string
	}{
		"S13 a gzip bomb":             {bomb, "gzip records"},
		"S13 a length of 2 GiB":       {length, ""},
		"S13 a count of 2000000000":   {count, "record count"},
		"S13 a varint of 11 bytes":    {varint, "record length"},
		"S13 a key length of minus 2": {key, "key length"},
	} {
		t.Run(name, func(t *testing.T) {
			v := openView(t, logDir(t, tc.in))
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := page(t, v, model.RecordQuery{From: model.FromStart})
			b, err := v.Batches(t.Context(), model.BatchQuery{Check: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.Verify(t.Context(), model.Unknown, func(model.VerifyEvent) {}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if grown := after.HeapSys - before.HeapSys; after.HeapSys > before.HeapSys && grown > 64<<20 {
				t.Errorf("the heap has grown by %d MiB", grown>>20)
			}
			if len(p.Records) > 0 || len(b.Batches) != 1 {
				t.Errorf("%d records, %d batches", len(p.Records), len(b.Batches))
			}
			switch {
			case tc.want == "" && (!b.Batches[0].Torn || len(p.Faults) > 0):
				t.Errorf("batch %+v, faults %+v", b.Batches[0], p.Faults)
			case tc.want != "" && (len(p.Faults) != 1 || !strings.Contains(p.Faults[0].What, tc.want) || strings.Contains(p.Faults[0].What, "\n")):
				t.Errorf("faults %+v", p.Faults)
			}
		})
	}
}

func TestOldMagic(t *testing.T) {
	var log []byte
	for i := range int64(5) {
		log = append(log, message(t, i, segtest.T+i, 0, fmt.Appendf(nil, "v%d", i))...)
	}
	for name, attributes := range map[string]byte{"S14 create time": 1, "S14 append time": 1 | 8} {
		t.Run(name, func(t *testing.T) {
			var inner []byte
			for i := range int64(5) {
				inner = append(inner, message(t, i, segtest.T+10+i, 0, fmt.Appendf(nil, "w%d", i))...)
			}
			packed, err := record.Compress(nil, record.Gzip, 0, inner)
			if err != nil {
				t.Fatal(err)
			}
			v := openView(t, logDir(t, append(bytes.Clone(log), message(t, 9, segtest.T+99, attributes, packed)...)))
			for _, back := range []bool{false, true} {
				from := model.FromStart
				if back {
					from = model.FromEnd
				}
				p := page(t, v, model.RecordQuery{From: from, Backward: back})
				if got := offsets(p.Records); !slices.Equal(got, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || len(p.Faults) > 0 {
					t.Fatalf("offsets %v, %+v", got, p.Faults)
				}
				for i, r := range p.Records {
					want := segtest.T + int64(i)
					if i >= 5 {
						want = segtest.T + 5 + int64(i)
						if attributes&8 != 0 {
							want = segtest.T + 99
						}
						if r.Batch != 5 {
							t.Errorf("batch of offset %d is %d", r.Offset, r.Batch)
						}
					}
					if r.Timestamp != want {
						t.Errorf("offset %d is of T+%d, want T+%d", r.Offset, r.Timestamp-segtest.T, want-segtest.T)
					}
				}
			}
			if got := offsets(page(t, v, model.RecordQuery{From: 7, Max: 2}).Records); !slices.Equal(got, []int64{7, 8}) {
				t.Errorf("from the middle of a wrapper: %v", got)
			}
			if n, err := v.Count(t.Context(), 3, 8); err != nil || n != 5 {
				t.Errorf("count %d, %v", n, err)
			}
			if n, err := v.Count(t.Context(), model.FromStart, model.FromEnd); err != nil || n != 10 {
				t.Errorf("count of all %d, %v", n, err)
			}
			r, err := v.Lookup(t.Context(), model.Target{Offset: 6})
			if err != nil || r.Offset != 6 {
				t.Errorf("lookup %+v, %v", r, err)
			}
			b, err := v.Batches(t.Context(), model.BatchQuery{Check: true})
			if err != nil || len(b.Batches) != 6 || b.Batches[5].Base != 5 || b.Batches[5].Last != 9 || b.Batches[5].Count != 5 || !b.Batches[5].Valid {
				t.Errorf("batches %+v, %v", b, err)
			}
			sum, err := v.Verify(t.Context(), 0, func(e model.VerifyEvent) {
				if e.Fault != nil && e.Fault.Severity == model.SevDamage {
					t.Errorf("fault %+v", *e.Fault)
				}
			})
			if err != nil || sum.Records != 10 {
				t.Errorf("verify %+v, %v", sum, err)
			}
		})
	}
}

// message is an entry of magic 1 without a key.
func message(t *testing.T, offset, ms int64, attributes byte, value []byte) []byte {
	t.Helper()
	b := binary.BigEndian.AppendUint64(nil, uint64(offset))
	b = binary.BigEndian.AppendUint32(b, uint32(22+len(value)))
	b = append(b, 0, 0, 0, 0, 1, attributes)
	b = binary.BigEndian.AppendUint64(b, uint64(ms))
	b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	b = append(b, value...)
	_, computed := record.Checksum(b)
	binary.BigEndian.PutUint32(b[12:], computed)
	return b
}

func TestEpochsFile(t *testing.T) {
	for name, tc := range map[string]struct {
		in    string
		lines int
		fault string
	}{
		"S15 three lines": {"0\n3\n0 0\n2 30\n4 33\n", 3, ""},
		"S15 says nine":   {"0\n9\n0 0\n2 30\n4 33\n", 3, "says 9, has 3 lines"},
		"S15 empty":       {"", 0, ""},
		"S15 version 1":   {"1\n3\n0 0\n2 30\n4 33\n", 0, "unknown version 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := segtest.Dir(t)
			if err := os.WriteFile(filepath.Join(dir, layout.EpochsFile), []byte(tc.in), 0o644); err != nil {
				t.Fatal(err)
			}
			v := openView(t, dir)
			if len(v.Epochs()) != tc.lines {
				t.Errorf("epochs %+v", v.Epochs())
			}
			var got []string
			if _, err := v.Verify(t.Context(), model.Unknown, func(e model.VerifyEvent) {
				if e.Fault != nil && e.Fault.Kind == "epochs" && e.Fault.Severity == model.SevWarning {
					got = append(got, e.Fault.What)
				}
			}); err != nil {
				t.Fatal(err)
			}
			if tc.fault == "" && len(got) > 0 || tc.fault != "" && (len(got) == 0 || !strings.Contains(got[0], tc.fault)) {
				t.Errorf("faults %q", got)
			}
		})
	}
}

func TestIndexWrittenWithoutAnEvent(t *testing.T) {
	dir := segtest.Dir(t)
	v := openView(t, dir)
	segtest.Write(t, dir, 0, layout.KindIndex, segtest.OffsetIndex(0, segtest.KitchenIndex()[:3]))
	list, n, err := v.IndexEntries(t.Context(), 0, model.OffsetIndex, 1, 10)
	if err != nil || n != 3 || len(list) != 2 || list[1].Offset != 7 || list[1].Position != 251 {
		t.Errorf("S21: %+v of %d, %v", list, n, err)
	}
	txns, _, err := v.IndexEntries(t.Context(), 0, model.TxnIndex, 0, 10)
	if err != nil || len(txns) != 1 || txns[0].Producer != 1001 || txns[0].Last != 8 {
		t.Errorf("aborted %+v, %v", txns, err)
	}
}

func TestOddTimes(t *testing.T) {
	stamps := []int64{4102444800000, 1700000000, -1, math.MaxInt64}
	var in []record.Input
	for _, ms := range stamps {
		in = append(in, record.Input{Timestamp: ms})
	}
	v := openView(t, logDir(t, segtest.Batch(t, record.Spec{}, in...)))
	for i, r := range page(t, v, model.RecordQuery{From: 0}).Records {
		if r.Timestamp != stamps[i] {
			t.Errorf("S24: record %d is of %d", i, r.Timestamp)
		}
	}
	r, err := v.Lookup(t.Context(), model.Target{ByTime: true, Time: math.MaxInt64})
	if err != nil || r.Offset != 3 || !strings.Contains(r.Steps[len(r.Steps)-1].Value, "out of range") {
		t.Errorf("S24: %+v, %v", r, err)
	}
	s, err := v.Segments(t.Context(), model.Retention{Known: true, Delete: true, MS: 1000, Bytes: -1}, time.Now().UnixMilli())
	if err != nil || s[0].Leaves != model.NoTime {
		t.Errorf("S24: leaves at %d, %v", s[0].Leaves, err)
	}
}

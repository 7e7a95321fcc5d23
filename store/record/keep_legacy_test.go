package record

import (
	"bytes"
	"fmt"
	"testing"
)

// TestAppendKeptLegacy takes messages out of old entries: the others keep their offsets, times, keys and values, and the
// entry is a good one again.
func TestAppendKeptLegacy(t *testing.T) {
	single := message{magic: 1, offset: 104, timestamp: goldenTime, key: []byte("k")}
	for name, tc := range map[string]struct {
		entry []byte
		keep  []int64
	}{
		"magic 0 gzip":        {wrapper(t, message{magic: 0, offset: 104}, Gzip, five(0, 100)...), []int64{101, 103}},
		"magic 1 gzip":        {wrapper(t, message{magic: 1, offset: 104, timestamp: goldenTime + 4}, Gzip, five(1, 0)...), []int64{100, 102}},
		"magic 1 snappy":      {wrapper(t, message{magic: 1, offset: 104, timestamp: goldenTime + 4}, Snappy, five(1, 0)...), []int64{104}},
		"magic 1 lz4":         {wrapper(t, message{magic: 1, offset: 104, timestamp: goldenTime + 4}, Lz4, five(1, 0)...), []int64{101, 102, 103}},
		"magic 1 append time": {wrapper(t, message{magic: 1, offset: 104, timestamp: goldenTime + 99, attributes: attrLogAppendTime}, Gzip, five(1, 0)...), []int64{101}},
		"single, kept":        {appendMessage(nil, single), []int64{104}},
		"single, dropped":     {appendMessage(nil, single), nil},
		"none left":           {wrapper(t, message{magic: 1, offset: 104}, Gzip, five(1, 0)...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var r Reader
			list := func(entry []byte) (all []string) {
				if err := r.Reset(entry); err != nil {
					t.Fatal(err)
				}
				for r.Next() {
					m := r.Record()
					for _, o := range tc.keep {
						if m.Offset == o {
							all = append(all, fmt.Sprintf("%d %d %s=%q", m.Offset, m.Timestamp, m.Key, m.Value))
						}
					}
				}
				if err := r.Err(); err != nil {
					t.Fatal(err)
				}
				return all
			}
			want := list(tc.entry)
			r.Rewind()
			prefix := []byte("before")
			out, kept, err := AppendKeptLegacy(prefix, &r, func(m *Record) bool {
				for _, o := range tc.keep {
					if m.Offset == o {
						return true
					}
				}
				return false
			})
			if err != nil || kept != len(tc.keep) || !bytes.HasPrefix(out, prefix) {
				t.Fatalf("%d kept, %v", kept, err)
			}
			out = out[len(prefix):]
			if kept == 0 {
				if len(out) > 0 {
					t.Errorf("%d bytes are left of nothing", len(out))
				}
				return
			}
			if stored, computed := Checksum(out); stored != computed {
				t.Errorf("checksum is %08x, computed %08x", stored, computed)
			}
			if got := list(out); fmt.Sprint(got) != fmt.Sprint(want) || len(got) != len(tc.keep) {
				t.Errorf("left %v, want %v", got, want)
			}
			if last := r.Header().LastOffset(); last != tc.keep[len(tc.keep)-1] {
				t.Errorf("the entry ends with offset %d", last)
			}
		})
	}
}

// TestRewind walks over batches of all kinds twice.
func TestRewind(t *testing.T) {
	recs := make([]Input, 600)
	for i := range recs {
		recs[i] = Input{Timestamp: int64(i), Key: fmt.Append(nil, i)}
	}
	batches := map[string][]byte{"magic 1": wrapper(t, message{magic: 1, offset: 104}, Gzip, five(1, 0)...)}
	for _, c := range []Codec{None, Gzip, Zstd} {
		b, err := AppendBatch(nil, Spec{Codec: c}, recs)
		if err != nil {
			t.Fatal(err)
		}
		batches[c.String()] = b
	}
	for name, b := range batches {
		var r Reader
		if err := r.Reset(b); err != nil {
			t.Fatal(err)
		}
		walk := func(most int) (all []string) {
			for len(all) < most && r.Next() {
				all = append(all, fmt.Sprintf("%d %s", r.Record().Offset, r.Record().Key))
			}
			return all
		}
		walk(3) // and not to the end
		r.Rewind()
		first := walk(1000)
		r.Rewind()
		if second := walk(1000); r.Err() != nil || len(first) < 5 || fmt.Sprint(first) != fmt.Sprint(second) {
			t.Errorf("%s: %d, then %d records, %v", name, len(first), len(second), r.Err())
		}
	}
}

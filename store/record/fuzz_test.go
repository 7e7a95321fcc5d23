package record

import (
	"bytes"
	"errors"
	"regexp"
	"runtime"
	"testing"
)

// seeds are batches of every kind, whole and damaged.
func seeds(t testing.TB) (all [][]byte) {
	t.Helper()
	all = append(all, split(t, kitchen(t))...)
	for _, s := range []string{goldenOne, goldenThree, goldenSnappy, goldenLz4, goldenAbort, goldenV0, goldenV1, goldenGzipV1} {
		all = append(all, unhex(t, s))
	}
	for _, b := range brokerBatches(t) {
		if len(b.bytes) < 1500 {
			all = append(all, b.bytes)
		}
	}
	for c := Gzip; c <= Zstd; c++ {
		packed, err := Compress(nil, c, 0, twoRecords())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, withSection(c, 2, packed))
	}
	return append(all, make([]byte, 100), nil)
}

// canonical tells that varints were written in as few bytes as they need: then
// the record must come back byte for byte.
func canonical(rec *Record, raw []byte) bool { return len(AppendRecord(nil, rec)) == len(raw) }

// slowly walks the records of a v2 batch without the short way.
func slowly(r *Reader, batch []byte) (ends []int, fault error) {
	if r.Reset(batch) != nil || r.Header().Legacy() {
		return nil, nil
	}
	p := 0
	for range r.Header().Count {
		if p = r.slowRecord(r.Section(), p); p == 0 {
			break
		}
		ends = append(ends, p)
	}
	return ends, r.fault
}

// FuzzReader: no panic, no memory beyond the limit, what is decoded lies
// within the section, and encodes to the same bytes.
func FuzzReader(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := Reader{MaxInflated: 1 << 20}
		h, err := ParseHeader(b)
		if err == nil && !bytes.Equal(AppendHeader(nil, h), b[:len(AppendHeader(nil, h))]) {
			t.Fatal("the header does not come back")
		}
		Checksum(b)
		Fields(b)
		rerr := r.Reset(b)
		if rerr == nil != (r.Err() == nil) {
			t.Fatal("Reset and Err disagree")
		}
		if len(r.Section()) > max(1<<20, len(b)) {
			t.Fatalf("%d bytes inflated", len(r.Section()))
		}
		slow := Reader{MaxInflated: 1 << 20}
		ends, fault := slowly(&slow, b)
		end := 0
		for i := 0; r.Next(); i++ {
			if !r.Header().Legacy() && (i >= len(ends) || ends[i] != r.Record().Pos+r.Record().Size) {
				t.Fatalf("record %d ends at %d, but looked at closely at %v", i, r.Record().Pos+r.Record().Size, ends)
			}
			rec := r.Record()
			if rec.Pos != end || rec.Size <= 0 || rec.Pos+rec.Size > len(r.Section()) {
				t.Fatalf("record at %d+%d after %d", rec.Pos, rec.Size, end)
			}
			end = rec.Pos + rec.Size
			headers, err := rec.Headers(nil)
			if err != nil || len(headers) != int(rec.HeaderCount) {
				t.Fatalf("%d headers of %d, %v", len(headers), rec.HeaderCount, err)
			}
			raw := r.Section()[rec.Pos:end]
			if !r.Header().Legacy() && canonical(rec, raw) && !bytes.Equal(AppendRecord(nil, rec), raw) {
				t.Fatalf("record does not come back: %x", raw)
			}
		}
		if rerr == nil && !r.Header().Legacy() && fault != nil && (r.Err() == nil || fault.Error() != r.Err().Error()) {
			t.Fatalf("error %v, but looked at closely %v", r.Err(), fault)
		}
		var fe *FormatError
		if err := r.Err(); err != nil && !errors.Is(err, ErrShort) && (!errors.As(err, &fe) || fe.Field == "" || fe.Pos < 0) {
			t.Fatalf("error without a place: %v", err)
		}
		if r.Next() {
			t.Fatal("goes on after the end")
		}
	})
}

// FuzzDecompress: no panic, and never more than the limit.
func FuzzDecompress(f *testing.F) {
	for c := None; c <= Zstd; c++ {
		packed, err := Compress(nil, c, 0, bytes.Repeat(twoRecords(), 3))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(int8(c), int8(2), packed)
	}
	f.Add(int8(Snappy), int8(2), unhex(f, goldenRaw))
	f.Fuzz(func(t *testing.T, c, magic int8, src []byte) {
		const limit = 1 << 20
		out, err := Decompress(nil, Codec(c), magic, src, limit)
		if len(out) > limit || err != nil && out != nil {
			t.Fatalf("%d bytes, %v", len(out), err)
		}
	})
}

// FuzzBatch: what is written is read alike.
func FuzzBatch(f *testing.F) {
	f.Add([]byte("key"), []byte("value"), "name", []byte{0, 255}, int64(goldenTime), int64(-7), int8(1))
	f.Add([]byte{}, []byte{}, "", []byte{}, int64(-1), int64(0), int8(0))
	f.Fuzz(func(t *testing.T, key, value []byte, name string, hv []byte, ts, step int64, codec int8) {
		recs := []Input{
			{Timestamp: ts, Key: key, Value: value, Headers: []RecordHeader{{Name: name, Value: hv}, {Name: name}}},
			{Timestamp: ts + step, Key: value, Value: key},
		}
		batch, err := AppendBatch(nil, Spec{Codec: Codec(codec & codecMask), BaseOffset: step}, recs)
		if err != nil {
			if Codec(codec & codecMask).Known() {
				t.Fatal(err)
			}
			return
		}
		var r Reader
		if err := r.Reset(batch); err != nil {
			t.Fatal(err)
		}
		for i := range recs {
			if !r.Next() {
				t.Fatal(r.Err())
			}
			rec := r.Record()
			if rec.Timestamp != recs[i].Timestamp || rec.Offset != step+int64(i) ||
				!bytes.Equal(rec.Key, recs[i].Key) || (rec.Key == nil) != (recs[i].Key == nil) ||
				!bytes.Equal(rec.Value, recs[i].Value) || (rec.Value == nil) != (recs[i].Value == nil) ||
				int(rec.HeaderCount) != len(recs[i].Headers) {
				t.Fatalf("record %d is %+v, was %+v", i, rec, recs[i])
			}
		}
		if r.Next() || r.Err() != nil {
			t.Fatal("more than was written", r.Err())
		}
		if _, err := Validate(&r, batch, Limits{MaxBytes: -1}); (err == nil) != (step == 0) {
			t.Fatal(err)
		}
	})
}

// FuzzRegexp: a prefilter never hides what the regexp matches.
func FuzzRegexp(f *testing.F) {
	for _, re := range []string{`zulu-[0-9]+`, `(?i)tasks`, `a\.b.*zulu`, `red|green`, `^$`, `x{2,}y`, `\x{fffd}a`} {
		f.Add(re, []byte("a.b zulu-12 TA\xe2\x84\xaaS red xxxy \xffa"))
	}
	f.Fuzz(func(t *testing.T, expr string, text []byte) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 100 {
			return
		}
		m := NewRegexp(re)
		if want := re.Match(text); m.MatchRecord(&Record{Value: text, Key: nil}) != (want && text != nil) {
			t.Fatalf("%q on %q: want %v", expr, text, want)
		} else if want && text != nil && !m.MayContain(AppendRecord(nil, &Record{Value: text})) {
			t.Fatalf("%q hides %q", expr, text)
		}
	})
}

// TestMemoryIsBoundedByTheLimit reads hostile sizes with a small limit.
func TestMemoryIsBoundedByTheLimit(t *testing.T) {
	var before, after runtime.MemStats
	for name, batch := range map[string][]byte{
		"snappy says 4 GiB": withSection(Snappy, 1, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0}),
		"zstd says 2^60":    withSection(Zstd, 1, []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x10, 1, 0, 0}),
		"zstd window 2 GiB": withSection(Zstd, 1, []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x03, 0xff, 0xff, 1}),
		"gzip says 4 GiB": withSection(Gzip, 1, append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255},
			bytes.Repeat([]byte{255}, 50)...)),
		"lz4 blocks of 4 MiB": withSection(Lz4, 1, []byte{4, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73, 9, 0, 0, 0, 0x10, 7, 1, 0, 255, 255, 255, 255, 0}),
	} {
		r := Reader{MaxInflated: 1 << 20}
		runtime.ReadMemStats(&before)
		err := r.Reset(batch)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s is taken", name)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
			t.Errorf("%s took %d KiB", name, got>>10)
		}
	}
}

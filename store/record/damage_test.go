package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestFlippedByteIsABadChecksumOnly(t *testing.T) {
	seg := kitchen(t)
	seg[317] ^= 1
	var bad []string
	pos, offsets := 0, ""
	for _, b := range split(t, seg) {
		stored, computed := Checksum(b)
		h, err := ParseHeader(b)
		if err != nil {
			t.Fatal(err)
		}
		if stored != computed {
			bad = append(bad, fmt.Sprintf("%d %08x %d..%d", pos, stored, h.BaseOffset, h.LastOffset()))
			lines, err := walk(t, b)
			if err != nil || len(lines) != 2 || !strings.Contains(lines[0], `"b"`) {
				t.Errorf("records of the bad batch: %q, %v", lines, err)
			}
		}
		pos += len(b)
		offsets += fmt.Sprint(h.NextOffset(), " ")
	}
	if fmt.Sprint(bad) != "[251 d2473122 6..7]" {
		t.Errorf("bad batches %v", bad)
	}
	if offsets != "3 5 6 8 9 11 16 20 30 32 33 " {
		t.Errorf("next offsets %s", offsets)
	}
}

// withSection makes a batch around a records section as it stands.
func withSection(c Codec, count int32, section []byte) []byte {
	h := Header{Magic: 2, Attributes: int16(c), Count: count, LastOffsetDelta: max(count-1, 0), ProducerID: NoProducer}
	b := append(AppendHeader(nil, h), section...)
	seal(b)
	return b
}

// twoRecords is the section of a batch of two.
func twoRecords() []byte {
	s := AppendRecord(nil, &Record{Key: []byte("a"), Value: []byte("1")})
	return AppendRecord(s, &Record{OffsetDelta: 1, TimestampDelta: 5, Key: []byte("b"), Value: bytes.Repeat([]byte("2"), 99)})
}

func TestEveryCodecDecodesAlike(t *testing.T) {
	plain := twoRecords()
	pack := func(c Codec) []byte {
		out, err := Compress(nil, c, 0, plain)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	java := pack(Snappy)
	little := bytes.Clone(java)
	copy(little[8:], []byte{1, 0, 0, 0, 1, 0, 0, 0})
	twice := append(pack(Snappy), pack(Snappy)...)
	members := append(pack(Gzip), 'x')
	want, err := walk(t, withSection(None, 2, plain))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		codec   Codec
		section []byte
	}{
		"gzip":                    {Gzip, pack(Gzip)},
		"gzip with a byte behind": {Gzip, members},
		"snappy raw":              {Snappy, java[20:]},
		"snappy of Java":          {Snappy, java},
		"snappy little-endian":    {Snappy, little},
		"lz4":                     {Lz4, pack(Lz4)},
		"zstd":                    {Zstd, pack(Zstd)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := walk(t, withSection(tc.codec, 2, tc.section))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	out, err := Decompress(nil, Snappy, 2, twice, 1<<20)
	if err != nil || !bytes.Equal(out, append(bytes.Clone(plain), plain...)) {
		t.Errorf("two snappy streams in a row: %d bytes, %v", len(out), err)
	}
}

func TestUnknownCodec(t *testing.T) {
	for c := Codec(5); c <= 7; c++ {
		var r Reader
		err := r.Reset(withSection(c, 2, twoRecords()))
		if !errors.Is(err, ErrCodec) || !strings.Contains(err.Error(), c.String()+": unknown codec") {
			t.Errorf("%v: %v", c, err)
		}
		if h := r.Header(); h.Codec() != c || h.Count != 2 {
			t.Errorf("header is not shown: %+v", h)
		}
		if r.Next() || r.Err() != err {
			t.Errorf("%v: goes on after the error", c)
		}
	}
}

func TestHostileBatchesAreRefused(t *testing.T) {
	record := func(parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		return append(appendVarint(nil, int64(len(body))), body...)
	}
	v := func(n int64) []byte { return appendVarint(nil, n) }
	overlong := bytes.Repeat([]byte{0x80}, 10)
	overlong = append(overlong, 1)
	good := AppendRecord(nil, &Record{Key: []byte("k")})
	length := withSection(None, 1, good)
	binary.BigEndian.PutUint32(length[posLength:], 0x7fffffff)
	manyRecords := withSection(None, 2_000_000_000, append(good, 0))
	for name, tc := range map[string]struct {
		batch []byte
		field string // named by the error
		n     int    // records before it
	}{
		"length 0x7fffffff":     {length, "2147483659", 0},
		"two billion records":   {manyRecords, "record count at byte 57", 0},
		"count -1":              {withSection(None, -1, good), "record count at byte 57", 0},
		"varint of 11 bytes":    {withSection(None, 1, record([]byte{0}, overlong, v(0), v(-1), v(-1), v(0))), "timestamp delta at byte 63", 0},
		"length of 6 bytes":     {withSection(None, 1, append([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 1}, good...)), "record length at byte 61", 0},
		"offset over 32 bits":   {withSection(None, 1, record([]byte{0}, v(0), v(math.MaxInt32+1), v(-1), v(-1), v(0))), "offset delta at byte 64", 0},
		"key length -2":         {withSection(None, 1, record([]byte{0}, v(0), v(0), v(-2), v(-1), v(0))), "key length at byte 65: -2", 0},
		"value length -2":       {withSection(None, 1, record([]byte{0}, v(0), v(0), v(-1), v(-2), v(0))), "value length at byte 66: -2", 0},
		"key beyond the record": {withSection(None, 2, append(record([]byte{0}, v(0), v(0), v(9), v(-1), v(0)), good...)), "key length", 0},
		"header count -1":       {withSection(None, 1, record([]byte{0}, v(0), v(0), v(-1), v(-1), v(-1))), "header count", 0},
		"header count lies":     {withSection(None, 1, record([]byte{0}, v(0), v(0), v(-1), v(-1), v(1<<30))), "header count", 0},
		"null header name":      {withSection(None, 1, record([]byte{0}, v(0), v(0), v(-1), v(-1), v(1), v(-1), v(-1))), "header name", 0},
		"header value -2":       {withSection(None, 1, record([]byte{0}, v(0), v(0), v(-1), v(-1), v(1), v(0), v(-2))), "header value", 0},
		"byte behind fields":    {withSection(None, 1, record([]byte{0}, v(0), v(0), v(-1), v(-1), v(0), []byte{0})), "behind the last field", 0},
		"record length 5":       {withSection(None, 2, append(record([]byte{0}, v(0), v(0), v(-1), v(-1)), good...)), "record length", 0},
		"record length -1":      {withSection(None, 1, append(v(-1), good...)), "record length", 0},
		"record too long":       {withSection(None, 1, append(v(99), good...)), "record length at byte 61: 99", 0},
		"byte behind the last":  {withSection(None, 1, append(bytes.Clone(good), 7)), "records at byte 69", 1},
		"one record more":       {withSection(None, 1, append(bytes.Clone(good), good...)), "behind the last", 1},
		"one record less":       {withSection(None, 3, append(bytes.Clone(good), good...)), "record count", 0},
		"good, then damage":     {withSection(None, 2, append(bytes.Clone(good), record([]byte{0}, v(0), v(0), v(-2), v(-1), v(0))...)), "key length", 1},
		"zero tail":             {make([]byte, 4096), "length at byte 8: 0", 0},
		"magic 3":               {append(append(make([]byte, 11), 99, 0, 0, 0, 0, 3), make([]byte, 99)...), "magic at byte 16: 3", 0},
		"no bytes":              {nil, "not complete", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := walk(t, tc.batch)
			if err == nil || !strings.Contains(err.Error(), tc.field) {
				t.Errorf("error %v, want %q", err, tc.field)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			if len(got) != tc.n {
				t.Errorf("%d records, want %d", len(got), tc.n)
			}
		})
	}
}

// TestBombsStayOutside has 100 MB in 100 kB of gzip, and the like in others.
func TestBombsStayOutside(t *testing.T) {
	block := make([]byte, 100<<20)
	for c, size := range map[Codec]int{Gzip: len(block), Snappy: 40 << 20, Lz4: 40 << 20, Zstd: 40 << 20} {
		t.Run(c.String(), func(t *testing.T) {
			section, err := Compress(nil, c, 0, block[:size])
			if err != nil {
				t.Fatal(err)
			}
			batch := withSection(c, 10, section)
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var r Reader
			err = r.Reset(batch)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), c.String()) {
				t.Errorf("%d bytes: %v", len(batch), err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
				t.Errorf("took %d MiB", got>>20)
			}
		})
	}
}

func TestLimitIsExact(t *testing.T) {
	src := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	for c := None; c <= Zstd; c++ {
		packed, err := Compress(nil, c, 0, src)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len(src))
		if out, err := Decompress([]byte("x"), c, 2, packed, size); err != nil || string(out) != "x"+string(src) {
			t.Errorf("%v: %d bytes of %d, %v", c, len(out), size, err)
		}
		if out, err := Decompress([]byte("x"), c, 2, packed, size-1); !errors.Is(err, ErrTooLarge) || string(out) != "x" {
			t.Errorf("%v: one byte less: %d bytes, %v", c, len(out), err)
		}
	}
}

func TestGarbageInEveryCodec(t *testing.T) {
	garbage := bytes.Repeat([]byte{0x5a, 0xff, 0x00, 0x81, 0x1f}, 60)
	for c := Gzip; c <= Zstd; c++ {
		packed, err := Compress(nil, c, 0, twoRecords())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := walk(t, withSection(c, 2, garbage)); err == nil {
			t.Errorf("%v takes garbage", c)
		}
		for cut := range packed {
			if _, err := walk(t, withSection(c, 2, packed[:cut])); err == nil {
				t.Errorf("%v takes %d of %d bytes", c, cut, len(packed))
			}
		}
	}
}

func TestOddTimesDoNotOverflow(t *testing.T) {
	times := []int64{4102444800000, 1700000000, -1, math.MaxInt64}
	var recs []Input
	for _, ts := range times {
		recs = append(recs, Input{Timestamp: ts})
	}
	batch, err := AppendBatch(nil, Spec{}, recs)
	if err != nil {
		t.Fatal(err)
	}
	var r Reader
	if err := r.Reset(batch); err != nil {
		t.Fatal(err)
	}
	for _, want := range times {
		if !r.Next() || r.Record().Timestamp != want {
			t.Errorf("%d, want %d (%v)", r.Record().Timestamp, want, r.Err())
		}
	}
	notes := ""
	for _, f := range Fields(batch) {
		if strings.HasSuffix(f.Name, "timestamp delta") {
			notes += f.Note + "; "
		}
	}
	if notes != "2100-01-01T00:00:00.000Z; 1970-01-20T16:13:20.000Z; none; out of range; " {
		t.Error(notes)
	}
}

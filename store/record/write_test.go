package record

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestEditsInPlace(t *testing.T) {
	batch := plainBatch(t, Spec{})
	h, _ := ParseHeader(batch)
	good := func(what string) {
		t.Helper()
		if stored, computed := Checksum(batch); stored != computed {
			t.Errorf("%s breaks the CRC", what)
		}
	}
	check := func(what string, want Header) {
		t.Helper()
		got, err := ParseHeader(batch)
		want.CRC = got.CRC
		if err != nil || got != want {
			t.Errorf("%s: %+v, want %+v (%v)", what, got, want, err)
		}
		good(what)
	}
	SetBaseOffset(batch, 1<<40)
	h.BaseOffset = 1 << 40
	check("base offset", h)
	SetLeaderEpoch(batch, 77)
	h.LeaderEpoch = 77
	check("leader epoch", h)
	SetMaxTimestamp(batch, 123)
	h.MaxTimestamp = 123
	check("max timestamp", h)
	SetLogAppendTime(batch, 456)
	h.MaxTimestamp, h.Attributes = 456, attrLogAppendTime
	check("append time", h)
	lines, err := walk(t, batch)
	if err != nil || !strings.HasPrefix(lines[0], "1099511627776 456 ") {
		t.Errorf("records after setting the append time: %q, %v", lines, err)
	}
	SetCreateTime(batch, 30)
	h.MaxTimestamp, h.Attributes = 30, 0
	check("create time", h)
}

func TestSequencesWrap(t *testing.T) {
	for name, tc := range map[string]struct{ base, delta, want int32 }{
		"plain":      {5, 3, 8},
		"at the end": {math.MaxInt32 - 2, 2, math.MaxInt32},
		"wraps to 0": {math.MaxInt32, 1, 0},
		"beyond":     {math.MaxInt32 - 1, 5, 3},
		"none":       {-1, 3, -1},
	} {
		t.Run(name, func(t *testing.T) {
			h := Header{Magic: 2, ProducerID: 0, BaseSequence: tc.base, LastOffsetDelta: tc.delta}
			if got := h.LastSequence(); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
	if h := (Header{ProducerID: NoProducer, BaseSequence: 0}); h.LastSequence() != NoSequence {
		t.Error("a base sequence of 0 without a producer is taken for one")
	}
}

func TestSpecs(t *testing.T) {
	for name, tc := range map[string]struct {
		spec Spec
		recs []Input
		want Header // without length and CRC
		err  bool
	}{
		"zero value": {Spec{}, []Input{{Timestamp: 7}},
			Header{BaseTimestamp: 7, MaxTimestamp: 7, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 1}, false},
		"producer 0": {Spec{HasProducer: true}, []Input{{}},
			Header{Count: 1}, false},
		"producer 9": {Spec{ProducerID: 9, ProducerEpoch: 1, BaseSequence: 4, Transactional: true}, []Input{{}},
			Header{Attributes: attrTransactional, ProducerID: 9, ProducerEpoch: 1, BaseSequence: 4, Count: 1}, false},
		"append time": {Spec{LogAppendTime: true, AppendTime: 50, ProducerID: NoProducer}, []Input{{Timestamp: 1}, {Timestamp: 2}},
			Header{Attributes: attrLogAppendTime, LastOffsetDelta: 1, BaseTimestamp: 1, MaxTimestamp: 50,
				ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 2}, false},
		"emptied": {Spec{Sparse: true, LastOffsetDelta: 9}, nil,
			Header{LastOffsetDelta: 9, BaseTimestamp: -1, MaxTimestamp: -1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1}, false},
		"horizon": {Spec{HasHorizon: true, DeleteHorizon: 999}, []Input{{Timestamp: 5}},
			Header{Attributes: attrDeleteHorizon, BaseTimestamp: 999, MaxTimestamp: 5,
				ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 1}, false},
		"no records":    {Spec{}, nil, Header{}, true},
		"unknown codec": {Spec{Codec: 5}, []Input{{}}, Header{}, true},
		"gzip level 10": {Spec{Codec: Gzip, Level: 10}, []Input{{}}, Header{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			batch, err := AppendBatch(nil, tc.spec, tc.recs)
			if tc.err {
				if err == nil || batch != nil {
					t.Errorf("%d bytes, %v", len(batch), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseHeader(batch)
			tc.want.Magic, tc.want.Length, tc.want.CRC = 2, got.Length, got.CRC
			if err != nil || got != tc.want || got.Size() != int64(len(batch)) {
				t.Errorf("got  %+v\nwant %+v (%v)", got, tc.want, err)
			}
			lines, err := walk(t, batch)
			if err != nil || len(lines) != len(tc.recs) {
				t.Errorf("%q, %v", lines, err)
			}
			if len(tc.recs) > 0 && !tc.spec.LogAppendTime && !strings.HasPrefix(lines[0], fmt.Sprint(0, " ", tc.recs[0].Timestamp)) {
				t.Errorf("first record %q", lines[0])
			}
		})
	}
}

func TestLevels(t *testing.T) {
	src := bytes.Repeat([]byte("some text that can be pressed. "), 5000)
	for c := None; c <= Zstd; c++ {
		for _, level := range []int{0, 1, 3, 9} {
			out, err := Compress([]byte("x"), c, level, src)
			if err != nil {
				t.Fatalf("%v at %d: %v", c, level, err)
			}
			if c != None && len(out) > len(src)/4 {
				t.Errorf("%v at %d: %d bytes", c, level, len(out))
			}
			if back, err := Decompress(nil, c, 2, out[1:], 1<<20); err != nil || !bytes.Equal(back, src) {
				t.Errorf("%v at %d does not come back: %v", c, level, err)
			}
		}
	}
	for _, bad := range []struct {
		c     Codec
		level int
	}{{Gzip, 10}, {Gzip, -1}, {Lz4, 18}, {Zstd, 23}, {Codec(6), 0}} {
		if _, err := Compress(nil, bad.c, bad.level, src); err == nil {
			t.Errorf("%v takes level %d", bad.c, bad.level)
		}
	}
	for c := None; c <= Zstd; c++ {
		for _, n := range []int{0, 1, 32 << 10, 64<<10 + 1} {
			noise := bytes.Clone(src[:n])
			for i := range noise {
				noise[i] = byte(i * i >> 3 * 7)
			}
			out, err := Compress(nil, c, 0, noise)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := Decompress(nil, c, 2, out, 1<<20); err != nil || !bytes.Equal(back, noise) {
				t.Errorf("%d bytes of %v do not come back: %v", n, c, err)
			}
		}
	}
}

func TestParseCodec(t *testing.T) {
	for c := None; c <= Zstd; c++ {
		if got, err := ParseCodec(strings.ToUpper(c.String())); got != c || err != nil {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	if c, err := ParseCodec("uncompressed"); c != None || err != nil {
		t.Error(c, err)
	}
	if _, err := ParseCodec("brotli"); !errors.Is(err, ErrCodec) {
		t.Error(err)
	}
}

func TestCompactedBatchKeepsItsPlace(t *testing.T) {
	recs := []Input{{Timestamp: 100, Key: []byte("a"), Headers: []RecordHeader{{Name: "h"}}},
		{Timestamp: 300, Key: []byte("b")}, {Timestamp: 200, Key: []byte("c"), Value: []byte("v")}}
	for c := None; c <= Zstd; c++ {
		t.Run(c.String(), func(t *testing.T) {
			batch := plainBatch(t, Spec{BaseOffset: 40, LeaderEpoch: 3, Codec: c, ProducerID: 8, BaseSequence: 2}, recs...)
			var r Reader
			if err := r.Reset(batch); err != nil {
				t.Fatal(err)
			}
			out, n, err := AppendKept([]byte("x"), &r, Kept{HasHorizon: true, DeleteHorizon: 5000},
				func(rec *Record) bool { return string(rec.Key) != "b" })
			if err != nil || n != 2 {
				t.Fatalf("%d kept, %v", n, err)
			}
			lines, err := walk(t, out[1:])
			if want := `[40 100 "a"=nil h:nil 42 200 "c"="v"]`; err != nil || fmt.Sprint(lines) != want {
				t.Errorf("%v, want %s (%v)", lines, want, err)
			}
			h, err := ParseHeader(out[1:])
			if ms, ok := h.DeleteHorizon(); err != nil || !ok || ms != 5000 || h.LastOffset() != 42 || h.MaxTimestamp != 200 ||
				h.LastSequence() != 4 || h.LeaderEpoch != 3 || h.Codec() != c || h.Count != 2 {
				t.Errorf("header %+v, %v", h, err)
			}
			if stored, computed := Checksum(out[1:]); stored != computed {
				t.Errorf("CRC %08x, computed %08x", stored, computed)
			}
		})
	}
}

package record

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kitchen is the segment of 893 bytes that has one batch of every kind.
func kitchen(t testing.TB) []byte {
	t.Helper()
	return unhexFile(t, "kitchen.hex")
}

func unhexFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return unhex(t, string(bytes.TrimSpace(text)))
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// split cuts a segment into its batches.
func split(t testing.TB, seg []byte) (batches [][]byte) {
	t.Helper()
	for len(seg) > 0 {
		size, _, err := PeekSize(seg)
		if err != nil {
			t.Fatalf("batch %d: %v", len(batches), err)
		}
		batches = append(batches, seg[:size:size])
		seg = seg[size:]
	}
	return batches
}

func TestKitchenBatches(t *testing.T) {
	wantLen := []int{94, 79, 78, 79, 78, 80, 61, 111, 79, 81, 73}
	wantCRC := []uint32{0x6bc46be7, 0xd6264e27, 0x3f47f5b8, 0xd2473122, 0x4cdb4fdd, 0xf9c7e806,
		0x30859394, 0x7bd838e4, 0x9260ffda, 0xc542a671, 0x5b27ba8c}
	batches := split(t, kitchen(t))
	if len(batches) != len(wantLen) {
		t.Fatalf("%d batches, want %d", len(batches), len(wantLen))
	}
	var r Reader
	records := 0
	for i, b := range batches {
		stored, computed := Checksum(b)
		if len(b) != wantLen[i] || stored != wantCRC[i] || computed != stored {
			t.Errorf("batch %d: %d bytes, CRC %08x, computed %08x", i, len(b), stored, computed)
		}
		if err := r.Reset(b); err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			records++
		}
		if r.Err() != nil {
			t.Errorf("batch %d: %v", i, r.Err())
		}
		if got := AppendHeader(nil, r.Header()); !bytes.Equal(got, b[:HeaderSize]) {
			t.Errorf("batch %d: header does not come back", i)
		}
	}
	if records != 20 {
		t.Errorf("%d records, want 20", records)
	}
}

func TestKitchenRecords(t *testing.T) {
	const T = goldenTime
	want := []string{
		fmt.Sprint(0, " ", T, ` "k0"="v0"`),
		fmt.Sprint(1, " ", T+5, ` "k1"="v1"`),
		fmt.Sprint(2, " ", T+3, ` "k2"="v2"`),
		fmt.Sprint(3, " ", T+100, ` "a"="1"`),
		fmt.Sprint(4, " ", T+101, ` "b"="2"`),
		fmt.Sprint(5, " ", T+150, ` COMMIT 1000`),
		fmt.Sprint(6, " ", T+200, ` "c"="3"`),
		fmt.Sprint(7, " ", T+201, ` "d"="4"`),
		fmt.Sprint(8, " ", T+250, ` ABORT 1001`),
		fmt.Sprint(9, " ", T+2500, ` "e"="5"`),
		fmt.Sprint(10, " ", T+2500, ` "f"="6"`),
		"11..15 emptied, producer 1002",
		fmt.Sprint(16, " ", T+4000, ` "k0"=nil`),
		fmt.Sprint(17, " ", T+4000, ` nil="nokey"`),
		fmt.Sprint(18, " ", T+4000, ` "k1"=""`),
		fmt.Sprint(19, " ", T+4000, ` ""="x" h:nil h:"" h2:"\x00\xff"`),
		fmt.Sprint(23, " ", T+5000, ` "p"="7"`),
		fmt.Sprint(27, " ", T+5010, ` "q"="8"`),
		fmt.Sprint(30, " ", T+4500, ` "r"="9"`),
		fmt.Sprint(31, " ", T+500, ` "s"="10"`),
		`32 -1 nil="no-ts"`,
	}
	var got []string
	var r Reader
	for _, b := range split(t, kitchen(t)) {
		if err := r.Reset(b); err != nil {
			t.Fatal(err)
		}
		h := r.Header()
		if h.Count == 0 {
			got = append(got, fmt.Sprintf("%d..%d emptied, producer %d", h.BaseOffset, h.LastOffset(), h.ProducerID))
		}
		for r.Next() {
			rec := r.Record()
			if !h.Control() {
				got = append(got, show(t, rec))
				continue
			}
			c, err := ParseControl(rec.Key, rec.Value)
			if err != nil {
				t.Error(err)
			}
			got = append(got, fmt.Sprint(rec.Offset, " ", rec.Timestamp, " ", c.Type, " ", h.ProducerID))
		}
		if want := map[bool]int32{false: 0, true: 2}[h.BaseOffset >= 30]; h.LeaderEpoch != want {
			t.Errorf("batch %d: leader epoch %d", h.BaseOffset, h.LeaderEpoch)
		}
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("line %d\ngot  %q\nwant %q", i, got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
		}
	}
}

func TestCountAfterNext(t *testing.T) {
	for _, count := range []int{1, 2, 5, markCount - 1, markCount, markCount + 1, 2 * markCount, 2*markCount + 7} {
		recs := make([]Input, count)
		batch := plainBatch(t, Spec{}, recs...)
		var r Reader
		for taken := range count {
			if err := r.Reset(batch); err != nil {
				t.Fatal(err)
			}
			for i := range taken {
				if !r.Next() || r.Record().OffsetDelta != int32(i) {
					t.Fatalf("record %d of %d: %+v, %v", i, count, r.Record(), r.Err())
				}
			}
			if n, err := r.Count(); n != count-taken || err != nil {
				t.Fatalf("%d of %d records after %d, %v", n, count, taken, err)
			}
			if n, err := r.Count(); n != 0 || err != nil || r.Next() {
				t.Fatalf("%d more, %v", n, err)
			}
		}
	}
	cut := plainBatch(t, Spec{}, make([]Input, 40)...)
	cut[len(cut)-1] = 9 // the last header count
	var r Reader
	if err := r.Reset(cut); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Count(); n != 39 || err == nil {
		t.Errorf("%d records before damage, %v", n, err)
	}
}

func TestGiantBuffersAreLetGo(t *testing.T) {
	giant := plainBatch(t, Spec{Codec: Zstd}, Input{Value: make([]byte, 20<<20)})
	small := plainBatch(t, Spec{Codec: Zstd})
	var r Reader
	for _, b := range [][]byte{giant, small, small} {
		if err := r.Reset(b); err != nil {
			t.Fatal(err)
		}
	}
	if cap(r.buf) > keepBuffer {
		t.Errorf("%d MiB are kept", cap(r.buf)>>20)
	}
}

// TestReadingOnTakesNoNewMemory reads batches of every codec over and over by one reader.
func TestReadingOnTakesNoNewMemory(t *testing.T) {
	recs := make([]Input, 50)
	for i := range recs {
		recs[i].Value = []byte(strings.Repeat("red green blue ", 10+i%7))
	}
	for c := None; c <= Zstd; c++ {
		t.Run(c.String(), func(t *testing.T) {
			batch, err := AppendBatch(nil, Spec{Codec: c}, recs)
			if err != nil {
				t.Fatal(err)
			}
			r := new(Reader)
			read := func() {
				if err := r.Reset(batch); err != nil {
					t.Fatal(err)
				}
			}
			read()
			had := cap(r.buf)
			if got := testing.AllocsPerRun(100, read); got > 2 {
				t.Errorf("%v allocations a batch", got)
			}
			if cap(r.buf) != had {
				t.Errorf("the buffer has gone from %d to %d bytes", had, cap(r.buf))
			}
		})
	}
}

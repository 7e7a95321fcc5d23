package record

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
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

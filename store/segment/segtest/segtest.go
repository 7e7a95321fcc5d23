// Package segtest makes segments with known contents for the tests of what reads them.
package segtest

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// T is the time that the kitchen segment is dated from, ms.
const T int64 = 1700000000000

// kitchen is a segment that holds a batch of nearly every kind, as a broker accepts it: offsets 0 to 32 in 11 batches.
const kitchen = `
00000000000000000000005200000000026bc46be70000000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff00
00000314000000046b300476300014000a02046b310476310014000604046b32047632000000000000000003000000430000000002d6264e2700
10000000010000018bcfe568640000018bcfe5686500000000000003e80000000000000000000210000000026102310010000202026202320000
000000000000050000004200000000023f47f5b80030000000000000018bcfe568960000018bcfe5689600000000000003e80000ffffffff0000
00012000000008000000010c000000000000000000000000000006000000430000000002d24731220010000000010000018bcfe568c80000018b
cfe568c900000000000003e90000000000000000000210000000026302330010000202026402340000000000000000080000004200000000024c
db4fdd0030000000000000018bcfe568fa0000018bcfe568fa00000000000003e90000ffffffff000000012000000008000000000c0000000000
00000000000000000009000000440000000002f9c7e8060008000000010000018bcfe56be80000018bcfe571c4ffffffffffffffffffffffffff
ff0000000210000000026502350012009003020266023600000000000000000b000000310000000002308593940000000000040000018bcfe573
b80000018bcfe573b800000000000003ea0000000000000000000000000000000000100000006300000000027bd838e40000000000030000018b
cfe577a00000018bcfe577a0ffffffffffffffffffffffffffff0000000410000000046b30010016000002010a6e6f6b65790010000004046b31
000026000006000278060268010268000468320400ff00000000000000140000004300000000029260ffda0000000000090000018bcfe57b8800
00018bcfe57b92ffffffffffffffffffffffffffff000000021000000602700237001000140e0271023800000000000000001e00000045000000
0202c542a6710000000000010000018bcfe579940000018bcfe57994ffffffffffffffffffffffffffff000000021000000002720239001400bf
3e0202730431300000000000000000200000003d00000002025b27ba8c000000000000ffffffffffffffffffffffffffffffffffffffffffffff
ffffffffffffff0000000116000000010a6e6f2d747300`

// Kitchen returns the kitchen segment, 893 bytes.
func Kitchen() []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(kitchen, "\n", ""))
	if err != nil {
		panic(err) // a constant of this file
	}
	return b
}

// KitchenPositions are the bytes at which the batches of the kitchen segment begin.
func KitchenPositions() []int64 { return []int64{0, 94, 173, 251, 330, 408, 488, 549, 660, 739, 820} }

// Pair is an entry of an offset index (offset, position) or of a time index (ms, offset).
type Pair [2]int64

// KitchenIndex are the entries that a broker with index.interval.bytes=60 writes for the kitchen segment.
func KitchenIndex() []Pair {
	return []Pair{{4, 94}, {5, 173}, {7, 251}, {8, 330}, {10, 408}, {15, 488}, {19, 549}, {29, 660}, {31, 739}, {32, 820}}
}

// KitchenTimes are likewise those of the time index.
func KitchenTimes() []Pair {
	return []Pair{{T + 101, 4}, {T + 150, 5}, {T + 201, 7}, {T + 250, 8}, {T + 2500, 10}, {T + 3000, 15}, {T + 4000, 19}, {T + 5010, 29}}
}

// OffsetIndex encodes an offset index.
func OffsetIndex(base int64, entries []Pair) []byte {
	var b []byte
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(b, uint32(e[0]-base))
		b = binary.BigEndian.AppendUint32(b, uint32(e[1]))
	}
	return b
}

// TimeIndex encodes a time index.
func TimeIndex(base int64, entries []Pair) []byte {
	var b []byte
	for _, e := range entries {
		b = binary.BigEndian.AppendUint64(b, uint64(e[0]))
		b = binary.BigEndian.AppendUint32(b, uint32(e[1]-base))
	}
	return b
}

// Txn is an entry of an index of aborted transactions: producer, first, last, stable.
type Txn [4]int64

// TxnIndex encodes an index of aborted transactions.
func TxnIndex(entries []Txn) []byte {
	var b []byte
	for _, e := range entries {
		b = append(b, 0, 0)
		for _, v := range e {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

// Write writes one of a segment's files.
func Write(t testing.TB, dir string, base int64, kind string, b []byte) string {
	t.Helper()
	p := filepath.Join(dir, layout.FileName(base, kind))
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// Grow makes a file larger without writing: what is added is a hole.
func Grow(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// Dir returns a new folder that holds the kitchen segment with the indexes a broker makes for it.
func Dir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Write(t, dir, 0, layout.KindLog, Kitchen())
	Write(t, dir, 0, layout.KindIndex, OffsetIndex(0, KitchenIndex()))
	Write(t, dir, 0, layout.KindTimeIndex, TimeIndex(0, KitchenTimes()))
	Write(t, dir, 0, layout.KindTxnIndex, TxnIndex([]Txn{{1001, 6, 8, 9}}))
	return dir
}

// Batch encodes a batch, and stops the test when that cannot be.
func Batch(t testing.TB, s record.Spec, in ...record.Input) []byte {
	t.Helper()
	b, err := record.AppendBatch(nil, s, in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Fill returns a segment's bytes of about size bytes from offset base on, with the entries that a broker's default
// interval gives its indexes: batches of records records of value bytes each, dated T and a millisecond more each.
func Fill(t testing.TB, s record.Spec, size int64, records, value int) (log, index, times []byte, next int64) {
	t.Helper()
	base := s.BaseOffset
	var pairs, stamps []Pair
	var since int64
	for int64(len(log)) < size {
		in := make([]record.Input, records)
		for i := range in {
			in[i] = record.Input{Timestamp: T + s.BaseOffset + int64(i), Key: binary.BigEndian.AppendUint64(nil, uint64(s.BaseOffset)+uint64(i)), Value: filler(value, s.BaseOffset+int64(i))}
		}
		b := Batch(t, s, in...)
		last := s.BaseOffset + int64(records) - 1
		if since > 4096 {
			pairs, stamps = append(pairs, Pair{last, int64(len(log))}), append(stamps, Pair{T + last, last})
			since = 0
		}
		since += int64(len(b))
		log = append(log, b...)
		s.BaseOffset = last + 1
	}
	if n := len(stamps); n == 0 || stamps[n-1][1] < s.BaseOffset-1 {
		stamps = append(stamps, Pair{T + s.BaseOffset - 1, s.BaseOffset - 1})
	}
	return log, OffsetIndex(base, pairs), TimeIndex(base, stamps), s.BaseOffset
}

// filler returns n bytes that differ from record to record and compress like text made of few words.
func filler(n int, seed int64) []byte {
	const words = "orders paid item user basket amount total false true null type name "
	b := make([]byte, 0, n+16)
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	for len(b) < n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		at := int(x % uint64(len(words)-8))
		b = append(b, words[at:at+8]...)
		b = append(b, "0123456789abcdef"[x>>60], "0123456789abcdef"[x>>56&15])
	}
	return b[:n]
}

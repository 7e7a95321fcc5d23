package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// brokerBatch is a batch that a real broker wrote, with what its own client
// said of it.
type brokerBatch struct {
	name   string
	bytes  []byte
	count  int
	digest string // of all records; "-" where a client shows none
}

func brokerBatches(t testing.TB) (all []brokerBatch) {
	t.Helper()
	dir := filepath.Join("testdata", "broker")
	table, err := os.ReadFile(filepath.Join(dir, "truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSpace(row), "\t")
		b, err := os.ReadFile(filepath.Join(dir, cells[0]+".batch"))
		if err != nil {
			t.Fatal(err)
		}
		count, err := strconv.Atoi(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, brokerBatch{name: cells[0], bytes: b, count: count, digest: cells[2]})
	}
	return all
}

// digest sums up records as truth.tsv does: offset and timestamp i64; key and
// value, each after its length i32, -1 for null; header count i32; headers.
func digest(t testing.TB, r *Reader) (n int, sum string) {
	t.Helper()
	h := sha256.New()
	number := func(v int64, size int) {
		b := binary.BigEndian.AppendUint64(nil, uint64(v))
		h.Write(b[8-size:])
	}
	part := func(b []byte) {
		if b == nil {
			number(-1, 4)
			return
		}
		number(int64(len(b)), 4)
		h.Write(b)
	}
	for r.Next() {
		rec := r.Record()
		headers, err := rec.Headers(nil)
		if err != nil {
			t.Fatal(err)
		}
		number(rec.Offset, 8)
		number(rec.Timestamp, 8)
		part(rec.Key)
		part(rec.Value)
		number(int64(len(headers)), 4)
		for _, header := range headers {
			part([]byte(header.Name))
			part(header.Value)
		}
		n++
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return n, hex.EncodeToString(h.Sum(nil))
}

// rebuilt writes the batch that r was reset to anew from its decoded records.
func rebuilt(t testing.TB, r *Reader) []byte {
	t.Helper()
	out := AppendHeader(nil, r.Header())
	var section []byte
	for r.Next() {
		section = AppendRecord(section, r.Record())
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	out, err := Compress(out, r.Header().Codec(), 0, section)
	if err != nil {
		t.Fatal(err)
	}
	seal(out)
	return out
}

func TestBrokerBatches(t *testing.T) {
	for _, b := range brokerBatches(t) {
		t.Run(b.name, func(t *testing.T) {
			if stored, computed := Checksum(b.bytes); stored != computed {
				t.Errorf("CRC %08x, computed %08x", stored, computed)
			}
			var r Reader
			if err := r.Reset(b.bytes); err != nil {
				t.Fatal(err)
			}
			n, sum := digest(t, &r)
			if n != b.count {
				t.Errorf("%d records, want %d", n, b.count)
			}
			if b.digest != "-" && sum != b.digest {
				t.Errorf("records differ from what Kafka's client got")
			}
			if r.Header().Count == 0 {
				return
			}
			if err := r.Reset(b.bytes); err != nil {
				t.Fatal(err)
			}
			again := rebuilt(t, &r)
			if r.Header().Codec() == None {
				if !bytes.Equal(again, b.bytes) {
					t.Errorf("does not come back byte for byte")
				}
				return
			}
			if err := r.Reset(again); err != nil {
				t.Fatal(err)
			}
			if _, back := digest(t, &r); back != sum {
				t.Errorf("does not decode alike after being written anew")
			}
		})
	}
}

func TestKeepingAllOrNothing(t *testing.T) {
	for _, b := range brokerBatches(t) {
		t.Run(b.name, func(t *testing.T) {
			var r Reader
			if err := r.Reset(b.bytes); err != nil {
				t.Fatal(err)
			}
			h := r.Header()
			if h.Count > 0 {
				out, n, err := AppendKept(nil, &r, Kept{}, func(*Record) bool { return true })
				if err != nil || n != b.count {
					t.Fatalf("%d kept, %v", n, err)
				}
				if h.Codec() == None && !bytes.Equal(out, b.bytes) {
					t.Errorf("keeping all changes the batch")
				}
				if err := r.Reset(out); err != nil {
					t.Fatal(err)
				}
				if _, sum := digest(t, &r); b.digest != "-" && sum != b.digest {
					t.Errorf("keeping all changes the records")
				}
			}
			if err := r.Reset(b.bytes); err != nil {
				t.Fatal(err)
			}
			out, n, err := AppendKept(nil, &r, Kept{}, func(*Record) bool { return false })
			if err != nil || n != 0 || len(out) != HeaderSize {
				t.Fatalf("%d kept in %d bytes, %v", n, len(out), err)
			}
			if h.Count == 0 && !bytes.Equal(out, b.bytes) {
				t.Errorf("an emptied batch is not as the broker empties it:\n%x\n%x", out, b.bytes)
			}
			got, err := ParseHeader(out)
			if err != nil || got.LastOffset() != h.LastOffset() || got.ProducerID != h.ProducerID || got.Count != 0 {
				t.Errorf("emptied header %+v, %v", got, err)
			}
			if stored, computed := Checksum(out); stored != computed {
				t.Errorf("CRC %08x, computed %08x", stored, computed)
			}
		})
	}
}

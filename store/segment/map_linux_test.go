package segment

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

// fileMemory returns how much of mapped files the process holds, in bytes.
func fileMemory(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("RssFile:"))
	var kib int64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// TestHoppingDoesNotHoldTheFile walks 96 MiB of large batches in a mapped file.
func TestHoppingDoesNotHoldTheFile(t *testing.T) {
	batch, err := record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: segtest.T, Value: bytes.Repeat([]byte("x"), 16<<10)}})
	if err != nil {
		t.Fatal(err)
	}
	n := 96<<20/len(batch) + 1
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	if err := os.WriteFile(path, bytes.Repeat(batch, n), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before, most, seen := fileMemory(t), int64(0), 0
	s := NewScanner(f, int64(n*len(batch)), ScanOptions{Headers: true, Map: true})
	defer s.Close()
	for s.Next() == Batch {
		if seen++; seen%1000 == 0 {
			most = max(most, fileMemory(t)-before)
		}
	}
	if seen != n {
		t.Fatalf("%d batches of %d", seen, n)
	}
	if most > 40<<20 {
		t.Errorf("%d MiB of the file are held", most>>20)
	}
}

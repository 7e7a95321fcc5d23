package segment

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// disk opens files that take a number of bytes in all, and then say that there is no room.
type disk struct {
	left      int64 // bytes that may still be written; negative: any number
	noCut     bool  // truncations fail too
	mapped    bool  // files can be mapped
	truncates int
}

func (d *disk) open(path string) (AppendFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if d.mapped {
		return &mappedFile{fullFile{f, d}}, nil
	}
	return &fullFile{f, d}, nil
}

// fullFile writes what the disk has room for, and then fails.
type fullFile struct {
	*os.File
	d *disk
}

// Fd is hidden: what it would return is not what a mapping of a wrapped file needs.
func (f *fullFile) Fd(struct{}) {}

func (f *fullFile) WriteAt(b []byte, pos int64) (int, error) {
	if f.d.left < 0 {
		return f.File.WriteAt(b, pos)
	}
	room := min(f.d.left, int64(len(b)))
	n, err := f.File.WriteAt(b[:room], pos)
	f.d.left -= int64(n)
	if err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f *fullFile) Truncate(n int64) error {
	if f.d.noCut {
		return syscall.EIO
	}
	f.d.truncates++
	return f.File.Truncate(n)
}

// mappedFile can be mapped.
type mappedFile struct{ fullFile }

func (f *mappedFile) Fd() uintptr { return f.File.Fd() }

const testTime = 1700000000000

// batches makes n batches of one to three records from an offset on.
func batches(t testing.TB, first int64, n int) [][]byte {
	t.Helper()
	var all [][]byte
	for i := range n {
		var recs []record.Input
		for j := range i%3 + 1 {
			recs = append(recs, record.Input{Timestamp: testTime + int64(i*10+j), Key: fmt.Appendf(nil, "key-%d", i), Value: bytes.Repeat([]byte{'v'}, 5+i)})
		}
		b, err := record.AppendBatch(nil, record.Spec{BaseOffset: first}, recs)
		if err != nil {
			t.Fatal(err)
		}
		first += int64(len(recs))
		all = append(all, b)
	}
	return all
}

func stage(t testing.TB, s *Segment, b []byte) {
	t.Helper()
	h, err := record.ParseHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	s.Stage(h)
}

func read(t testing.TB, dir string, base int64, kind string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, layout.FileName(base, kind)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

// sameFiles compares all files of a segment in two folders.
func sameFiles(t *testing.T, base int64, got, want string) {
	t.Helper()
	for _, kind := range []string{layout.KindLog, layout.KindIndex, layout.KindTimeIndex, layout.KindTxnIndex} {
		if g, w := read(t, got, base, kind), read(t, want, base, kind); !bytes.Equal(g, w) {
			t.Errorf("%s: got %d bytes %x, want %d bytes %x", kind, len(g), g, len(w), w)
		}
	}
}

// TestIndexEntries holds the entries against those that a broker of 4.4.0 built with index.interval.bytes=60 for the
// same batch sizes: an entry comes when more than the interval was appended since the one before, never for the first
// batch, and names the batch's last offset and first byte.
func TestIndexEntries(t *testing.T) {
	dir := t.TempDir()
	s, err := Create(dir, 100, AppendOptions{IndexInterval: 200, IndexBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{161, 135, 145, 141, 135, 161, 135, 145, 141, 135, 78}
	for i, size := range sizes {
		n := 3
		if i == len(sizes)-1 {
			n = 1
		}
		stage(t, s, sized(t, size, 100+int64(i)*3, n, testTime+int64(i)*1000))
		if err := s.Commit(sized(t, size, 100+int64(i)*3, n, testTime+int64(i)*1000)); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(read(t, dir, 100, layout.KindIndex)); got != 1000 {
		t.Errorf("active index has %d bytes, want 1000", got)
	}
	if got := len(read(t, dir, 100, layout.KindTimeIndex)); got != 996 {
		t.Errorf("active time index has %d bytes, want 996", got)
	}
	if pos, ok := s.Floor(121); pos != 878 || !ok {
		t.Errorf("Floor(121) = %d, %v, want 878", pos, ok)
	}
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	want := []byte{0, 0, 0, 8, 0, 0, 1, 0x28, 0, 0, 0, 0xe, 0, 0, 2, 0x46, 0, 0, 0, 0x14, 0, 0, 3, 0x6e, 0, 0, 0, 0x1a, 0, 0, 4, 0x86, 0, 0, 0, 0x1e, 0, 0, 5, 0x9a}
	if got := read(t, dir, 100, layout.KindIndex); !bytes.Equal(got, want) {
		t.Errorf("index %x, want %x", got, want)
	}
	if got := len(read(t, dir, 100, layout.KindTimeIndex)); got != 60 {
		t.Errorf("closed time index has %d bytes, want 60", got)
	}
	if pos, ok := s.Floor(121); ok {
		t.Errorf("Floor(121) of the closed segment = %d, want none", pos)
	}
	if pos := FloorOf(dir, 100, 121); pos != 878 {
		t.Errorf("FloorOf(121) = %d, want 878", pos)
	}
}

// sized makes a batch of n records that has exactly size bytes.
func sized(t testing.TB, size int, first int64, n int, ms int64) []byte {
	t.Helper()
	for fill := 0; fill < size; fill++ {
		recs := make([]record.Input, n)
		for i := range recs {
			recs[i] = record.Input{Timestamp: ms}
		}
		recs[0].Value = make([]byte, fill)
		b, err := record.AppendBatch(nil, record.Spec{BaseOffset: first}, recs)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == size {
			return b
		}
	}
	t.Fatalf("no batch of %d records has %d bytes", n, size)
	return nil
}

// TestFullDisk lets the disk be full at every byte of a sequence of appends. What was acknowledged stays, nothing of the
// failed append does, and once there is room the appends go on, to the very files that they would have made without.
func TestFullDisk(t *testing.T) {
	o := AppendOptions{IndexInterval: 100, IndexBytes: 240}
	all := batches(t, 7, 6)
	want := t.TempDir()
	total := appendAll(t, want, all, o, &disk{left: -1})
	for _, mapped := range []bool{false, true} {
		t.Run(fmt.Sprintf("mapped=%v", mapped), func(t *testing.T) {
			got := t.TempDir()
			for left := int64(0); left < total+400; left++ {
				d := &disk{left: left, mapped: mapped}
				appendAll(t, got, all, o, d)
				sameFiles(t, 7, got, want)
				if t.Failed() {
					t.Fatalf("with room for %d bytes", left)
				}
			}
		})
	}
}

// appendAll appends one by one, the third and fourth together, and gives the disk room after the first failure. It returns
// the bytes of .log.
func appendAll(t *testing.T, dir string, all [][]byte, o AppendOptions, d *disk) int64 {
	t.Helper()
	o.OpenFile = d.open
	s, err := Create(dir, 7, o)
	if err != nil {
		t.Fatal(err)
	}
	var acked []byte
	for i := 0; i < len(all); {
		n := 1
		if i == 2 {
			n = 2
		}
		raw := bytes.Join(all[i:i+n], nil)
		for _, b := range all[i : i+n] {
			stage(t, s, b)
		}
		err := s.Commit(raw)
		if err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("append says %v, want it to wrap ENOSPC", err)
			}
			if got := read(t, dir, 7, layout.KindLog); !bytes.Equal(got, acked) {
				t.Fatalf("a failed append left %d bytes, want %d", len(got), len(acked))
			}
			d.left = -1
			continue
		}
		acked = append(acked, raw...)
		i += n
	}
	abort := AbortedTxn{Producer: 9, First: 8, Last: 9, Stable: 10}
	if err := s.AppendAbort(abort); err != nil {
		if got := read(t, dir, 7, layout.KindTxnIndex); len(got) != 0 {
			t.Fatalf("a failed entry left %d bytes", len(got))
		}
		d.left = -1
		if err := s.AppendAbort(abort); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	return int64(len(acked))
}

// TestUndoFails has the disk full and the cutting fail as well: the segment says so, refuses to go on while that is so,
// and mends itself later.
func TestUndoFails(t *testing.T) {
	dir := t.TempDir()
	d := &disk{left: -1}
	s, err := Create(dir, 7, AppendOptions{OpenFile: d.open})
	if err != nil {
		t.Fatal(err)
	}
	all := batches(t, 7, 3)
	add := func(b []byte) error {
		stage(t, s, b)
		return s.Commit(b)
	}
	if err := add(all[0]); err != nil {
		t.Fatal(err)
	}
	d.left, d.noCut = 20, true
	if err := add(all[1]); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("append says %v, want both errors", err)
	}
	if got, want := int64(len(read(t, dir, 7, layout.KindLog))), s.Size()+20; got != want {
		t.Fatalf(".log has %d bytes, want the torn ones: %d", got, want)
	}
	d.left = -1
	if err := add(all[1]); !errors.Is(err, syscall.EIO) {
		t.Fatalf("append behind torn bytes says %v, want EIO", err)
	}
	d.noCut = false
	if err := add(all[1]); err != nil {
		t.Fatal(err)
	}
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, 7, layout.KindLog); !bytes.Equal(got, bytes.Join(all[:2], nil)) {
		t.Errorf(".log has %d bytes, want the two batches", len(got))
	}
}

func TestStageRefuses(t *testing.T) {
	all := batches(t, 7, 3)
	for name, tc := range map[string]struct {
		base int64
		give []byte
	}{
		"offsets that go back":       {7, batches(t, 3, 1)[0]},
		"an offset beyond the index": {7, batches(t, 7+MaxRelative+1, 1)[0]},
		"bytes that were not staged": {7, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Create(t.TempDir(), tc.base, AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Suspend()
			raw := all[0]
			if tc.give != nil {
				stage(t, s, tc.give)
				raw = tc.give
			}
			if err := s.Commit(raw); err == nil {
				t.Fatal("no error")
			}
			stage(t, s, all[0])
			if err := s.Commit(all[0]); err != nil {
				t.Fatalf("the next append: %v", err)
			}
		})
	}
}

func TestPreallocate(t *testing.T) {
	dir := t.TempDir()
	d := &disk{left: -1}
	s, err := Create(dir, 7, AppendOptions{Preallocate: 4096, OpenFile: d.open})
	if err != nil {
		t.Fatal(err)
	}
	all := batches(t, 7, 2)
	stage(t, s, all[0])
	if err := s.Commit(all[0]); err != nil {
		t.Fatal(err)
	}
	d.left = 30
	stage(t, s, all[1])
	if err := s.Commit(all[1]); err == nil {
		t.Fatal("no error on a full disk")
	}
	got := read(t, dir, 7, layout.KindLog)
	if len(got) != 4096 || !bytes.Equal(got[:len(all[0])], all[0]) || bytes.ContainsFunc(got[len(all[0]):], func(r rune) bool { return r != 0 }) {
		t.Errorf("behind the batch there is something else than zeros up to 4096")
	}
	d.left = -1
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, 7, layout.KindLog); !bytes.Equal(got, all[0]) {
		t.Errorf("closed .log has %d bytes, want %d", len(got), len(all[0]))
	}
}

// TestFull fills an index of few entries: the segment asks to be rolled before it runs over.
func TestFull(t *testing.T) {
	for name, tc := range map[string]struct {
		bytes int64
		same  bool // all records have the same time, so that the time index stays short
		want  int
	}{
		// 60 bytes are 7 and 5 entries; the time index keeps one slot free.
		"time index":   {60, false, 4},
		"offset index": {60, true, 7},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Create(t.TempDir(), 0, AppendOptions{IndexInterval: -1, IndexBytes: tc.bytes})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Suspend()
			n := 0
			for ; !s.Full() && n < 100; n++ {
				ms := int64(testTime)
				if !tc.same {
					ms += int64(n)
				}
				b := sized(t, 100, int64(n), 1, ms)
				stage(t, s, b)
				if err := s.Commit(b); err != nil {
					t.Fatal(err)
				}
			}
			if n != tc.want+1 { // the first batch has no entry
				t.Errorf("full after %d batches, want %d", n, tc.want+1)
			}
		})
	}
}

func TestResume(t *testing.T) {
	o := AppendOptions{IndexInterval: 100, IndexBytes: 240}
	all := batches(t, 7, 9)
	dir := t.TempDir()
	s, err := Create(dir, 7, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range all {
		if i%2 == 0 {
			if err := s.Suspend(); err != nil {
				t.Fatal(err)
			}
		}
		stage(t, s, b)
		if err := s.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, 7, layout.KindLog); !bytes.Equal(got, bytes.Join(all, nil)) {
		t.Errorf(".log has %d bytes, want all batches", len(got))
	}
	again, err := OpenTail(dir, 7, o)
	if err != nil {
		t.Fatal(err)
	}
	a, b := again.cur, s.cur
	a.since, b.since = 0, 0
	if a != b {
		t.Errorf("reopened as %+v, was %+v", a, b)
	}
}

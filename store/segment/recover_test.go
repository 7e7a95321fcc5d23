package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// crashed writes the batches as a process leaves them that was killed: .log as given, indexes at their full size.
func crashed(t testing.TB, dir string, base int64, log []byte, o AppendOptions) {
	t.Helper()
	s, err := Create(dir, base, o)
	if err != nil {
		t.Fatal(err)
	}
	for pos := 0; pos < len(log); {
		h, err := record.ParseHeader(log[pos:])
		if err != nil || h.Size() > int64(len(log)-pos) {
			break
		}
		b := log[pos : pos+int(h.Size())]
		s.Stage(h)
		if err := s.Commit(b); err != nil {
			break // damaged on purpose
		}
		pos += len(b)
	}
	for _, f := range []AppendFile{s.log, s.index.f, s.times.f} { // as a process that dies
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := unmapFile(s.index.m); err != nil {
		t.Fatal(err)
	}
	if err := unmapFile(s.times.m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, layout.FileName(base, layout.KindLog)), log, 0o644); err != nil {
		t.Fatal(err)
	}
}

// closed writes the batches as a clean stop leaves them.
func closed(t testing.TB, dir string, base int64, all [][]byte, o AppendOptions) {
	t.Helper()
	s, err := Create(dir, base, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		stage(t, s, b)
		if err := s.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
}

// TestRecoverTorn cuts a log at every byte. Recovery keeps the whole batches, builds the very indexes that appending
// them had built, and says what it cut and where.
func TestRecoverTorn(t *testing.T) {
	o := AppendOptions{IndexInterval: 100, IndexBytes: 240}
	all := batches(t, 7, 6)
	log := bytes.Join(all, nil)
	want, got := t.TempDir(), t.TempDir()
	whole, end := 0, 0
	closed(t, want, 7, nil, o)
	for n := 0; n <= len(log); n++ {
		if whole < len(all) && n == end+len(all[whole]) {
			end += len(all[whole])
			whole++
			closed(t, want, 7, all[:whole], o)
		}
		crashed(t, got, 7, log[:n], o)
		r, err := Recover(got, 7, RecoverOptions{Append: o})
		if err != nil {
			t.Fatal(err)
		}
		sameFiles(t, 7, got, want)
		if r.Segment.Size() != int64(end) || r.Batches != int64(whole) || r.Sealed {
			t.Errorf("recovered %d bytes in %d batches, sealed %v", r.Segment.Size(), r.Batches, r.Sealed)
		}
		switch {
		case n == end && len(r.Cuts) != 0:
			t.Errorf("cuts %v, want none", r.Cuts)
		case n > end && (len(r.Cuts) != 1 || r.Cuts[0].Kept || r.Cuts[0].Pos != int64(end) || r.Cuts[0].Bytes != int64(n-end)):
			t.Errorf("cuts %v, want %d bytes at %d", r.Cuts, n-end, end)
		}
		if t.Failed() {
			t.Fatalf("cut at byte %d", n)
		}
	}
}

// TestRecoverFlipped flips every byte of a log past the recovery point: what lies before the batch is kept, and what
// lies from it on is cut, unless the byte lies in a field that no checksum covers.
func TestRecoverFlipped(t *testing.T) {
	all := batches(t, 7, 4)
	log := bytes.Join(all, nil)
	dir := t.TempDir()
	begin, i := 0, 0
	for n := range log {
		if n == begin+len(all[i]) {
			begin += len(all[i])
			i++
		}
		bad := bytes.Clone(log)
		bad[n] ^= 0x10
		crashed(t, dir, 7, bad, AppendOptions{})
		r, err := Recover(dir, 7, RecoverOptions{})
		if err != nil {
			t.Fatal(err)
		}
		kept := r.Segment.Size() == int64(len(log))
		field := n - begin
		unchecked := field >= 12 && field < 16 // leader epoch
		cut := r.Segment.Size() == int64(begin)
		// A base offset that went up may be what a compaction left; then it is the next batch that does not follow.
		moved := field < 8 && (kept || r.Segment.Size() == int64(begin+len(all[i])))
		if unchecked != kept && !moved || !unchecked && !moved && !cut {
			t.Errorf("byte %d (field byte %d of batch %d): %d of %d bytes kept", n, field, i, r.Segment.Size(), len(log))
		}
	}
}

// TestRecoverKeeps damages what lies below the recovery point: it stays as it is, and is told.
func TestRecoverKeeps(t *testing.T) {
	all := batches(t, 7, 5) // offsets 7, 8-9, 10-12, 13, 14-15
	log := bytes.Join(all, nil)
	second := len(all[0])
	for name, tc := range map[string]struct {
		point  int64
		damage func([]byte) []byte
		next   int64 // offset behind what is good
		sealed bool
		cuts   int
		kept   bool // the first of them
		size   int  // of .log afterwards
	}{
		"nothing":                {16, func(b []byte) []byte { return b }, 16, false, 0, false, len(log)},
		"a flipped byte":         {16, func(b []byte) []byte { b[second+70] ^= 1; return b }, 16, false, 1, true, len(log)},
		"a length gone":          {16, func(b []byte) []byte { copy(b[second+8:], []byte{0x7f, 0xff, 0xff, 0xff}); return b }, 16, false, 1, true, len(log)},
		"the end torn off":       {16, func(b []byte) []byte { return b[:len(b)-5] }, 14, true, 1, true, len(log) - 5},
		"the end zero":           {16, func(b []byte) []byte { clear(b[len(b)-len(all[4]):]); return b }, 14, true, 1, true, len(log)},
		"below kept, beyond cut": {10, func(b []byte) []byte { b[second+70] ^= 1; b[len(b)-1] ^= 1; return b }, 14, false, 2, true, len(log) - len(all[4])},
		"at the recovery point":  {8, func(b []byte) []byte { b[second+70] ^= 1; return b }, 8, false, 1, false, second},
		"unused preallocation":   {16, func(b []byte) []byte { return append(b, make([]byte, 8192)...) }, 16, false, 0, false, len(log)},
		"a few zeros at the end": {16, func(b []byte) []byte { return append(b, make([]byte, 100)...) }, 16, false, 1, false, len(log)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			crashed(t, dir, 7, tc.damage(bytes.Clone(log)), AppendOptions{})
			r, err := Recover(dir, 7, RecoverOptions{Point: tc.point})
			if err != nil {
				t.Fatal(err)
			}
			if r.Segment.Next() != tc.next || r.Sealed != tc.sealed || len(r.Cuts) != tc.cuts {
				t.Errorf("next %d, sealed %v, cuts %v; want %d, %v, %d cuts", r.Segment.Next(), r.Sealed, r.Cuts, tc.next, tc.sealed, tc.cuts)
			}
			if len(r.Cuts) > 0 {
				if c := r.Cuts[0]; c.Kept != tc.kept || c.Kept == strings.Contains(c.String(), ": cut at") {
					t.Errorf("first cut %v, want kept %v", c, tc.kept)
				}
			}
			if got := len(read(t, dir, 7, layout.KindLog)); got != tc.size {
				t.Errorf(".log has %d bytes, want %d", got, tc.size)
			}
		})
	}
}

// TestRecoverGoesOn appends behind what was recovered.
func TestRecoverGoesOn(t *testing.T) {
	o := AppendOptions{IndexInterval: 100}
	all := batches(t, 7, 6)
	want, got := t.TempDir(), t.TempDir()
	closed(t, want, 7, all, o)
	crashed(t, got, 7, bytes.Join(all[:4], nil)[:len(bytes.Join(all[:3], nil))+20], o)
	r, err := Recover(got, 7, RecoverOptions{Append: o})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all[3:] {
		stage(t, r.Segment, b)
		if err := r.Segment.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Segment.Suspend(); err != nil {
		t.Fatal(err)
	}
	if a, b := read(t, got, 7, layout.KindLog), read(t, want, 7, layout.KindLog); !bytes.Equal(a, b) {
		t.Errorf(".log has %d bytes, want %d", len(a), len(b))
	}
}

func TestOpenTail(t *testing.T) {
	o := AppendOptions{IndexInterval: 100, IndexBytes: 240}
	all := batches(t, 7, 8)
	log := bytes.Join(all, nil)
	for name, tc := range map[string]struct {
		crash   bool
		log     []byte
		size    int
		corrupt bool
	}{
		"closed":          {false, log, len(log), false},
		"index untrimmed": {true, log, len(log), false},
		"torn":            {true, log[:len(log)-3], len(log) - len(all[7]), true},
		"zeros behind":    {true, append(bytes.Clone(log), make([]byte, 500)...), len(log), false},
		"garbage behind":  {true, append(bytes.Clone(log), bytes.Repeat([]byte{1}, 500)...), len(log), true},
		"empty":           {false, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.crash {
				crashed(t, dir, 7, tc.log, o)
			} else {
				closed(t, dir, 7, all[:min(len(all), len(tc.log))], o)
			}
			s, err := OpenTail(dir, 7, o)
			var c *model.CorruptError
			if errors.As(err, &c) != tc.corrupt || err != nil && !tc.corrupt {
				t.Fatalf("error %v, want corrupt %v", err, tc.corrupt)
			}
			if s.Size() != int64(tc.size) {
				t.Errorf("size %d, want %d", s.Size(), tc.size)
			}
			if tc.corrupt && c.Pos != int64(tc.size) {
				t.Errorf("damage at byte %d, want %d", c.Pos, tc.size)
			}
		})
	}
}

func TestFloorOf(t *testing.T) {
	dir := t.TempDir()
	all := batches(t, 7, 9)
	o := AppendOptions{IndexInterval: -1}
	crashed(t, dir, 7, bytes.Join(all, nil), o)
	pos, want := int64(0), map[int64]int64{}
	for _, b := range all {
		h, err := record.ParseHeader(b)
		if err != nil {
			t.Fatal(err)
		}
		want[h.LastOffset()] = pos
		pos += h.Size()
	}
	for offset, pos := range want {
		if got := FloorOf(dir, 7, offset); got != pos {
			t.Errorf("FloorOf(%d) = %d, want %d", offset, got, pos)
		}
	}
	if got := FloorOf(t.TempDir(), 7, 9); got != 0 {
		t.Errorf("without an index: %d, want 0", got)
	}
}

// TestWalkHeaders stops at what is no whole batch.
func TestWalkHeaders(t *testing.T) {
	dir := t.TempDir()
	all := batches(t, 7, 4)
	path := filepath.Join(dir, "x")
	if err := os.WriteFile(path, bytes.Join(all, nil)[:len(bytes.Join(all[:3], nil))+30], 0o644); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := WalkHeaders(path, 0, func(record.Header, int64) bool { n++; return true }); err != nil || n != 3 {
		t.Errorf("%d batches, %v; want 3", n, err)
	}
	if end, err := EndOf(path, 7); err != nil || end != 13 {
		t.Errorf("EndOf = %d, %v; want 13", end, err)
	}
}

// FuzzRecover gives any bytes as a .log. Recovery neither panics nor leaves anything but whole batches past the recovery
// point; a second one finds nothing more to do; and the segment can be appended to.
func FuzzRecover(f *testing.F) {
	all := batches(f, 7, 4)
	log := bytes.Join(all, nil)
	f.Add(log, int64(0))
	f.Add(log[:len(log)-9], int64(8))
	f.Add(append(bytes.Clone(log), make([]byte, 300)...), int64(100))
	f.Add(bytes.Join([][]byte{all[0], []byte("what is this doing here, in the middle of a log"), all[1], all[3]}, nil), int64(9))
	f.Fuzz(func(t *testing.T, log []byte, point int64) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, layout.FileName(7, layout.KindLog)), log, 0o644); err != nil {
			t.Fatal(err)
		}
		o := RecoverOptions{Append: AppendOptions{IndexInterval: 50, IndexBytes: 4096}, Point: point}
		first, err := Recover(dir, 7, o)
		if err != nil {
			t.Fatal(err)
		}
		index, times := read(t, dir, 7, layout.KindIndex), read(t, dir, 7, layout.KindTimeIndex)
		second, err := Recover(dir, 7, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range second.Cuts {
			if !c.Kept {
				t.Errorf("the second recovery cut %v", c)
			}
		}
		s := second.Segment
		if s.Size() != first.Segment.Size() || s.Next() != first.Segment.Next() || second.Sealed != first.Sealed || second.Batches != first.Batches {
			t.Errorf("first %+v, then %+v", first, second)
		}
		if !bytes.Equal(index, read(t, dir, 7, layout.KindIndex)) || !bytes.Equal(times, read(t, dir, 7, layout.KindTimeIndex)) {
			t.Error("the second recovery built other indexes")
		}
		if second.Sealed || s.Next() > 7+MaxRelative {
			return
		}
		b := batches(t, s.Next(), 1)[0]
		stage(t, s, b)
		if err := s.Commit(b); err != nil {
			t.Fatal(err)
		}
		if err := s.Suspend(); err != nil {
			t.Fatal(err)
		}
	})
}

package groups

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// sample returns the bytes of a store with n committed offsets.
func sample(t testing.TB, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	db, err := OpenDB(path, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := New(db, &fakeLogs{}, Options{})
	var cs []model.Commit
	for i := range n {
		cs = append(cs, offset("orders", int32(i), int64(i)))
	}
	commit(t, s, "billing", cs...)
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fresh fails unless a store works and holds nothing.
func fresh(t *testing.T, db *DB) {
	t.Helper()
	s := New(db, &fakeLogs{}, Options{})
	defer s.Close()
	if gs, err := s.Groups(t.Context()); err != nil || len(gs) != 0 {
		t.Errorf("new store: groups %v, %v", gs, err)
	}
	commit(t, s, "g", offset("t", 0, 1))
	if got := offsets(t, s, "g"); got[at("t", 0)] != 1 {
		t.Errorf("new store: committed 1, reads %v", got)
	}
}

func exist() bool { return true }

func TestDamagedStoreIsMovedAside(t *testing.T) {
	whole := sample(t, 20_000)
	random := make([]byte, 8192)
	rand.Read(random)
	wiped := bytes.Clone(whole)
	clear(wiped[:8192])
	flipped := bytes.Clone(whole)
	flipRoot(flipped)
	for name, tc := range map[string]struct {
		file   []byte
		topics func() bool
		words  string
	}{
		"empty though topics exist": {nil, exist, "it is empty, though there are topics"},
		"8 KiB of random bytes":     {random, nil, "no bbolt file"},
		"cut to a quarter":          {whole[:len(whole)/4], nil, "cut"},
		"cut within the meta pages": {whole[:5000], nil, "missing"},
		"three bytes":               {whole[:3], nil, "no bbolt file"},
		"both meta pages wiped":     {wiped, nil, "no bbolt file"},
		"a key out of order":        {misplaced(whole), nil, "out of order"},
		"root page's number":        {flipped, nil, "says that it is page"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "strata.db")
			if err := os.WriteFile(path, tc.file, 0o600); err != nil {
				t.Fatal(err)
			}
			db := openAt(t, path, DBOptions{TopicsExist: tc.topics, Now: clockAt(1796025600000).now})
			aside := path + ".damaged-20261130T080000Z"
			got, err := os.ReadFile(aside)
			if err != nil || !bytes.Equal(got, tc.file) {
				t.Errorf("moved aside: %d bytes, %v; want the %d bytes there were", len(got), err, len(tc.file))
			}
			if db.ConfigsLost() != (tc.topics != nil) {
				t.Errorf("configs lost: %v", db.ConfigsLost())
			}
			if n := strings.Join(db.Notices(), "\n"); !strings.Contains(n, aside) || !strings.Contains(n, tc.words) {
				t.Errorf("notice %q does not tell %q and where it went", n, tc.words)
			}
			fresh(t, db)
		})
	}
}

// misplaced returns a store in which one key sorts behind its neighbours.
func misplaced(b []byte) []byte {
	b = bytes.Clone(b)
	first := bytes.Index(b, []byte("orders\x00\x00\x00\x05"))
	for at := first; at >= 0; { // in every page that has it, old and new
		b[at] = 'x'
		next := bytes.Index(b[at:], []byte("orders\x00\x00\x00\x05"))
		if next < 0 {
			break
		}
		at += next
	}
	return b
}

// flipRoot writes another number into the root page.
func flipRoot(b []byte) {
	m, err := readMeta(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		panic(err)
	}
	binary.NativeEndian.PutUint64(b[m.Root*uint64(m.PageSize):], 77)
}

func TestSecondDamagedStoreKeepsTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	for i := range 3 {
		if err := os.WriteFile(path, []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := OpenDB(path, DBOptions{Now: clockAt(0).now})
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
	kept, err := filepath.Glob(path + ".damaged-*")
	if err != nil || len(kept) != 3 {
		t.Errorf("kept %v, %v; want three files", kept, err)
	}
}

func TestNewStore(t *testing.T) {
	for name, tc := range map[string]struct {
		empty  bool
		topics func() bool
		notice string
	}{
		"no file":                    {false, nil, ""},
		"empty file, no topics":      {true, nil, ""},
		"no file though topics are":  {false, exist, "is new, though there are topics"},
		"empty file, topics unasked": {true, func() bool { return false }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "strata.db")
			if tc.empty {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			db := openAt(t, path, DBOptions{TopicsExist: tc.topics})
			if n := strings.Join(db.Notices(), "\n"); !strings.Contains(n, tc.notice) || (n == "") != (tc.notice == "") {
				t.Errorf("notices %q, want %q", n, tc.notice)
			}
			fresh(t, db)
		})
	}
}

func TestFileCutWithinFreePagesIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	db, err := OpenDB(path, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := New(db, &fakeLogs{}, Options{})
	var cs []model.Commit
	for i := range 5000 {
		cs = append(cs, offset("orders", int32(i), 1))
	}
	commit(t, s, "kept", offset("t", 0, 41))
	commit(t, s, "big", cs...)
	if n, err := s.ForgetTopic("orders"); n != len(cs) || err != nil {
		t.Fatalf("forgot %d, %v", n, err)
	}
	for range 3 {
		commit(t, s, "kept", offset("t", 0, 42))
	}
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	// Find the shortest file that still holds all that is held.
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readMeta(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	cut := int64(m.Pages-1) * int64(m.PageSize)
	if _, _, err := checkFile(bytes.NewReader(b[:cut]), cut); err != nil {
		t.Fatalf("the last page is in use (%v): the test needs another way to make a free one", err)
	}
	if err := os.Truncate(path, cut); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, DBOptions{TopicsExist: exist})
	if n := strings.Join(db.Notices(), "\n"); !strings.Contains(n, "shorter than it should be") {
		t.Errorf("notices %q do not say that the file is short", n)
	}
	s = New(db, &fakeLogs{}, Options{})
	defer s.Close()
	if got := offsets(t, s, "kept"); got[at("t", 0)] != 42 {
		t.Errorf("kept offsets: %v", got)
	}
	commit(t, s, "big", cs...)
}

func TestStoreOpenTwiceInOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	openAt(t, path, DBOptions{})
	_, err := OpenDB(path, DBOptions{Timeout: 30 * time.Millisecond})
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("error %v, want a HeldError", err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	if err := os.WriteFile(path, sample(t, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	db := openAt(t, path, DBOptions{})
	if n := strings.Join(db.Notices(), "\n"); !db.ReadOnly() || !strings.Contains(n, "read-only") {
		t.Errorf("read-only %v, notices %q", db.ReadOnly(), n)
	}
	readsOnly(t, db, 3)
	after, _ := os.ReadFile(path)
	if !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

// readsOnly fails unless a store shows n offsets of billing and refuses all that writes.
func readsOnly(t *testing.T, db *DB, n int) {
	t.Helper()
	s := New(db, (&fakeLogs{}).fill("orders", 3, 0, 9), Options{})
	defer s.Close()
	if got := offsets(t, s, "billing"); len(got) != n {
		t.Errorf("reads %v, want %d offsets", got, n)
	}
	wantErr(t, s.Commit(t.Context(), "g", []model.Commit{offset("t", 0, 1)}), model.ErrReadOnly)
	_, err := s.Join("g", MemberInfo{})
	wantErr(t, err, model.ErrReadOnly)
	wantErr(t, s.DeleteGroup(t.Context(), "billing"), model.ErrReadOnly)
	wantErr(t, db.TopicConfigs().Save("t", nil), model.ErrReadOnly)
	if n, err := s.Expire(time.Now()); n != 0 || err != nil {
		t.Errorf("expire: %d, %v", n, err)
	}
	if _, err := db.TopicConfigs().Load(); err != nil {
		t.Errorf("load configs: %v", err)
	}
	if _, err := s.Journal(t.Context()); err != nil {
		t.Errorf("journal: %v", err)
	}
	if n == 0 {
		return
	}
	p, err := s.PlanReset(t.Context(), model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToLatest}})
	if err != nil || !strings.Contains(p.Refused, "read-only") {
		t.Errorf("plan: refused %q, %v", p.Refused, err)
	}
	_, err = s.ApplyReset(t.Context(), p)
	wantErr(t, err, model.ErrReadOnly)
}

func TestReadOnlyAndUnusable(t *testing.T) {
	for name, file := range map[string][]byte{"damaged": []byte("this is no store"), "empty": nil} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "strata.db")
			if err := os.WriteFile(path, file, 0o444); err != nil {
				t.Fatal(err)
			}
			db := openAt(t, path, DBOptions{TopicsExist: exist})
			if n := strings.Join(db.Notices(), "\n"); !strings.Contains(n, "no offsets are known") {
				t.Errorf("notices %q", n)
			}
			readsOnly(t, db, 0)
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, file) {
				t.Errorf("the file was not left as it was: %q, %v", got, err)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		db := openAt(t, filepath.Join(t.TempDir(), "strata.db"), DBOptions{ReadOnly: true})
		readsOnly(t, db, 0)
	})
}

func TestForeignAndNewerStoresAreRefusedAndKept(t *testing.T) {
	for name, tc := range map[string]struct {
		bucket, key string
		value       []byte
		words       string
	}{
		"newer":           {schemaBucket, "version", []byte{0, 0, 0, 9}, "version 9"},
		"another program": {"widgets", "a", []byte("b"), "widgets"},
		"odd version":     {schemaBucket, "version", []byte{1}, "1 bytes long"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "strata.db")
			b, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = b.Update(func(tx *bbolt.Tx) error {
				bucket, err := tx.CreateBucket([]byte(tc.bucket))
				if err != nil {
					return err
				}
				return bucket.Put([]byte(tc.key), tc.value)
			})
			if err := errors.Join(err, b.Close()); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, err = OpenDB(path, DBOptions{})
			wantErr(t, err, ErrSchema)
			if !strings.Contains(err.Error(), tc.words) {
				t.Errorf("error %q does not say %q", err, tc.words)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			check(t, path) // and its lock is free
		})
	}
}

func TestFileCutWhileOpenIsAnErrorAndNoCrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	if err := os.WriteFile(path, sample(t, 20_000), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := OpenDB(path, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := New(db, &fakeLogs{}, Options{})
	defer s.Close()
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var corrupt *model.CorruptError
		if _, err := s.Fetch(t.Context(), "billing", nil); !errors.As(err, &corrupt) {
			t.Fatalf("error %v, want a CorruptError", err)
		}
	}
	if err := s.Commit(t.Context(), "g", []model.Commit{offset("t", 0, 1)}); err == nil {
		t.Error("a commit into a broken store was acknowledged")
	}
	// Its lock is let go of, so that it can be opened again: what is left of it is moved aside.
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, DBOptions{Timeout: time.Millisecond})
	if !db.moved {
		t.Errorf("notices %q", db.Notices())
	}
}

// TestFlippedBits flips bits of the pages' headers and elements of a small store: whatever the walk lets pass must open and
// work, or answer with errors, but never panic.
func TestFlippedBits(t *testing.T) {
	whole := sample(t, 40)
	path := filepath.Join(t.TempDir(), "strata.db")
	m, err := readMeta(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	opened, aside := 0, 0
	for page := range int64(m.Pages) {
		for b := range int64(96 * 8) {
			if b%7 != page%7 {
				continue
			}
			bad := bytes.Clone(whole)
			bad[page*int64(m.PageSize)+b/8] ^= 1 << (b % 8)
			if _, _, err := checkFile(bytes.NewReader(bad), int64(len(bad))); err != nil {
				aside++
				continue
			}
			opened++
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := OpenDB(path, DBOptions{})
			if errors.Is(err, ErrSchema) {
				continue // a bucket's name was hit
			}
			if err != nil {
				t.Fatalf("bit %d of page %d: %v", b, page, err)
			}
			s := New(db, &fakeLogs{}, Options{})
			// Damage within a key or value is found when it is read, or is a number like any other.
			_, _ = s.Fetch(t.Context(), "billing", nil)
			_ = s.Commit(t.Context(), "g", []model.Commit{offset("t", 0, 1)})
			s.Close()
			db.Close()
		}
	}
	t.Logf("of %d flipped bits %d were found before opening", opened+aside, aside)
}

// TestEveryCut cuts a store at and around every page: it is moved aside, or still holds everything.
func TestEveryCut(t *testing.T) {
	const held = 1500
	whole := sample(t, held)
	m, err := readMeta(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kept, aside := 0, 0
	for page := int64(1); page <= int64(m.Pages); page++ {
		for _, cut := range []int64{page*int64(m.PageSize) - 1, page * int64(m.PageSize)} {
			path := filepath.Join(dir, fmt.Sprintf("cut-%d.db", cut))
			if err := os.WriteFile(path, whole[:min(cut, int64(len(whole)))], 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := OpenDB(path, DBOptions{TopicsExist: exist})
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			s := New(db, &fakeLogs{}, Options{})
			switch n := len(offsets(t, s, "billing")); {
			case n == held && !db.moved:
				kept++
				commit(t, s, "billing", offset("orders", 0, 9))
			case n == 0 && db.moved && db.ConfigsLost():
				aside++
			default:
				t.Errorf("cut at %d: holds %d offsets, moved aside %v; notices %q", cut, n, db.moved, db.Notices())
			}
			if err := errors.Join(s.Close(), db.Close()); err != nil {
				t.Error(err)
			}
			check(t, path)
		}
	}
	if kept == 0 || aside == 0 {
		t.Errorf("%d kept, %d moved aside: the cuts try one way only", kept, aside)
	}
}

func TestOneDamagedMetaPageIsSaid(t *testing.T) {
	for page := range 2 {
		b := sample(t, 300)
		b[page*os.Getpagesize()+30] ^= 1
		path := filepath.Join(t.TempDir(), "strata.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := OpenDB(path, DBOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Join(db.Notices(), "\n"); db.moved || !strings.Contains(n, "the newest commits may be lost") {
			t.Errorf("meta page %d: notices %q", page, n)
		}
		s := New(db, &fakeLogs{}, Options{})
		for i := range int32(3) { // both meta pages are written anew
			commit(t, s, "g", offset("t", i, 1))
		}
		if err := errors.Join(s.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
		check(t, path)
	}
}

func TestDamagedEntryCostsItselfOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	db, err := OpenDB(path, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := New(db, &fakeLogs{}, Options{})
	commit(t, s, "hurt", offset("t", 0, 1), offset("t", 1, 2))
	commit(t, s, "whole", offset("t", 0, 3))
	err = db.put(t.Context(), []entry{
		{bucket: offsetsBucket, key: appendOffsetKey(nil, "hurt", at("t", 0)), value: []byte{9, 9}},
		{bucket: offsetsBucket, key: []byte{0xff}, value: []byte{1}},
		{bucket: groupsBucket, key: []byte("hurt"), value: []byte{1}},
		{bucket: journalBucket, key: journalKey(1), value: []byte{1, 2}},
		{bucket: configsBucket, key: []byte("orders"), value: []byte{2}},
	})
	if err := errors.Join(err, s.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, DBOptions{})
	if n := strings.Join(db.Notices(), "\n"); !strings.Contains(n, "5 entries that cannot be read") {
		t.Errorf("notices %q", n)
	}
	s = New(db, (&fakeLogs{}).fill("t", 2, 0, 10), Options{})
	defer s.Close()
	gs, err := s.Groups(t.Context())
	if err != nil || len(gs) != 2 || len(gs[0].Offsets) != 1 || !strings.Contains(gs[0].Note, "2 of its entries") || gs[1].Note != "" {
		t.Errorf("groups %+v, %v", gs, err)
	}
	if g, err := s.Group(t.Context(), "hurt"); err != nil || len(g.Offsets) != 1 || g.Note == "" {
		t.Errorf("group %+v, %v", g, err)
	}
	var corrupt *model.CorruptError
	if _, err := s.PlanReset(t.Context(), model.ResetRequest{Group: "hurt"}); !errors.As(err, &corrupt) {
		t.Errorf("a reset of what is not known whole: %v", err)
	}
	if js, err := s.Journal(t.Context()); err != nil || len(js) != 0 {
		t.Errorf("journal %+v, %v", js, err)
	}
	if _, err := db.TopicConfigs().Load(); !errors.As(err, &corrupt) {
		t.Errorf("load configs: %v", err)
	}
	// Whoever commits again mends its offset.
	commit(t, s, "hurt", offset("t", 0, 5))
}

func TestFailingDiskEndsTheStore(t *testing.T) {
	db := openDB(t, DBOptions{})
	db.bolt.Close() // the check at the end wants it closed
	err := db.guard("write", func() error { return fmt.Errorf("fdatasync: %w", syscall.EIO) })
	wantErr(t, err, syscall.EIO)
	wantErr(t, db.put(t.Context(), []entry{{bucket: configsBucket, key: []byte("k")}}), syscall.EIO)
}

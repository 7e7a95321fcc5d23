//go:build linux || darwin

package groups

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

var kills = flag.Int("kills", 6, "how many times the kill test kills its child")

// TestMain is also the entry of the children that tests start, to be killed, starved or refused.
func TestMain(m *testing.M) {
	path := os.Getenv("GROUPS_TEST_DB")
	switch os.Getenv("GROUPS_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "commit":
		childCommits(path)
	case "full":
		childFull(path)
	case "hold":
		childHolds(path)
	case "nobody":
		childNobody(path)
	}
}

// child prepares this test's program as a child that works on a store.
func child(mode, path string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "GROUPS_TEST_CHILD="+mode, "GROUPS_TEST_DB="+path)
	c.Stderr = os.Stderr
	return c
}

// must ends a child on an error.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestHeldStoreSaysByWhom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	child := child("hold", path)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for name, ro := range map[string]bool{"read-write": false, "read-only": true} {
		begin := time.Now()
		o := DBOptions{ReadOnly: ro, TopicsExist: exist}
		if ro {
			o.Timeout = 50 * time.Millisecond
		}
		_, err := OpenDB(path, o)
		var held *HeldError
		if !errors.As(err, &held) {
			t.Fatalf("%s: error %v, want a HeldError", name, err)
		}
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("%s: it took %v to say so", name, d)
		}
		if held.PID != child.Process.Pid && held.PID != 0 {
			t.Errorf("%s: holder %d, is %d", name, held.PID, child.Process.Pid)
		}
		if held.PID != 0 && !strings.Contains(err.Error(), fmt.Sprint(child.Process.Pid)) {
			t.Errorf("%s: error %q does not name the process", name, err)
		}
	}
	in.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if kept, _ := filepath.Glob(path + ".damaged-*"); kept != nil {
		t.Errorf("the held file was moved aside: %v", kept)
	}
	openAt(t, path, DBOptions{})
}

// childHolds opens the store and holds it until its input ends.
func childHolds(path string) {
	db, err := OpenDB(path, DBOptions{})
	must(err)
	fmt.Print("h")
	os.Stdin.Read(make([]byte, 1))
	db.Close()
}

// killLoad is what the child that is to be killed does: committers that count up, and one who resets a group of rows to one
// offset after another.
const (
	killCommitters = 8
	killRows       = 5
)

// childCommits commits and resets for ever, and prints a line for all that was acknowledged, after it was.
func childCommits(path string) {
	db, err := OpenDB(path, DBOptions{})
	must(err)
	s := New(db, (&fakeLogs{}).fill("t", killRows, 0, 10), Options{})
	ctx := context.Background()
	var out sync.Mutex
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Printf(format, args...)
	}
	say("open\n")
	var wg sync.WaitGroup
	for i := range killCommitters {
		group := fmt.Sprintf("g%d", i)
		wg.Go(func() {
			had, err := s.Fetch(ctx, group, nil)
			must(err)
			next := int64(0)
			if len(had) > 0 {
				next = had[0].Offset + 1
			}
			for ; ; next++ {
				must(s.Commit(ctx, group, []model.Commit{offset("t", 0, next), offset("t", 1, next)}))
				say("%s %d\n", group, next)
			}
		})
	}
	wg.Go(func() {
		for {
			st, err := s.read("reset")
			must(err)
			next := int64(0)
			if len(st.offsets) > 0 {
				next = st.offsets[0].Offset + 1
			}
			p := model.ResetPlan{Group: "reset", Where: fmt.Sprint(next)}
			for i := range int32(killRows) {
				c, _ := st.offset(at("t", i))
				p.Rows = append(p.Rows, model.PlanRow{TopicPartition: c.TopicPartition, From: c.Offset, FromEpoch: -1, To: next, LeaderEpoch: -1})
			}
			res, err := s.ApplyReset(ctx, p)
			must(err)
			say("reset %d\nentry %d\n", next, res.Journal)
		}
	})
	wg.Wait()
}

// TestKilledProcessLosesNothingAcknowledged kills a child at random, again and again on the same store: what it was told is
// stored is there, nothing is there that was never asked for, and no reset is half done.
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	acked := map[string]int64{}
	total := 0
	for range *kills {
		c := child("commit", path)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for n := rand.IntN(600); ; n-- {
			if n == 0 {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) {
				break // a line that is not whole acknowledges nothing
			}
			if err != nil {
				t.Fatal(err)
			}
			var who string
			var what int64
			if k, _ := fmt.Sscanf(line, "%s %d", &who, &what); k == 2 {
				acked[who] = what
				total++
			}
		}
		if err := c.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the child ended by itself: %v", err)
		}
		afterKill(t, path, acked)
	}
	t.Logf("%d kills, %d acknowledgements", *kills, total)
}

func afterKill(t *testing.T, path string, acked map[string]int64) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && len(acked) == 0 {
		return
	}
	db, err := OpenDB(path, DBOptions{TopicsExist: func() bool { return len(acked) > 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer check(t, path)
	defer db.Close()
	if len(db.Notices()) > 0 && len(acked) > 0 {
		t.Fatalf("notices %q", db.Notices())
	}
	s := New(db, &fakeLogs{}, Options{})
	defer s.Close()
	for i := range killCommitters {
		group := fmt.Sprintf("g%d", i)
		last, any := acked[group]
		got := offsets(t, s, group)
		a, b := got[at("t", 0)], got[at("t", 1)]
		if any && a != last && a != last+1 || a != b {
			t.Fatalf("%s: acknowledged %d (%v), stored %d and %d", group, last, any, a, b)
		}
		if len(got) > 0 {
			acked[group] = a // the child goes on from what it finds
		}
	}
	got := offsets(t, s, "reset")
	first := got[at("t", 0)]
	for i := range int32(killRows) {
		if len(got) > 0 && (got[at("t", i)] != first || len(got) != killRows) {
			t.Fatalf("a reset is half done: %v", got)
		}
	}
	if last, any := acked["reset"]; any && first != last && first != last+1 {
		t.Fatalf("reset acknowledged %d, stored %d", last, first)
	}
	entries, err := s.Journal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 && (len(entries) == 0 || entries[0].Where != fmt.Sprint(first)) {
		t.Fatalf("the offsets are at %d, the journal ends with %+v", first, entries[:min(1, len(entries))])
	}
	if len(entries) > 0 {
		acked["reset"] = first
	}
}

// childFull fills a store against a limit of the file's size, which fails writes as a full disk does, and then lifts it.
func childFull(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	db, err := OpenDB(path, DBOptions{})
	must(err)
	s := New(db, (&fakeLogs{}).fill("t", 1, 0, 10), Options{})
	ctx := context.Background()
	var was syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	st, err := os.Stat(path)
	must(err)
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(st.Size()) + 500_000, Max: was.Max}))
	failed := error(nil)
	n := 0
	for ; n < 5000; n++ {
		if failed = s.Commit(ctx, fmt.Sprintf("g%d", n), []model.Commit{{TopicPartition: at("t", 0), Offset: int64(n), Metadata: strings.Repeat("m", 4000)}}); failed != nil {
			break
		}
	}
	if failed == nil || !strings.Contains(failed.Error(), "file too large") {
		must(fmt.Errorf("after %d commits the error is %v", n, failed))
	}
	plan := model.ResetPlan{Group: "g0"}
	for i := range int32(300) {
		row := model.PlanRow{TopicPartition: at("t", i), From: model.Unknown, FromEpoch: -1, To: 7, LeaderEpoch: -1, Metadata: strings.Repeat("x", 4000)}
		if i == 0 {
			row.From, row.FromEpoch, row.FromMetadata = 0, 0, strings.Repeat("m", 4000)
		}
		plan.Rows = append(plan.Rows, row)
	}
	_, err = s.ApplyReset(ctx, plan)
	if err == nil {
		must(errors.New("a reset into a full file was said to be done"))
	}
	if errors.Is(err, model.ErrRefused) {
		must(fmt.Errorf("the reset did not come to write: %w", err))
	}
	for i := range n {
		if c, err := s.Fetch(ctx, fmt.Sprintf("g%d", i), nil); err != nil || len(c) != 1 || c[0].Offset != int64(i) {
			must(fmt.Errorf("commit %d of %d is %+v, %v", i, n, c, err))
		}
	}
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
	must(s.Commit(ctx, "again", []model.Commit{offset("t", 0, 5)}))
	must(s.Close())
	must(db.Close())
	fmt.Println(n)
}

func TestFullDiskKeepsWhatWasAcknowledgedAndGoesOnLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "strata.db")
	out, err := child("full", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if _, err := fmt.Sscan(string(out), &n); err != nil || n == 0 {
		t.Fatalf("the child says %q", out)
	}
	db := openAt(t, path, DBOptions{})
	s := New(db, &fakeLogs{}, Options{})
	defer s.Close()
	for i := range n {
		if got := offsets(t, s, fmt.Sprintf("g%d", i)); got[at("t", 0)] != int64(i) {
			t.Fatalf("commit %d of %d: stored %v", i, n, got)
		}
	}
	if got := offsets(t, s, "again"); got[at("t", 0)] != 5 {
		t.Errorf("commit after there was room: %v", got)
	}
	if entries, err := s.Journal(t.Context()); err != nil || len(entries) != 0 {
		t.Errorf("the reset that failed is in the journal: %v, %v", entries, err)
	}
}

// childNobody opens a store as a user who may not write it, and prints what there is to be said.
func childNobody(path string) {
	if os.Getuid() == 0 {
		must(syscall.Setgid(65534))
		must(syscall.Setuid(65534))
	}
	db, err := OpenDB(path, DBOptions{TopicsExist: exist})
	must(err)
	fmt.Println(db.ReadOnly(), db.Notices())
	s := New(db, &fakeLogs{}, Options{})
	had, err := s.Fetch(context.Background(), "billing", nil)
	must(err)
	fmt.Println(len(had), "offsets")
	if err := s.Commit(context.Background(), "g", []model.Commit{offset("t", 0, 1)}); !errors.Is(err, model.ErrReadOnly) {
		must(fmt.Errorf("commit: %v", err))
	}
	must(s.Close())
	must(db.Close())
}

// TestUnwritableFolder runs a child without root's rights, where the test has them to give up.
func TestUnwritableFolder(t *testing.T) {
	for name, tc := range map[string]struct {
		file  []byte
		mode  os.FileMode
		words []string
	}{
		"others' file":     {sample(t, 3), 0o644, []string{"true", "cannot be written", "3 offsets"}},
		"missing":          {nil, 0, []string{"true", "none can be made", "0 offsets"}},
		"damaged, own dir": {[]byte("no store"), 0o666, []string{"true", "could not be moved aside", "0 offsets"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := openDir(t)
			path := filepath.Join(dir, "strata.db")
			if tc.file != nil {
				if err := os.WriteFile(path, tc.file, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, tc.mode); err != nil {
					t.Fatal(err)
				}
			}
			mode := os.FileMode(0o555)
			c := child("nobody", path)
			if os.Getuid() != 0 && tc.mode == 0o644 {
				os.Chmod(path, 0o444)
			}
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o755)
			out, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tc.words {
				if w == "cannot be written" && os.Getuid() != 0 {
					w = "read-only"
				}
				if !strings.Contains(string(out), w) {
					t.Errorf("child says %q, want %q in it", out, w)
				}
			}
			if got, _ := os.ReadFile(path); string(got) != string(tc.file) {
				t.Error("the file was changed")
			}
		})
	}
}

// openDir returns a folder that other users can look into.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "groups")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// next waits for the feed and returns what it told, all folders below root as relative paths.
func next(t *testing.T, f *Feed, root string) []string {
	t.Helper()
	select {
	case <-f.C():
	case <-time.After(10 * time.Second):
		t.Fatal("no wake-up in 10 s")
	}
	s := f.Take()
	if s.All {
		return []string{"*"}
	}
	var out []string
	for _, d := range s.Dirs {
		rel, err := filepath.Rel(root, d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rel)
	}
	slices.Sort(out)
	return out
}

// until waits until dir was told.
func until(t *testing.T, f *Feed, root, dir string) {
	t.Helper()
	for {
		if got := next(t, f, root); slices.Contains(got, dir) || slices.Contains(got, "*") {
			return
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func appendTo(t testing.TB, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	must(t, f.Close())
}

func TestRealEvents(t *testing.T) {
	root := t.TempDir()
	w := New(Options{Restat: time.Hour, Poll: time.Hour})
	defer w.Close()
	if s := w.State(); s != "" {
		t.Fatalf("state %q", s)
	}
	f := w.Feed(0)
	defer f.Close()
	f.Add(root)
	dir := filepath.Join(root, "t-0")
	log := filepath.Join(dir, "00000000000000000000.log")

	must(t, os.Mkdir(dir, 0o755))
	appendTo(t, log, "made at once") // gives no event: nobody watches t-0 yet
	until(t, f, root, ".")
	f.Add(dir)
	until(t, f, root, "t-0")

	steps := map[string]func(){
		"append":       func() { appendTo(t, log, "more") },
		"truncate":     func() { must(t, os.Truncate(log, 4)) },
		"roll":         func() { appendTo(t, filepath.Join(dir, "00000000000000000009.log"), "x") },
		"rename in it": func() { must(t, os.Rename(log, log+".deleted")) },
		"unlink":       func() { must(t, os.Remove(log+".deleted")) },
		"replace by swap": func() {
			appendTo(t, filepath.Join(dir, "a.swap"), "x")
			must(t, os.Rename(filepath.Join(dir, "a.swap"), log))
		},
	}
	for _, name := range []string{"append", "truncate", "roll", "rename in it", "unlink", "replace by swap"} {
		token(f)
		f.Take()
		steps[name]()
		t.Log(name)
		until(t, f, root, "t-0")
	}
}

func TestWatchedFolderRenamedAndBack(t *testing.T) {
	for name, away := range map[string]func(t *testing.T, dir string){
		"renamed": func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+".0123-delete")) },
		"removed": func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
	} {
		for _, rootToo := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				root := t.TempDir()
				w := New(Options{Restat: 20 * time.Millisecond, Poll: 10 * time.Millisecond})
				defer w.Close()
				f := w.Feed(0)
				defer f.Close()
				dir := filepath.Join(root, "t-0")
				must(t, os.Mkdir(dir, 0o755))
				if rootToo {
					f.Add(root)
				}
				f.Add(dir)
				until(t, f, root, "t-0")
				away(t, dir)
				until(t, f, root, "t-0")
				must(t, os.Mkdir(dir, 0o755))
				until(t, f, root, "t-0")
				held := func() bool {
					w.mu.Lock()
					defer w.mu.Unlock()
					return w.dirs[dir].held
				}
				for end := time.Now().Add(10 * time.Second); !held(); {
					if time.Now().After(end) {
						t.Fatal("a folder that is back is not watched again")
					}
					f.Add(dir)
				}
				token(f)
				f.Take()
				appendTo(t, filepath.Join(dir, "0.log"), "x")
				until(t, f, root, "t-0")
				f.Remove(dir)
				if n := len(w.dirs); n != map[bool]int{true: 1, false: 0}[rootToo] {
					t.Errorf("%d folders are still wanted", n)
				}
			})
		}
	}
}

func TestPollingWhereThereAreNoEvents(t *testing.T) {
	for name, tc := range map[string]struct {
		open  func() (backend, error)
		state string
	}{
		"no instance left": {func() (backend, error) { return nil, syscall.EMFILE }, "polling: inotify is exhausted (fs.inotify.max_user_instances)"},
		"no watch left": {func() (backend, error) {
			f := newFake()
			f.refuse = func(dir string) error {
				if strings.HasSuffix(dir, "t-0") {
					return syscall.ENOSPC
				}
				return nil
			}
			return f, nil
		}, "polling 1 of 2 folders: inotify is exhausted (fs.inotify.max_user_watches)"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := New(Options{open: tc.open})
				defer w.Close()
				f := w.Feed(0)
				defer f.Close()
				dir := filepath.Join(root, "t-0")
				log := filepath.Join(dir, "00000000000000000000.log")
				must(t, os.Mkdir(dir, 0o755))
				appendTo(t, log, "x")
				f.Add(root)
				f.Add(dir)
				if s := w.State(); s != tc.state {
					t.Errorf("state %q, want %q", s, tc.state)
				}
				token(f)
				f.Take()
				appendTo(t, log, "before the first look")
				time.Sleep(time.Second)
				synctest.Wait()
				if !token(f) {
					t.Error("what happened before the first look is missed")
				}
				for range 3 {
					token(f)
					f.Take()
					appendTo(t, log, "y")
					time.Sleep(time.Second)
					synctest.Wait()
					if !token(f) || !slices.Contains(f.Take().Dirs, dir) {
						t.Error("growth is not seen by polling")
					}
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if token(f) {
					t.Error("a quiet folder wakes")
				}
			})
		})
	}
}

func TestRestatFindsWhatGaveNoEvent(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		fk := newFake()
		w := open(t, fk)
		f := w.Feed(0)
		defer f.Close()
		log := filepath.Join(dir, "00000000000000000000.log")
		appendTo(t, log, "x")
		f.Add(dir)
		time.Sleep(6 * time.Second)
		token(f)
		f.Take()
		appendTo(t, log, "lost")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if !token(f) || !slices.Contains(f.Take().Dirs, dir) {
			t.Error("a lost event is not made good")
		}
		if fk.adds != 2 {
			t.Errorf("watched %d times, want again after a lost event", fk.adds)
		}
	})
}

func TestWatchComesFree(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		fk := newFake()
		full := true
		fk.refuse = func(string) error {
			if full {
				return syscall.ENOSPC
			}
			return nil
		}
		w := open(t, fk)
		f := w.Feed(0)
		defer f.Close()
		f.Add(dir)
		if w.State() == "" {
			t.Error("a refused watch is not told")
		}
		w.mu.Lock()
		full = false
		w.mu.Unlock()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if s := w.State(); s != "" {
			t.Errorf("state %q after watches came free", s)
		}
	})
}

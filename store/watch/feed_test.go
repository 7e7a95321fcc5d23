package watch

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// fake is a backend whose events a test makes.
type fake struct {
	events chan fsnotify.Event
	errs   chan error
	refuse func(dir string) error
	held   map[string]bool
	adds   int
}

func newFake() *fake {
	return &fake{events: make(chan fsnotify.Event), errs: make(chan error), held: map[string]bool{}}
}

func (f *fake) Add(dir string) error {
	f.adds++
	if f.refuse != nil {
		if err := f.refuse(dir); err != nil {
			return err
		}
	}
	f.held[dir] = true
	return nil
}

func (f *fake) Remove(dir string) error {
	if !f.held[dir] {
		return fsnotify.ErrNonExistentWatch
	}
	delete(f.held, dir)
	return nil
}

func (f *fake) Events() <-chan fsnotify.Event { return f.events }
func (f *fake) Errors() <-chan error          { return f.errs }
func (f *fake) Close() error                  { return nil }

func (f *fake) write(name string) { f.events <- fsnotify.Event{Name: name, Op: fsnotify.Write} }

func open(t *testing.T, f *fake) *Watcher {
	t.Helper()
	w := New(Options{open: func() (backend, error) { return f, nil }})
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func token(f *Feed) bool {
	select {
	case <-f.C():
		return true
	default:
		return false
	}
}

func dirs(s Set) []string {
	slices.Sort(s.Dirs)
	return s.Dirs
}

func TestWindowBeginsAtFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fk := newFake()
		w := open(t, fk)
		f := w.Feed(50 * time.Millisecond)
		defer f.Close()
		f.Add("/d/a-0")
		synctest.Wait()
		if !token(f) || !slices.Equal(dirs(f.Take()), []string{"/d/a-0"}) {
			t.Fatal("adding a folder does not mark it dirty")
		}
		time.Sleep(time.Second) // quiet

		// A busy folder: an event every 7 ms for 200 ms. The first comes at once, the rest once a window.
		start := time.Now()
		var at []time.Duration
		for time.Since(start) < 200*time.Millisecond {
			fk.write("/d/a-0/0.log")
			synctest.Wait()
			if token(f) {
				at = append(at, time.Since(start))
				if s := f.Take(); s.All || len(s.Dirs) != 1 {
					t.Errorf("took %v", s)
				}
			}
			for range 7 {
				time.Sleep(time.Millisecond)
				synctest.Wait()
				if token(f) {
					at = append(at, time.Since(start))
					f.Take()
				}
			}
		}
		want := []time.Duration{0, 50 * time.Millisecond, 100 * time.Millisecond, 150 * time.Millisecond, 200 * time.Millisecond}
		if len(at) < 4 || len(at) > 5 {
			t.Fatalf("woken at %v", at)
		}
		for i, d := range at {
			if d != want[i] {
				t.Errorf("wake-up %d at %v, want %v", i, d, want[i])
			}
		}
	})
}

func TestNotTakenIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fk := newFake()
		w := open(t, fk)
		f := w.Feed(50 * time.Millisecond)
		defer f.Close()
		for _, d := range []string{"/d/a-0", "/d/b-0", "/d/c-0"} {
			f.Add(d)
		}
		f.Take()
		token(f)
		for range 1000 {
			fk.write("/d/b-0/0.log")
			fk.write("/d/a-0/0.log")
			fk.write("/d/nobody-0/0.log")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !token(f) || token(f) {
			t.Fatal("want exactly one token")
		}
		if got := dirs(f.Take()); !slices.Equal(got, []string{"/d/a-0", "/d/b-0"}) {
			t.Errorf("took %v", got)
		}
		if s := f.Take(); s.All || len(s.Dirs) > 0 {
			t.Errorf("the second Take gives %v", s)
		}
	})
}

func TestFeedsAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fk := newFake()
		w := open(t, fk)
		slow, tail := w.Feed(50*time.Millisecond), w.Feed(0)
		slow.Add("/d/a-0")
		tail.Add("/d/a-0")
		slow.Take()
		tail.Take()
		token(slow)
		token(tail)
		fk.write("/d/a-0/0.log")
		synctest.Wait()
		if !token(tail) {
			t.Error("a feed without a window waits")
		}
		if token(slow) {
			t.Error("a feed with a window does not wait")
		}
		tail.Close()
		if !fk.held["/d/a-0"] {
			t.Error("one feed's Close takes the other's watch away")
		}
		fk.write("/d/a-0/0.log")
		time.Sleep(time.Second)
		synctest.Wait()
		if !token(slow) || token(tail) {
			t.Error("after Close of one the other must go on alone")
		}
		slow.Close()
		if len(fk.held) > 0 || len(w.dirs) > 0 {
			t.Errorf("stale watches: %v", fk.held)
		}
	})
}

func TestLostEventsMarkAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fk := newFake()
		w := open(t, fk)
		f := w.Feed(0)
		defer f.Close()
		f.Add("/d/a-0")
		f.Take()
		token(f)
		fk.errs <- fsnotify.ErrEventOverflow
		synctest.Wait()
		if !token(f) || !f.Take().All {
			t.Error("lost events are not told")
		}
	})
}

func TestTooManyDirtyIsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, newFake()).Feed(0)
		defer f.Close()
		for i := range maxDirty + 2 {
			f.mark(string(rune('a' + i)))
		}
		if s := f.Take(); !s.All || len(s.Dirs) > 0 {
			t.Errorf("took All %v and %d folders", s.All, len(s.Dirs))
		}
	})
}

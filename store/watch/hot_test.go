package watch

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestHotFolder has a folder written to so fast that its events are too many: it is looked at instead, nothing is
// missed, and after a while it is watched again.
func TestHotFolder(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		fk := newFake()
		w := open(t, fk)
		f := w.Feed(0)
		defer f.Close()
		log := filepath.Join(dir, "00000000000000000000.log")
		appendTo(t, log, "x")
		f.Add(dir)
		for range hotEvents {
			fk.write(log)
		}
		synctest.Wait()
		if fk.held[dir] {
			t.Fatal("a hot folder is watched still")
		}
		if s := w.State(); s != "" {
			t.Errorf("a hot folder is said to be polled: %s", s)
		}
		told := func() bool {
			time.Sleep(2 * hotLook)
			synctest.Wait()
			return token(f) && slices.Contains(f.Take().Dirs, dir)
		}
		told() // the first look
		for range 5 {
			appendTo(t, log, "y")
			if !told() {
				t.Error("an append to a hot folder is missed")
			}
		}
		appendTo(t, filepath.Join(dir, "00000000000000000009.log"), "z")
		if !told() {
			t.Error("a roll in a hot folder is missed")
		}
		if told() {
			t.Error("a hot folder wakes without cause")
		}
		f.Add(dir) // does no harm
		time.Sleep(hotTime)
		synctest.Wait()
		if !fk.held[dir] || fk.adds != 2 {
			t.Errorf("not watched again after it was hot; %d adds", fk.adds)
		}
		token(f)
		f.Take()
		fk.write(log)
		synctest.Wait()
		if !token(f) {
			t.Error("an event after that is missed")
		}
		for range hotEvents {
			fk.write(log)
		}
		synctest.Wait()
		f.Remove(dir)
		if len(w.hot) != 0 || len(w.dirs) != 0 || w.polled != 0 {
			t.Errorf("%d hot, %d folders, %d polled after Remove", len(w.hot), len(w.dirs), w.polled)
		}
	})
}

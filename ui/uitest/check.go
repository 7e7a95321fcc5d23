package uitest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// Now is the time at which tests of pages take place: 2026-11-30 09:12:00 UTC.
func Now() time.Time { return time.Date(2026, 11, 30, 9, 12, 0, 0, time.UTC) }

// Env returns what a page is handed, over a source: the dark theme, UTC, a clock that stands at Now.
func Env(t testing.TB, src model.Source) page.Env {
	t.Helper()
	theme, err := kit.NewTheme("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	return page.Env{
		Ctx: t.Context(), Src: src, Theme: theme, Now: Now,
		Clock: &kit.Clock{Form: kit.UTCTime, Now: Now}, Settings: &page.Settings{},
	}
}

// Clock is a clock that tests move.
type Clock struct{ Time time.Time }

// Env is the func Env with the page's clock at Time.
func (c *Clock) Env(t testing.TB, src model.Source) page.Env {
	t.Helper()
	e := Env(t, src)
	e.Now = func() time.Time { return c.Time }
	e.Clock.Now = e.Now
	return e
}

// Plainly returns a frame without its colours and without blanks at the ends of its lines.
func Plainly(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Golden compares a frame, as plain text, with testdata/NAME.txt; go test -update rewrites it.
func Golden(t testing.TB, name, frame string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	got := Plainly(frame)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -update writes it\n%s", err, got)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update rewrites it, then read the diff\n--- want\n%s--- got\n%s", file, want, got)
	}
}

// Contains fails unless each of words is on the frame.
func Contains(t testing.TB, frame string, words ...string) {
	t.Helper()
	text := Plainly(frame)
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not on the screen:\n%s", w, text)
		}
	}
}

// Fits draws the page in all kinds of sizes and fails when a frame is higher or a line wider than asked for.
func Fits(t testing.TB, p page.Page) {
	t.Helper()
	for _, w := range []int{1, 2, 3, 5, 10, 20, 21, 33, 40, 57, 60, 79, 80, 81, 100, 120, 160, 200, 300} {
		for _, h := range []int{1, 2, 3, 4, 5, 6, 10, 17, 20, 24, 40, 60, 100} {
			if !Fit(t, p.View(w, h), w, h) {
				return
			}
		}
	}
}

// Fit fails, and reports false, when a frame has more than h lines, one of more than w cells, or anything but colours and safe text.
func Fit(t testing.TB, frame string, w, h int) bool {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) > h {
		t.Errorf("%dx%d: %d lines:\n%s", w, h, len(lines), Plainly(frame))
		return false
	}
	for y, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Errorf("%dx%d: line %d takes %d cells: %q", w, h, y, n, ansi.Strip(l))
			return false
		}
		bare := strings.TrimSuffix(strings.TrimPrefix(l, "\x1b[?7l"), "\x1b[?7h") // what kit.OneLine puts around a line
		if kit.Guard(bare) != bare {
			t.Errorf("%dx%d: line %d holds what was not made safe: %q", w, h, y, l)
			return false
		}
	}
	return true
}

// Keys fails when two rows of the page's table that can work share a key, or a row lacks its help or its Run.
func Keys(t testing.TB, p page.Page) {
	t.Helper()
	seen := map[string]string{}
	for _, c := range p.Commands() {
		help := c.Key.Help()
		if help.Key == "" || help.Desc == "" || c.Run == nil || len(c.Key.Keys()) == 0 {
			t.Errorf("%s: row %v lacks its key, its help or its Run", p.Title(), help)
		}
		if c.Why() != "" {
			continue
		}
		for _, k := range c.Key.Keys() {
			if other, twice := seen[k]; twice {
				t.Errorf("%s: key %q is both %q and %q", p.Title(), k, other, help.Desc)
			}
			seen[k] = help.Desc
			if page.Reserved(k) {
				t.Errorf("%s: key %q (%s) belongs to the root", p.Title(), k, help.Desc)
			}
		}
	}
}

package cli

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

// safe escapes what must not reach a terminal.
func safe(s string) string { return kit.Safe(s, 0) }

// safeError escapes an error's text but keeps the line breaks of joined errors.
func safeError(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		lines[i] = safe(l)
	}
	return strings.Join(lines, "\n        ")
}

// table prints rows in aligned columns. It holds the first rows to measure them, then streams: a long listing does not
// wait for its end, and columns only get wider.
type table struct {
	w     *bufio.Writer
	right []bool
	width []int
	held  [][]string
}

const tableHeld = 500

// newTable begins a table. A column whose head begins with > is aligned to the right.
func newTable(w *bufio.Writer, heads ...string) *table {
	t := &table{w: w}
	row := make([]string, len(heads))
	for i, h := range heads {
		name, right := strings.CutPrefix(h, ">")
		row[i] = name
		t.right = append(t.right, right)
		t.width = append(t.width, 0)
	}
	t.held = append(t.held, row)
	t.measure(row)
	return t
}

func (t *table) measure(row []string) {
	for i, c := range row {
		t.width[i] = max(t.width[i], kit.Width(c))
	}
}

// row adds a row; its cells are escaped here.
func (t *table) row(cells ...string) error {
	for i, c := range cells {
		cells[i] = safe(c)
	}
	t.measure(cells)
	if t.held != nil {
		t.held = append(t.held, cells)
		if len(t.held) < tableHeld {
			return nil
		}
		return t.release()
	}
	return t.print(cells)
}

func (t *table) release() error {
	for _, r := range t.held {
		if err := t.print(r); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

func (t *table) print(row []string) error {
	var b strings.Builder
	for i, c := range row {
		pad := strings.Repeat(" ", max(0, t.width[i]-kit.Width(c)))
		switch {
		case t.right[i]:
			b.WriteString(pad + c)
		case i < len(row)-1:
			b.WriteString(c + pad)
		default:
			b.WriteString(c)
		}
		if i < len(row)-1 {
			b.WriteString("  ")
		}
	}
	_, err := fmt.Fprintln(t.w, strings.TrimRight(b.String(), " "))
	return err
}

func (t *table) flush() error {
	if err := t.release(); err != nil {
		return err
	}
	return t.w.Flush()
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// offset prints an offset, or ? where it is not known.
func offset(n int64) string {
	if n < 0 {
		return "?"
	}
	return number(n)
}

func count(c model.Count) string {
	switch c.State {
	case model.CountUnknown:
		return "?"
	case model.CountNone:
		return "–"
	case model.CountEstimate:
		return "≈" + number(c.N)
	}
	return number(c.N)
}

// stamp prints a time as RFC 3339 with milliseconds, or – where there is none.
func (a *app) stamp(ms int64) string {
	if ms == model.NoTime {
		return "–"
	}
	t := time.UnixMilli(ms).In(a.zone)
	if y := t.Year(); y < 0 || y > 9999 {
		return "@" + number(ms)
	}
	return t.Format("2006-01-02T15:04:05.000Z07:00")
}

// retention puts what a topic keeps into a few words.
func retention(r model.Retention) string {
	switch {
	case r.Unset:
		return "broker's default"
	case !r.Known:
		return "?"
	}
	var parts []string
	if r.Compact {
		parts = append(parts, "compact")
	}
	if r.Delete {
		if r.MS >= 0 {
			parts = append(parts, duration(time.Duration(r.MS)*time.Millisecond))
		}
		if r.Bytes >= 0 {
			parts = append(parts, number(r.Bytes)+" B")
		}
		if r.MS < 0 && r.Bytes < 0 && !r.Compact {
			parts = append(parts, "forever")
		}
	}
	return strings.Join(parts, ", ")
}

func duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day && d%day == 0:
		return number(int64(d/day)) + "d"
	case d >= time.Hour && d%time.Hour == 0:
		return number(int64(d/time.Hour)) + "h"
	case d >= time.Minute && d%time.Minute == 0:
		return number(int64(d/time.Minute)) + "m"
	}
	return d.String()
}

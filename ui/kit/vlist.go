package kit

import "strings"

// Gutter is the width of the column for the cursor and the marks, which a list draws before each of its rows.
const Gutter = 2

// VList is a cursor and a window over Len rows, of which only those on screen are ever asked for. The zero VList is
// empty; Theme must be set before View.
//
// Invariants:
//   - 0 <= cursor < Len, or cursor == 0 when Len == 0
//   - the cursor is within the window that View last drew
type VList struct {
	Len   int64
	Theme *Theme
	// KeyOf names a row by what it shows (a topic, an offset). With it the cursor and the marks keep to their things when
	// rows move; without it they keep to row numbers.
	KeyOf func(i int64) string

	cursor, top int64
	height      int64
	key         string // of the row under the cursor
	marks       map[string]bool
}

// Cursor returns the row under the cursor; 0 when there is none.
func (l *VList) Cursor() int64 { return l.cursor }

// Key returns what KeyOf said of the row under the cursor; "" when there is none.
func (l *VList) Key() string { return l.key }

// Top returns the first row on screen.
func (l *VList) Top() int64 { return l.top }

// Window returns the first row on screen and the one after the last, as of the last View.
func (l *VList) Window() (from, to int64) { return l.top, min(l.Len, l.top+max(l.height, 1)) }

// AtEnd reports whether the cursor is on the last row.
func (l *VList) AtEnd() bool { return l.cursor >= l.Len-1 }

// SetCursor puts the cursor on row i, or the nearest there is.
func (l *VList) SetCursor(i int64) {
	l.cursor = max(0, min(i, l.Len-1))
	l.key = ""
	if l.KeyOf != nil && l.Len > 0 {
		l.key = l.KeyOf(l.cursor)
	}
	l.clamp()
}

// SetLen says that the rows are others now, n of them. The cursor goes where its thing went; when that is gone it keeps
// to its row number.
func (l *VList) SetLen(n int64) {
	l.Len = n
	row := l.cursor - l.top
	at := l.cursor
	if l.KeyOf != nil && l.key != "" {
		if i, ok := l.find(l.key, at); ok {
			at = i
		}
	}
	l.top = at - row
	l.SetCursor(at)
}

// find looks for a key from row near on, outwards.
func (l *VList) find(key string, near int64) (int64, bool) {
	near = max(0, min(near, l.Len-1))
	for d := int64(0); d < l.Len; d++ {
		if i := near + d; i < l.Len && l.KeyOf(i) == key {
			return i, true
		}
		if i := near - d; d > 0 && i >= 0 && l.KeyOf(i) == key {
			return i, true
		}
	}
	return 0, false
}

// Rearrange calls arrange, which makes the rows anew and calls SetLen, as for another filter. Where the thing under the
// cursor is not among them any more the cursor goes to the first row.
func (l *VList) Rearrange(arrange func()) {
	key := l.key
	if arrange(); l.key != key {
		l.Home()
	}
}

// Select puts the cursor on the row with a key; false when there is none.
func (l *VList) Select(key string) bool {
	if l.KeyOf == nil || l.Len == 0 {
		return false
	}
	i, ok := l.find(key, l.cursor)
	if ok {
		l.SetCursor(i)
	}
	return ok
}

// Move moves the cursor by d rows.
func (l *VList) Move(d int64) { l.SetCursor(l.cursor + d) }

// Half moves the cursor by d half pages, and the window with it.
func (l *VList) Half(d int64) { l.jump(d * max(1, l.height/2)) }

// Page moves the cursor by d pages, and the window with it.
func (l *VList) Page(d int64) { l.jump(d * max(1, l.height-1)) }

func (l *VList) jump(d int64) {
	l.top += d
	l.Move(d)
}

// Home puts the cursor on the first row.
func (l *VList) Home() { l.SetCursor(0) }

// End puts the cursor on the last row.
func (l *VList) End() { l.SetCursor(l.Len - 1) }

// Scroll moves the window by d rows and takes the cursor along only when it would leave the window.
func (l *VList) Scroll(d int64) {
	l.top = max(0, min(l.top+d, l.Len-max(l.height, 1)))
	if l.cursor < l.top {
		l.SetCursor(l.top)
	} else if last := l.top + max(l.height, 1) - 1; l.cursor > last {
		l.SetCursor(last)
	}
}

// RowAt returns the row drawn in line y of the list; false when there is none.
func (l *VList) RowAt(y int) (int64, bool) {
	i := l.top + int64(y)
	return i, y >= 0 && int64(y) < l.height && i < l.Len
}

// Mark marks the row under the cursor, or takes its mark away, and moves on.
func (l *VList) Mark() {
	if l.Len == 0 {
		return
	}
	if l.marks == nil {
		l.marks = map[string]bool{}
	}
	if k := l.markKey(l.cursor); l.marks[k] {
		delete(l.marks, k)
	} else {
		l.marks[k] = true
	}
	l.Move(1)
}

// Marked reports whether row i is marked.
func (l *VList) Marked(i int64) bool { return len(l.marks) > 0 && l.marks[l.markKey(i)] }

// Marks returns how many rows are marked.
func (l *VList) Marks() int { return len(l.marks) }

// Unmark takes all marks away.
func (l *VList) Unmark() { l.marks = nil }

func (l *VList) markKey(i int64) string {
	if l.KeyOf != nil {
		return l.KeyOf(i)
	}
	return Number(i)
}

// clamp keeps the window within the rows and the cursor within the window.
func (l *VList) clamp() {
	h := max(l.height, 1)
	if l.cursor < l.top {
		l.top = l.cursor
	} else if l.cursor >= l.top+h {
		l.top = l.cursor - h + 1
	}
	l.top = max(0, min(l.top, l.Len-h))
}

// View calls row for the at most h rows on screen, never for the rest, and returns exactly h lines of w cells. A row is
// styled text without its gutter: the list draws the cursor and the marks, cuts and pads.
func (l *VList) View(w, h int, row func(i int64) string) string {
	if h <= 0 {
		return ""
	}
	l.height = int64(h)
	l.clamp()
	var b strings.Builder
	b.Grow(h * (w + 32))
	for y := range int64(h) {
		if y > 0 {
			b.WriteByte('\n')
		}
		if i := l.top + y; i < l.Len {
			l.drawRow(&b, i, w, row(i))
		} else {
			b.WriteString(Blank(w))
		}
	}
	return b.String()
}

func (l *VList) drawRow(b *strings.Builder, i int64, w int, text string) {
	t := l.Theme
	if i != l.cursor {
		b.WriteString(Pad(l.sign(i)+text, w))
		return
	}
	b.WriteString(t.CursorRow(l.sign(i)+text, w))
}

// sign returns the gutter of row i.
func (l *VList) sign(i int64) string {
	t := l.Theme
	switch marked := l.Marked(i); {
	case i == l.cursor && marked:
		return t.Accent.Wrap(t.Glyphs.Cursor) + t.Accent.Wrap(t.Glyphs.Mark)
	case i == l.cursor:
		return t.Accent.Wrap(t.Glyphs.Cursor) + " "
	case marked:
		return t.Accent.Wrap(t.Glyphs.Mark) + " "
	}
	return "  "
}

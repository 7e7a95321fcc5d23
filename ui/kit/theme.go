package kit

import (
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Style is a look: On begins it and Off ends what On began, and nothing else. The zero Style is plain.
type Style struct{ On, Off string }

// Wrap returns s in the style; s must not be cut afterwards but by Cut.
func (s Style) Wrap(text string) string {
	if s.On == "" || text == "" {
		return text
	}
	return s.On + text + s.Off
}

// And returns the style that is both.
func (s Style) And(o Style) Style { return Style{s.On + o.On, o.Off + s.Off} }

// Theme holds every colour by its meaning, and the glyphs. It is made once and shared by all pages; the root changes it
// in place when another one is chosen. Each meaning that a colour carries has a glyph or a word beside it, too.
type Theme struct {
	Name   string
	Accent Style // where you are
	Head   Style // heads of columns
	Dim    Style // units, labels, what is not data
	Faint  Style // what cannot be used now
	Good   Style
	Warn   Style
	Bad    Style
	Key    Style // keys of records
	Null   Style // null, none, markers
	Escape Style // what Safe had to escape
	Match  Style // what a filter or a search found
	Cursor Style // background of the row under the cursor
	Lit    Style // background of the selected bytes
	Bold   Style
	Rule   Style // thin rules

	Plain bool // the cursor's row is drawn in one colour, since Cursor reverses and reversed colours cannot be read

	Field  Style // names within JSON
	Str    Style
	Num    Style
	Word   Style // true, false, null within JSON
	Ages   []Style
	Bands  map[string]Style // what lies behind a whole line, by the names of colours: red, yellow, green, blue, magenta, cyan
	Glyphs Glyphs
}

// Band returns the theme for what is drawn within a band: one colour of letters can be read on it, so that all meanings
// are left to their glyphs and words.
func (t *Theme) Band() *Theme {
	return &Theme{Name: t.Name, Accent: t.Bold, Bold: t.Bold, Glyphs: t.Glyphs}
}

// Glyphs are the signs that are drawn; the ASCII set has the same meanings.
type Glyphs struct {
	Cursor, Mark, Unmark, Rule, VRule, Sep, Ellipsis string
	Up, Down, Left, Right, To                        string
	Good, Bad, Null, None, Unknown, About            string
	Live, ReadOnly, Pause                            string
	Spark                                            []string // from lowest to highest, at least 2
	Shade                                            []string // from newest to oldest, 4
	Bar, BarHalf, BarEmpty                           string
	Peg                                              string // a group's position beside a layer
	TopEdge, BottomEdge                              string
	Spin                                             []string
	Folded, Unfolded                                 string
}

// Age returns the colour for something as old as d on the ramp from now to over a month.
func (t *Theme) Age(d time.Duration) Style {
	if len(t.Ages) == 0 {
		return Style{}
	}
	return t.Ages[min(AgeStep(d), len(t.Ages)-1)]
}

// AgeStep returns the step of the age ramp: 0 within a minute, then 1 within an hour, 2 within six, 3 within a day, 4
// within three, 5 within a week, 6 within a month, 7 older.
func AgeStep(d time.Duration) int {
	const day = 24 * time.Hour
	for i, limit := range [...]time.Duration{time.Minute, time.Hour, 6 * time.Hour, day, 3 * day, 7 * day, 31 * day} {
		if d < limit {
			return i
		}
	}
	return 7
}

// Shade returns the glyph of the age ramp for something as old as d.
func (t *Theme) Shade(d time.Duration) string {
	n := len(t.Glyphs.Shade)
	if n == 0 {
		return " "
	}
	return t.Glyphs.Shade[min(AgeStep(d)/2, n-1)]
}

// Resting returns the theme for a list that has not the keys: its cursor is not seen.
func (t *Theme) Resting() *Theme {
	out := *t
	out.Cursor, out.Glyphs.Cursor = Style{}, " "
	return &out
}

// CursorRow returns the row under the cursor in exactly w cells, on its background.
func (t *Theme) CursorRow(row string, w int) string {
	if t.Plain {
		row = ansi.Strip(row)
	}
	return t.Cursor.On + Pad(row, w) + t.Cursor.Off
}

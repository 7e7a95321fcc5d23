package kit

import (
	"fmt"
	"strconv"
	"strings"
)

// Themes returns the names that NewTheme knows.
func Themes() []string { return []string{"dark", "light", "16", "none"} }

// Depth is how many colours a terminal has.
type Depth int8

// The depths.
const (
	TrueColor Depth = iota
	Colors256
	Colors16
)

// NewTheme returns a theme by name in true colour; ascii chooses glyphs of 7 bits, as does
// a terminal on which lines and blocks take two cells. An unknown name is an error that
// names the known.
func NewTheme(name string, ascii bool) (*Theme, error) { return NewThemeDepth(name, ascii, TrueColor) }

// NewThemeDepth is NewTheme for a terminal with fewer colours.
func NewThemeDepth(name string, ascii bool, d Depth) (*Theme, error) {
	var t *Theme
	switch {
	case d == Colors16 && (name == "" || name == "dark" || name == "light"):
		t = sixteen()
		t.Name = name
	case name == "" || name == "dark":
		t = rgbTheme("dark", darkPalette(), d)
	case name == "light":
		t = rgbTheme("light", lightPalette(), d)
	case name == "16":
		t = sixteen()
	case name == "none":
		t = colourless()
	default:
		return nil, fmt.Errorf("theme %q: want one of %s", name, strings.Join(Themes(), ", "))
	}
	t.Glyphs = unicodeGlyphs()
	if ascii || ambiguousWide {
		t.Glyphs = asciiGlyphs()
	}
	return t, nil
}

// palette holds the colours of a theme as 0xRRGGBB.
type palette struct {
	accent, dim, faint, good, warn, bad, key, null, escape, match, cursor, lit, rule uint32
	name, str, num, word                                                             uint32
	ages                                                                             []uint32
}

func darkPalette() palette {
	return palette{
		accent: 0x7aa2f7, dim: 0x737b99, faint: 0x50587a, good: 0x9ece6a, warn: 0xe0af68, bad: 0xf7768e, key: 0x7dcfff, null: 0x9d7cd8,
		escape: 0xff9e64, match: 0xffd75f, cursor: 0x283457, lit: 0x3d59a1, rule: 0x3b4261,
		name: 0x7dcfff, str: 0x9ece6a, num: 0xff9e64, word: 0xbb9af7,
		ages: []uint32{0xffe9a8, 0xf9c97c, 0xe6a15c, 0xc97f55, 0xa66653, 0x85564f, 0x694a49, 0x524143},
	}
}

func lightPalette() palette {
	return palette{
		accent: 0x2e5cc5, dim: 0x6c7086, faint: 0xa3a8ba, good: 0x2f7d32, warn: 0x9a6200, bad: 0xc0203f, key: 0x00658a, null: 0x7a3fb8,
		escape: 0xb04a00, match: 0x8a6d00, cursor: 0xdbe4fb, lit: 0xb7cdfa, rule: 0xc4c8d8,
		name: 0x00658a, str: 0x2f7d32, num: 0xa14a00, word: 0x7a3fb8,
		ages: []uint32{0xb35900, 0xb86a1f, 0xbd7c3d, 0xc28d5a, 0xc69e77, 0xcaae93, 0xcdbdae, 0xcfc8c2},
	}
}

func rgbTheme(name string, p palette, d Depth) *Theme {
	fg := func(c uint32) Style { return Style{colour("38", c, d), "\x1b[39m"} }
	bg := func(c uint32) Style { return Style{colour("48", c, d), "\x1b[49m"} }
	t := &Theme{
		Name: name, Accent: fg(p.accent), Head: fg(p.dim), Dim: fg(p.dim), Faint: fg(p.faint), Good: fg(p.good), Warn: fg(p.warn), Bad: fg(p.bad),
		Key: fg(p.key), Null: fg(p.null), Escape: fg(p.escape), Match: fg(p.match).And(Style{"\x1b[1m", "\x1b[22m"}),
		Cursor: bg(p.cursor), Lit: bg(p.lit), Bold: Style{"\x1b[1m", "\x1b[22m"}, Rule: fg(p.rule),
		Field: fg(p.name), Str: fg(p.str), Num: fg(p.num), Word: fg(p.word),
	}
	for _, c := range p.ages {
		t.Ages = append(t.Ages, fg(c))
	}
	const white, black = 0xffffff, 0x1a1b26
	t.Bands = map[string]Style{
		"red": bg(0xb3261e).And(fg(white)), "yellow": bg(0xe0af68).And(fg(black)), "green": bg(0x2f7d32).And(fg(white)),
		"blue": bg(0x2e5cc5).And(fg(white)), "magenta": bg(0x7a3fb8).And(fg(white)), "cyan": bg(0x00658a).And(fg(white)),
	}
	return t
}

// colour returns the sequence for 0xRRGGBB, on a terminal of 256 colours that of the nearest in its cube.
func colour(plane string, c uint32, d Depth) string {
	r, g, b := c>>16&255, c>>8&255, c&255
	if d == TrueColor {
		return fmt.Sprintf("\x1b[%s;2;%d;%d;%dm", plane, r, g, b)
	}
	return fmt.Sprintf("\x1b[%s;5;%dm", plane, cube(int(r), int(g), int(b)))
}

// cube returns the nearest of the 6x6x6 colours and of the 24 greys of a terminal of 256 colours.
func cube(r, g, b int) int {
	level := func(v int) (int, int) {
		levels := [...]int{0, 95, 135, 175, 215, 255}
		best := 0
		for i, l := range levels {
			if abs(l-v) < abs(levels[best]-v) {
				best = i
			}
		}
		return best, levels[best]
	}
	ri, rl := level(r)
	gi, gl := level(g)
	bi, bl := level(b)
	far := func(x, y, z int) int { return (x-r)*(x-r) + (y-g)*(y-g) + (z-b)*(z-b) }
	grey := max(0, min(23, ((r+g+b)/3-3)/10))
	gv := 8 + 10*grey
	if far(gv, gv, gv) < far(rl, gl, bl) {
		return 232 + grey
	}
	return 16 + 36*ri + 6*gi + bi
}

func abs(n int) int { return max(n, -n) }

// sixteen uses the terminal's own colours only.
func sixteen() *Theme {
	c := func(n int) Style { return Style{"\x1b[" + strconv.Itoa(n) + "m", "\x1b[39m"} }
	on := func(bg, fg int) Style { return Style{fmt.Sprintf("\x1b[%d;%dm", bg, fg), "\x1b[39;49m"} }
	return &Theme{
		Name: "16", Plain: true, Accent: c(94), Head: c(90), Dim: c(90), Faint: c(90), Good: c(32), Warn: c(33), Bad: c(91), Key: c(36), Null: c(35),
		Escape: c(33), Match: Style{"\x1b[93;1m", "\x1b[22;39m"}, Cursor: Style{"\x1b[7m", "\x1b[27m"},
		Lit: Style{"\x1b[7m", "\x1b[27m"}, Bold: Style{"\x1b[1m", "\x1b[22m"}, Rule: c(90),
		Field: c(36), Str: c(32), Num: c(33), Word: c(35),
		Ages:  []Style{c(97), c(93), c(93), c(33), c(33), c(31), c(31), c(90)},
		Bands: map[string]Style{"red": on(41, 97), "yellow": on(43, 30), "green": on(42, 30), "blue": on(44, 97), "magenta": on(45, 97), "cyan": on(46, 30)},
	}
}

// colourless keeps to attributes that are no colours, for NO_COLOR.
func colourless() *Theme {
	rev, bold, under := Style{"\x1b[7m", "\x1b[27m"}, Style{"\x1b[1m", "\x1b[22m"}, Style{"\x1b[4m", "\x1b[24m"}
	bands := map[string]Style{"red": rev, "yellow": rev, "green": rev, "blue": rev, "magenta": rev, "cyan": rev}
	return &Theme{Name: "none", Bands: bands, Plain: true, Accent: bold, Faint: Style{"\x1b[2m", "\x1b[22m"}, Bad: bold, Match: under, Cursor: rev, Lit: rev, Bold: bold}
}

func unicodeGlyphs() Glyphs {
	return Glyphs{
		Cursor: "▌", Mark: "●", Unmark: "○", Rule: "─", VRule: "│", Sep: "▸", Ellipsis: "…",
		Up: "▲", Down: "▼", Left: "◂", Right: "▸", To: "→",
		Good: "✓", Bad: "✗", Null: "∅", None: "–", Unknown: "?", About: "≈",
		Live: "●", ReadOnly: "○", Pause: "⏸",
		Spark: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, Shade: []string{"█", "▓", "▒", "░"},
		Bar: "█", BarHalf: "▌", BarEmpty: "·", Peg: "◀", TopEdge: "▔", BottomEdge: "▁",
		Spin: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}, Folded: "▸", Unfolded: "▾",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		Cursor: ">", Mark: "*", Unmark: "o", Rule: "-", VRule: "|", Sep: ">", Ellipsis: "~",
		Up: "^", Down: "v", Left: "<", Right: ">", To: "->",
		Good: "ok", Bad: "x", Null: "(null)", None: "-", Unknown: "?", About: "~",
		Live: "*", ReadOnly: "o", Pause: "||",
		Spark: []string{"_", ".", "-", "=", "+", "*", "%", "#"}, Shade: []string{"#", "%", "=", "."},
		Bar: "#", BarHalf: "=", BarEmpty: ".", Peg: "<", TopEdge: "-", BottomEdge: "_",
		Spin: []string{"|", "/", "-", "\\"}, Folded: "+", Unfolded: "-",
	}
}

package kit

// Choice is a row of alternatives of which one is chosen: ‹ earliest │ latest │ offset ›.
type Choice struct {
	Options []string // safe words
	Chosen  int
}

// Move chooses the one d places on, round and round.
func (c *Choice) Move(d int) {
	if n := len(c.Options); n > 0 {
		c.Chosen = ((c.Chosen+d)%n + n) % n
	}
}

// Value returns the word that is chosen.
func (c *Choice) Value() string {
	if c.Chosen < 0 || c.Chosen >= len(c.Options) {
		return ""
	}
	return c.Options[c.Chosen]
}

// Choose chooses a word; false when it is not among the options.
func (c *Choice) Choose(word string) bool {
	for i, o := range c.Options {
		if o == word {
			c.Chosen = i
			return true
		}
	}
	return false
}

// View returns the row in at most w cells. Where not all fit, the chosen one and its neighbours are shown.
func (c *Choice) View(t *Theme, w int, focus bool) string {
	from, to := c.window(w - 4)
	var l Line
	l.Add(t.Dim, arrow(t, from > 0, t.Glyphs.Left)).Space(1)
	for i := from; i < to; i++ {
		if i > from {
			l.Space(1).Add(t.Rule, t.Glyphs.VRule).Space(1)
		}
		switch {
		case i != c.Chosen:
			l.Add(t.Dim, c.Options[i])
		case focus:
			l.Add(t.Lit.And(t.Bold), c.Options[i])
		default:
			l.Add(t.Accent.And(t.Bold), c.Options[i])
		}
	}
	l.Space(1).Add(t.Dim, arrow(t, to < len(c.Options), t.Glyphs.Right))
	return Cut(l.String(), w)
}

func arrow(t *Theme, more bool, glyph string) string {
	if more {
		return glyph
	}
	return t.Glyphs.VRule
}

// window returns the options around the chosen one that fit into w cells.
func (c *Choice) window(w int) (from, to int) {
	if len(c.Options) == 0 {
		return 0, 0
	}
	from = max(0, min(c.Chosen, len(c.Options)-1))
	to = from + 1
	used := Width(c.Options[from])
	for grown := true; grown; {
		grown = false
		if to < len(c.Options) && used+3+Width(c.Options[to]) <= w {
			used += 3 + Width(c.Options[to])
			to++
			grown = true
		}
		if from > 0 && used+3+Width(c.Options[from-1]) <= w {
			from--
			used += 3 + Width(c.Options[from])
			grown = true
		}
	}
	return from, to
}

// OptionAt returns the option at cell x of the row as drawn in w cells; false when there is none.
func (c *Choice) OptionAt(x, w int) (int, bool) {
	from, to := c.window(w - 4)
	at := 2
	for i := from; i < to; i++ {
		n := Width(c.Options[i])
		if x >= at && x < at+n {
			return i, true
		}
		at += n + 3
	}
	return 0, false
}

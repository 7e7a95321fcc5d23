package kit

import "strings"

// Mover is what the moving keys act on: a VList or a Scroller.
type Mover interface {
	Move(d int64)
	Half(d int64)
	Page(d int64)
	Home()
	End()
}

// Scroller is a window over Len lines without a cursor.
type Scroller struct {
	Len         int64
	top, height int64
}

// Top returns the first line on screen.
func (s *Scroller) Top() int64 { return s.top }

// Move moves the window by d lines.
func (s *Scroller) Move(d int64) {
	s.top = max(0, min(s.top+d, s.Len-max(s.height, 1)))
}

// Half moves by half pages.
func (s *Scroller) Half(d int64) { s.Move(d * max(1, s.height/2)) }

// Page moves by pages.
func (s *Scroller) Page(d int64) { s.Move(d * max(1, s.height-1)) }

// Home goes to the first line.
func (s *Scroller) Home() { s.top = 0 }

// End goes to the last line.
func (s *Scroller) End() { s.Move(s.Len) }

// Show moves as little as is needed for line i to be on screen.
func (s *Scroller) Show(i int64) {
	h := max(s.height, 1)
	switch {
	case i < s.top:
		s.top = max(0, i)
	case i >= s.top+h:
		s.top = i - h + 1
	}
}

// resize says how many lines are on screen.
func (s *Scroller) resize(h int) {
	s.height = int64(max(h, 1))
	s.Move(0)
}

// View returns exactly h lines, those in the window; line is called for these only.
func (s *Scroller) View(h int, line func(i int64) string) string {
	s.resize(h)
	var b strings.Builder
	for y := range int64(max(h, 0)) {
		if y > 0 {
			b.WriteByte('\n')
		}
		if i := s.top + y; i < s.Len {
			b.WriteString(line(i))
		}
	}
	return b.String()
}

package kit

import (
	"strings"
)

// Hex shows bytes: position, bytes, letters. The zero Hex is empty.
//
//	00004062  00 00 00 00 00 46 cf 64  00 00 00 42 00 00 00 03   ·····F·d ···B····
type Hex struct {
	Scroller
	Theme *Theme
	Base  int64 // position of Data[0] in its file

	data    []byte
	perRow  int
	lit     [2]int // [from, to)
	pending bool   // lit must be brought on screen by the next View
}

// SetData shows other bytes. base is the position of the first in its file.
func (x *Hex) SetData(b []byte, base int64) {
	x.data, x.Base, x.lit = b, base, [2]int{}
	x.Home()
	x.layout(max(x.perRow, 16))
}

// Light lights n bytes from at on, counted within the data, and brings them on screen.
func (x *Hex) Light(at, n int) {
	x.lit, x.pending = [2]int{at, at + n}, true
}

func (x *Hex) layout(perRow int) {
	x.perRow = perRow
	x.Len = int64((len(x.data) + perRow - 1) / perRow)
}

// HexWidth returns the cells that a row of n bytes takes.
func HexWidth(n int) int { return 8 + 2 + 3*n + (n-1)/8 + 2 + n + (n-1)/8 }

// View returns exactly h lines of w cells. 16 bytes a row where they fit, else 8, 4, or 1.
func (x *Hex) View(w, h int) string {
	per := 16
	for per > 1 && HexWidth(per) > w {
		per /= 2
	}
	if per != x.perRow {
		at := x.top * int64(max(1, x.perRow))
		x.layout(per)
		x.top = at / int64(per)
	}
	x.resize(h)
	if x.pending {
		x.pending = false
		x.Show(int64((x.lit[1] - 1) / per))
		x.Show(int64(x.lit[0] / per))
	}
	out := make([]string, 0, h)
	var l Line
	for y := range int64(h) {
		l.Reset()
		if row := x.top + y; row < x.Len {
			x.row(&l, int(row)*per)
		}
		out = append(out, l.Fit(w))
	}
	return strings.Join(out, "\n")
}

func (x *Hex) row(l *Line, from int) {
	const digits = "0123456789abcdef"
	t, to := x.Theme, min(from+x.perRow, len(x.data))
	pos := x.Base + int64(from)
	var addr [16]byte
	n := 8
	if pos > 0xffffffff {
		n = 16
	}
	for i := range n {
		addr[n-1-i] = digits[pos>>(4*i)&15]
	}
	l.Add(t.Dim, string(addr[:n])).Space(2)
	for i := from; i < from+x.perRow; i++ {
		if i > from && (i-from)%8 == 0 {
			l.Space(1)
		}
		if i >= to {
			l.Space(3)
			continue
		}
		b := x.data[i]
		l.Add(x.look(i, b), string([]byte{digits[b>>4], digits[b&15]}))
		if x.isLit(i) && x.isLit(i+1) && i+1 < to {
			l.Add(t.Lit, " ")
		} else {
			l.Space(1)
		}
	}
	l.Space(2)
	for i := from; i < to; i++ {
		if i > from && (i-from)%8 == 0 {
			l.Space(1)
		}
		letter := "·"
		if b := x.data[i]; b >= 0x20 && b < 0x7f {
			letter = string(rune(b))
		} else if t.Glyphs.Rule == "-" {
			letter = "."
		}
		l.Add(x.look(i, x.data[i]), letter)
	}
}

func (x *Hex) isLit(i int) bool { return i >= x.lit[0] && i < x.lit[1] }

func (x *Hex) look(i int, b byte) Style {
	switch {
	case x.isLit(i):
		return x.Theme.Lit
	case b == 0:
		return x.Theme.Dim
	}
	return Style{}
}

package kit

import "strings"

// Sparkline draws the newest w values, the last at the right, against the greatest of them. What is missing at the left
// is blank.
func Sparkline(t *Theme, values []float64, w int) string {
	if w <= 0 {
		return ""
	}
	if len(values) > w {
		values = values[len(values)-w:]
	}
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	b.WriteString(Blank(w - len(values)))
	steps := len(t.Glyphs.Spark)
	for _, v := range values {
		i := 0
		if top > 0 && v > 0 {
			i = min(steps-1, int(v/top*float64(steps-1)+0.5))
		}
		b.WriteString(t.Glyphs.Spark[i])
	}
	return b.String()
}

// Bar draws a share of 0 to 1 in w cells.
func Bar(t *Theme, share float64, w int) string {
	if w <= 0 {
		return ""
	}
	share = max(0, min(1, share))
	halves := int(share*float64(2*w) + 0.5)
	if halves == 0 && share > 0 {
		halves = 1
	}
	full := halves / 2
	s := strings.Repeat(t.Glyphs.Bar, full)
	if halves%2 == 1 {
		s += t.Glyphs.BarHalf
		full++
	}
	return s + t.Dim.Wrap(strings.Repeat(t.Glyphs.BarEmpty, w-full))
}

// Progress draws a bar with a share and words: ▌▌▌▌···· 42 %  1.2 of 2.9 GiB.
func Progress(t *Theme, done, all int64, words string, w int) string {
	share := 0.0
	if all > 0 {
		share = float64(done) / float64(all)
	}
	var l Line
	bw := max(4, min(30, w/3))
	l.Text(Bar(t, share, bw)).Space(1)
	if all > 0 {
		l.Cell(Style{}, Number(int64(share*100))+" %", 5, true).Space(2)
	}
	l.Add(t.Dim, words)
	return l.Fit(w)
}

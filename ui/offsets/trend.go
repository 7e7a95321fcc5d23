package offsets

import (
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

const (
	trendOver = 20 * time.Second // how far back a trend looks
	trendKeep = 64               // samples kept
	trendStep = 250 * time.Millisecond
	leastMove = 3 // records; less is a poll more or less
)

type sample struct {
	at time.Time
	n  float64
}

// Meter tells from samples of a lag where it is going. The zero Meter has seen nothing.
//
// Invariants: samples are in order of time, at most trendKeep of them, all of one CountState.
type Meter struct {
	samples []sample
	state   model.CountState
}

// Reset forgets all samples, as after a time in which none were taken.
func (m *Meter) Reset() { m.samples = m.samples[:0] }

// Add takes a sample. What is not known, and what comes sooner than a quarter of a second after the one before, replaces
// nothing but the newest figure.
func (m *Meter) Add(now time.Time, c model.Count) {
	if !c.Known() {
		m.Reset()
		return
	}
	if c.State != m.state {
		m.Reset()
		m.state = c.State
	}
	s := sample{now, float64(c.N)}
	if n := len(m.samples); n > 1 && now.Sub(m.samples[n-2].at) < trendStep {
		m.samples[n-1] = s
		return
	}
	if len(m.samples) == trendKeep {
		m.samples = append(m.samples[:0], m.samples[1:]...)
	}
	m.samples = append(m.samples, s)
}

// Slope returns by how many records a second the lag changes; ok is false where it is not known (fewer than two samples
// a second apart) or is only noise.
func (m *Meter) Slope() (perSecond float64, ok bool) {
	s := m.samples
	if len(s) < 2 {
		return 0, false
	}
	last := s[len(s)-1].at
	for len(s) > 2 && last.Sub(s[0].at) > trendOver {
		s = s[1:]
	}
	span := last.Sub(s[0].at).Seconds()
	if span < 1 {
		return 0, false
	}
	var sx, sy, sxx, sxy float64
	low, high := s[0].n, s[0].n
	for _, p := range s {
		x := p.at.Sub(s[0].at).Seconds()
		sx, sy, sxx, sxy = sx+x, sy+p.n, sxx+x*x, sxy+x*p.n
		low, high = min(low, p.n), max(high, p.n)
	}
	n := float64(len(s))
	d := n*sxx - sx*sx
	if d <= 0 {
		return 0, false
	}
	slope := (n*sxy - sx*sy) / d
	moved := slope * span
	if moved < 0 {
		moved = -moved
	}
	if moved < leastMove || moved < (high-low)/2 {
		return 0, false
	}
	return slope, true
}

// Drain returns how long it takes at this pace until nothing is left of a lag; ok is false where it does not shrink.
func (m *Meter) Drain(lag model.Count) (time.Duration, bool) {
	slope, ok := m.Slope()
	if !ok || slope >= 0 || !lag.Known() || lag.N <= 0 {
		return 0, false
	}
	seconds := float64(lag.N) / -slope
	if seconds > 10*365*24*3600 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second), true
}

// Values returns the samples of the last trendOver, oldest first, for a sparkline.
func (m *Meter) Values() []float64 {
	out := make([]float64, 0, len(m.samples))
	for _, s := range m.samples {
		out = append(out, s.n)
	}
	return out
}

// Cell draws the trend: ▲ 41/s in the colour of a warning, ▼ 1.2k/s; blank where there is none.
func (m *Meter) Cell(t *kit.Theme) kit.Cell {
	slope, ok := m.Slope()
	switch {
	case !ok:
		return kit.Cell{}
	case slope > 0:
		return kit.Cell{Text: t.Glyphs.Up + " " + pace(slope), Style: t.Warn}
	}
	return kit.Cell{Text: t.Glyphs.Down + " " + pace(-slope), Style: t.Good}
}

func pace(perSecond float64) string {
	if perSecond < 1 {
		return "<1/s"
	}
	return kit.Short(perSecond) + "/s"
}

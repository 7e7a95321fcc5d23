package disk

import "time"

// window is how far back a growth looks.
const window = 30 * time.Second

// growth measures bytes a second over the last half to whole window. The zero growth has seen nothing.
type growth struct {
	from, half, last point
	known            bool
}

type point struct {
	at    time.Time
	bytes int64
}

// add takes the size as of now. What shrinks, as by retention, begins anew.
func (g *growth) add(now time.Time, bytes int64) {
	p := point{now, bytes}
	switch {
	case !g.known || bytes < g.last.bytes:
		*g = growth{from: p, half: p, last: p, known: true}
		return
	case now.Sub(g.half.at) > window/2:
		g.from, g.half = g.half, p
	}
	g.last = p
}

// rate returns bytes a second as of now, and whether enough was seen to say so.
func (g *growth) rate(now time.Time) (float64, bool) {
	if g == nil || !g.known || now.Sub(g.from.at) < time.Second {
		return 0, false
	}
	return float64(g.last.bytes-g.from.bytes) / now.Sub(g.from.at).Seconds(), true
}

package segments

import "github.com/strata-kafka/strata/model"

// tall is how many lines a layer takes in the mean, at most.
const tall = 4

// core lays the layers out on lines:
//
//	line 0            log end
//	line 1 …          the layers, newest first
//	line logStart     log start
//	below             leftovers, one line each
//
// Invariants: starts[i] is the first line of layer i and starts[len] the line behind the last; both grow.
type core struct {
	stale    bool // the layers or the pegs are others
	h        int  // lines on screen, as of the last layout
	top      int  // first line on screen
	live     int
	starts   []int
	logStart int
	pegs     map[int][]peg // by line
}

// lines returns how many lines there are in all.
func (c *core) lines() int { return c.starts[len(c.starts)-1] }

// lay computes the lines for a screen of h of them.
func (c *core) lay(segs []model.Segment, live, h int) {
	c.h, c.live, c.stale = h, live, false
	c.starts = c.starts[:0]
	heights := spread(segs[:live], h-2)
	line := 1
	for i := range segs {
		if i == live {
			line++ // log start
		}
		c.starts = append(c.starts, line)
		if i < live {
			line += heights(i)
		} else {
			line++
		}
	}
	if live == len(segs) {
		line++
	}
	c.starts = append(c.starts, line)
	c.logStart = line - (len(segs) - live) - 1
}

// spread returns the height of each layer: one line, and of what is left over on the screen its share by bytes.
func spread(segs []model.Segment, room int) func(i int) int {
	extra := min(room, tall*len(segs)) - len(segs)
	var all int64
	for i := range segs {
		all += max(0, segs[i].Bytes)
	}
	if extra <= 0 || all == 0 {
		return func(int) int { return 1 }
	}
	return func(i int) int {
		return 1 + int(float64(max(0, segs[i].Bytes))/float64(all)*float64(extra)+0.5)
	}
}

// stand places the pegs at their depth. end is the log end, start the log start; Unknown where not known.
func (c *core) stand(pegs []peg, segs []model.Segment, layerOf func(int64) int, start, end int64) {
	c.pegs = make(map[int][]peg, len(pegs))
	for _, g := range pegs {
		line := 0
		switch {
		case c.live == 0 || g.ahead > 0 || end >= 0 && g.at >= end:
		case g.lost > 0 || g.at < start:
			line = c.logStart
		default:
			line = c.depth(segs, layerOf(g.at), g.at, end)
		}
		c.pegs[line] = append(c.pegs[line], g)
	}
}

// depth returns the line of an offset within layer i.
func (c *core) depth(segs []model.Segment, i int, offset, end int64) int {
	next := segs[i].Last + 1
	if i > 0 {
		next = segs[i-1].Base
	} else if end >= 0 {
		next = end
	}
	height := c.height(i)
	span := next - segs[i].Base
	if span <= 0 {
		return c.starts[i]
	}
	down := float64(next-offset) / float64(span)
	return c.starts[i] + max(0, min(height-1, int(down*float64(height))))
}

// height returns the lines of layer i.
func (c *core) height(i int) int {
	if i >= c.live {
		return 1
	}
	if i == c.live-1 {
		return c.logStart - c.starts[i]
	}
	return c.starts[i+1] - c.starts[i]
}

// layerAt returns the layer drawn on a line, and which of its lines it is; -1 for the log end and the log start.
func (c *core) layerAt(line int) (layer, nth int) {
	if line < 1 || line == c.logStart || line >= c.lines() {
		return -1, 0
	}
	lo, hi := 0, len(c.starts)-1
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if c.starts[mid] <= line {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, line - c.starts[lo]
}

// show moves the window as little as is needed for layer i to be on it, and the lines above the first and below the
// last one with it.
func (c *core) show(i int) {
	if len(c.starts) < 2 {
		c.top = 0
		return
	}
	from, to := c.starts[i], c.starts[i]+c.height(i)
	if i == 0 {
		from = 0
	}
	if i == c.live-1 || i == len(c.starts)-2 {
		to++
	}
	if to > c.top+c.h {
		c.top = to - c.h
	}
	if from < c.top {
		c.top = from
	}
	c.top = max(0, min(c.top, c.lines()-c.h))
}

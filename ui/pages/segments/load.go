package segments

import (
	"strconv"

	"github.com/strata-kafka/strata/model"
)

// take puts the segments in the order in which they are drawn and keeps the cursor on its layer.
func (p *segments) take(segs []model.Segment, err error) {
	p.err = err
	if err != nil {
		return
	}
	key, had := "", p.loaded && len(p.segs) > 0
	if had {
		key = keyOf(&p.segs[p.cursor])
	}
	p.order(segs)
	p.loaded = true
	if had {
		p.keep(key)
	}
	p.seek()
}

// keep puts the cursor on the layer with a key; without one it stays where it was.
func (p *segments) keep(key string) {
	for i := range p.segs {
		if keyOf(&p.segs[i]) == key {
			p.cursor = i
			return
		}
	}
	p.cursor = max(0, min(p.cursor, len(p.segs)-1))
}

// seek goes to the layer that was asked for, once.
func (p *segments) seek() {
	if p.sought < 0 || len(p.segs) == 0 {
		return
	}
	p.cursor = p.layerOf(p.sought)
	p.sought = model.Unknown
}

func keyOf(s *model.Segment) string {
	return strconv.FormatInt(s.Base, 10) + leftoverKey(s.State)
}

func leftoverKey(s model.SegmentState) string {
	if s == model.SegmentActive || s == model.SegmentSealed {
		return "" // a layer stays itself when it is sealed
	}
	return string(s)
}

// order sorts the layers: live ones from the newest down, then what lies below the log start or is left over.
func (p *segments) order(segs []model.Segment) {
	p.segs = p.segs[:0]
	below := make([]model.Segment, 0, 4)
	for i := len(segs) - 1; i >= 0; i-- {
		s := segs[i]
		if leftoverKey(s.State) != "" || p.buried(&s) {
			below = append(below, s)
			continue
		}
		p.segs = append(p.segs, s)
	}
	p.live = len(p.segs)
	p.segs = append(p.segs, below...)
	p.core.stale = true
}

// buried reports whether all of a segment lies below the log start.
func (p *segments) buried(s *model.Segment) bool {
	return p.part.Topic != "" && s.State == model.SegmentSealed && s.Last >= 0 && s.Last < p.part.LogStart
}

func (p *segments) takeParts(parts []model.Partition, err error) {
	if err != nil {
		return // the segments' request says it
	}
	p.many = 0
	var bytes int64
	for i := range parts {
		r := &parts[i]
		if r.State != model.Live {
			continue
		}
		p.many++
		bytes += r.Bytes
		if r.Partition == p.tp.Partition {
			p.part = *r
		}
	}
	p.skew = 0
	if p.many > 1 && bytes > 0 {
		p.skew = float64(p.part.Bytes) * float64(p.many) / float64(bytes)
	}
	if p.loaded {
		p.reorder()
	}
}

// reorder puts layers that the log start has passed below it.
func (p *segments) reorder() {
	again := false
	for i := range p.live {
		again = again || p.buried(&p.segs[i])
	}
	if !again {
		p.core.stale = true
		return
	}
	key := keyOf(&p.segs[p.cursor])
	rows := make([]model.Segment, 0, len(p.segs))
	for i := len(p.segs) - 1; i >= 0; i-- {
		rows = append(rows, p.segs[i])
	}
	p.order(rows)
	p.keep(key)
}

func (p *segments) takePegs(pegs []peg, err error) {
	p.pegErr = err
	if err == nil {
		p.pegs, p.core.stale = pegs, true
	}
}

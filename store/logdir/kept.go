package logdir

// keptSegments bounds the views that are kept of partitions on no screen, by their segments, of each of which a view
// remembers some KiB at most in a log of usual batches.
const keptSegments = 8192

// kept are the partitions on no screen whose views are kept, the one asked for first in front: the page that one comes
// back to, the partitions of groups, tails. Without a bound all that was ever looked at would stay.
//
// Invariants:
//   - segments is the sum over list
//   - part.kept holds for the parts in list and for no others
type kept struct {
	room     int // keptSegments
	list     []keptView
	segments int
}

type keptView struct {
	part     *part
	segments int
}

// keep notes that a part on no screen has a view, and lets the views go for which there is no room. A view in use at the
// moment has its turn later. d.mu is held; the part's own mu may be.
func (d *Dir) keep(p *part) {
	k := &d.kept
	if p.kept || d.watch == nil || d.focused(p) {
		return
	}
	p.kept = true
	k.add(keptView{p, max(1, p.row.Segments)})
	for k.segments > k.room && len(k.list) > 1 {
		old := k.list[0]
		k.list[0] = keptView{}
		k.list, k.segments = k.list[1:], k.segments-old.segments
		switch {
		case d.focused(old.part):
		case old.part.mu.TryLock(): // mu is taken before Dir.mu: to wait for it here could last for ever
			old.part.view = nil
			old.part.mu.Unlock()
		default:
			k.add(old)
			return
		}
		old.part.kept = false
	}
}

func (k *kept) add(v keptView) {
	k.list = append(k.list, v)
	k.segments += v.segments
}

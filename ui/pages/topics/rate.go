package topics

import "time"

const (
	sparkCells = 8 // seconds in a sparkline
	rateOver   = 3 // whole seconds that a rate is the mean of
	ringLen    = sparkCells + 1
)

// settling is for how many ms after a topic was first seen its counter tells of what was there rather than of what
// comes: the source may still be catching up.
const settling = 1000

// meter counts what is appended to one topic into whole seconds. The zero meter has seen nothing.
//
// Invariants: ring[s%ringLen] holds second s for the ringLen seconds up to sec, which is the one that runs.
type meter struct {
	ring  [ringLen]float32
	sec   int64 // Unix seconds
	since int64 // the second in which it began
	born  int64 // ms at which the topic was first seen
	from  int64 // ms within second since from which on it counts
	last  int64 // the topic's counter when it was looked at
	known bool
}

// roll goes on to the second of now.
func (m *meter) roll(now time.Time) {
	sec := now.Unix()
	if !m.known || sec <= m.sec {
		return
	}
	for s := max(m.sec+1, sec-ringLen+1); s <= sec; s++ {
		m.ring[s%ringLen] = 0
	}
	m.sec = sec
}

// add takes the topic's counter as of now. With over, what was added is spread over so much time before now.
func (m *meter) add(now time.Time, over time.Duration, counter int64) {
	switch ms := now.UnixMilli(); {
	case !m.known:
		*m = meter{sec: now.Unix(), since: now.Unix(), born: ms, from: ms, last: counter, known: true}
		return
	case ms-m.born < settling:
		m.roll(now)
		m.since, m.from, m.last = now.Unix(), ms, counter
		return
	}
	m.roll(now)
	n := float32(counter - m.last)
	m.last = counter
	if n <= 0 {
		return // nothing, or another topic of the same name
	}
	secs := min(max(1, int64(over/time.Second)), ringLen)
	for s := m.sec - secs + 1; s <= m.sec; s++ {
		m.ring[s%ringLen] += n / max(float32(secs), float32(over.Seconds()))
	}
}

// rate returns records a second over the last few, and whether it is known.
func (m *meter) rate(now time.Time) (float64, bool) {
	if !m.known {
		return 0, false
	}
	part := float64(now.Nanosecond()) / 1e9
	var sum float64
	secs := min(rateOver, m.sec-m.since)
	for s := m.sec - secs; s <= m.sec; s++ {
		sum += float64(m.ring[s%ringLen])
	}
	over := float64(secs) + part
	if m.sec-secs == m.since {
		over -= float64(m.from-1000*m.since) / 1e3 // nothing was counted before
	}
	return sum / max(1, over), true
}

// moving reports whether any second of the sparkline has something.
func (m *meter) moving() bool {
	for _, v := range m.ring {
		if v > 0 {
			return true
		}
	}
	return false
}

// headroom is how much higher than its highest second a sparkline could go: a steady rate is a line in the middle, not
// a wall.
const headroom = 1.4

// spark appends the last whole seconds, oldest first, drawn with steps. Seconds before it began are not known and stay
// blank.
func (m *meter) spark(dst []byte, steps []string) []byte {
	var top float32
	for s := m.sec - sparkCells; s < m.sec; s++ {
		top = max(top, m.ring[(s+ringLen)%ringLen])
	}
	for s := m.sec - sparkCells; s < m.sec; s++ {
		if s < m.since {
			dst = append(dst, ' ')
			continue
		}
		i := 0
		if v := m.ring[(s+ringLen)%ringLen]; v > 0 {
			i = int(v / top / headroom * float32(len(steps)))
		}
		dst = append(dst, steps[min(i, len(steps)-1)]...)
	}
	return dst
}

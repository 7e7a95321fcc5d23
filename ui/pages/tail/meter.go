package tail

import "time"

const ringSecs = 240

// meter counts records into whole seconds. The zero meter has seen nothing.
//
// Invariant: ring[s%ringSecs] holds second s for the ringSecs seconds up to sec, which is the one that runs.
type meter struct {
	ring  [ringSecs]float64
	sec   int64 // Unix seconds
	since int64
	last  int64 // the counter when it was looked at
	known bool
	peak  float64
}

// roll goes on to the second of now.
func (m *meter) roll(now time.Time) {
	sec := now.Unix()
	if !m.known || sec <= m.sec {
		return
	}
	m.peak = max(m.peak, m.ring[m.sec%ringSecs])
	for s := max(m.sec+1, sec-ringSecs+1); s <= sec; s++ {
		m.ring[s%ringSecs] = 0
	}
	m.sec = sec
}

// add takes the counter as of now; the first one is where counting begins.
func (m *meter) add(now time.Time, counter int64) {
	if !m.known {
		*m = meter{sec: now.Unix(), since: now.Unix(), last: counter, known: true}
	}
	m.roll(now)
	n := counter - m.last
	m.last = counter
	if n > 0 {
		m.ring[m.sec%ringSecs] += float64(n)
	}
}

// rate returns records a second over the last three whole seconds and the running one.
func (m *meter) rate(now time.Time) float64 {
	if !m.known {
		return 0
	}
	secs := min(3, m.sec-m.since)
	sum := 0.0
	for s := m.sec - secs; s <= m.sec; s++ {
		sum += m.ring[(s+ringSecs)%ringSecs]
	}
	part := 1.0
	if secs > 0 {
		part = float64(now.Nanosecond()) / 1e9
	}
	return sum / max(1, float64(secs)+part)
}

// seconds returns the last n whole seconds, oldest first, as many as there were.
func (m *meter) seconds(n int) []float64 {
	n = min(n, ringSecs-1, int(m.sec-m.since))
	out := make([]float64, 0, max(n, 0))
	for s := m.sec - int64(n); s < m.sec; s++ {
		out = append(out, m.ring[(s+ringSecs)%ringSecs])
	}
	return out
}

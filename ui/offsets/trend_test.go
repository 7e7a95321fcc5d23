package offsets

import (
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func TestSlope(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	feed := func(m *Meter, seconds int, lag func(i int) model.Count) {
		for i := range seconds {
			m.Add(at(float64(i)), lag(i))
		}
	}
	for name, tc := range map[string]struct {
		lag  func(i int) model.Count
		n    int
		want float64
		ok   bool
	}{
		"nothing seen": {func(int) model.Count { return model.Exactly(5) }, 0, 0, false},
		"one sample":   {func(int) model.Count { return model.Exactly(5) }, 1, 0, false},
		"two samples":  {func(i int) model.Count { return model.Exactly(int64(100 - 40*i)) }, 2, -40, true},
		"grows":        {func(i int) model.Count { return model.Exactly(int64(i * 41)) }, 30, 41, true},
		"shrinks":      {func(i int) model.Count { return model.Exactly(int64(9000 - i*100)) }, 40, -100, true},
		"stands":       {func(int) model.Count { return model.Exactly(12_004) }, 30, 0, false},
		"noise":        {func(i int) model.Count { return model.Exactly(int64(i*17) % 40) }, 30, 0, false},
		"an estimate in between": {func(i int) model.Count {
			return model.Count{N: int64(1000 * i), State: model.CountExact - model.CountState(i%2)}
		}, 9, 0, false},
		"unknown at last": {func(i int) model.Count {
			if i == 8 {
				return model.Count{}
			}
			return model.Exactly(int64(i))
		}, 9, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var m Meter
			feed(&m, tc.n, tc.lag)
			got, ok := m.Slope()
			if ok != tc.ok || got < tc.want-0.01 || got > tc.want+0.01 {
				t.Errorf("%v %v, want %v %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	var m Meter
	start := time.Unix(1000, 0)
	for i := range 10 {
		m.Add(start.Add(time.Duration(i)*time.Second), model.Exactly(int64(1000-50*i)))
	}
	if d, ok := m.Drain(model.Exactly(550)); !ok || d != 11*time.Second {
		t.Errorf("%v %v", d, ok)
	}
	if _, ok := m.Drain(model.Exactly(0)); ok {
		t.Error("nothing left, yet it takes time")
	}
	for i := range 200 {
		m.Add(start.Add(time.Duration(10+i)*time.Second), model.Exactly(int64(550+50*i)))
	}
	if _, ok := m.Drain(model.Exactly(550)); ok {
		t.Error("it grows, yet it drains")
	}
	if len(m.Values()) > trendKeep {
		t.Errorf("%d samples kept", len(m.Values()))
	}
}

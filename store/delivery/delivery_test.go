package delivery_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/delivery"
	"github.com/strata-kafka/strata/store/embedded"
)

// broker starts an embedded broker and returns its address.
func broker(t *testing.T) string {
	t.Helper()
	b, err := embedded.Open(embedded.Options{Dir: t.TempDir(), Still: true, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.Address()
}

// TestDelivery runs the whole experiment: what each mode promises, and what it does not.
func TestDelivery(t *testing.T) {
	const n = 100
	at := broker(t)
	r := delivery.New(delivery.Options{Address: func() string { return at }})
	want := map[string][2]int{ // lost, doubled; all others are right
		"at most once, lost request":     {10, 0},
		"at least once, lost ack":        {0, 10},
		"at most once, killed producer":  {10, 0},
		"at least once, killed producer": {0, 10},
		"at most once, killed consumer":  {10, 0},
		"at least once, killed consumer": {0, 10},
	}
	for range 2 { // the second finds the topics and offsets of the first
		seen, steps := 0, map[string]int{}
		err := r.Deliver(t.Context(), model.DeliveryQuery{}, func(e model.DeliveryEvent) bool {
			if s := e.Step; s != nil {
				steps[string(s.Mode)+", "+string(s.Fault)]++
				return true
			}
			res := e.Result
			name := string(res.Mode) + ", " + string(res.Fault)
			seen++
			if res.Err != nil {
				t.Error(res.Err)
				return true
			}
			w := want[name]
			if len(res.Lost) != w[0] || len(res.Doubled) != w[1] || res.Sent != n || res.Worked != n-w[0]+w[1] {
				t.Errorf("%s: %d lost, %d doubled, %d worked on; want %v", name, len(res.Lost), len(res.Doubled), res.Worked, w)
			}
			if res.Why == "" || strings.Contains(res.Why, "does not promise") || steps[name] < 20 {
				t.Errorf("%s: %q after %d steps", name, res.Why, steps[name])
			}
			return true
		})
		if err != nil || seen != 15 {
			t.Fatalf("%d runs: %v", seen, err)
		}
	}
}

func TestRefused(t *testing.T) {
	deaf := delivery.New(delivery.Options{Address: func() string { return "" }})
	nobody := delivery.New(delivery.Options{Address: func() string { return "127.0.0.1:1" }})
	tell := func(model.DeliveryEvent) bool { return true }
	for name, tc := range map[string]struct {
		r    *delivery.Runner
		q    model.DeliveryQuery
		want error
	}{
		"no listener":      {deaf, model.DeliveryQuery{}, model.ErrRefused},
		"too few records":  {nobody, model.DeliveryQuery{Records: 9}, model.ErrInvalid},
		"too many records": {nobody, model.DeliveryQuery{Records: 1_000_000}, model.ErrInvalid},
		"unknown mode":     {nobody, model.DeliveryQuery{Modes: []model.DeliveryMode{"twice"}}, model.ErrInvalid},
		"unknown fault":    {nobody, model.DeliveryQuery{Faults: []model.DeliveryFault{"fire"}}, model.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.r.Deliver(t.Context(), tc.q, tell); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

// TestOneAtATime holds that a second experiment does not delete the topics of the first, and that one that nobody
// listens to any more ends.
func TestOneAtATime(t *testing.T) {
	at := broker(t)
	r := delivery.New(delivery.Options{Address: func() string { return at }})
	var inner error
	events := 0
	err := r.Deliver(t.Context(), model.DeliveryQuery{}, func(model.DeliveryEvent) bool {
		events++
		inner = r.Deliver(t.Context(), model.DeliveryQuery{}, func(model.DeliveryEvent) bool { return false })
		return false
	})
	if err != nil || !errors.Is(inner, model.ErrRefused) || events != 1 {
		t.Errorf("%v, the one within: %v, after %d events", err, inner, events)
	}
}

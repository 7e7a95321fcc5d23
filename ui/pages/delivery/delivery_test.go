package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func open(t testing.TB, src model.Source) *delivery {
	p := New(uitest.Env(t, src), page.Open{}).(*delivery)
	uitest.Drive(p, p.Init())
	return p
}

func step(m model.DeliveryMode, f model.DeliveryFault, at int64, who, what string) model.DeliveryEvent {
	return model.DeliveryEvent{Step: &model.DeliveryStep{Mode: m, Fault: f, At: at, Who: who, What: what}}
}

func ran() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	for _, f := range model.DeliveryFaults() {
		for _, m := range model.DeliveryModes() {
			r := &model.DeliveryResult{Mode: m, Fault: f, Sent: 100, InLog: 100, Worked: 100, Finished: true, Why: "nothing went wrong", Topic: "strata-delivery.x"}
			src.Runs = append(src.Runs, step(m, f, 12, "producer", "sends 0–9"))
			switch {
			case f == model.LostRequest && m == model.AtMostOnce:
				r.Lost, r.Worked, r.InLog = []int{40, 41, 42, 43, 44, 45, 46, 47, 48, 49}, 90, 90
				r.Why = "acks=0 awaits no answer: the producer cannot know that the broker never got them"
			case f == model.LostAck && m == model.AtLeastOnce:
				r.Doubled, r.Worked, r.InLog = []int{40, 41, 43, 50}, 104, 104
				r.Why = "no answer came, so the producer sent again what the broker had already written, and nothing tells the two apart"
				for i := range int64(40) {
					src.Runs = append(src.Runs, step(m, f, 1200+i, "network", "the connection breaks: the broker has answered, and its answer never arrives"))
				}
			case f == model.KilledConsumer && m == model.ExactlyOnce:
				r.Err, r.Finished = errors.New("commit 50\x1b[2J: the coordinator is not available"), false
			}
			src.Runs = append(src.Runs, model.DeliveryEvent{Result: r})
		}
	}
	return src
}

func TestView(t *testing.T) {
	p := open(t, ran())
	uitest.Golden(t, "asked-80x24", p.View(80, 24))
	uitest.Keys(t, p)
	uitest.Press(p, "r")
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "j", "j", "l")
	uitest.Golden(t, "doubled-120x40", p.View(120, 40))
	uitest.Contains(t, p.View(80, 24), "40–41, 43, 50", "1,200 ms")
	uitest.Press(p, "G", "l")
	uitest.Contains(t, p.View(80, 24), "failed", "commit 50␛[2J")
	uitest.Fits(t, p)
	if got := p.Status(); got != "15 of 15 runs" {
		t.Errorf("status %q", got)
	}
}

func TestOneRun(t *testing.T) {
	src := ran()
	p := open(t, src)
	uitest.Press(p, "j", "enter")
	if calls := src.Calls(); !slices.Contains(calls, "Deliver [at most once] [lost request]") {
		t.Errorf("asked for %v", calls)
	}
	if p.cells[1][0].result == nil || p.cells[0][0].result != nil || p.cells[1][1].result != nil {
		t.Error("it ran something else")
	}
	got := uitest.Press(p, "o")
	if o := got[0].(page.Open); o.Kind != page.Records || o.Addr.Topic != "strata-delivery.x" {
		t.Errorf("%+v", o)
	}
	if got := fmt.Sprint(uitest.Press(p, "l", "o")); !strings.Contains(got, "not run yet") {
		t.Errorf("%s", got)
	}
}

func TestStopKeepsWhatWasCounted(t *testing.T) {
	p := open(t, ran())
	p.run.Start(t.Context(), func(ctx context.Context, _ func(model.DeliveryEvent) bool) error {
		<-ctx.Done()
		return ctx.Err()
	})
	p.cells[2][2].due = true
	p.take(&model.DeliveryEvent{Result: &model.DeliveryResult{Mode: model.AtMostOnce, Fault: model.NoFault}})
	half := step(model.AtLeastOnce, model.NoFault, 1, "producer", "sends 0–9")
	p.take(&half)
	uitest.Press(p, "c")
	if p.run.Busy() || p.cells[0][0].result == nil || p.cells[2][2].due || len(p.cells[0][1].steps) != 0 {
		t.Errorf("%+v", p.cells)
	}
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(ran()))
	uitest.Contains(t, bare.View(100, 10), "runs no broker of its own")
	uitest.Keys(t, bare)
	src := ran()
	src.Fail = func(m string) error {
		if m == "Deliver" {
			return errors.New("the broker does not listen")
		}
		return nil
	}
	p := open(t, src)
	uitest.Press(p, "r")
	if !strings.Contains(p.Status(), "does not listen") || p.cells[0][0].due {
		t.Errorf("status %q, %+v", p.Status(), p.cells[0][0])
	}
}

func TestMouse(t *testing.T) {
	p := open(t, ran())
	uitest.Press(p, "r")
	p.View(120, 40)
	uitest.Drive(p, p.Mouse(page.Mouse{Kind: page.Click, X: 60, Y: 3}))
	if p.table.Cursor() != 2 || p.mode != 1 {
		t.Errorf("at %d, %d", p.table.Cursor(), p.mode)
	}
}

package records

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func TestFind(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	p := open(t, src, at(4_812_000))
	p.View(80, 24)
	if a, ok := uitest.Press(p, "/")[0].(page.Ask); !ok || a.ID != askFind {
		t.Fatal("/ asks nothing")
	}
	// The canned search begins at the start of the log and knows substrings.
	uitest.Send(p, page.Answered{ID: askFind, Text: `"amount":77.`, OK: true})
	if r := p.at(); r.Offset != 4_811_416 {
		t.Errorf("found %d", r.Offset)
	}
	if !slices.Contains(src.Calls(), `Search "amount":77.`) {
		t.Errorf("asked %v", src.Calls())
	}
	got := uitest.Send(p, page.Answered{ID: askFind, Text: "nowhere", OK: true})
	if !said(got, "nowhere was not found: end of log") {
		t.Errorf("%v", got)
	}
	got = uitest.Send(p, page.Answered{ID: askFind, Text: "/(/", OK: true})
	if a, ok := got[0].(page.Ask); !ok || !strings.Contains(a.Err, "missing closing") || a.Initial != "/(/" {
		t.Errorf("a bad expression: %v", got)
	}
	src.Fail = func(m string) error {
		if m == "Search" {
			return errors.New("error at orders-2@812: read: input/output error")
		}
		return nil
	}
	got = uitest.Press(p, "n")
	if !said(got, "error at orders-2@812") {
		t.Errorf("%v", got)
	}
}

// slow is a source whose search waits until it is cancelled.
type slow struct {
	*uitest.Source
	asked chan model.SearchQuery
}

func (s *slow) Search(ctx context.Context, q model.SearchQuery, tell func(model.SearchEvent) bool) (model.SearchEnd, error) {
	s.asked <- q
	tell(model.SearchEvent{BytesDone: 1 << 20, BytesAll: 4 << 20, Records: 5000, At: orders2, Offset: 4_811_800})
	<-ctx.Done()
	return model.SearchEnd{Reason: "cancelled"}, nil
}

func TestASearchIsCancelledAndGoesOn(t *testing.T) {
	src := &slow{uitest.NewSource(uitest.Now()), make(chan model.SearchQuery, 4)}
	env := uitest.Env(t, src)
	now := uitest.Now()
	env.Now = func() time.Time { return now }
	p := New(env, page.Open{Addr: at(4_811_500)}).(*records)
	uitest.Drive(p, p.Init())
	step := func(cmd func() any) { p.Update(cmd()) }
	p.find.pattern.Text, p.find.pattern.Expr = "x", "x"
	first := p.search(false)
	step(func() any { return first() })
	q := <-src.asked
	if q.From[0] != 4_811_501 || q.Backward {
		t.Errorf("asked from %v", q.From)
	}
	now = now.Add(2 * time.Second)
	uitest.Contains(t, p.View(120, 20), "finding x", "25 %", "5,000 records", "1.0 MiB of 4.0 MiB", "6 s left")
	got := uitest.Press(p, "esc")
	if !said(got, "cancelled after 5,000 records at offset 4,811,800: n goes on there") {
		t.Errorf("%v", got)
	}
	p.search(false)
	if q := <-src.asked; q.From[0] != 4_811_801 {
		t.Errorf("goes on from %v", q.From)
	}
	p.stop()
	p.search(true)
	if q := <-src.asked; q.From[0] != 4_811_500 || !q.Backward {
		t.Errorf("backwards from %v", q.From)
	}
	p.Close()
}

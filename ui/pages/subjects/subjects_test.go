package subjects

import (
	"errors"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func open(t *testing.T, src model.Source) *subjects {
	t.Helper()
	p := New(uitest.Env(t, src), page.Open{}).(*subjects)
	uitest.Drive(p, p.Init())
	return p
}

func TestView(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.Schemas = []string{"com.example.Order", "evil\x1b[2J-value", "orders-key", "orders-value", "注文-value"}
	p := open(t, src)
	uitest.Golden(t, "80x24", p.View(80, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	if p.whyNoTopic() == "" {
		t.Error("a subject that is named after no topic leads to one")
	}
	uitest.Press(p, "j", "j")
	if why := p.whyNoTopic(); why != "" {
		t.Error(why)
	}
	p.SetFilter("orders")
	if s := p.Status(); s != "2 of 5 subjects" {
		t.Errorf("status %q", s)
	}
	p.SetFilter("nothing")
	uitest.Contains(t, p.View(80, 20), "no subject matches nothing")
}

func TestStates(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	uitest.Contains(t, open(t, src).View(80, 20), "has no subject")
	src.Fail = func(m string) error {
		if m == "Subjects" {
			return errors.New("it answers 401")
		}
		return nil
	}
	uitest.Contains(t, open(t, src).View(80, 20), "it answers 401", "ctrl-r asks again")
	bare := open(t, uitest.Plain(src))
	uitest.Contains(t, bare.View(100, 20), "no schema registry", "[profile.NAME.registry]")
	uitest.Fits(t, bare)
	uitest.Keys(t, bare)
	if bare.Commands()[0].Why() == "" {
		t.Error("a topic can be opened without a registry")
	}
}

package access

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func open(t testing.TB, src model.Source) *access {
	p := New(uitest.Env(t, src), page.Open{}).(*access)
	uitest.Drive(p, p.Init())
	return p
}

func ruled() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	src.Rules = []model.ACL{
		{Resource: "Cluster", Name: "kafka-cluster", Pattern: "Literal", Principal: "User:admin", Host: "*", Operation: "DescribeConfigs", Allow: true},
		{Resource: "Group", Name: "billing", Pattern: "Literal", Principal: "User:ada", Host: "*", Operation: "Read", Allow: true},
		{Resource: "Topic", Name: "orders", Pattern: "Literal", Principal: "User:ada", Host: "*", Operation: "Read", Allow: true},
		{Resource: "Topic", Name: "*", Pattern: "Literal", Principal: "User:CN=billing,OU=finance,O=example,L=Berlin,C=DE", Host: "10.0.0.7", Operation: "All", Allow: true},
		{Resource: "Topic", Name: "pay", Pattern: "Prefixed", Principal: "User:bob", Host: "10.0.0.7", Operation: "Write"},
		{Resource: "TransactionalId", Name: "evil\x1b[2J\u202e", Pattern: "Literal", Principal: "User:\a", Host: "*", Operation: "IdempotentWrite", Allow: true},
	}
	src.Bounds = []model.Quota{
		{Entity: "client-id=<default>, user=ada", Key: "request_percentage", Value: 12.5},
		{Entity: "client-id=billing", Key: "producer_byte_rate", Value: 1 << 20},
		{Entity: "ip=<default>", Key: "connection_creation_rate", Value: 50},
	}
	return src
}

func TestView(t *testing.T) {
	p := open(t, ruled())
	uitest.Golden(t, "80x24", p.View(80, 20))
	uitest.Golden(t, "120x40", p.View(120, 36))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "tab")
	uitest.Golden(t, "quotas-80x24", p.View(80, 20))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Press(p, "tab")
	if p.inside {
		t.Error("tab does not go back to the rules")
	}
}

func TestStates(t *testing.T) {
	bare := open(t, uitest.Plain(ruled()))
	uitest.Contains(t, bare.View(100, 12), "cannot say who may do what", "strata user")
	uitest.Fits(t, bare)
	uitest.Keys(t, bare)

	src := ruled()
	src.Fail = func(m string) error {
		if m == "ACLs" {
			return fmt.Errorf("acls: %w: security is disabled: the brokers have no authorizer (authorizer.class.name), so that everybody may do everything", model.ErrRefused)
		}
		return nil
	}
	p := open(t, src)
	uitest.Golden(t, "disabled-80x24", p.View(80, 20))
	uitest.Fits(t, p)

	src = uitest.NewSource(uitest.Now())
	p = open(t, src)
	uitest.Golden(t, "none-80x24", p.View(80, 20))
	uitest.Fits(t, p)
	if got := fmt.Sprint(uitest.Press(p, "tab")); !strings.Contains(got, "no quota") {
		t.Error(got)
	}
}

func TestLateErrorKeepsWhatWasRead(t *testing.T) {
	src := ruled()
	p := open(t, src)
	src.Fail = func(string) error { return errors.New("gone") }
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(80, 20), "User:ada", "producer_byte_rate")
	if !strings.Contains(p.Status(), "gone") {
		t.Error(p.Status())
	}
}

func TestOrderAndFilter(t *testing.T) {
	p := open(t, ruled())
	if a, _ := p.at(); a.Allow {
		t.Error("what is denied does not come first")
	}
	uitest.Press(p, "S")
	p.rules.Home()
	if a, _ := p.at(); !a.Allow {
		t.Error("S does not turn the order")
	}
	for range len(p.rules.Columns) {
		uitest.Press(p, "s")
	}
	if p.sorted != colMay {
		t.Errorf("once round ends at %v", p.sorted)
	}
	for filter, want := range map[string][2]int{"ada": {2, 1}, "deny": {1, 0}, "billing": {2, 1}, "zzz": {0, 0}, "": {6, 3}} {
		p.SetFilter(filter)
		if got := [2]int{len(p.rows), len(p.bounds)}; got != want {
			t.Errorf("%q: %v, want %v", filter, got, want)
		}
	}
	p.SetFilter("zzz")
	uitest.Contains(t, p.View(80, 20), "no rule matches zzz", "no quota matches zzz")
	uitest.Fits(t, p)
}

func TestOpensWhatARuleIsAbout(t *testing.T) {
	p := open(t, ruled())
	for i := range p.rows {
		p.rules.SetCursor(int64(i))
		a, _ := p.at()
		got := fmt.Sprint(uitest.Press(p, "enter"))
		want := "about many"
		switch {
		case a.Name == "orders":
			want = "{partitions orders"
		case a.Name == "billing":
			want = "{group group:billing"
		case a.Resource != "Topic":
			want = "leads nowhere"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%v: %s, want %s", a, got, want)
		}
	}
	p.rules.Home()
	if got := fmt.Sprint(uitest.Press(p, "y")); !strings.Contains(got, "User:bob deny Write Topic Prefixed pay from 10.0.0.7") {
		t.Error(got)
	}
}

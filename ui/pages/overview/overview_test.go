package overview

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func sample() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	src.Dirs = []model.DirOverview{
		{
			Path: "/var/lib/kafka/data-a",
			Facts: []model.Fact{
				{Name: "mode", Value: "KRaft", Note: "meta.properties version 1"}, {Name: "node id", Value: "1"},
				{Name: "cluster id", Value: "5L6g3nShT-eMCtK--X86sw"}, {Name: "lock", Value: "left behind", Note: "nobody holds it: the broker was killed"},
				{Name: "last stop", Value: "not clean", Note: "a broker that starts on it will recover what lies past the recovery point"},
			},
			Odd:    []model.Fact{{Name: "orders-1.5f2c-delete", Value: "2 segments", Note: "being removed"}},
			Faults: []model.Fault{{File: "recovery-point-offset-checkpoint", Kind: "checkpoint", What: "line 3: no number", Severity: model.SevWarning}},
			Records: []model.MetaRecord{
				{Offset: 1203, Type: "TopicRecord", Text: "name orders, topicId b2sLqCT5SSS5QkZXaZ0NLA"},
				{Offset: 1204, Type: "PartitionRecord", Text: "partitionId 0, replicas [1], isr [1], leader 1, leaderEpoch 0, partitionEpoch 0"},
			},
		},
		{Path: "/var/lib/kafka/data-b", Facts: []model.Fact{{Name: "mode", Value: "KRaft"}}},
	}
	return src
}

func open(t testing.TB, src model.Source) *overview {
	p := New(uitest.Env(t, src), page.Open{}).(*overview)
	uitest.Drive(p, p.Init())
	return p
}

func TestView(t *testing.T) {
	p := open(t, sample())
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestFilterAndCopy(t *testing.T) {
	p := open(t, sample())
	p.SetFilter("cluster")
	if len(p.rows) != 1 {
		t.Fatalf("%d rows", len(p.rows))
	}
	if c := uitest.Press(p, "y")[0].(page.Copy); c.Text != "5L6g3nShT-eMCtK--X86sw" {
		t.Error(c.Text)
	}
	p.SetFilter("nothing of the kind")
	uitest.Contains(t, p.View(80, 24), "nothing matches")
	p.SetFilter("")
	uitest.Contains(t, p.View(80, 24), "/var/lib/kafka/data-b")
}

func TestKeepsItsPlaceWhenReadAgain(t *testing.T) {
	src := sample()
	p := open(t, src)
	uitest.Press(p, "j", "j", "j")
	was, _ := p.at()
	src.Dirs[0].Facts = append([]model.Fact{{Name: "new", Value: "first"}}, src.Dirs[0].Facts...)
	uitest.Send(p, model.Change{Info: true})
	if now, _ := p.at(); now.name != was.name {
		t.Errorf("the cursor went from %s to %s", was.name, now.name)
	}
}

func TestStates(t *testing.T) {
	uitest.Contains(t, open(t, uitest.Plain(sample())).View(80, 24), "no log directory", "strata DIR")
	src := sample()
	src.Fail = func(string) error { return errors.New("permission \x1b[2J denied") }
	p := open(t, src)
	uitest.Contains(t, p.View(80, 24), "permission ␛[2J denied", "ctrl-r")
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	uitest.Contains(t, open(t, &uitest.Source{}).View(80, 24), "no directory to tell of")
}

func TestHostileNames(t *testing.T) {
	src := sample()
	src.Dirs[0].Path = "/\x1b]0;x\a"
	src.Dirs[0].Odd[0] = model.Fact{Name: "\u202e\r", Value: "\x9b", Note: strings.Repeat("注", 300)}
	src.Dirs[0].Records[0].Text = "\x1b[2J\n"
	p := open(t, src)
	for range 14 {
		uitest.Press(p, "j")
		p.View(80, 24)
	}
	uitest.Fits(t, p)
}

func BenchmarkView(b *testing.B) {
	src := sample()
	for range 1000 {
		src.Dirs[0].Records = append(src.Dirs[0].Records, src.Dirs[0].Records[1])
	}
	p := open(b, src)
	for b.Loop() {
		p.View(200, 60)
	}
}

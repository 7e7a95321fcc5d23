package partitions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

func open(t testing.TB, src model.Source, addr model.Address) *partitions {
	p := New(uitest.Env(t, src), page.Open{Addr: addr}).(*partitions)
	uitest.Drive(p, p.Init())
	return p
}

// uneven is a source whose topic is skewed, damaged and has leftovers.
func uneven() *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	rows := src.Parts["orders"]
	rows[1].Bytes /= 7
	rows[1].HWFromCheckpoint, rows[1].HighWatermark = true, rows[1].LogEnd-12
	rows[2].Err = &model.CorruptError{Path: "00000000000004640112.log", Pos: 16_560, What: "CRC is 1a2b3c4d, computed 99887766"}
	src.Parts["orders"] = append(rows,
		model.Partition{TopicPartition: model.TopicPartition{Topic: "orders", Partition: 1}, State: model.Future, LogStart: model.Unknown, HighWatermark: model.Unknown, LastStable: model.Unknown, LogEnd: model.Unknown, Bytes: 1000, Newest: model.NoTime, LeaderEpoch: -1, Leader: -1, Segments: 1, Dir: "/b"},
		model.Partition{TopicPartition: model.TopicPartition{Topic: "orders", Partition: 1}, State: model.Deleting, LogStart: model.Unknown, HighWatermark: model.Unknown, LastStable: model.Unknown, LogEnd: model.Unknown, Bytes: 1000, Newest: model.NoTime, LeaderEpoch: -1, Leader: -1, Segments: 1, Dir: "/a"},
	)
	return src
}

func TestView(t *testing.T) {
	p := open(t, uitest.NewSource(uitest.Now()), model.TopicAddress("orders"))
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	p = open(t, uneven(), model.TopicAddress("orders"))
	uitest.Golden(t, "uneven-80x24", p.View(80, 24))
	uitest.Golden(t, "uneven-200x12", p.View(200, 12))
	uitest.Fits(t, p)
}

func TestUnknownIsNeverZero(t *testing.T) {
	p := open(t, uneven(), model.TopicAddress("orders"))
	p.table.End()
	line := strings.Split(uitest.Plainly(p.View(160, 12)), "\n")[7]
	if strings.Contains(line, " 0 ") || strings.Count(line, "?") < 5 {
		t.Errorf("%q", line)
	}
}

func TestSortKeepsLeftoversBelowAndTheCursorOnItsRow(t *testing.T) {
	p := open(t, uneven(), model.PartitionAddress(model.TopicPartition{Topic: "orders", Partition: 1}))
	if r, _ := p.at(); r.Partition != 1 {
		t.Fatalf("began on %d", r.Partition)
	}
	order := func() string {
		var s []string
		for _, i := range p.rows {
			s = append(s, keyOf(&p.all[i]))
		}
		return strings.Join(s, ",")
	}
	p.sortBy(colSize)
	if order() != "0,2,1,1 delete /a,1 future /b" {
		t.Error(order())
	}
	p.sortBy(colSize)
	if order() != "1,0,2,1 delete /a,1 future /b" {
		t.Error(order())
	}
	if r, _ := p.at(); r.Partition != 1 || r.State != model.Live {
		t.Errorf("the cursor went to %v", r)
	}
	for range len(p.table.Columns) {
		uitest.Press(p, "s")
	}
	if p.sorted != colSize {
		t.Errorf("once round ends at %v", p.sorted)
	}
}

func TestFilter(t *testing.T) {
	p := open(t, uneven(), model.TopicAddress("orders"))
	p.SetFilter("future")
	if len(p.rows) != 1 {
		t.Errorf("%d rows", len(p.rows))
	}
	p.SetFilter("nothing of the kind")
	uitest.Contains(t, p.View(80, 8), "no partition matches")
}

func TestKeysOpenAndSayWhyNot(t *testing.T) {
	src := uneven()
	tp := model.TopicPartition{Topic: "orders", Partition: 0}
	full, bare := open(t, src, model.PartitionAddress(tp)), open(t, uitest.Plain(src), model.PartitionAddress(tp))
	for key, tc := range map[string]struct {
		kind, bare page.Kind
		whole      bool
	}{
		"enter": {page.Segments, page.Records, false},
		"r":     {page.Records, page.Records, false},
		"t":     {page.Tail, "", false},
		"x":     {page.Lookup, "", false},
		"v":     {page.Check, "", false},
		"b":     {page.Batches, "", false},
		"p":     {page.Produce, "", false},
		"c":     {page.Groups, page.Groups, true},
		"A":     {page.Alter, "", true},
		"D":     {page.Truncate, "", false},
	} {
		t.Run(key, func(t *testing.T) {
			addr := model.PartitionAddress(tp)
			if tc.whole {
				addr = model.TopicAddress("orders")
			}
			if got := uitest.Press(full, key); fmt.Sprint(got) != fmt.Sprint([]page.Request{page.Open{Kind: tc.kind, Addr: addr}}) {
				t.Errorf("opened %v", got)
			}
			got := uitest.Press(bare, key)
			if o, ok := got[0].(page.Open); tc.bare != "" && (!ok || o.Kind != tc.bare) {
				t.Errorf("without abilities it opened %v", got)
			}
			if n, ok := got[0].(page.Notice); tc.bare == "" && (!ok || n.Text == "") {
				t.Errorf("without abilities it says %v", got)
			}
		})
	}
	full.table.End()
	if n, ok := uitest.Press(full, "r")[0].(page.Notice); !ok || !strings.Contains(n.Text, "left over (future)") {
		t.Errorf("%v", n)
	}
}

func TestStates(t *testing.T) {
	p := open(t, uitest.NewSource(uitest.Now()), model.TopicAddress("order"))
	uitest.Contains(t, p.View(90, 10), "no such topic", "did you mean orders?", "esc goes back")
	src := uitest.NewSource(uitest.Now())
	p = open(t, src, model.TopicAddress("orders"))
	src.Fail = func(string) error { return errors.New("gone") }
	uitest.Send(p, model.Change{All: true})
	uitest.Contains(t, p.View(80, 10), "LOG START", "908,227")
	if !strings.Contains(p.Status(), "gone") {
		t.Error(p.Status())
	}
	src.Fail, src.Parts["orders"] = nil, nil
	uitest.Press(p, "ctrl+r")
	uitest.Contains(t, p.View(100, 10), "no partition here", "DIR,DIR")
}

func TestHostileErrors(t *testing.T) {
	src := uneven()
	src.Parts["orders"][0].Err = errors.New("\x1b[2J\u202e\x00" + strings.Repeat("注", 200))
	p := open(t, src, model.TopicAddress("orders"))
	uitest.Fits(t, p)
}

func BenchmarkView(b *testing.B) {
	src := &uitest.Source{Parts: map[string][]model.Partition{}}
	for i := range 10_000 {
		src.Parts["t"] = append(src.Parts["t"], model.Partition{TopicPartition: model.TopicPartition{Topic: "t", Partition: int32(i)}, Bytes: int64(i), LogEnd: int64(i)})
	}
	p := open(b, src, model.TopicAddress("t"))
	for b.Loop() {
		p.View(200, 60)
	}
}

// clustered is a cluster: no files, racks, and a topic that lacks replicas.
type clustered struct{ *uitest.Source }

func (clustered) Racks() map[int32]string {
	return map[int32]string{1: "eu-central-1a", 2: "eu-central-1b", 3: "eu-central-1c"}
}

// lacking is a topic of six partitions, of which broker 3 is gone.
func lacking() clustered {
	src := uitest.NewSource(uitest.Now())
	proto := src.Parts["orders"][0]
	src.Parts["orders"] = nil
	for n := range int32(6) {
		p := proto
		p.Partition, p.Segments, p.Dir, p.Leader = n, int(model.Unknown), "", n%2+1
		p.Replicas, p.ISR, p.Offline = []int32{n%3 + 1, (n+1)%3 + 1, (n+2)%3 + 1}, []int32{1, 2}, []int32{3}
		src.Parts["orders"] = append(src.Parts["orders"], p)
	}
	rows := src.Parts["orders"]
	rows[1].ISR, rows[1].Offline = []int32{2, 3, 1}, nil
	rows[2].Leader, rows[2].Replicas, rows[2].ISR, rows[2].Err = -1, []int32{3}, []int32{3}, errors.New("LEADER_NOT_AVAILABLE: there is no leader for this topic-partition")
	rows[2].LogStart, rows[2].HighWatermark, rows[2].LastStable, rows[2].LogEnd, rows[2].Records = model.Unknown, model.Unknown, model.Unknown, model.Unknown, model.Count{}
	rows[3].ISR, rows[3].Offline = []int32{2}, []int32{3}
	return clustered{src}
}

func TestCluster(t *testing.T) {
	p := open(t, lacking(), model.TopicAddress("orders"))
	uitest.Golden(t, "cluster-80x24", p.View(80, 20))
	uitest.Golden(t, "cluster-120x40", p.View(120, 36))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	p.table.Select("3")
	uitest.Contains(t, p.View(80, 20), "orders-3: 1 of 3 in sync · replicas 1 in eu-central-1a, out of sync; 2 in", "eu-central-1b, leader; 3 in eu-central-1c, not there")
	p.SetFilter("no leader")
	if len(p.rows) != 1 {
		t.Errorf("%d rows", len(p.rows))
	}
}

func TestClusterSortsByWhatIsLacking(t *testing.T) {
	p := open(t, lacking(), model.TopicAddress("orders"))
	uitest.Press(p, "s", "s")
	if p.sorted != colReplicas {
		t.Fatalf("sorted by %v", p.sorted)
	}
	if r := p.all[p.rows[0]]; r.Partition != 3 {
		t.Errorf("first is %d", r.Partition)
	}
	for range len(p.cols) {
		uitest.Press(p, "s")
		p.View(200, 20)
	}
	if p.sorted != colReplicas {
		t.Errorf("once round ends at %v", p.sorted)
	}
}

func TestClusterIsWell(t *testing.T) {
	src := lacking()
	for i := range src.Parts["orders"] {
		r := &src.Parts["orders"][i]
		r.Leader, r.Err, r.Offline, r.Replicas, r.ISR = 1, nil, nil, []int32{1, 2, 3}, []int32{3, 2, 1}
	}
	p := open(t, src, model.TopicAddress("orders"))
	frame := uitest.Plainly(p.View(120, 20))
	if strings.Contains(frame, "NOTE") || strings.Contains(frame, "under-replicated") {
		t.Error(frame)
	}
	uitest.Contains(t, frame, "orders-0: replicas 1 in eu-central-1a, leader; 2 in eu-central-1b; 3 in eu-central-1c")
}

package groups

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// shop is a topic of four partitions, offsets 40 to 100 dated 1,040 to 1,099 ms, with control records and holes, and a
// group that has committed three of them.
func shop(t testing.TB) (*Service, *fakeLogs, *clock) {
	logs := (&fakeLogs{}).fill("orders", 4, 40, 100).fill("clicks", 1, 0, 10)
	logs.control("orders", 0, 50, 99).hole("orders", 0, 60, 61, 62, 63, 64)
	c := clockAt(2000)
	s := newService(t, logs, c)
	commit(t, s, "billing",
		model.Commit{TopicPartition: at("orders", 0), Offset: 70, LeaderEpoch: 4, Metadata: "note"}, offset("orders", 1, 5), offset("orders", 2, 130))
	commit(t, s, "audit", offset("orders", 0, 80), offset("orders", 3, 41), offset("orders", 1, 10))
	return s, logs, c
}

func plan(t testing.TB, s *Service, r model.ResetRequest) model.ResetPlan {
	t.Helper()
	p, err := s.PlanReset(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func apply(t testing.TB, s *Service, p model.ResetPlan) model.ResetResult {
	t.Helper()
	res, err := s.ApplyReset(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Rows {
		if !r.OK {
			t.Errorf("%s is not as planned: %d", r.TopicPartition, r.Stored)
		}
	}
	return res
}

func TestPlans(t *testing.T) {
	orders := func(p ...int32) []model.TopicSelector { return []model.TopicSelector{{Topic: "orders", Partitions: p}} }
	for name, tc := range map[string]struct {
		where  model.Where
		topics []model.TopicSelector
		want   []string // partition, from, to, change, first record, note
	}{
		"earliest": {model.Where{Kind: model.ToEarliest}, nil, []string{
			"orders-0 70>40 -24 40 log start", "orders-1 5>40 0 40 log start; 35 lost", "orders-2 130>40 -60 40 log start"}},
		"latest": {model.Where{Kind: model.ToLatest}, nil, []string{
			"orders-0 70>100 29 end log end", "orders-1 5>100 60 end log end; 35 lost", "orders-2 130>100 0 end log end"}},
		"offset": {model.Where{Kind: model.ToOffset, N: 60}, nil, []string{
			"orders-0 70>60 -5 65 ", "orders-1 5>60 20 60 35 lost", "orders-2 130>60 -40 60 "}},
		"offset before the start": {model.Where{Kind: model.ToOffset, N: 7}, orders(0), []string{"orders-0 70>40 -24 40 7, before the log start, so 40"}},
		"offset past the end":     {model.Where{Kind: model.ToOffset, N: 700}, orders(3), []string{"orders-3 -1>100 none end 700, past the log end, so 100"}},
		"offset where it is":      {model.Where{Kind: model.ToOffset, N: 70}, orders(0), []string{"orders-0 70>70 0 70 "}},
		"time":                    {model.Where{Kind: model.ToTime, Time: 1090}, nil, []string{"orders-0 70>90 20 90 ", "orders-1 5>90 50 90 35 lost", "orders-2 130>90 -10 90 "}},
		"time before all":         {model.Where{Kind: model.ToTime, Time: 1}, orders(3), []string{"orders-3 -1>40 none 40 log start"}},
		"time after all": {model.Where{Kind: model.ToTime, Time: 1500}, orders(3), []string{
			"orders-3 -1>100 none end nothing after 1970-01-01 00:00:01.5Z, so the log end, 100"}},
		"ago":   {model.Where{Kind: model.ToAgo, N: 905}, orders(3), []string{"orders-3 -1>95 none 95 "}},
		"shift": {model.Where{Kind: model.ToShift, N: -10}, nil, []string{"orders-0 70>60 -5 65 ", "orders-1 5>40 0 40 5-10 is -5, before the log start, so 40; 35 lost", "orders-2 130>100 0 end 130-10 is 120, past the log end, so 100"}},
		"shift of nothing": {model.Where{Kind: model.ToShift, N: 3}, orders(0, 3), []string{
			"orders-0 70>73 3 73 ", "orders-3 -1>-1 none end nothing committed to shift"}},
		"shift without bound": {model.Where{Kind: model.ToShift, N: 1<<63 - 1}, orders(0), []string{
			"orders-0 70>100 29 end 70+9223372036854775807 is 9223372036854775807, past the log end, so 100"}},
		"like a group": {model.Where{Kind: model.ToGroup, Group: "audit"}, nil, []string{
			"orders-0 70>80 10 80 ", "orders-1 5>40 0 40 group audit is at 10, before the log start, so 40; 35 lost", "orders-2 130>130 0 end group audit has committed nothing here"}},
		"file": {model.Where{Kind: model.ToFile, File: "f.csv", Rows: []model.Commit{offset("orders", 3, 50), offset("clicks", 0, 400)}}, nil, []string{
			"clicks-0 -1>10 none end 400, past the log end, so 10", "orders-3 -1>50 none 50 "}},
		"file, one topic of it": {model.Where{Kind: model.ToFile, Rows: []model.Commit{offset("orders", 3, 50), offset("clicks", 0, 4)}},
			[]model.TopicSelector{{Topic: "clicks"}}, []string{"clicks-0 -1>4 none 4 "}},
		"a whole topic, twice": {model.Where{Kind: model.ToLatest}, []model.TopicSelector{{Topic: "clicks"}, {Topic: "clicks", Partitions: []int32{0}}}, []string{
			"clicks-0 -1>10 none end log end"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := shop(t)
			before := offsets(t, s, "billing")
			p := plan(t, s, model.ResetRequest{Group: "billing", Topics: tc.topics, Where: tc.where})
			var got []string
			for _, r := range p.Rows {
				change, first := fmt.Sprint(r.Change.N), "end"
				if r.Change.State == model.CountNone {
					change = "none"
				}
				if r.First != nil {
					first = fmt.Sprint(r.First.Offset)
				}
				got = append(got, fmt.Sprintf("%s %d>%d %s %s %s", r.TopicPartition, r.From, r.To, change, first, r.Note))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("plan\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
			if p.Refused != "" || p.Made != 2000 || p.Where != tc.where.String() {
				t.Errorf("refused %q, made %d, where %q", p.Refused, p.Made, p.Where)
			}
			if after := offsets(t, s, "billing"); !reflect.DeepEqual(before, after) {
				t.Errorf("planning has changed %v to %v", before, after)
			}
			if p.Changes() == 0 {
				_, err := s.ApplyReset(t.Context(), p)
				wantErr(t, err, model.ErrRefused)
				return
			}
			apply(t, s, p)
			after := offsets(t, s, "billing")
			for _, r := range p.Rows {
				if got, ok := after[r.TopicPartition]; ok != (r.To >= 0) || ok && got != r.To {
					t.Errorf("%s: stored %d (%v), planned %d", r.TopicPartition, got, ok, r.To)
				}
			}
		})
	}
}

func TestPlansThatCannotBeMade(t *testing.T) {
	earliest := model.Where{Kind: model.ToEarliest}
	for name, tc := range map[string]struct {
		r     model.ResetRequest
		err   error
		words string
	}{
		"no group":        {model.ResetRequest{Group: "biling", Where: earliest}, model.ErrNoGroup, "did you mean billing?"},
		"empty name":      {model.ResetRequest{Where: earliest}, model.ErrInvalid, "group's name"},
		"no topic":        {model.ResetRequest{Group: "billing", Where: earliest, Topics: []model.TopicSelector{{Topic: "order"}}}, model.ErrNoTopic, "did you mean orders?"},
		"no partition":    {model.ResetRequest{Group: "billing", Where: earliest, Topics: []model.TopicSelector{{Topic: "orders", Partitions: []int32{7}}}}, model.ErrNoPartition, "orders has 0 to 3"},
		"no such model":   {model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToGroup, Group: "audi"}}, model.ErrNoGroup, "did you mean audit?"},
		"file, no topic":  {model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToFile, Rows: []model.Commit{offset("click", 0, 1)}}}, model.ErrNoTopic, "clicks"},
		"file, part":      {model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToFile, Rows: []model.Commit{offset("clicks", 5, 1)}}}, model.ErrNoPartition, "clicks"},
		"file, twice":     {model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToFile, Rows: []model.Commit{offset("clicks", 0, 1), offset("clicks", 0, 2)}}}, model.ErrInvalid, "two rows for clicks-0"},
		"file, none left": {model.ResetRequest{Group: "billing", Topics: []model.TopicSelector{{Topic: "orders"}}, Where: model.Where{Kind: model.ToFile, Rows: []model.Commit{offset("clicks", 0, 1)}}}, model.ErrInvalid, "no row"},
		"odd place":       {model.ResetRequest{Group: "billing", Where: model.Where{Kind: 99}}, model.ErrInvalid, "kind 99"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := shop(t)
			_, err := s.PlanReset(t.Context(), tc.r)
			wantErr(t, err, tc.err)
			if !strings.Contains(err.Error(), tc.words) {
				t.Errorf("error %q does not say %q", err, tc.words)
			}
		})
	}
}

func TestNewGroupTakesAnothersPlaces(t *testing.T) {
	s, _, _ := shop(t)
	p := plan(t, s, model.ResetRequest{Group: "copy", Where: model.Where{Kind: model.ToGroup, Group: "audit"}})
	apply(t, s, p)
	want := map[model.TopicPartition]int64{at("orders", 0): 80, at("orders", 1): 40, at("orders", 3): 41}
	if got := offsets(t, s, "copy"); !reflect.DeepEqual(got, want) {
		t.Errorf("copy has %v, want %v", got, want)
	}
}

func TestGoneTopicStaysAsItIs(t *testing.T) {
	s, logs, _ := shop(t)
	commit(t, s, "billing", offset("gone", 0, 9))
	p := plan(t, s, model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToEarliest}})
	if r := p.Rows[0]; r.Topic != "gone" || r.From != 9 || r.To != 9 || !strings.Contains(r.Note, "no such topic") {
		t.Errorf("row %+v", r)
	}
	apply(t, s, p)
	if got := offsets(t, s, "billing"); got[at("gone", 0)] != 9 || got[at("orders", 0)] != 40 {
		t.Errorf("stored %v", got)
	}
	logs.fail = errors.New("disk on fire")
	_, err := s.PlanReset(t.Context(), model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToLatest}})
	wantErr(t, err, logs.fail)
}

func TestAppliedIsWhatWasShown(t *testing.T) {
	s, _, c := shop(t)
	p := plan(t, s, model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToLatest}, Topics: []model.TopicSelector{{Topic: "orders"}}})
	p.Rows[1].Excluded = true
	p.Rows[2].To = 77 // as edited by hand
	c.ms.Store(3000)
	res := apply(t, s, p)
	if res.Journal != 1 || len(res.Rows) != 3 || res.Rows[1].Stored != 77 {
		t.Errorf("result %+v", res)
	}
	want := []Committed{
		{Commit: offset("orders", 0, 100), At: 3000, Expires: model.NoTime},
		{Commit: offset("orders", 1, 5), At: 2000, Expires: model.NoTime},
		{Commit: offset("orders", 2, 77), At: 3000, Expires: model.NoTime},
		{Commit: offset("orders", 3, 100), At: 3000, Expires: model.NoTime},
	}
	if got, err := s.Fetch(t.Context(), "billing", nil); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("stored %+v, %v", got, err)
	}
	js, err := s.Journal(t.Context())
	if err != nil || len(js) != 1 {
		t.Fatalf("journal %+v, %v", js, err)
	}
	e := js[0]
	if e.ID != 1 || e.Group != "billing" || e.At != 3000 || e.Who != "me@here" || e.Where != "latest" || len(e.Rows) != 3 {
		t.Errorf("entry %+v", e)
	}
	if r := e.Rows[0]; r.From != 70 || r.FromEpoch != 4 || r.FromMetadata != "note" || r.To != 100 || r.Change != model.Exactly(29) {
		t.Errorf("row %+v", r)
	}
	// The same plan once more: its offsets have moved.
	_, err = s.ApplyReset(t.Context(), p)
	wantErr(t, err, model.ErrRefused)
}

func TestResetsRefusedChangeNothing(t *testing.T) {
	latest := model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToLatest}}
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, s *Service, p *model.ResetPlan)
		err   error
		words string
	}{
		"offset moved": {func(t *testing.T, s *Service, _ *model.ResetPlan) { commit(t, s, "billing", offset("orders", 1, 6)) },
			model.ErrRefused, "orders-1 is 6, was 5"},
		"metadata moved": {func(t *testing.T, s *Service, _ *model.ResetPlan) {
			commit(t, s, "billing", model.Commit{TopicPartition: at("orders", 0), Offset: 70, LeaderEpoch: 4, Metadata: "other"})
		}, model.ErrRefused, "have moved since"},
		"epoch moved": {func(t *testing.T, s *Service, _ *model.ResetPlan) {
			commit(t, s, "billing", model.Commit{TopicPartition: at("orders", 0), Offset: 70, LeaderEpoch: 5, Metadata: "note"})
		}, model.ErrRefused, "have moved since"},
		"offset gone": {func(t *testing.T, s *Service, _ *model.ResetPlan) {
			if _, err := s.ForgetTopic("orders"); err != nil {
				t.Fatal(err)
			}
		}, model.ErrRefused, "is nothing, was 70"},
		"group active": {func(t *testing.T, s *Service, _ *model.ResetPlan) {
			for _, c := range []string{"c1", "c2"} {
				if _, err := s.Join("billing", MemberInfo{Client: c}); err != nil {
					t.Fatal(err)
				}
			}
		}, model.ErrRefused, "group is Stable, members c1@127.0.0.1, c2@127.0.0.1"},
		"two rows": {func(_ *testing.T, _ *Service, p *model.ResetPlan) {
			p.Rows[1].TopicPartition = p.Rows[0].TopicPartition
		},
			model.ErrInvalid, "two rows"},
		"odd offset":                {func(_ *testing.T, _ *Service, p *model.ResetPlan) { p.Rows[0].To = -7 }, model.ErrInvalid, "offset -7"},
		"odd topic":                 {func(_ *testing.T, _ *Service, p *model.ResetPlan) { p.Rows[0].Topic = "" }, model.ErrInvalid, "topic's name"},
		"nothing left":              {func(_ *testing.T, _ *Service, p *model.ResetPlan) { p.Rows = nil }, model.ErrRefused, "changes nothing"},
		"undo of what is not there": {func(_ *testing.T, _ *Service, p *model.ResetPlan) { p.UndoOf = 12 }, model.ErrRefused, "no longer there"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := shop(t)
			p := plan(t, s, latest)
			tc.spoil(t, s, &p)
			before := offsets(t, s, "billing")
			_, err := s.ApplyReset(t.Context(), p)
			wantErr(t, err, tc.err)
			if !strings.Contains(err.Error(), tc.words) {
				t.Errorf("error %q does not say %q", err, tc.words)
			}
			if after := offsets(t, s, "billing"); !reflect.DeepEqual(before, after) {
				t.Errorf("a refused reset has changed %v to %v", before, after)
			}
			if js, err := s.Journal(t.Context()); err != nil || len(js) != 0 {
				t.Errorf("a refused reset is in the journal: %+v, %v", js, err)
			}
		})
	}
}

func TestActiveGroupIsPlannedForButRefused(t *testing.T) {
	s, _, _ := shop(t)
	m, err := s.Join("billing", MemberInfo{Client: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	r := model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToLatest}}
	if p := plan(t, s, r); p.Refused != "group is Stable, members c1@127.0.0.1" || len(p.Rows) != 3 {
		t.Errorf("refused %q, %d rows", p.Refused, len(p.Rows))
	}
	wantErr(t, s.DeleteGroup(t.Context(), "billing"), model.ErrRefused)
	if err := m.Leave(); err != nil {
		t.Fatal(err)
	}
	if p := plan(t, s, r); p.Refused != "" {
		t.Errorf("refused %q after all left", p.Refused)
	}
}

// TestResetAndMembersExclude lets members come and go while resets are tried: none succeeds while there is a member.
func TestResetAndMembersExclude(t *testing.T) {
	s, _, _ := shop(t)
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(over)
		for n := range int64(100) {
			m, err := s.Join("billing", MemberInfo{})
			if err != nil {
				t.Error(err)
				return
			}
			before := offsets(t, s, "billing")
			if after := offsets(t, s, "billing"); !reflect.DeepEqual(before, after) {
				t.Errorf("reset under a member: %v to %v", before, after)
			}
			if err := errors.Join(m.Commit(t.Context(), []model.Commit{offset("orders", 0, 50+n%10)}), m.Leave()); err != nil {
				t.Error(err)
			}
		}
	})
	done, refused := 0, 0
	for i, last := 0, false; !last; i++ {
		select {
		case <-over:
			last = true
		default:
		}
		p, err := s.PlanReset(t.Context(), model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToOffset, N: int64(70 + i%2)}})
		if err != nil {
			t.Fatal(err)
		}
		switch _, err := s.ApplyReset(t.Context(), p); {
		case err == nil:
			done++
		case errors.Is(err, model.ErrRefused) && !last:
			refused++
		default:
			t.Fatal(err)
		}
	}
	wg.Wait()
	if js, err := s.Journal(t.Context()); err != nil || len(js) != done {
		t.Errorf("%d resets were done, the journal has %d, %v", done, len(js), err)
	}
	t.Logf("%d resets done, %d refused", done, refused)
}

func TestJournalIsBounded(t *testing.T) {
	s, _, _ := shop(t)
	batch := []*Write{{}}
	for i := range uint64(maxJournal) {
		e := model.JournalEntry{Group: "billing"}
		batch[0].entries = append(batch[0].entries, entry{bucket: journalBucket, key: journalKey(i + 1), value: appendJournal(nil, e)})
	}
	if err := s.db.commit(batch); err != nil {
		t.Fatal(err)
	}
	if err := s.db.setSequence(maxJournal); err != nil {
		t.Fatal(err)
	}
	apply(t, s, plan(t, s, model.ResetRequest{Group: "billing", Where: model.Where{Kind: model.ToEarliest}}))
	js, err := s.Journal(t.Context())
	if err != nil || len(js) != maxJournal || js[0].ID != maxJournal+1 || js[len(js)-1].ID != 2 {
		t.Errorf("%d entries, %v", len(js), err)
	}
}

// TestJournalTrims keeps the newest entries within either bound, and the newest of all whatever its size.
func TestJournalTrims(t *testing.T) {
	for name, tc := range map[string]struct{ entries, size, want int }{
		"room for all":       {9, 1000, 5},
		"too many":           {3, 1000, 3},
		"too large":          {9, 250, 2},
		"the newest too":     {9, 50, 1},
		"too many and large": {1, 150, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := shop(t)
			err := s.db.update(func(tx *bbolt.Tx) error {
				journal := tx.Bucket([]byte(journalBucket))
				for i := range uint64(5) {
					if err := journal.Put(journalKey(i+1), make([]byte, 100)); err != nil {
						return err
					}
				}
				if err := trimJournal(journal, tc.entries, tc.size); err != nil {
					return err
				}
				n := 0
				err := journal.ForEach(func(_, _ []byte) error { n++; return nil })
				if n != tc.want || journal.Get(journalKey(5)) == nil {
					t.Errorf("%d entries are left, want the newest %d", n, tc.want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestOffsetsThatMeanNothing resets a group in which a client has stored what Kafka lets it store.
func TestOffsetsThatMeanNothing(t *testing.T) {
	s := newService(t, (&fakeLogs{}).fill("t", 3, 0, 10), clockAt(1000))
	w, err := s.Stage("g", []Committed{
		{Commit: model.Commit{TopicPartition: at("t", 0), Offset: -1, LeaderEpoch: -1, Metadata: "note"}, Expires: model.NoTime},
		{Commit: model.Commit{TopicPartition: at("t", 1), Offset: 1<<63 - 1, LeaderEpoch: -1, Metadata: strings.Repeat("é", 4096)}, Expires: model.NoTime},
		{Commit: offset("t", 2, 4), Expires: 2000},
	})
	if err == nil {
		err = w.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, s, "g"); got[at("t", 0)] != -1 || got[at("t", 1)] != 1<<63-1 {
		t.Errorf("stored %v, want what was sent", got)
	}
	g, err := s.Group(t.Context(), "g")
	if err != nil || g.Lag != model.Exactly(6) || g.Offsets[0].Committed != model.Unknown || g.Offsets[1].Ahead <= 0 || g.Offsets[2].ExpiresAt != 2000 {
		t.Errorf("group %+v, %v", g, err)
	}
	for _, where := range []model.WhereKind{model.ToEarliest, model.ToLatest} {
		p := plan(t, s, model.ResetRequest{Group: "g", Topics: []model.TopicSelector{{Topic: "t"}}, Where: model.Where{Kind: where}})
		if _, err := s.ApplyReset(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []uint64{2, 1} {
		p, err := s.PlanUndo(t.Context(), n)
		if err == nil {
			_, err = s.ApplyReset(t.Context(), p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := offsets(t, s, "g"); len(got) != 2 || got[at("t", 2)] != 4 || got[at("t", 1)] != 1<<63-1 {
		t.Errorf("undone to %v", got)
	}
	// The empty name is a group's too, that can have offsets only.
	if w, err = s.Stage("", []Committed{{Commit: offset("t", 0, 3), Expires: model.NoTime}}); err == nil {
		err = w.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if k, err := s.Known(""); err != nil || !k.Exists {
		t.Errorf("the group without a name: %+v, %v", k, err)
	}
	all, err := s.AllKnown()
	if err != nil || len(all) != 2 {
		t.Errorf("known %v, %v", all, err)
	}
	if err := s.DropOffsets(t.Context(), "g", []model.TopicPartition{at("t", 1), at("t", 0)}); err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, s, "g"); len(got) != 1 {
		t.Errorf("after dropping: %v", got)
	}
	if err := s.DeleteGroup(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if k, err := s.Known(""); err != nil || k.Exists {
		t.Errorf("after its deletion: %+v, %v", k, err)
	}
}

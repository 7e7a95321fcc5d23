package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
)

// owner is the broker of this process, as one that is attached to would be: what it is asked for is done by its own parts.
type owner struct {
	*Broker
	deaf   atomic.Bool // it does not answer any more
	closed chan struct{}
}

func (w *owner) wait(ctx context.Context) error {
	if w.deaf.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (w *owner) SetConfigs(ctx context.Context, _ []string) (map[string]map[string]string, error) {
	if err := w.wait(ctx); err != nil {
		return nil, err
	}
	all := map[string]map[string]string{}
	for _, topic := range w.Engine.Topics() {
		all[topic] = w.EffectiveConfigs(topic)
	}
	return all, nil
}

func (w *owner) Groups(ctx context.Context) ([]model.Group, error) {
	if err := w.wait(ctx); err != nil {
		return nil, err
	}
	return w.Broker.Groups(ctx)
}

func (w *owner) JoinGroup(context.Context, model.JoinRequest) (model.Membership, error) {
	return idle{}, nil
}

// idle is a member to whom nothing is given.
type idle struct{}

func (idle) Next(ctx context.Context) ([]model.Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (idle) Commit(ctx context.Context, _ []model.Record) error { return ctx.Err() }
func (idle) Leave(ctx context.Context) error                    { return ctx.Err() }

func attached(t *testing.T, dir string, w *owner, still bool) *Attached {
	t.Helper()
	h, held := Holder(Options{Dir: dir})
	if !held {
		t.Fatal("nobody holds it")
	}
	a, err := Attach(Options{Dir: dir, Still: still}, h, func(got store.Holder, logs groups.Logs, _ func()) (Owner, error) {
		if got.Address != w.Address() || logs == nil {
			t.Errorf("meets %+v", got)
		}
		return Owner{Topics: w, Configs: w, Groups: w, Records: w, Members: w, Close: func() error { close(w.closed); return nil }}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func owning(t *testing.T, dir string) *owner {
	t.Helper()
	b, err := Open(Options{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	return &owner{Broker: b, closed: make(chan struct{})}
}

// within fails where something does not become so.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestAttachedReadsFilesAndAsksTheOwnerForTheRest(t *testing.T) {
	dir := t.TempDir()
	w := owning(t, dir)
	tp := fill(t, w.Broker, "orders", 10, 4)
	a := attached(t, dir, w, true)
	var src any = a
	for name, ok := range map[string]bool{
		"Source": is[model.Source](src), "SegmentReader": is[model.SegmentReader](src), "Tailer": is[model.Tailer](src), "GroupReader": is[model.GroupReader](src),
		"Resetter": is[model.Resetter](src), "Producer": is[model.Producer](src), "TopicAdmin": is[model.TopicAdmin](src), "RecordDeleter": is[model.RecordDeleter](src),
		"GroupJoiner": is[model.GroupJoiner](src), "JournalReason": is[model.JournalReason](src), "UserAdmin": is[model.UserAdmin](src),
	} {
		if !ok {
			t.Errorf("it lacks %s", name)
		}
	}
	ctx := t.Context()
	info, err := a.Info(ctx)
	if err != nil || info.ReadOnly || info.Address != w.Address() || !strings.HasPrefix(info.State, "attached to process ") {
		t.Errorf("%+v, %v", info, err)
	}
	ts, err := a.Topics(ctx)
	if err != nil || len(ts) != 1 || ts[0].Retention.MS != -1 {
		t.Errorf("topics with the owner's configs: %+v, %v", ts, err)
	}
	within(t, "the group with its lag", func() bool { // the owner's own look at its files comes a moment later
		gs, err := a.Groups(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(gs) == 1 && gs[0].Lag == model.Exactly(6)
	})
	if _, err := a.Produce(ctx, model.ProduceRequest{Topic: "orders", Records: []model.ProduceRecord{{Value: []byte("x")}}, Acks: -1}); err != nil {
		t.Error(err)
	}
	if err := a.AlterTopic(ctx, "orders", []model.ConfigChange{{Name: "retention.ms", Value: "5000"}}); err != nil {
		t.Error(err)
	}
	if ts, err = a.Topics(ctx); err != nil || ts[0].Retention.MS != 5000 {
		t.Errorf("after a change: %+v, %v", ts, err)
	}
	if why := a.WhyNoJournal(); !strings.Contains(why, "keeps the journal") {
		t.Errorf("no journal: %q", why)
	}
	if _, err := a.PlanUndo(ctx, 0); !errors.Is(err, model.ErrRefused) {
		t.Errorf("undo: %v", err)
	}
	p, err := a.PreviewDelete(ctx, tp, 3)
	if err != nil || len(p.Now) != 0 || fmt.Sprint(p.Notes) != "[log start goes from 0 to 3 records below it in a segment that stays are hidden, their bytes stay]" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := a.PreviewDelete(ctx, tp, 300); !errors.Is(err, model.ErrOutOfRange) {
		t.Errorf("past the end: %v", err)
	}
	dirs, err := a.Overview(ctx)
	if err != nil || len(dirs) != 1 || !slices.ContainsFunc(dirs[0].Facts, func(f model.Fact) bool { return f.Name == "lock" && !strings.Contains(f.Value, "this process") }) {
		t.Errorf("overview %+v, %v", dirs, err)
	}
	shut(t, a)
	<-w.closed
	shut(t, w.Broker)
}

func TestPreviewAlterOfAnAttached(t *testing.T) {
	dir := t.TempDir()
	w := owning(t, dir)
	defer shut(t, w.Broker)
	tp := fill(t, w.Broker, "orders", 10, 4)
	old := model.ProduceRequest{Topic: "orders", Acks: -1, Records: []model.ProduceRecord{{Value: make([]byte, 2000), Timestamp: 1_700_000_000_000}}}
	if err := w.AlterTopic(t.Context(), "orders", []model.ConfigChange{{Name: "segment.bytes", Value: "1048576"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Produce(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	a := attached(t, dir, w, true)
	defer shut(t, a)
	for name, tc := range map[string]struct {
		change model.ConfigChange
		notes  string
	}{
		"nothing": {model.ConfigChange{Name: "retention.ms", Value: "-1"}, "[]"},
		"compact": {model.ConfigChange{Name: "cleanup.policy", Value: "compact"}, "[nothing is deleted by age or size any more records without a key are refused from now on]"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := a.PreviewAlter(t.Context(), tp.Topic, []model.ConfigChange{tc.change})
			if err != nil || len(p.Now)+len(p.Later) > 0 || fmt.Sprint(p.Notes) != tc.notes {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	mine, err := a.PreviewAlter(t.Context(), "orders", []model.ConfigChange{{Name: "retention.bytes", Value: "0"}})
	theirs, terr := w.PreviewAlter(t.Context(), "orders", []model.ConfigChange{{Name: "retention.bytes", Value: "0"}})
	if err != nil || terr != nil || len(mine.Now) != len(theirs.Now) || mine.Bytes != theirs.Bytes || mine.Records != theirs.Records {
		t.Errorf("%+v, %v\nthe owner says %+v, %v", mine, err, theirs, terr)
	}
	if _, err := a.PreviewAlter(t.Context(), "orders", []model.ConfigChange{{Name: "retention.ms", Value: "x"}}); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("bad value: %v", err)
	}
}

// TestAnOwnerThatEnds takes its abilities along, and nothing else: what waits for it ends, the files and the groups are
// read still.
func TestAnOwnerThatEnds(t *testing.T) {
	dir := t.TempDir()
	w := owning(t, dir)
	tp := fill(t, w.Broker, "orders", 10, 4)
	a := attached(t, dir, w, false)
	defer shut(t, a)
	if _, err := a.Topics(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.deaf.Store(true)
	waits := make(chan error, 2)
	m, err := a.JoinGroup(t.Context(), model.JoinRequest{Group: "g", Topics: []string{"orders"}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := a.Groups(context.Background())
		waits <- err
	}()
	go func() {
		_, err := m.Next(context.Background())
		waits <- err
	}()
	shut(t, w.Broker)
	for range 2 {
		select {
		case err := <-waits:
			if !errors.Is(err, model.ErrGone) {
				t.Errorf("what waited: %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("it waits for ever")
		}
	}
	if err := m.Leave(context.Background()); !errors.Is(err, model.ErrGone) {
		t.Errorf("leave: %v", err)
	}
	<-w.closed
	info, err := a.Info(t.Context())
	if err != nil || !info.ReadOnly || info.Address != "" || !strings.HasSuffix(info.State, " has ended") {
		t.Errorf("%+v, %v", info, err)
	}
	if page, err := a.Records(t.Context(), model.RecordQuery{TP: tp, Max: 100}); err != nil || len(page.Records) != 10 {
		t.Errorf("%d records, %v", len(page.Records), err)
	}
	gs, err := a.Groups(t.Context())
	if err != nil || len(gs) != 1 || gs[0].Lag != model.Exactly(6) {
		t.Errorf("%+v, %v", gs, err)
	}
	if es, err := a.Journal(t.Context()); err != nil || len(es) != 0 || a.WhyNoJournal() != "" {
		t.Errorf("journal: %v, %v, %q", es, err, a.WhyNoJournal())
	}
	if _, err := a.Produce(t.Context(), model.ProduceRequest{Topic: "orders"}); !errors.Is(err, model.ErrGone) {
		t.Errorf("produce: %v", err)
	}
	if _, err := a.JoinGroup(t.Context(), model.JoinRequest{}); !errors.Is(err, model.ErrGone) {
		t.Errorf("join: %v", err)
	}
	var told bool
	within(t, "its end is announced", func() bool {
		select {
		case c := <-a.Changes():
			told = told || c.Info
		default:
		}
		return told
	})
}

package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
)

func open(t *testing.T, dir string) *Broker {
	t.Helper()
	b, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func shut(t *testing.T, src model.Source) {
	t.Helper()
	if err := src.Close(); err != nil {
		t.Error(err)
	}
}

// fill makes a topic with records in partition 0, and a group that has read some of them.
func fill(t *testing.T, b *Broker, topic string, records int, committed int64) model.TopicPartition {
	t.Helper()
	tp := model.TopicPartition{Topic: topic}
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: topic, Configs: []model.ConfigChange{{Name: "retention.ms", Value: "-1"}}}); err != nil {
		t.Fatal(err)
	}
	rs := make([]model.ProduceRecord, records)
	for i := range rs {
		rs[i] = model.ProduceRecord{Value: []byte("v")}
	}
	if _, err := b.Produce(t.Context(), model.ProduceRequest{Topic: topic, Records: rs, Acks: -1}); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), "readers", []model.Commit{{TopicPartition: tp, Offset: committed, LeaderEpoch: -1}}); err != nil {
		t.Fatal(err)
	}
	return tp
}

// abilities are what the explorer finds by assertion; a part that loses one would lose a page.
func TestTheBrokerHasEveryAbility(t *testing.T) {
	b := open(t, t.TempDir())
	defer shut(t, b)
	var src any = b
	for name, ok := range map[string]bool{
		"Source": is[model.Source](src), "SegmentReader": is[model.SegmentReader](src), "Verifier": is[model.Verifier](src), "Counter": is[model.Counter](src),
		"Searcher": is[model.Searcher](src), "Tailer": is[model.Tailer](src), "GroupReader": is[model.GroupReader](src), "Resetter": is[model.Resetter](src),
		"Producer": is[model.Producer](src), "TopicAdmin": is[model.TopicAdmin](src), "ConfigReader": is[model.ConfigReader](src),
		"RecordDeleter": is[model.RecordDeleter](src), "Focuser": is[model.Focuser](src), "Inspector": is[model.Inspector](src), "Decoder": is[model.Decoder](src),
	} {
		if !ok {
			t.Errorf("it is no %s", name)
		}
	}
}

func is[T any](v any) bool { _, ok := v.(T); return ok }

// TestWhatIsDoneIsSeen holds that what goes in through the engine and the groups comes out through the files, and is
// announced.
func TestWhatIsDoneIsSeen(t *testing.T) {
	b := open(t, t.TempDir())
	defer shut(t, b)
	tp := fill(t, b, "orders", 5, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var records, group bool
	for !records || !group {
		select {
		case c := <-b.Changes():
			records, group = records || c.Touches(tp), group || c.Groups || c.All
		case <-ctx.Done():
			t.Fatalf("announced: records %v, groups %v", records, group)
		}
	}
	page, err := b.Records(ctx, model.RecordQuery{TP: tp, From: model.FromStart})
	if err != nil || len(page.Records) != 5 {
		t.Errorf("%d records, %v; want 5", len(page.Records), err)
	}
	g, err := b.Group(ctx, "readers")
	if err != nil || g.Lag != model.Exactly(3) {
		t.Errorf("lag %+v, %v; want 3", g.Lag, err)
	}
}

// TestADeletedTopicIsForgotten holds that a new topic of the same name does not inherit what groups had committed.
func TestADeletedTopicIsForgotten(t *testing.T) {
	b := open(t, t.TempDir())
	defer shut(t, b)
	fill(t, b, "orders", 5, 2)
	if err := b.DeleteTopic(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	if g, err := b.Group(t.Context(), "readers"); err == nil && len(g.Offsets) > 0 {
		t.Errorf("it still has %+v", g.Offsets)
	}
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	tp := fill(t, b, "orders", 5, 2)
	_, err := Open(Options{Dir: dir})
	var locked *store.LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("got %v, want a LockedError that names this process", err)
	}
	l, err := Look(Options{Dir: dir}, "read-only: "+locked.Error())
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, l)
	if page, err := l.Records(t.Context(), model.RecordQuery{TP: tp, From: model.FromStart}); err != nil || len(page.Records) != 5 {
		t.Errorf("beside the writer: %d records, %v", len(page.Records), err)
	}
	if info, err := l.Info(t.Context()); err != nil || !info.ReadOnly || !strings.Contains(info.State, "in use by process") {
		t.Errorf("%+v, %v: want it said who has it", info, err)
	}
	var held *groups.HeldError
	if _, err := l.Groups(t.Context()); !errors.As(err, &held) {
		t.Errorf("groups beside the writer: %v, want a HeldError", err)
	}
	if _, err := Offsets(Options{Dir: dir}); !errors.As(err, &held) {
		t.Errorf("offsets beside the writer: %v, want a HeldError", err)
	}
	shut(t, b)
	if gs, err := l.Groups(t.Context()); err != nil || len(gs) != 1 {
		t.Errorf("when the writer has gone: %v, %v", gs, err)
	}
}

// TestALookPlansAndDoesNotApply also holds that nothing stands in the way of the broker while a look goes on.
func TestALookPlansAndDoesNotApply(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	fill(t, b, "orders", 5, 2)
	shut(t, b)
	l, err := Look(Options{Dir: dir, Still: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, l)
	r := l.(model.Resetter)
	plan, err := r.PlanReset(t.Context(), model.ResetRequest{Group: "readers", Where: model.Where{Kind: model.ToEarliest}})
	if err != nil || plan.Refused != "" || plan.Changes() != 1 {
		t.Fatalf("%+v, %v: want a plan that changes one partition", plan, err)
	}
	if _, err := r.ApplyReset(t.Context(), plan); !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("applied by a look: %v", err)
	}
	b = open(t, dir) // while the look is open
	res, err := b.ApplyReset(t.Context(), plan)
	if err != nil || len(res.Rows) != 1 || !res.Rows[0].OK {
		t.Errorf("%+v, %v", res, err)
	}
	shut(t, b)
}

// TestLogDirsOfProperties spreads a topic over the log.dirs of a server.properties, and reads it from there.
func TestLogDirsOfProperties(t *testing.T) {
	dir, a, b := t.TempDir(), t.TempDir(), t.TempDir()
	props := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(props, []byte("log.dirs="+a+","+b+"\nnum.partitions=2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: dir, Engine: store.Options{Properties: props}}
	src, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, src, "orders", 5, 2)
	shut(t, src)
	for _, d := range []string{a, b} {
		if m, err := filepath.Glob(filepath.Join(d, "orders-*")); err != nil || len(m) != 1 {
			t.Errorf("%s holds %v, want one of two partitions", d, m)
		}
	}
	l, err := Look(o, "")
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, l)
	if ps, err := l.Partitions(t.Context(), "orders"); err != nil || len(ps) != 2 {
		t.Errorf("%d partitions, %v", len(ps), err)
	}
}

// TestADamagedStoreCostsNoRecord holds that records are not deleted by default retention when the configs that kept them
// are gone with the store.
func TestADamagedStoreCostsNoRecord(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	tp := fill(t, b, "orders", 5, 2)
	shut(t, b)
	if err := os.WriteFile(filepath.Join(dir, OffsetsFile), []byte("no bbolt"), 0o600); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir)
	defer shut(t, b)
	info, err := b.Info(t.Context())
	if said := strings.Join(info.Notices, "\n"); err != nil || !strings.Contains(said, "moved aside") || !strings.Contains(said, "retention.ms=-1") {
		t.Errorf("said %q, %v", said, err)
	}
	cs, err := b.TopicConfig(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		if c.Name == "retention.ms" && c.Value != "-1" {
			t.Errorf("retention.ms is %s", c.Value)
		}
	}
	if page, err := b.Records(t.Context(), model.RecordQuery{TP: tp, From: model.FromStart}); err != nil || len(page.Records) != 5 {
		t.Errorf("%d records, %v; want 5", len(page.Records), err)
	}
}

// TestRetentionOfProperties keeps offsets and records as long as a server.properties says, and shows that also where the
// directory is only looked at.
func TestRetentionOfProperties(t *testing.T) {
	dir := t.TempDir()
	props := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(props, []byte("offsets.retention.minutes=2147483647\nlog.retention.ms=1234\nlog.retention.check.interval.ms=3600000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: dir, Still: true, Engine: store.Options{Properties: props}}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: "t"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), "readers", []model.Commit{{TopicPartition: model.TopicPartition{Topic: "t"}, LeaderEpoch: -1}}); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Expire(time.Now().AddDate(50, 0, 0)); n != 0 || err != nil {
		t.Errorf("after fifty years %d offsets are expired, %v", n, err)
	}
	shut(t, b)
	src, err := Look(o, "")
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, src)
	topics, err := src.Topics(t.Context())
	if err != nil || len(topics) != 1 || topics[0].Retention.MS != 1234 {
		t.Errorf("topics %+v, %v: want retention.ms 1234", topics, err)
	}
	groups, err := src.Groups(t.Context())
	if err != nil || len(groups) != 1 || len(groups[0].Offsets) != 1 || groups[0].Offsets[0].ExpiresAt < time.Now().AddDate(200, 0, 0).UnixMilli() {
		t.Errorf("groups %+v, %v: want offsets kept for some centuries", groups, err)
	}
}

// TestATopicMadeAnewIsUnread makes a topic again whose deletion was cut short before the groups forgot it.
func TestATopicMadeAnewIsUnread(t *testing.T) {
	b := open(t, t.TempDir())
	defer shut(t, b)
	fill(t, b, "orders", 5, 3)
	if err := b.Engine.DeleteTopic(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	if cs, err := b.Fetch(t.Context(), "readers", nil); err != nil || len(cs) != 0 {
		t.Errorf("committed %+v, %v: want nothing of the topic before", cs, err)
	}
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: "orders"}); !errors.Is(err, model.ErrExists) {
		t.Errorf("made twice: %v", err)
	}
}

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/embedded"
)

func TestProduceAndRead(t *testing.T) {
	w := newWorld(t)
	w.run(0, "", "topic", "create", "orders", "-p", "3", "-c", "retention.ms=60000")
	r := w.run(0, "a:1\nb:2\na:3\nnokey\n", "produce", "orders", "-K", ":", "-H", "h=1", "-H", "none", "--codec", "zstd")
	if n := strings.Count(r.out, "\n"); n != 4 {
		t.Errorf("%d lines for four records: %s", n, r.out)
	}
	w.run(0, "", "produce", "orders", "-k", "gone", "-v", "", "--null", "--partition", "2")
	got := w.run(0, "", "read", "orders", "--json").objects(t)
	if len(got) != 5 {
		t.Fatalf("%d records, want 5: %v", len(got), got)
	}
	byKey := map[string][]string{}
	for _, o := range got {
		byKey[fmt.Sprint(o["key"])] = append(byKey[fmt.Sprint(o["key"])], fmt.Sprint(o["value"]))
	}
	if fmt.Sprint(byKey["a"]) != "[1 3]" || fmt.Sprint(byKey["b"]) != "[2]" || fmt.Sprint(byKey["<nil>"]) != "[nokey]" || fmt.Sprint(byKey["gone"]) != "[<nil>]" {
		t.Errorf("by key: %v", byKey)
	}
	if h := fmt.Sprint(got[0]["headers"]); h != "[map[name:h value:1] map[name:none value:<nil>]]" {
		t.Errorf("headers: %s", h)
	}
	w.run(0, "", "topic", "grow", "orders", "-p", "4")
	w.run(0, "", "topic", "alter", "orders", "-c", "retention.ms=-1", "--yes")
	ps := w.run(0, "", "partitions", "orders", "--json").objects(t)
	if leaders := fmt.Sprint(field(ps, "leader")); leaders != "[1 1 1 1]" {
		t.Errorf("leaders %s, want this node of four partitions", leaders)
	}
	if ts := w.run(0, "", "topics", "--json").objects(t); fmt.Sprintf("%v %v", ts[0]["records"], ts[0]["retentionMs"]) != "5 -1" {
		t.Errorf("topics: %v", ts)
	}
	w.run(0, "", "verify")
	w.run(1, "no\n", "topic", "delete", "orders")
	w.run(0, "orders\n", "topic", "delete", "orders")
	w.run(2, "", "read", "orders")
}

func TestDeleteRecords(t *testing.T) {
	w := newWorld(t)
	w.run(0, "", "topic", "create", "orders")
	w.run(0, "1\n2\n3\n4\n", "produce", "orders")
	if r := w.run(0, "", "delete-records", "orders/0", "--before", "2", "--yes"); r.out != "orders-0 starts at 2\n" {
		t.Errorf("%q", r.out)
	}
	if got := field(w.run(0, "", "read", "orders", "--json").objects(t), "value"); fmt.Sprint(got) != "[3 4]" {
		t.Errorf("left: %v", got)
	}
	w.run(2, "", "delete-records", "orders/0", "--before", "9", "--yes")
}

// commit leaves committed offsets behind, as a consumer that has come and gone.
func commit(t *testing.T, w *world, group string, offsets ...int64) {
	t.Helper()
	b, err := embedded.Open(embedded.Options{Dir: w.data, Still: true})
	if err != nil {
		t.Fatal(err)
	}
	var cs []model.Commit
	for p, o := range offsets {
		cs = append(cs, model.Commit{TopicPartition: model.TopicPartition{Topic: "orders", Partition: int32(p)}, Offset: o, LeaderEpoch: -1, Metadata: "m"})
	}
	if err := b.Commit(context.Background(), group, cs); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestResetAndUndo(t *testing.T) {
	w := newWorld(t)
	w.run(0, "", "topic", "create", "orders", "-p", "2")
	w.run(0, "1\n2\n3\n4\n", "produce", "orders", "--partition", "0")
	w.run(0, "5\n6\n", "produce", "orders", "--partition", "1")
	commit(t, w, "billing", 3, 2)
	committed := func() string {
		rows := w.run(0, "", "group", "billing", "--json").objects(t)
		return strings.Join(field(rows[1:], "committed"), " ") + " lag " + fmt.Sprint(rows[0]["lag"])
	}
	if got := committed(); got != "3 2 lag 1" {
		t.Fatalf("before: %s", got)
	}
	plan := w.run(0, "", "reset", "billing", "--to", "earliest", "--json").objects(t)
	if got := fmt.Sprint(field(plan, "from"), field(plan, "to"), field(plan, "change")); got != "[3 2] [0 0] [-3 -2]" {
		t.Errorf("plan: %s", got)
	}
	if got := committed(); got != "3 2 lag 1" {
		t.Errorf("a plan without --apply has written: %s", got)
	}
	w.run(0, "", "reset", "billing", "--to", "earliest", "--topic", "orders:0", "--apply")
	if got := committed(); got != "0 2 lag 4" {
		t.Errorf("after the reset: %s", got)
	}
	w.run(1, "", "reset", "billing", "--to", "earliest", "--topic", "orders:0")
	w.run(0, "", "undo")
	w.run(0, "", "undo", "--apply")
	if got := committed(); got != "3 2 lag 1" {
		t.Errorf("after the undo: %s", got)
	}
	js := w.run(0, "", "journal", "--json").objects(t)
	if got := fmt.Sprint(field(js, "id"), field(js, "undoOf"), field(js, "undone")); got != "[2 1] [1 <nil>] [<nil> 2]" {
		t.Errorf("journal: %s", got)
	}
	w.run(2, "", "reset", "nobody", "--to", "latest")
	w.run(2, "", "reset", "billing", "--to", "nowhere")
}

func TestASecondProcessLooksAndMayNotWrite(t *testing.T) {
	w := newWorld(t)
	b, err := embedded.Open(embedded.Options{Dir: w.data, Still: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	_, err = b.Produce(t.Context(), model.ProduceRequest{Topic: "orders", Records: []model.ProduceRecord{{Value: []byte("live"), Partition: -1}}, Acks: -1})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.run(0, "", "read", "orders", "-f", `%s\n`).out; got != "live\n" {
		t.Errorf("read beside the writer: %q", got)
	}
	r := w.run(2, "", "produce", "orders", "-v", "x")
	if !strings.Contains(r.err, "in use by process") {
		t.Errorf("stderr does not name the holder: %q", r.err)
	}
	r = w.run(2, "", "reset", "billing", "--to", "latest", "--apply")
	if !strings.Contains(r.err, "held by process") {
		t.Errorf("stderr does not name the holder: %q", r.err)
	}
	var held *groups.HeldError
	if _, err := groups.OpenDB(filepath.Join(w.data, embedded.OffsetsFile), groups.DBOptions{}); err == nil {
		t.Errorf("opened twice, want %T", held)
	}
}

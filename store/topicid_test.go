package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
)

// TestTopicID holds that a topic keeps its id for as long as it lives, and no longer.
func TestTopicID(t *testing.T) {
	dir := t.TempDir()
	reopen := func(e *Engine) *Engine {
		t.Helper()
		if e != nil {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		e, err := Open([]string{dir}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := reopen(nil)
	create(t, e, "t", 3)
	create(t, e, "old", 2)
	id, _ := e.TopicID("t")
	if name, ok := e.TopicByID(id); !ok || name != "t" || id.IsZero() {
		t.Errorf("id %v is of %q, %v", id, name, ok)
	}
	e = reopen(e)
	if name, ok := e.TopicByID(id); !ok || name != "t" {
		t.Errorf("after a restart id %v is of %q, %v", id, name, ok)
	}
	if err := e.GrowTopic(t.Context(), "t", 4); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "t-3", layout.PartitionMetaFile))
	if got, perr := layout.ParsePartitionMeta(b); err != nil || perr != nil || got != id {
		t.Errorf("a new partition has id %v, want %v, errors %v, %v", got, id, err, perr)
	}
	if err := e.DeleteTopic(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if name, ok := e.TopicByID(id); ok {
		t.Errorf("the id of a deleted topic is of %q", name)
	}
	create(t, e, "t", 1)
	if again, _ := e.TopicID("t"); again == id {
		t.Error("a topic made anew has the id of the one before")
	}
	if name, ok := e.TopicByID(id); ok {
		t.Errorf("the id of the topic before is of %q", name)
	}

	// Before Kafka 2.8 topics had no ids.
	for _, p := range []string{"old-0", "old-1"} {
		if err := os.Remove(filepath.Join(dir, p, layout.PartitionMetaFile)); err != nil {
			t.Fatal(err)
		}
	}
	e = reopen(e)
	given, _ := e.TopicID("old")
	e = reopen(e)
	if got, _ := e.TopicID("old"); got != given || given.IsZero() {
		t.Errorf("a topic without an id was given %v, and has %v after a restart", given, got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

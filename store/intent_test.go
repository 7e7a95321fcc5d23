package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

const someID = "AAECAwQFBgcICQoLDA0ODw"

func TestParseIntents(t *testing.T) {
	id, err := layout.ParseID(someID)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		in   string
		want []intent
		bad  string
	}{
		"nothing":         {"", nil, ""},
		"no line":         {"version 1\n", nil, ""},
		"one of each":     {"version 1\ncreate a " + someID + " 0\ngrow b " + someID + " 12\ndelete c " + someID + " 0\n", []intent{{intentCreate, "a", id, 0}, {intentGrow, "b", id, 12}, {intentDelete, "c", id, 0}}, ""},
		"another version": {"version 2\n", nil, "version 1"},
		"a line cut":      {"version 1\ncreate a " + someID + " 1", nil, "four words"},
		"a word too many": {"version 1\ncreate a " + someID + " 1 2\n", nil, "four words"},
		"another verb":    {"version 1\nrename a " + someID + " 1\n", nil, "create, grow or delete"},
		"a bad name":      {"version 1\ncreate ../a " + someID + " 1\n", nil, "topic name"},
		"a bad id":        {"version 1\ncreate a AAEC 1\n", nil, "id"},
		"a bad number":    {"version 1\ncreate a " + someID + " -1\n", nil, "number"},
		"a number padded": {"version 1\ncreate a " + someID + " 01\n", nil, "number"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseIntents([]byte(tc.in))
			switch {
			case tc.bad == "" && err != nil, tc.bad != "" && (err == nil || !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), tc.bad)):
				t.Fatalf("error %v, want one with %q", err, tc.bad)
			case !slices.Equal(got, tc.want):
				t.Errorf("got %v, want %v", got, tc.want)
			case err == nil && tc.in != "" && string(intentLines(got)) != tc.in:
				t.Errorf("written again: %q, was %q", intentLines(got), tc.in)
			}
		})
	}
}

func FuzzIntents(f *testing.F) {
	f.Add([]byte("version 1\ncreate a " + someID + " 0\ngrow b " + someID + " 12\ndelete c " + someID + " 0\n"))
	f.Add([]byte("version 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := parseIntents(b)
		if err != nil || len(b) == 0 {
			return
		}
		if got := intentLines(list); string(got) != string(b) {
			t.Errorf("%q is written again as %q", b, got)
		}
	})
}

// keptConfigs is a ConfigStore that outlives the engine.
type keptConfigs map[string]map[string]string

func (k keptConfigs) Load() (map[string]map[string]string, error) { return k, nil }
func (k keptConfigs) Save(topic string, configs map[string]string) error {
	k[topic] = configs
	return nil
}
func (k keptConfigs) Delete(topic string) error                  { delete(k, topic); return nil }
func (k keptConfigs) Lost() bool                                 { return false }
func (k keptConfigs) Replace(map[string]map[string]string) error { return nil }

// liveFolders returns the names of the folders of a topic that are not being deleted, in order.
func liveFolders(t *testing.T, dir, topic string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if d, ok := layout.ParseDirName(e.Name()); ok && d.State == model.Live && d.TP.Topic == topic {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestSettle opens directories in which a change of topics was cut short.
func TestSettle(t *testing.T) {
	remove := func(t *testing.T, path string) {
		t.Helper()
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		what string
		from int32
		// cut makes of a directory with a topic t of three partitions what a killed process would have left.
		cut        func(t *testing.T, dir string)
		records    bool // t-0 holds some
		partitions int  // afterwards; 0: the topic is gone
		notice     string
		forgotten  bool
	}{
		"a creation before its first folder": {intentCreate, 0, func(t *testing.T, dir string) {
			for _, p := range []string{"t-0", "t-1", "t-2"} {
				remove(t, filepath.Join(dir, p))
			}
		}, false, 0, "creation was cut short", false},
		"a creation amid a folder's files": {intentCreate, 0, func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, "t-2"))
			remove(t, filepath.Join(dir, "t-1", layout.PartitionMetaFile))
			remove(t, filepath.Join(dir, "t-1", layout.FileName(0, layout.KindLog)))
		}, false, 0, "creation was cut short", false},
		"a creation with an empty id": {intentCreate, 0, func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "t-1", layout.PartitionMetaFile), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, false, 0, "creation was cut short", false},
		"a creation that was done":    {intentCreate, 0, func(*testing.T, string) {}, true, 3, "", false},
		"a growth amid its folders":   {intentGrow, 1, func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "t-2")) }, true, 1, "growth beyond 1 partitions", false},
		"a deletion before its first": {intentDelete, 0, func(*testing.T, string) {}, true, 0, "deletion was cut short", true},
		"a deletion amid its folders": {intentDelete, 0, func(t *testing.T, dir string) {
			rename(filepath.Join(dir, "t-1"), model.TopicPartition{Topic: "t", Partition: 1})
		}, true, 0, "deletion was cut short", true},
		"a deletion of one of the same name": {intentDelete, 0, func(t *testing.T, dir string) {
			id := layout.NewID()
			for _, p := range []string{"t-0", "t-1", "t-2"} {
				if err := os.WriteFile(filepath.Join(dir, p, layout.PartitionMetaFile), layout.AppendPartitionMeta(nil, id), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}, true, 3, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, configs := t.TempDir(), keptConfigs{}
			e, err := Open([]string{dir}, Options{Configs: configs})
			if err != nil {
				t.Fatal(err)
			}
			create(t, e, "t", 3, "retention.ms=-1")
			if tc.records {
				produce(t, e, model.TopicPartition{Topic: "t"}, "a", "b")
			}
			id, _ := e.TopicID("t")
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			tc.cut(t, dir)
			line := intentLines([]intent{{tc.what, "t", id, tc.from}})
			if err := os.WriteFile(filepath.Join(dir, intentFile), line, 0o644); err != nil {
				t.Fatal(err)
			}
			var forgotten []string
			e = open(t, Options{Configs: configs, Forget: func(topics []string) error {
				forgotten = append(forgotten, topics...)
				return nil
			}}, dir)
			if n := e.PartitionCount("t"); n != tc.partitions {
				t.Errorf("%d partitions, want %d", n, tc.partitions)
			}
			if n := len(liveFolders(t, dir, "t")); n != tc.partitions {
				t.Errorf("%d folders, want %d", n, tc.partitions)
			}
			if got := strings.Join(e.Notices(), "\n"); !strings.Contains(got, tc.notice) || tc.notice == "" && got != "" {
				t.Errorf("notices %q, want %q", got, tc.notice)
			}
			if slices.Contains(forgotten, "t") != tc.forgotten {
				t.Errorf("forgotten: %q, want t: %v", forgotten, tc.forgotten)
			}
			if exists(filepath.Join(dir, intentFile)) {
				t.Error("the line is still there")
			}
			if _, ok := configs["t"]; ok != (tc.partitions > 0) {
				t.Errorf("its configs are kept: %v", ok)
			}
			if tc.partitions == 0 {
				create(t, e, "t", 2)
			}
			if tc.records && tc.partitions > 0 {
				if l, err := e.Log(model.TopicPartition{Topic: "t"}); err != nil || l.HighWatermark() != 2 {
					t.Errorf("log %v, error %v: want two records in it", l, err)
				}
			}
		})
	}
}

// TestForgetAgain has what is kept elsewhere forgotten at the next start, where it could not be.
func TestForgetAgain(t *testing.T) {
	dir, broken := t.TempDir(), errors.New("out of order")
	told := 0
	o := Options{Forget: func([]string) error { told++; return broken }}
	e, err := Open([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	create(t, e, "t", 1)
	create(t, e, "u", 1)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = Open([]string{dir}, o); err != nil {
		t.Fatal(err)
	}
	if err := e.DeleteTopic(t.Context(), "t"); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if e.HasTopic("t") || len(liveFolders(t, dir, "t")) > 0 {
		t.Error("the topic is still there")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e, err = Open([]string{dir}, o); err != nil {
			t.Fatal(err)
		}
		if n := strings.Join(e.Notices(), "\n"); !strings.Contains(n, "not forgotten yet") {
			t.Errorf("notices %q", n)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if told != 3 {
		t.Errorf("told %d times, want 3", told)
	}
	o.Forget = func([]string) error { told++; return nil }
	if e, err = Open([]string{dir}, o); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if told != 4 || exists(filepath.Join(dir, intentFile)) {
		t.Errorf("told %d times, want 4; the line is there: %v", told, exists(filepath.Join(dir, intentFile)))
	}
}

// TestDeleteWithoutRoom deletes a topic where nothing can be written down: deletions are what makes room. Nothing can be made
// there.
func TestDeleteWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{}, dir)
	create(t, e, "t", 2)
	if err := os.Mkdir(filepath.Join(dir, intentFile+"."+layout.SuffixTmp), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := e.CreateTopic(t.Context(), model.TopicSpec{Name: "u"}); err == nil || e.HasTopic("u") || len(liveFolders(t, dir, "u")) > 0 {
		t.Errorf("a topic was made, error %v", err)
	}
	if err := e.GrowTopic(t.Context(), "t", 3); err == nil || e.PartitionCount("t") != 2 {
		t.Errorf("a topic has grown, error %v", err)
	}
	if err := e.DeleteTopic(t.Context(), "t"); err != nil || e.HasTopic("t") || len(liveFolders(t, dir, "t")) > 0 {
		t.Errorf("the topic is still there, error %v", err)
	}
	if n := strings.Join(e.Notices(), "\n"); !strings.Contains(n, "write down") {
		t.Errorf("notices %q", n)
	}
}

package logdir

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// kitchen is a segment with everything in it: see TestKitchen.
func kitchen(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/kitchen.hex")
	must(t, err)
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	must(t, err)
	return b
}

// oddDir makes a log directory with every kind of name in it.
func oddDir(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	const id = "0123456789abcdef0123456789abcdef"
	for _, dir := range []string{"t-0", "t-0." + id + "-delete", "t-1." + id + "-future", "a-b-c-7", "dots.in.name-0", "noversion", "t-x"} {
		must(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(root, "t-9"), nil, 0o644))
	for _, suffix := range []string{"", ".deleted", ".swap", ".cleaned"} {
		data := kitchen(t)
		if suffix != "" {
			data = data[:94]
		}
		must(t, os.WriteFile(filepath.Join(root, "t-0", "00000000000000000000.log"+suffix), data, 0o644))
	}
	return root
}

func TestOddNames(t *testing.T) {
	d, err := Open([]string{oddDir(t)}, Options{})
	must(t, err)
	defer d.Close()
	topics, err := d.Topics(t.Context())
	must(t, err)
	var names []string
	for _, r := range topics {
		names = append(names, r.Name+":"+strconv.Itoa(r.Partitions))
	}
	if !slices.Equal(names, []string{"a-b-c:1", "dots.in.name:1", "t:1"}) {
		t.Errorf("topics %v", names)
	}
	if topics[2].Note != "1 replica moving in, 1 replica being deleted" {
		t.Errorf("note %q", topics[2].Note)
	}
	parts, err := d.Partitions(t.Context(), "t")
	must(t, err)
	var states []string
	for _, p := range parts {
		states = append(states, p.String()+" "+p.State.String())
	}
	if !slices.Equal(states, []string{"t-0 live", "t-0 delete", "t-1 future"}) {
		t.Errorf("partitions %v", states)
	}
	if p := parts[0]; p.LogEnd != 33 || p.LogStart != 0 || p.Bytes != 893 || p.Segments != 1 {
		t.Errorf("t-0 is %+v", p)
	}
	if parts, err := d.Partitions(t.Context(), "a-b-c"); err != nil || len(parts) != 1 || parts[0].Partition != 7 {
		t.Errorf("a-b-c is %+v, %v", parts, err)
	}
	over, err := d.Overview(t.Context())
	must(t, err)
	odd := map[string]string{}
	for _, f := range over[0].Odd {
		odd[f.Name] = f.Value
	}
	for name, want := range map[string]string{
		"noversion": "ignored", "t-x": "ignored", "t-9": "ignored",
		"t-0.0123456789abcdef0123456789abcdef-delete": "delete", "t-1.0123456789abcdef0123456789abcdef-future": "future",
	} {
		if odd[name] != want {
			t.Errorf("%s is %q, want %q", name, odd[name], want)
		}
	}
	if got := factOf(over[0], "ignored"); got.Value != "3" {
		t.Errorf("ignored: %+v", got)
	}
	segs, err := d.Segments(t.Context(), model.TopicPartition{Topic: "t"})
	must(t, err)
	if len(segs) != 4 || segs[0].State != model.SegmentActive {
		t.Errorf("segments %+v", segs)
	}
}

func factOf(o model.DirOverview, name string) model.Fact {
	for _, f := range o.Facts {
		if f.Name == name {
			return f
		}
	}
	return model.Fact{}
}

func TestMetaOfThreeAges(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want map[string]string
	}{
		"broker id alone":       {"version=0\nbroker.id=0\n", map[string]string{"mode": "ZooKeeper", "broker id": "0", "cluster id": "none", "directory id": "none"}},
		"with a cluster":        {"#\n#Mon Nov 30 05:18:00 UTC 2026\r\nversion=0\r\nbroker.id=0\r\ncluster.id=abc\r\n", map[string]string{"broker id": "0", "cluster id": "abc"}},
		"KRaft":                 {"version=1\nnode.id=1\ncluster.id=abc\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\n", map[string]string{"mode": "KRaft", "node id": "1", "cluster id": "abc", "directory id": "AAAAAAAAAAAAAAAAAAAAAQ"}},
		"there is no such file": {"", map[string]string{"written by": "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if tc.text != "" {
				must(t, os.WriteFile(filepath.Join(root, "meta.properties"), []byte(tc.text), 0o644))
			}
			d, err := Open([]string{root}, Options{Still: true})
			must(t, err)
			defer d.Close()
			over, err := d.Overview(t.Context())
			must(t, err)
			for fact, want := range tc.want {
				if got := factOf(over[0], fact).Value; got != want {
					t.Errorf("%s is %q, want %q", fact, got, want)
				}
			}
			if len(over[0].Faults) > 0 {
				t.Errorf("faults %+v", over[0].Faults)
			}
		})
	}
}

func TestOverviewOfRealDirectories(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"clean":  {"mode": "KRaft", "node id": "1", "last stop": "clean", "lock": "none", "metadata.version": "33"},
		"killed": {"mode": "KRaft", "last stop": "not clean", "lock": "left behind"},
		"older":  {"mode": "KRaft", "last stop": "clean", "metadata.version": "25"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openArchive(t, unpack(t, name), Options{})
			over, err := d.Overview(t.Context())
			must(t, err)
			for fact, w := range want {
				if got := factOf(over[0], fact).Value; got != w {
					t.Errorf("%s is %q, want %q", fact, got, w)
				}
			}
			for _, f := range over[0].Faults {
				t.Errorf("fault %+v", f)
			}
			if len(over[0].Records) == 0 {
				t.Error("no metadata records")
			}
			for _, r := range over[0].Records {
				if r.Type == "" || strings.Contains(r.Text, "not decodable") {
					t.Errorf("metadata record %+v", r)
				}
			}
		})
	}
}

func TestTwoDirectoriesAreOne(t *testing.T) {
	a := unpack(t, "two-dirs")
	d := openArchive(t, a, Options{})
	parts, err := d.Partitions(t.Context(), "spread")
	must(t, err)
	for _, p := range parts {
		root := filepath.Base(filepath.Dir(p.Dir))
		switch {
		case p.State == model.Future && (p.Partition != 5 || root != "data-b"),
			p.State == model.Deleting && (p.Partition != 0 || root != "data-b"),
			p.State == model.Live && p.Partition == 0 && root != "data-a":
			t.Errorf("%s %s lies in %s", p.TopicPartition, p.State, root)
		}
	}
	if ids, err := d.PartitionIDs(t.Context(), "spread"); err != nil || !slices.Contains(ids, 5) || !slices.Contains(ids, 0) {
		t.Errorf("partitions %v, %v", ids, err)
	}
}

// TestNothingIsChanged uses a directory in every way, also while another process holds its lock, and holds what can be
// seen of it against what could be seen before.
func TestNothingIsChanged(t *testing.T) {
	eachArchive(t, func(t *testing.T, a archive) {
		lock := filepath.Join(a.roots[0], ".lock")
		must(t, os.WriteFile(lock, nil, 0o644))
		before := print(t, a.roots...)
		holder := exec.Command(os.Args[0])
		holder.Env = append(os.Environ(), holderOf+"="+lock)
		holder.Stderr = os.Stderr
		in, err := holder.StdinPipe()
		must(t, err)
		out, err := holder.StdoutPipe()
		must(t, err)
		must(t, holder.Start())
		buf := make([]byte, 5)
		_, err = out.Read(buf)
		must(t, err)

		d, err := Open(a.roots, Options{})
		must(t, err)
		info, err := d.Info(t.Context())
		must(t, err)
		if want := fmt.Sprintf("held by process %d", holder.Process.Pid); info.State != want {
			t.Errorf("state %q does not say who holds the lock", info.State)
		}
		useAll(t, d)
		must(t, d.Close())
		must(t, in.Close())
		must(t, holder.Wait())
		if print(t, a.roots...) != before {
			t.Error("the directory has changed")
		}
	})
}

// useAll calls all that a source can do.
func useAll(t *testing.T, d *Dir) {
	t.Helper()
	ctx := t.Context()
	must(t, d.Settle(ctx))
	must(t, d.Count(ctx, nil))
	topics, err := d.Topics(ctx)
	must(t, err)
	var all []model.TopicPartition
	for _, r := range topics {
		d.Focus([]string{r.Name})
		_, err := d.TopicConfig(ctx, r.Name)
		must(t, err)
		parts, err := d.Partitions(ctx, r.Name)
		must(t, err)
		for _, p := range parts {
			tp := p.TopicPartition
			all = append(all, tp)
			page, err := d.Records(ctx, model.RecordQuery{TP: tp, From: model.FromEnd, Backward: true, Control: true})
			must(t, err)
			for _, rec := range page.Records {
				d.Decode(rec)
			}
			_, err = d.Lookup(ctx, tp, model.Target{ByTime: true, Time: 1700000000000})
			must(t, err)
			segs, err := d.Segments(ctx, tp)
			must(t, err)
			for _, s := range segs {
				bp, err := d.Batches(ctx, model.BatchQuery{TP: tp, Base: s.Base, Check: true})
				must(t, err)
				if len(bp.Batches) > 0 {
					_, _, err = d.BatchBytes(ctx, tp, s.Base, bp.Batches[0].Position)
					must(t, err)
				}
				for _, k := range []model.IndexKind{model.OffsetIndex, model.TimeIndex, model.TxnIndex} {
					_, _, _ = d.IndexEntries(ctx, tp, s.Base, k, 0, 100) // there may be none
				}
			}
		}
	}
	_, err = d.Groups(ctx)
	must(t, err)
	_, err = d.Overview(ctx)
	must(t, err)
	_, err = d.Search(ctx, model.SearchQuery{Partitions: all, Pattern: "order", MaxHits: 10}, func(model.SearchEvent) bool { return true })
	must(t, err)
	_, err = d.Verify(ctx, model.VerifyQuery{Partition: -1, Segment: model.Unknown}, func(model.VerifyEvent) {})
	must(t, err)
	tail, err := d.Tail(ctx, model.TailQuery{Topics: []string{topics[0].Name}, Backlog: 10})
	must(t, err)
	must(t, tail.Close())
}

func TestVerifyFindsNothingInWhatABrokerLeft(t *testing.T) {
	eachArchive(t, func(t *testing.T, a archive) {
		d := openArchive(t, a, Options{})
		done, last := int64(0), ""
		var order []string
		sum, err := d.Verify(t.Context(), model.VerifyQuery{Partition: -1, Segment: model.Unknown}, func(e model.VerifyEvent) {
			if e.Fault != nil {
				if e.Fault.Severity == model.SevDamage {
					t.Errorf("damage: %+v", *e.Fault)
				}
				if e.Fault.TP.Topic != "" {
					order = append(order, e.Fault.TP.Topic+"/"+strconv.Itoa(1000+int(e.Fault.TP.Partition)))
				}
				return
			}
			done, last = e.BytesDone, e.At
			if e.BytesDone > e.BytesAll {
				t.Errorf("%d of %d bytes done", e.BytesDone, e.BytesAll)
			}
		})
		must(t, err)
		if sum.Damage != 0 || sum.Batches < 100 || sum.Files < 10 || done == 0 || last == "" {
			t.Errorf("%+v, last %d %s", sum, done, last)
		}
		if !slices.IsSorted(order) {
			t.Error("faults are not told partition by partition")
		}
	})
}

func TestVerifyOneFlippedBit(t *testing.T) {
	a := unpack(t, "older")
	log := filepath.Join(a.roots[0], "orders-1", "00000000000000000000.log")
	b, err := os.ReadFile(log)
	must(t, err)
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(log, b, 0o644))
	d := openArchive(t, a, Options{})
	var faults []model.Fault
	sum, err := d.Verify(t.Context(), model.VerifyQuery{Topic: "orders", Partition: -1, Segment: model.Unknown}, func(e model.VerifyEvent) {
		if e.Fault != nil && e.Fault.Severity == model.SevDamage {
			faults = append(faults, *e.Fault)
		}
	})
	must(t, err)
	if sum.Damage == 0 || len(faults) == 0 || faults[0].TP.String() != "orders-1" {
		t.Errorf("%+v, %+v", sum, faults)
	}
	if _, err := d.Verify(t.Context(), model.VerifyQuery{Topic: "nothing", Partition: -1, Segment: model.Unknown}, func(model.VerifyEvent) {}); !errors.Is(err, model.ErrNoTopic) {
		t.Errorf("a topic that is not there: %v", err)
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	data := kitchen(t)
	for name, tc := range map[string]struct {
		file string
		want string
	}{
		"in a partition":         {"kitchen-3/00000000000000000000.log", "kitchen/3/00000000000000000000.log"},
		"in any folder":          {"some where/00000000000000000000.log", "some_where/0/00000000000000000000.log"},
		"of any name":            {"other/my kitchen.log", "my_kitchen/0/00000000000000000000.log"},
		"of a name without .log": {"other/broken.bin", "broken.bin/0/00000000000000000000.log"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, filepath.FromSlash(tc.file))
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, data, 0o644))
			before := print(t, dir)
			d, err := OpenFile(path, Options{})
			must(t, err)
			if got := d.File().String(); got != tc.want {
				t.Errorf("address %s, want %s", got, tc.want)
			}
			page, err := d.Records(t.Context(), model.RecordQuery{TP: d.File().TP(), From: model.FromStart})
			must(t, err)
			if len(page.Records) != 18 {
				t.Errorf("%d records", len(page.Records))
			}
			batches, err := d.Batches(t.Context(), model.BatchQuery{TP: d.File().TP(), Base: d.File().Segment, Check: true})
			must(t, err)
			if len(batches.Batches) != 11 {
				t.Errorf("%d batches", len(batches.Batches))
			}
			must(t, d.Close())
			if print(t, dir) != before {
				t.Error("something was changed")
			}
		})
	}
	if _, err := OpenFile(filepath.Join(dir, "nothing.log"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := OpenFile(dir, Options{}); err == nil {
		t.Error("a folder is opened as a file")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	must(t, os.WriteFile(file, nil, 0o644))
	for name, path := range map[string]string{"nothing": filepath.Join(dir, "nothing"), "a file": file} {
		if _, err := Open([]string{path}, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := Open([]string{dir}, Options{})
	must(t, err)
	info, err := d.Info(t.Context())
	must(t, err)
	if len(info.Notices) == 0 {
		t.Error("a folder without partitions is opened without a word")
	}
	must(t, d.Close())
	if _, err := d.Topics(t.Context()); !errors.Is(err, model.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestNames(t *testing.T) {
	d := openArchive(t, unpack(t, "older"), Options{})
	if _, err := d.Partitions(t.Context(), "ordrs"); !errors.Is(err, model.ErrNoTopic) || !strings.Contains(err.Error(), "orders") {
		t.Errorf("topic: %v", err)
	}
	if _, err := d.Records(t.Context(), model.RecordQuery{TP: model.TopicPartition{Topic: "orders", Partition: 99}}); !errors.Is(err, model.ErrNoPartition) {
		t.Errorf("partition: %v", err)
	}
	if _, err := d.Batches(t.Context(), model.BatchQuery{TP: model.TopicPartition{Topic: "orders"}, Base: 12345}); !errors.Is(err, model.ErrNoSegment) {
		t.Errorf("segment: %v", err)
	}
	if _, err := d.Tail(t.Context(), model.TailQuery{Topics: []string{"ordrs"}}); !errors.Is(err, model.ErrNoTopic) {
		t.Errorf("tail: %v", err)
	}
	if err := d.Count(t.Context(), []string{"ordrs"}); !errors.Is(err, model.ErrNoTopic) {
		t.Errorf("count: %v", err)
	}
}

func TestConfigsFromMetadata(t *testing.T) {
	d := openArchive(t, unpack(t, "older"), Options{})
	entries, err := d.TopicConfig(t.Context(), "compacted")
	must(t, err)
	got := map[string]model.ConfigEntry{}
	for _, e := range entries {
		got[e.Name] = e
	}
	if e := got["cleanup.policy"]; e.Value != "compact" || e.Source != "topic" {
		t.Errorf("cleanup.policy is %+v", e)
	}
	if e := got["retention.ms"]; e.Value != e.Default || e.Source == "topic" {
		t.Errorf("retention.ms is %+v", e)
	}
	topics, err := d.Topics(t.Context())
	must(t, err)
	for _, r := range topics {
		if r.Name == "compacted" && (!r.Retention.Known || !r.Retention.Compact || r.Retention.Delete || r.Replicas != 1) {
			t.Errorf("%+v", r)
		}
	}
	own, err := Open([]string{oddDir(t)}, Options{Configs: func(string) map[string]string { return map[string]string{"retention.ms": "1000"} }})
	must(t, err)
	defer own.Close()
	topics, err = own.Topics(t.Context())
	must(t, err)
	if topics[0].Retention.MS != 1000 || !topics[0].Retention.Delete {
		t.Errorf("%+v", topics[0].Retention)
	}
}

func TestDecode(t *testing.T) {
	d := openArchive(t, unpack(t, "older"), Options{})
	page, err := d.Records(t.Context(), model.RecordQuery{TP: model.TopicPartition{Topic: "__consumer_offsets", Partition: 1}, From: model.FromStart})
	must(t, err)
	n := 0
	for _, r := range page.Records {
		if text, ok := d.Decode(r); !ok || text == "" || bytes.ContainsAny([]byte(text), "\x1b\n") {
			t.Errorf("%d: %q %v", r.Offset, text, ok)
		}
		n++
	}
	page, err = d.Records(t.Context(), model.RecordQuery{TP: model.TopicPartition{Topic: "orders"}, From: model.FromStart, Max: 1})
	must(t, err)
	if _, ok := d.Decode(page.Records[0]); ok {
		t.Error("a record of a user's topic is decoded")
	}
}

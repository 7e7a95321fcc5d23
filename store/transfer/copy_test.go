package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/transfer"
)

// TestFromFiles copies all that real brokers have written to a broker of our own, and holds what is in its files against
// the source's files, and against what the brokers themselves have given consumers.
func TestFromFiles(t *testing.T) {
	for name, dirs := range map[string][]string{"clean": {"data"}, "older": {"data"}, "killed": {"data"}} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, name)
			for i := range dirs {
				dirs[i] = filepath.Join(dir, dirs[i])
			}
			src := files(t, false, dirs...)
			b := start(t, t.TempDir())
			names := topics(t, src)
			kept := reading{Reader: src, configs: map[string]string{"retention.ms": "-1"}} // the records are old
			good(t, transferred(t, kept, to(b.cluster), model.CopyQuery{Topics: names, Configs: true}, transfer.Options{}))
			out := files(t, true, b.dir)
			records := 0
			for _, name := range names {
				ps, err := src.Partitions(t.Context(), name)
				must(t, err)
				for _, p := range ps {
					if p.State == model.Live {
						records += equal(t, src, out, p.TopicPartition, p.TopicPartition)
					}
				}
			}
			if records == 0 {
				t.Error("nothing was there to be copied")
			}
			if name != "clean" {
				return
			}
			for tp, want := range truth(t, dir) {
				got, _ := read(t, out, tp)
				same(t, tp, got, want)
			}
		})
	}
}

// TestMissingPartition copies from one of a broker's directories only.
func TestMissingPartition(t *testing.T) {
	dir := unpack(t, "two-dirs")
	src := files(t, false, filepath.Join(dir, "data-a"), filepath.Join(dir, "data-b"))
	c := transfer.New(transfer.Side{Reader: src, Name: "here"}, transfer.Target{Side: transfer.Side{Reader: transfer.Nothing{}, Name: "there"}}, transfer.Options{})
	if _, err := c.Plan(t.Context(), model.CopyQuery{Topics: []string{"spread"}}); !errors.Is(err, model.ErrNoPartition) {
		t.Errorf("the plan says %v", err)
	}
}

// TestPassesThrough looks that batches stay compressed as they are: as many of them, with the same codec and size.
func TestPassesThrough(t *testing.T) {
	a := start(t, t.TempDir())
	for i, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		topic := "codec-" + codec
		must(t, a.CreateTopic(t.Context(), model.TopicSpec{Name: topic, Partitions: 1}))
		for n := range 20 {
			fill(t, a, topic, 0, 40+i, n, codec)
		}
	}
	b := start(t, t.TempDir())
	src := files(t, true, a.dir)
	names := topics(t, src)
	res := transferred(t, src, to(b.cluster), model.CopyQuery{Topics: names, Configs: true}, transfer.Options{})
	good(t, res)
	for _, p := range res.Partitions {
		if p.Recoded != 0 {
			t.Errorf("%s: %d batches were coded anew", p.To, p.Recoded)
		}
	}
	out := files(t, true, b.dir)
	for _, name := range names {
		tp := model.TopicPartition{Topic: name}
		want, got := batches(t, src, tp), batches(t, out, tp)
		if len(want) < 20 || !slices.Equal(want, got) {
			t.Errorf("%s: batches are\n%v, want\n%v", name, got, want)
		}
		if !strings.HasPrefix(got[0], strings.TrimPrefix(name, "codec-")) {
			t.Errorf("%s: the codec is that of %s", name, got[0])
		}
	}
}

// fill appends n records as one batch.
func fill(t testing.TB, b broker, topic string, partition int32, n, round int, codec string) {
	t.Helper()
	r := model.ProduceRequest{Topic: topic, Codec: codec, Acks: -1}
	for i := range n {
		r.Records = append(r.Records, model.ProduceRecord{
			Partition: partition, Timestamp: 1_790_000_000_000 + int64(round*1000+i), Key: fmt.Appendf(nil, "key %d", i),
			Value: fmt.Appendf(nil, "value %d of round %d %s", i, round, strings.Repeat("x", i)), Headers: []model.Header{{Name: "round", Value: fmt.Append(nil, round)}, {Name: "null"}},
		})
	}
	_, err := b.Engine.Produce(t.Context(), r)
	must(t, err)
}

// there is a source in which a group has committed what a test says.
type there struct {
	transfer.Reader
	group model.Group
}

func (s there) Group(context.Context, string) (model.Group, error) { return s.group, nil }
func (s there) Groups(context.Context) ([]model.Group, error)      { return []model.Group{s.group}, nil }
func commit(tp model.TopicPartition, offset int64) model.GroupOffset {
	return model.GroupOffset{TopicPartition: tp, Committed: offset, LogStart: model.Unknown, LogEnd: model.Unknown, Metadata: fmt.Sprint("at ", offset)}
}

// TestGroupsOverHoles copies topics with holes of compaction, markers and aborted records, and commits every offset there is
// of them, one after the other: a group must go on at the very record that it would have gone on at.
func TestGroupsOverHoles(t *testing.T) {
	src := files(t, false, filepath.Join(unpack(t, "clean"), "data"))
	b := start(t, t.TempDir())
	names := []string{"compacted-tx", "trimmed"}
	good(t, transferred(t, src, to(b.cluster), model.CopyQuery{Topics: names, Configs: true}, transfer.Options{}))
	out := files(t, true, b.dir)
	for _, name := range names {
		ps, err := src.Partitions(t.Context(), name)
		must(t, err)
		for _, p := range ps {
			_, from := read(t, src, p.TopicPartition)
			_, to_ := read(t, out, p.TopicPartition)
			if len(from) == 0 {
				continue
			}
			step := max(1, (from[len(from)-1]-from[0])/12)
			for offset := max(0, from[0]-2); offset <= from[len(from)-1]+2; offset += step {
				i, _ := slices.BinarySearch(from, offset)
				want := to_[len(to_)-1] + 1
				if i < len(to_) {
					want = to_[i]
				}
				g := model.Group{ID: "g", State: model.GroupEmpty, Offsets: []model.GroupOffset{commit(p.TopicPartition, offset)}}
				res := transferred(t, there{src, g}, to(b.cluster), model.CopyQuery{Topics: []string{name}, Groups: []string{"g"}, Resume: true, Unverified: true}, transfer.Options{})
				if len(res.Groups) != 1 || res.Groups[0].Err != nil || len(res.Groups[0].Rows) != 1 {
					t.Fatalf("%s: groups are %+v", p.TopicPartition, res.Groups)
				}
				got, err := b.Service.Group(t.Context(), "g")
				must(t, err)
				have := got.Offsets[slices.IndexFunc(got.Offsets, func(o model.GroupOffset) bool { return o.TopicPartition == p.TopicPartition })]
				if have.Committed != want || have.Metadata != fmt.Sprint("at ", offset) {
					t.Errorf("%s: offset %d became %d (%q), want %d", p.TopicPartition, offset, have.Committed, have.Metadata, want)
				}
				if res.Records != 0 {
					t.Errorf("%s: %d records were copied again", p.TopicPartition, res.Records)
				}
			}
		}
	}
}

// TestRefused holds what must not be done.
func TestRefused(t *testing.T) {
	a, b := start(t, t.TempDir()), start(t, t.TempDir())
	for _, x := range []broker{a, b} {
		must(t, x.CreateTopic(t.Context(), model.TopicSpec{Name: "full", Partitions: 2}))
		must(t, x.CreateTopic(t.Context(), model.TopicSpec{Name: "empty", Partitions: 1}))
	}
	must(t, a.CreateTopic(t.Context(), model.TopicSpec{Name: "wide", Partitions: 3}))
	must(t, b.CreateTopic(t.Context(), model.TopicSpec{Name: "wide", Partitions: 2}))
	must(t, a.CreateTopic(t.Context(), model.TopicSpec{Name: "dated", Partitions: 1}))
	must(t, b.CreateTopic(t.Context(), model.TopicSpec{Name: "dated", Partitions: 1, Configs: []model.ConfigChange{{Name: "message.timestamp.type", Value: "LogAppendTime"}}}))
	fill(t, a, "full", 0, 10, 1, "none")
	fill(t, b, "full", 0, 10, 2, "none") // other records
	b.cluster = connect(t, b.Address())  // one that knows the topics
	src := files(t, true, a.dir)
	active := model.Group{ID: "g", State: model.GroupEmpty, Offsets: []model.GroupOffset{commit(model.TopicPartition{Topic: "empty"}, 0)}}
	m, err := b.cluster.JoinGroup(t.Context(), model.JoinRequest{Group: "g", Topics: []string{"empty"}})
	must(t, err)
	defer func() { must(t, m.Leave(context.Background())) }()
	joined(t, b, "g")
	for name, tc := range map[string]struct {
		q    model.CopyQuery
		plan string // what the plan says
		err  error  // what Apply says
	}{
		"records there":          {q: model.CopyQuery{Topics: []string{"full"}}, plan: "holds 10 records there already"},
		"not the same beginning": {q: model.CopyQuery{Topics: []string{"full"}, Resume: true}, err: model.ErrRefused},
		"other partitions":       {q: model.CopyQuery{Topics: []string{"wide"}}, plan: "has 2 partitions there"},
		"dates records itself":   {q: model.CopyQuery{Topics: []string{"dated"}}, plan: "would lose their times"},
		"active group":           {q: model.CopyQuery{Topics: []string{"empty"}, Groups: []string{"g"}}, plan: "is active there"},
	} {
		t.Run(name, func(t *testing.T) {
			c := transfer.New(transfer.Side{Reader: there{src, active}, Name: "here"}, to(b.cluster), transfer.Options{})
			p, err := c.Plan(t.Context(), tc.q)
			must(t, err)
			if tc.plan == "" && p.Refuse != "" || !strings.Contains(p.Refuse, tc.plan) {
				t.Errorf("the plan is refused with %q, want %q", p.Refuse, tc.plan)
			}
			_, err = c.Apply(t.Context(), p, nil)
			if !errors.Is(err, model.ErrRefused) {
				t.Errorf("Apply returns %v", err)
			}
		})
	}
	if got, _ := read(t, files(t, true, b.dir), model.TopicPartition{Topic: "full"}); len(got) != 10 {
		t.Errorf("%d records are there now, want 10", len(got))
	}
}

// joined waits until a group has a member.
func joined(t *testing.T, b broker, id string) {
	t.Helper()
	for t.Context().Err() == nil {
		if g, err := b.cluster.Group(t.Context(), id); err == nil && g.Active() {
			return
		}
	}
}

// TestConfigs looks that a topic comes to have its configs, and those alone, once it is filled.
func TestConfigs(t *testing.T) {
	a, b := start(t, t.TempDir()), start(t, t.TempDir())
	must(t, a.CreateTopic(t.Context(), model.TopicSpec{Name: "t", Partitions: 1, Configs: []model.ConfigChange{
		{Name: "cleanup.policy", Value: "compact"}, {Name: "segment.bytes", Value: "1048576"}, {Name: "min.insync.replicas", Value: "1"},
	}}))
	fill(t, a, "t", 0, 10, 1, "lz4")
	src := files(t, true, a.dir)
	configs := map[string]string{"cleanup.policy": "compact", "segment.bytes": "1048576"}
	withConfigs := reading{Reader: src, configs: configs}
	good(t, transferred(t, withConfigs, to(b.cluster), model.CopyQuery{Topics: []string{"t"}, Configs: true, Rename: map[string]string{"t": "u"}}, transfer.Options{}))
	have, err := b.cluster.TopicConfig(t.Context(), "u")
	must(t, err)
	own := map[string]string{}
	for _, e := range have {
		if e.Source == "topic" {
			own[e.Name] = e.Value
		}
	}
	if fmt.Sprint(own) != fmt.Sprint(configs) {
		t.Errorf("the configs are %v, want %v", own, configs)
	}
}

// reading is a source with configs.
type reading struct {
	transfer.Reader
	configs map[string]string
}

func (r reading) TopicConfig(context.Context, string) (out []model.ConfigEntry, _ error) {
	for k, v := range r.configs {
		out = append(out, model.ConfigEntry{Name: k, Value: v, Source: "topic"})
	}
	return append(out, model.ConfigEntry{Name: "what.nobody.knows", Value: "1", Source: "topic"}), nil
}

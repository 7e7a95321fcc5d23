package transfer_test

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/embedded"
	"github.com/strata-kafka/strata/store/logdir"
	"github.com/strata-kafka/strata/store/remote"
	"github.com/strata-kafka/strata/store/transfer"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unpack unpacks an archive of what a real broker wrote, and returns the folder.
func unpack(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "logdir", "testdata", name+".tar.gz"))
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	to := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return filepath.Join(to, name)
		}
		must(t, err)
		path := filepath.Join(to, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		out, err := os.Create(path)
		must(t, err)
		_, err = io.Copy(out, r)
		must(t, err)
		must(t, out.Close())
	}
}

// files opens log directories.
func files(t testing.TB, embedded bool, dirs ...string) *logdir.Dir {
	t.Helper()
	d, err := logdir.Open(dirs, logdir.Options{Still: true, Embedded: embedded})
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// broker is a broker of our own that listens, with a client of it.
type broker struct {
	*embedded.Broker
	dir     string
	cluster *remote.Cluster
}

func start(t testing.TB, dir string) broker {
	t.Helper()
	b, err := embedded.Open(embedded.Options{Dir: dir, Still: true, Listen: "127.0.0.1:0", Engine: store.Options{}})
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return broker{b, dir, connect(t, b.Address())}
}

func connect(t testing.TB, address string) *remote.Cluster {
	t.Helper()
	c, err := remote.OpenCluster(t.Context(), []string{address}, remote.Options{Still: true, Timeout: 30 * time.Second})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// to is a cluster as a target.
func to(c *remote.Cluster) transfer.Target {
	return transfer.Target{Side: transfer.Side{Reader: c, Name: "there"}, Writer: c}
}

// transferred makes a copy.
func transferred(t testing.TB, from transfer.Reader, target transfer.Target, q model.CopyQuery, o transfer.Options) model.CopyResult {
	t.Helper()
	c := transfer.New(transfer.Side{Reader: from, Name: "here"}, target, o)
	p, err := c.Plan(t.Context(), q)
	must(t, err)
	if p.Refuse != "" {
		t.Fatalf("refused: %s", p.Refuse)
	}
	res, err := c.Apply(t.Context(), p, nil)
	must(t, err)
	return res
}

// good fails where a copy has not been found to be the same.
func good(t testing.TB, res model.CopyResult) {
	t.Helper()
	if res.Bad() {
		t.Errorf("differ: %+v; groups: %+v; faults: %v", res.Partitions, res.Groups, res.Faults)
	}
	for _, p := range res.Partitions {
		if !p.Verified {
			t.Errorf("%s was not verified", p.To)
		}
	}
}

// line is all of a record that a copy must keep.
type line struct {
	time       int64
	key, value string
	headers    string
}

func null(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}

func lineOf(r *model.Record) line {
	l := line{time: r.Timestamp, key: null(r.Key), value: null(r.Value)}
	for _, h := range r.Headers {
		l.headers += fmt.Sprintf("%q=%s;", h.Name, null(h.Value))
	}
	return l
}

type source interface {
	Records(ctx context.Context, q model.RecordQuery) (model.RecordPage, error)
}

// read reads what a consumer of committed records is given.
func read(t testing.TB, src source, tp model.TopicPartition) (lines []line, offsets []int64) {
	t.Helper()
	from := model.FromStart
	for {
		page, err := src.Records(t.Context(), model.RecordQuery{TP: tp, From: from, Max: 5000, Committed: true})
		must(t, err)
		for i := range page.Records {
			lines = append(lines, lineOf(&page.Records[i]))
			offsets = append(offsets, page.Records[i].Offset)
		}
		if page.AtEnd || page.Next == from {
			return lines, offsets
		}
		from = page.Next
	}
}

// equal compares all records of two partitions.
func equal(t testing.TB, a, b source, from, to model.TopicPartition) int {
	t.Helper()
	want, _ := read(t, a, from)
	got, offsets := read(t, b, to)
	same(t, to, got, want)
	for i := range offsets {
		if offsets[i] != offsets[0]+int64(i) {
			t.Errorf("%s: record number %d lies at offset %d", to, i, offsets[i])
			break
		}
	}
	return len(want)
}

func same(t testing.TB, tp model.TopicPartition, got, want []line) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d records, want %d", tp, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: record number %d is %.200v, want %.200v", tp, i, got[i], want[i])
			return
		}
	}
}

// topics are the topics of a source that are not a broker's own.
func topics(t testing.TB, src model.Source) (names []string) {
	t.Helper()
	all, err := src.Topics(t.Context())
	must(t, err)
	for _, tp := range all {
		if !strings.HasPrefix(tp.Name, "__") {
			names = append(names, tp.Name)
		}
	}
	return names
}

// truth is what the broker itself gave a consumer of committed records, by partition.
func truth(t testing.TB, dir string) map[model.TopicPartition][]line {
	t.Helper()
	type row struct {
		Topic      string
		Partition  int32
		Offset     int64
		Timestamp  int64
		Key, Value *string
		Headers    [][2]*string
	}
	rows := func(name string, fn func(row)) {
		f, err := os.Open(filepath.Join(dir, "truth", name))
		must(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		must(t, err)
		for s := bufio.NewReader(z); ; {
			b, err := s.ReadBytes('\n')
			if err == io.EOF {
				return
			}
			must(t, err)
			var r row
			must(t, json.Unmarshal(b, &r))
			fn(r)
		}
	}
	type place struct {
		tp     model.TopicPartition
		offset int64
	}
	bytes := func(s *string) []byte {
		if s == nil {
			return nil
		}
		b, err := base64.StdEncoding.DecodeString(*s)
		must(t, err)
		return b
	}
	committed := map[place]bool{}
	rows("committed.ndjson.gz", func(r row) {
		committed[place{model.TopicPartition{Topic: r.Topic, Partition: r.Partition}, r.Offset}] = true
	})
	out := map[model.TopicPartition][]line{}
	rows("records.ndjson.gz", func(r row) {
		tp := model.TopicPartition{Topic: r.Topic, Partition: r.Partition}
		if !committed[place{tp, r.Offset}] || strings.HasPrefix(r.Topic, "__") {
			return
		}
		m := model.Record{Timestamp: r.Timestamp, Key: bytes(r.Key), Value: bytes(r.Value)}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, model.Header{Name: *h[0], Value: bytes(h[1])})
		}
		out[tp] = append(out[tp], lineOf(&m))
	})
	return out
}

// batches lists what batches a partition holds that have data: codec, records and bytes.
func batches(t testing.TB, d *logdir.Dir, tp model.TopicPartition) (list []string) {
	t.Helper()
	segments, err := d.Segments(t.Context(), tp)
	must(t, err)
	for _, s := range segments {
		page, err := d.Batches(t.Context(), model.BatchQuery{TP: tp, Base: s.Base, Max: 10_000})
		must(t, err)
		for _, b := range page.Batches {
			if b.Control == "" && b.Count > 0 {
				list = append(list, fmt.Sprint(b.Codec, b.Count, b.Bytes))
			}
		}
	}
	return slices.Clip(list)
}

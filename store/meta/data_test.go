package meta

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// stored is a record of the test data, with its file's name.
type stored struct {
	file      string
	partition int32
	rec       record.Record
	head      record.Header
}

// gunzip reads a file of testdata.
func gunzip(t testing.TB, path ...string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// logged returns a topic's records of a directory in testdata, control records among them, file by file.
func logged(t testing.TB, dir, topic string) []stored {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, topic+"-*.log.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s of %s: %d files, %v", topic, dir, len(files), err)
	}
	slices.Sort(files)
	var list []stored
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".gz")
		folder, _, _ := strings.Cut(name, ".")
		d, ok := layout.ParseDirName(folder)
		if !ok {
			t.Fatalf("%s is no partition", folder)
		}
		for _, s := range batches(t, gunzip(t, dir, filepath.Base(file))) {
			s.file, s.partition = name, d.TP.Partition
			list = append(list, s)
		}
	}
	return list
}

// batches returns the records of a segment.
func batches(t testing.TB, b []byte) []stored {
	t.Helper()
	var list []stored
	for len(b) > 0 {
		var r record.Reader
		if err := r.Reset(b); err != nil {
			t.Fatal(err)
		}
		b = b[r.Header().Size():]
		for r.Next() {
			list = append(list, stored{rec: *r.Record(), head: r.Header()})
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
	}
	return list
}

// dumped returns what Kafka's own dump tool printed of the files in testdata/clean, by file.
type dumpedRecord struct {
	offset     int64
	key, value string // JSON
}

func dumped(t testing.TB) map[string][]dumpedRecord {
	t.Helper()
	m := map[string][]dumpedRecord{}
	for line := range bytes.Lines(gunzip(t, "clean", "dump.tsv.gz")) {
		f := strings.Split(strings.TrimSuffix(string(line), "\n"), "\t")
		if len(f) != 4 {
			t.Fatalf("%d columns in %q", len(f), line)
		}
		d := dumpedRecord{offset: -1, key: f[2], value: f[3]}
		if f[1] != "" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			d.offset = n
		}
		m[f[0]] = append(m[f[0]], d)
	}
	return m
}

// topicNames reads the names of a directory's topics from its metadata.
func topicNames(t testing.TB, dir string) func(layout.ID) string {
	t.Helper()
	names := map[layout.ID]string{}
	for _, s := range logged(t, dir, layout.MetadataTopic) {
		if s.head.Control() {
			continue
		}
		m, err := ParseMetadataRecord(s.rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		if topic, ok := m.Body.(TopicRecord); ok {
			names[topic.ID] = topic.Name
		}
	}
	return func(id layout.ID) string { return names[id] }
}

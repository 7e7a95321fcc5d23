package logdir

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// Archives are directories that a real broker wrote, with what it said of them through its own client. Those in
// testdata are cut down; a folder of whole ones can be named by the flag.
var archiveDir = flag.String("archives", "testdata", "folder of archives (NAME.tar.gz) to test with")

// archive is an unpacked archive.
type archive struct {
	name  string
	path  string
	roots []string
	truth string // folder
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unpack unpacks an archive into a folder of the test's own.
func unpack(t testing.TB, name string) archive {
	t.Helper()
	f, err := os.Open(filepath.Join(*archiveDir, name+".tar.gz"))
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	to := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		extract(t, filepath.Join(to, filepath.FromSlash(h.Name)), h, r)
	}
	a := archive{name: name, path: filepath.Join(to, name), truth: filepath.Join(to, name, "truth")}
	entries, err := os.ReadDir(a.path)
	must(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "data") {
			a.roots = append(a.roots, filepath.Join(a.path, e.Name()))
		}
	}
	if _, err := os.Stat(filepath.Join(a.truth, "after-recovery")); err == nil {
		a.truth = filepath.Join(a.truth, "after-recovery")
	}
	return a
}

// extract writes one file. What is zero is left out, so that the holes of a broker's indexes stay holes.
func extract(t testing.TB, path string, h *tar.Header, r io.Reader) {
	t.Helper()
	if h.Typeflag == tar.TypeDir {
		must(t, os.MkdirAll(path, 0o755))
		return
	}
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	buf := make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := io.ReadFull(r, buf)
		if slices.IndexFunc(buf[:n], func(c byte) bool { return c != 0 }) >= 0 {
			_, werr := f.WriteAt(buf[:n], at)
			must(t, werr)
		}
		at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			must(t, f.Truncate(at))
			break
		}
		must(t, err)
	}
	must(t, f.Close())
	must(t, os.Chtimes(path, h.ModTime, h.ModTime))
}

// eachArchive runs a test on every archive.
func eachArchive(t *testing.T, run func(t *testing.T, a archive)) {
	for _, name := range []string{"clean", "killed", "older", "two-dirs"} {
		t.Run(name, func(t *testing.T) { run(t, unpack(t, name)) })
	}
}

// openArchive opens an archive's directories until the test's end.
func openArchive(t testing.TB, a archive, o Options) *Dir {
	t.Helper()
	d, err := Open(a.roots, o)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// print is a hash of all that can be seen of a tree: names, kinds, sizes, times, contents.
func print(t testing.TB, roots ...string) string {
	t.Helper()
	sum := sha256.New()
	for _, root := range roots {
		must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			fmt.Fprintln(sum, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
			if !info.Mode().IsRegular() {
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(sum, f)
			return err
		}))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// lines calls each for the JSON lines of a gzipped file of the truth.
func lines[T any](t testing.TB, path string, each func(T)) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	for dec := json.NewDecoder(z); ; {
		var v T
		err := dec.Decode(&v)
		if err == io.EOF {
			return
		}
		must(t, err)
		each(v)
	}
}

// load reads a JSON file of the truth.
func load[T any](t testing.TB, path string) T {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	var v T
	must(t, json.Unmarshal(b, &v))
	return v
}

// trueRecord is a record as Kafka's own consumer got it.
type trueRecord struct {
	Topic         string
	Partition     int32
	Offset        int64
	Timestamp     int64
	TimestampType string
	LeaderEpoch   *int32
	Key           *string
	Value         *string
	ValueLength   int
	ValueSha256   string
	Headers       [][2]*string
}

func (r trueRecord) tp() model.TopicPartition {
	return model.TopicPartition{Topic: r.Topic, Partition: r.Partition}
}

// text puts bytes into the truth's form.
func text(b []byte) string {
	if b == nil {
		return "null"
	}
	return base64.StdEncoding.EncodeToString(b)
}

func textOf(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// same reports how a record differs from the truth; "" is not at all.
func (r trueRecord) differs(got model.Record) string {
	epoch := int32(-1)
	if r.LeaderEpoch != nil {
		epoch = *r.LeaderEpoch
	}
	switch {
	case got.Offset != r.Offset:
		return fmt.Sprintf("offset %d, want %d", got.Offset, r.Offset)
	case got.Timestamp != r.Timestamp:
		return fmt.Sprintf("timestamp %d, want %d", got.Timestamp, r.Timestamp)
	case got.TimestampType.String() != r.TimestampType:
		return fmt.Sprintf("timestamp type %s, want %s", got.TimestampType, r.TimestampType)
	case r.LeaderEpoch != nil && got.LeaderEpoch != epoch:
		return fmt.Sprintf("leader epoch %d, want %d", got.LeaderEpoch, epoch)
	case text(got.Key) != textOf(r.Key):
		return fmt.Sprintf("key %s, want %s", text(got.Key), textOf(r.Key))
	case r.ValueSha256 != "":
		if h := sha256.Sum256(got.Value); hex.EncodeToString(h[:]) != r.ValueSha256 || len(got.Value) != r.ValueLength {
			return fmt.Sprintf("value of %d bytes, want %d, or other bytes", len(got.Value), r.ValueLength)
		}
	case text(got.Value) != textOf(r.Value):
		return fmt.Sprintf("value %s, want %s", text(got.Value), textOf(r.Value))
	}
	if len(got.Headers) != len(r.Headers) {
		return fmt.Sprintf("%d headers, want %d", len(got.Headers), len(r.Headers))
	}
	for i, h := range got.Headers {
		if h.Name != textOf(r.Headers[i][0]) || text(h.Value) != textOf(r.Headers[i][1]) {
			return fmt.Sprintf("header %d is %q %s, want %q %s", i, h.Name, text(h.Value), textOf(r.Headers[i][0]), textOf(r.Headers[i][1]))
		}
	}
	return ""
}

package logdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// OpenFile opens one .log file; see File for the address of its segment. Where its name is a segment's, its folder is
// opened, so that its indexes and neighbours are there too; a folder that is no partition's is taken for partition 0 of
// a topic of its name. A file of any other name is shown alone, as the segment of its first batch's offset, by a link
// to it in a temporary folder of our own, which Close removes.
func OpenFile(path string, o Options) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open log file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("open log file: %s is no file", abs)
	}
	r, base, tidy, err := fileRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	if o.Name == "" {
		o.Name = abs
	}
	d, err := open([]*root{r}, o)
	if err != nil {
		if tidy != nil {
			tidy()
		}
		return nil, err
	}
	d.tidy = tidy
	tp, _ := layout.ParseDirName(r.as)
	if r.as == "" {
		tp, _ = layout.ParseDirName(r.only)
	}
	d.file = model.PartitionAddress(tp.TP)
	d.file.Segment = base
	return d, nil
}

// File returns the address of the segment that OpenFile has opened; the zero Address where it was not that.
func (d *Dir) File() model.Address { return d.file }

// fileRoot finds or makes the folder in which a file is looked at, and the base offset of its segment.
func fileRoot(abs string) (r *root, base int64, tidy func(), err error) {
	dir := filepath.Dir(abs)
	r = &root{path: filepath.Dir(dir), only: filepath.Base(dir)}
	if f, ok := layout.ParseFileName(filepath.Base(abs)); ok && f.Kind == layout.KindLog {
		if _, ok := layout.ParseDirName(r.only); !ok {
			r.as = topicLike(r.only) + "-0"
		}
		return r, f.Base, nil, nil
	}
	base, err = firstOffset(abs)
	if err != nil {
		return nil, 0, nil, err
	}
	tmp, err := os.MkdirTemp("", "strata-file-")
	if err != nil {
		return nil, 0, nil, err
	}
	// What is left over is in the temporary folder's own place.
	tidy = func() { _ = os.RemoveAll(tmp) }
	r = &root{path: tmp, only: topicLike(strings.TrimSuffix(filepath.Base(abs), ".log")) + "-0"}
	if err = os.Mkdir(filepath.Join(tmp, r.only), 0o700); err == nil {
		err = os.Symlink(abs, filepath.Join(tmp, r.only, layout.FileName(base, layout.KindLog)))
	}
	if err != nil {
		tidy()
		return nil, 0, nil, err
	}
	return r, base, tidy, nil
}

// firstOffset returns the offset of a file's first batch, or 0 where it begins with none.
func firstOffset(path string) (int64, error) {
	f, err := segment.OpenRegular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := make([]byte, record.HeaderSize)
	n, err := io.ReadFull(f, b)
	if n == 0 && !errors.Is(err, io.EOF) {
		return 0, err
	}
	h, err := record.ParseHeader(b[:n])
	if err != nil || h.BaseOffset < 0 {
		return 0, nil
	}
	return h.BaseOffset, nil
}

// topicLike makes a topic's name of any name.
func topicLike(name string) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '_'
	}, name)
	name = name[:min(len(name), 200)]
	if layout.ValidTopic(name) != nil {
		return "file"
	}
	return name
}

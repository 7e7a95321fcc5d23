package logdir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// walkers is how many goroutines look at files at once: one waits for the kernel while the other has the answer.
const walkers = 2

// sums is what a walk finds in a partition's folder: enough for a row of the topics page, and to see that something
// has changed since the walk before.
type sums struct {
	bytes    int64 // of .log files
	segments int
	oldest   int64  // least base offset; model.Unknown where there is no segment
	newest   int64  // greatest base offset; model.Unknown likewise
	print    uint64 // of the names, sizes and times of the .log files
	err      error
}

// folder is a partition's folder as the root's names tell it.
type folder struct {
	name string
	layout.Dir
	link bool // maybe no folder: the kind is to be asked for
}

// listing is what lies directly in a log directory.
type listing struct {
	folders []folder
	files   []string // known ones
	odd     []string // not understood: neither a partition's folder nor a known file
}

// known are the files that a broker keeps directly in a log directory.
func known(name string) bool {
	switch name {
	case layout.LockFile, layout.MetaFile, layout.CleanShutdownFile, layout.RecoveryPointFile, layout.LogStartFile,
		layout.HighWatermarkFile, layout.CleanerFile, layout.BootstrapFile, layout.RemoteCacheDir:
		return true
	}
	return strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, "strata.")
}

// list reads the names in a log directory.
func list(root string) (listing, error) {
	var l listing
	err := readNames(root, func(name string, k kind) {
		switch d, ok := layout.ParseDirName(name); {
		case known(name):
			l.files = append(l.files, name)
		case ok && k != kindFile:
			l.folders = append(l.folders, folder{name: name, Dir: d, link: k == kindOther})
		default:
			l.odd = append(l.odd, name)
		}
	})
	if err != nil {
		return l, fmt.Errorf("list log directory: %w", err)
	}
	// A link, or a file system that does not tell: ask.
	keep := l.folders[:0]
	for _, f := range l.folders {
		if f.link {
			if info, err := os.Stat(filepath.Join(root, f.name)); err != nil || !info.IsDir() {
				l.odd = append(l.odd, f.name)
				continue
			}
		}
		keep = append(keep, f)
	}
	l.folders = keep
	return l, nil
}

// kind is what the kernel says of a name without being asked for more.
type kind int8

const (
	kindOther kind = iota
	kindDir
	kindFile
)

// measure looks at the .log files of n folders of a root, name by name, on two goroutines, and gives what it finds to
// done, which is called from both. It returns when all are looked at or ctx has ended.
func measure(ctx context.Context, root string, n int, name func(i int) string, done func(i int, s sums)) error {
	var next atomic.Int64
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	for range min(walkers, n) {
		all.Go(func() {
			m, err := newMeasurer(root)
			if err != nil {
				failed.Store(&err)
				return
			}
			defer m.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				done(i, m.folder(name(i)))
			}
		})
	}
	all.Wait()
	if p := failed.Load(); p != nil {
		return *p
	}
	return ctx.Err()
}

// add counts a .log file in; names that are no segment's are passed over.
func (s *sums) add(name []byte, size, mtime int64) {
	base, ok := baseOf(name)
	if !ok {
		return
	}
	s.bytes += size
	s.segments++
	if s.oldest == model.Unknown || base < s.oldest {
		s.oldest = base
	}
	s.newest = max(s.newest, base)
	// Added up, so that the order in which the names come does not matter.
	s.print += mix(uint64(base)<<1|1) ^ mix(uint64(size)+0x9e3779b97f4a7c15) ^ mix(uint64(mtime)+0x7f4a7c159e3779b9)
}

// mix spreads a number over all bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// baseOf reads the base offset of a segment's .log from its name.
func baseOf(name []byte) (int64, bool) {
	const digits = 20
	if len(name) != digits+len(".log") || string(name[digits:]) != ".log" {
		return 0, false
	}
	var n int64
	for _, c := range name[:digits] {
		if c < '0' || c > '9' || n > (1<<63-1)/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0') // at most 9 too great, which shows as negative
	}
	return n, n >= 0
}

func noSums(err error) sums { return sums{oldest: model.Unknown, newest: model.Unknown, err: err} }

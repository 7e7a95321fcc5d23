//go:build !linux

package logdir

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// readNames calls each for the names in a folder.
func readNames(dir string, each func(name string, k kind)) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		switch {
		case e.IsDir():
			each(e.Name(), kindDir)
		case e.Type()&os.ModeSymlink != 0:
			each(e.Name(), kindOther)
		default:
			each(e.Name(), kindFile)
		}
	}
	return err
}

// measurer looks at partition folders of one root.
type measurer struct{ root string }

func newMeasurer(root string) (*measurer, error) { return &measurer{root}, nil }

func (m *measurer) close() {}

// folder adds up the .log files of a folder. A file that goes away meanwhile is not counted.
func (m *measurer) folder(name string) sums {
	s := sums{oldest: model.Unknown, newest: model.Unknown}
	list, err := os.ReadDir(filepath.Join(m.root, name))
	if err != nil {
		return noSums(err)
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".log") {
			continue
		}
		if info, err := e.Info(); err == nil {
			s.add([]byte(e.Name()), info.Size(), info.ModTime().UnixNano())
		} else if !os.IsNotExist(err) {
			s.err = err
		}
	}
	return s
}

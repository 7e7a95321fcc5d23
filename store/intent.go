package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// intentFile holds what is about to be done to topics, in the first data directory, for as long as it is not done:
//
//	version 1
//	create orders qXo1… 0
//	grow payments Zk3v… 12
//	delete old 9aBc… 0
//
// A line names the topic, its id, and the first partition that is concerned. What a killed process has left half done is
// settled by it at the next start: a topic that was being made is gone, one that was being deleted too, and one that was
// growing has its former size.
const intentFile = "strata-topics.intent"

const intentVersion = "version 1"

// The kinds of intent.
const (
	intentCreate = "create"
	intentGrow   = "grow"
	intentDelete = "delete"
)

// intent is one line of the file.
type intent struct {
	what  string
	topic string
	id    layout.ID
	from  int32 // the first partition concerned
}

// intentLines writes the file.
func intentLines(list []intent) []byte {
	b := []byte(intentVersion + "\n")
	for _, i := range list {
		b = fmt.Appendf(b, "%s %s %s %d\n", i.what, i.topic, i.id, i.from)
	}
	return b
}

// parseIntents reads the file. An empty one, as a loss of power leaves it, has no lines.
func parseIntents(b []byte) ([]intent, error) {
	if len(b) == 0 {
		return nil, nil
	}
	head, rest, _ := strings.Cut(string(b), "\n")
	if head != intentVersion {
		return nil, fmt.Errorf("%w first line %.40q: want %q", model.ErrInvalid, head, intentVersion)
	}
	var list []intent
	for rest != "" {
		line, more, whole := strings.Cut(rest, "\n")
		rest = more
		f := strings.Split(line, " ")
		if !whole || len(f) != 4 {
			return nil, fmt.Errorf("%w line %.300q: want four words", model.ErrInvalid, line)
		}
		i := intent{what: f[0], topic: f[1]}
		if i.what != intentCreate && i.what != intentGrow && i.what != intentDelete {
			return nil, fmt.Errorf("%w line %.300q: want %s, %s or %s", model.ErrInvalid, line, intentCreate, intentGrow, intentDelete)
		}
		if err := layout.ValidTopic(i.topic); err != nil {
			return nil, err
		}
		var err error
		if i.id, err = layout.ParseID(f[2]); err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(f[3], 10, 32)
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != f[3] {
			return nil, fmt.Errorf("%w line %.300q: want a partition's number", model.ErrInvalid, line)
		}
		i.from = int32(n)
		list = append(list, i)
	}
	return list, nil
}

// intend writes down what is about to be done. e.admin is held.
func (e *Engine) intend(list ...intent) error {
	// What was written down of the same topics before could not be done, and does not matter any more.
	all := slices.DeleteFunc(slices.Clone(e.intents), func(i intent) bool {
		return slices.ContainsFunc(list, func(n intent) bool { return n.topic == i.topic && n.id == i.id })
	})
	all = append(all, list...)
	if err := e.writeIntents(all); err != nil {
		return fmt.Errorf("write down what is about to be done: %w", err)
	}
	e.intents = all
	return nil
}

// fulfilled strikes out what is done, or undone. e.admin is held.
func (e *Engine) fulfilled(list ...intent) error {
	left := slices.DeleteFunc(slices.Clone(e.intents), func(i intent) bool { return slices.Contains(list, i) })
	if err := e.writeIntents(left); err != nil {
		return fmt.Errorf("strike out what is done: %w", err)
	}
	e.intents = left
	return nil
}

// writeIntents replaces the file in one step. It is not forced to the disk: what a process has written outlives it, and
// after a loss of power settle sees whether a line still holds.
func (e *Engine) writeIntents(list []intent) error {
	path := filepath.Join(e.dirs[0].path, intentFile)
	if len(list) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	tmp := path + "." + layout.SuffixTmp
	if err := os.WriteFile(tmp, intentLines(list), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// settle brings to an end what a killed process has left half done, before the directories are looked through.
func (e *Engine) settle() error {
	var list []intent
	for _, d := range e.dirs {
		path := filepath.Join(d.path, intentFile)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		lines, err := parseIntents(b)
		if err != nil {
			e.notice(fmt.Sprintf("%s: %v; it counts as empty", path, err))
		}
		list = append(list, lines...)
	}
	if list == nil {
		return nil
	}
	var deleted []string
	for _, i := range list {
		gone, err := e.settleOne(i)
		if err != nil {
			return fmt.Errorf("settle %s of topic %s: %w", i.what, i.topic, err)
		}
		if gone && i.what == intentDelete {
			deleted = append(deleted, i.topic)
		}
	}
	if e.o.Forget != nil && len(deleted) > 0 {
		if err := e.o.Forget(deleted); err != nil {
			e.notice(fmt.Sprintf("topics that were deleted are not forgotten yet: %v", err))
			// The next start tries again.
			e.intents = slices.DeleteFunc(list, func(i intent) bool { return i.what != intentDelete })
			return e.syncDirs()
		}
	}
	for _, d := range e.dirs {
		if err := os.Remove(filepath.Join(d.path, intentFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return e.syncDirs()
}

// settleOne undoes what was being made, and finishes what was being deleted. It reports whether there is no topic of the
// name afterwards.
func (e *Engine) settleOne(i intent) (gone bool, err error) {
	found, err := e.concerned(i)
	if err != nil {
		return false, err
	}
	switch {
	case i.what == intentDelete:
		for _, path := range found.folders {
			dir, _ := layout.ParseDirName(filepath.Base(path))
			if _, err := rename(path, dir.TP); err != nil {
				return false, err
			}
		}
	case found.written:
		return false, nil // it was done, and in use: the power failed before the disk knew that the line was struck out
	default:
		for _, path := range found.folders {
			if err := os.RemoveAll(path); err != nil {
				return false, err
			}
		}
	}
	if i.what == intentGrow {
		e.notice(fmt.Sprintf("topic %s: its growth beyond %d partitions was cut short, and is undone", i.topic, i.from))
		return false, nil
	}
	if found.other {
		return false, nil
	}
	if i.what == intentDelete {
		e.notice(fmt.Sprintf("topic %s: its deletion was cut short, and is done now", i.topic))
	} else {
		e.notice(fmt.Sprintf("topic %s: its creation was cut short, and is undone", i.topic))
	}
	return true, e.unsave(i.topic)
}

// concerned is what an intent has to do with.
type concerned struct {
	folders []string
	written bool // one of them holds records
	other   bool // there is another topic of that name
}

// concerned looks for what an intent concerns.
func (e *Engine) concerned(i intent) (c concerned, err error) {
	for _, d := range e.dirs {
		f, err := os.Open(d.path)
		if err != nil {
			return c, err
		}
		names, err := f.Readdirnames(-1)
		_ = f.Close()
		if err != nil {
			return c, err
		}
		for _, name := range names {
			dir, ok := layout.ParseDirName(name)
			if !ok || dir.State != model.Live || dir.TP.Topic != i.topic || dir.TP.Partition < i.from {
				continue
			}
			path := filepath.Join(d.path, name)
			b, err := os.ReadFile(filepath.Join(path, layout.PartitionMetaFile))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return c, err
			}
			if id, err := layout.ParsePartitionMeta(b); err == nil && id != i.id {
				c.other = true
				continue
			}
			c.folders = append(c.folders, path)
			c.written = c.written || holdsRecords(path)
		}
	}
	return c, nil
}

// holdsRecords reports whether any .log in a folder has bytes in it.
func holdsRecords(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		f, ok := layout.ParseFileName(entry.Name())
		if !ok || f.Kind != layout.KindLog {
			return false
		}
		fi, err := entry.Info()
		return err == nil && fi.Size() > 0
	})
}

package partition

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
)

// Handles keeps the files open that logs are read from by their clients, a bounded number of segments. A file stays
// open for as long as a Slice of it is used, whatever becomes of its name meanwhile. Safe for any goroutine.
//
// Invariants:
//   - a handle in by has a reference of its own, which is dropped when it leaves
//   - newest and oldest are the ends of the list of those in by, in the order of use
type Handles struct {
	mu             sync.Mutex
	room           int
	by             map[handleKey]*handle
	newest, oldest *handle
}

// handleKey names a segment.
type handleKey struct {
	log        *Log
	base       int64
	generation int64
}

// handle is the open files of a segment.
type handle struct {
	key          handleKey
	log          *os.File
	refs         int // guarded by Handles.mu
	newer, older *handle

	file   *os.File   // the index's; nil where there is none
	lookup sync.Mutex // guards index and size
	index  *segment.OffsetIndex
	size   int64 // of the index's file when index was made
}

const (
	defaultHandles = 256
	ownHandles     = 4 // of a log that was given none to share
)

// NewHandles keeps the files of at most room segments open; 0 means 256.
func NewHandles(room int) *Handles {
	if room <= 0 {
		room = defaultHandles
	}
	return &Handles{room: room, by: map[handleKey]*handle{}}
}

// get returns the handle of a segment with a reference taken, nil when there is none.
func (c *Handles) get(k handleKey) *handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.by[k]
	if h == nil {
		return nil
	}
	h.refs++
	if c.newest != h {
		c.unlink(h)
		c.link(h)
	}
	return h
}

// open opens a segment's files and keeps them. The log and its names must be locked.
func (c *Handles) open(k handleKey) (*handle, error) {
	if h := c.get(k); h != nil {
		return h, nil
	}
	f, err := segment.OpenRegular(filepath.Join(k.log.o.Dir, layout.FileName(k.base, layout.KindLog)))
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	h := &handle{key: k, log: f, refs: 2}
	h.file = openIndex(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[k] = h
	c.link(h)
	for len(c.by) > c.room {
		c.remove(c.oldest)
	}
	return h, nil
}

// drop forgets the segments of a log that which tells. Who still reads them goes on reading.
func (c *Handles) drop(l *Log, which func(handleKey) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, h := range c.by {
		if k.log == l && which(k) {
			c.remove(h)
		}
	}
}

// len returns how many segments are kept open.
func (c *Handles) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.by)
}

func (c *Handles) release(h *handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unref(h)
}

func (c *Handles) remove(h *handle) {
	delete(c.by, h.key)
	c.unlink(h)
	c.unref(h)
}

func (c *Handles) unref(h *handle) {
	if h.refs--; h.refs > 0 {
		return
	}
	_ = h.log.Close() // only read from: nothing can be lost
	if h.file != nil {
		_ = h.file.Close()
	}
}

func (c *Handles) link(h *handle) {
	h.older, h.newer = c.newest, nil
	if c.newest != nil {
		c.newest.newer = h
	} else {
		c.oldest = h
	}
	c.newest = h
}

func (c *Handles) unlink(h *handle) {
	if h.newer != nil {
		h.newer.older = h.older
	} else {
		c.newest = h.older
	}
	if h.older != nil {
		h.older.newer = h.newer
	} else {
		c.oldest = h.newer
	}
	h.newer, h.older = nil, nil
}

// floor returns the byte of a batch at or before an offset, by the index of a segment that is not written to; 0 where
// there is none. Whether a batch begins there is for the caller to see.
func (h *handle) floor(offset int64) int64 {
	if h.file == nil {
		return 0
	}
	h.lookup.Lock()
	defer h.lookup.Unlock()
	fi, err := h.file.Stat()
	if err != nil {
		return 0
	}
	if h.index == nil || h.size != fi.Size() {
		h.index, h.size = segment.NewOffsetIndex(h.file, fi.Size(), h.key.base), fi.Size()
	}
	i, _ := h.index.Floor(offset)
	if i < 0 {
		return 0
	}
	_, pos, _ := h.index.At(i)
	return pos
}

// openIndex opens a segment's offset index. Without it a segment is read through from its first byte.
func openIndex(k handleKey) *os.File {
	f, err := segment.OpenRegular(filepath.Join(k.log.o.Dir, layout.FileName(k.base, layout.KindIndex)))
	if err != nil {
		return nil
	}
	return f
}

package groups

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// entry is a key to be set, or with a nil value to be removed.
type entry struct {
	bucket     string
	key, value []byte
	seq        int // order of arrival within its transaction
}

// Write is a change on its way to the disk. Its methods may be called from any goroutine.
type Write struct {
	entries []entry
	then    func()        // called when it is on the disk; may be nil
	done    chan struct{} // closed when err is set
	err     error
}

// written returns the Write of nothing.
func written() *Write {
	w := &Write{done: make(chan struct{})}
	close(w.done)
	return w
}

// Wait returns when the change is on the disk, or why it is not. When ctx ends first it returns at once, and it may become
// so or not.
func (w *Write) Wait(ctx context.Context) error {
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// put sets entries, together with those of all other callers that wait, and returns when they are on the disk. When ctx
// ends first it returns at once, and the entries may be written or not. The entries are the writer's from then on.
func (db *DB) put(ctx context.Context, entries []entry) error {
	w, err := db.enqueue(entries, nil)
	if err != nil {
		return err
	}
	return w.Wait(ctx)
}

// enqueue is put without the wait; then is called when all is on the disk, and must not wait. What is enqueued later is
// written later, or in the same transaction and over it.
func (db *DB) enqueue(entries []entry, then func()) (*Write, error) {
	if db.readOnly {
		return nil, fmt.Errorf("%s: %w", db.path, model.ErrReadOnly)
	}
	w := &Write{entries: entries, then: then, done: make(chan struct{})}
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil, fmt.Errorf("%s: %w", db.path, model.ErrClosed)
	}
	db.waiting = append(db.waiting, w)
	db.mu.Unlock()
	db.rouse()
	return w, nil
}

func (db *DB) rouse() {
	select {
	case db.wake <- struct{}{}:
	default:
	}
}

// writeLoop is the one writer. It ends when the store is closed and nothing waits any more.
func (db *DB) writeLoop() {
	defer close(db.done)
	var spare []*Write
	for range db.wake {
		for {
			db.gather()
			db.mu.Lock()
			batch := db.waiting
			db.waiting = spare[:0]
			closed := db.closed
			db.mu.Unlock()
			if len(batch) == 0 {
				spare = batch // never the array that db.waiting has now
				if closed {
					return
				}
				break
			}
			err := db.commit(batch)
			for i, w := range batch {
				w.err, w.entries = err, nil
				close(w.done)
				if err == nil && w.then != nil {
					w.then()
				}
				batch[i] = nil
			}
			spare = batch
		}
	}
}

// gather gives those who were just answered the chance to come with their next commit, so that a transaction takes them
// all instead of the first one only. It yields while more come, and never waits.
func (db *DB) gather() {
	for n, i := -1, 0; i < 8; i++ {
		db.mu.Lock()
		now := len(db.waiting)
		db.mu.Unlock()
		if now == n {
			return
		}
		n = now
		runtime.Gosched()
	}
}

// commit writes a batch in one transaction. Of several values for one key the last to come is written.
func (db *DB) commit(batch []*Write) error {
	n := 0
	for _, w := range batch {
		n += len(w.entries)
	}
	if n == 0 {
		return nil
	}
	all := make([]entry, 0, n)
	for _, w := range batch {
		for _, e := range w.entries {
			e.seq = len(all)
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.bucket != b.bucket {
			return bytes.Compare([]byte(a.bucket), []byte(b.bucket))
		}
		if c := bytes.Compare(a.key, b.key); c != 0 {
			return c
		}
		return a.seq - b.seq
	})
	err := db.update(func(tx *bbolt.Tx) error {
		var b *bbolt.Bucket
		for i := range all {
			e := &all[i]
			if b == nil || all[i-1].bucket != e.bucket {
				b = tx.Bucket([]byte(e.bucket))
			}
			if i+1 < len(all) && all[i+1].bucket == e.bucket && bytes.Equal(all[i+1].key, e.key) {
				continue
			}
			if err := set(b, e.key, e.value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write %d commits: %w", len(batch), err)
	}
	return nil
}

// set puts a value, or removes the key where value is nil.
func set(b *bbolt.Bucket, key, value []byte) error {
	if value == nil {
		return b.Delete(key)
	}
	return b.Put(key, value)
}

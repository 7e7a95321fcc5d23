package groups

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/strata-kafka/strata/model"
)

// schemaVersion is the version of the buckets and their layouts that this code writes and reads.
const schemaVersion = 1

// The names of the buckets.
const (
	schemaBucket  = "schema"
	offsetsBucket = "offsets"
	groupsBucket  = "groups"
	configsBucket = "configs"
	journalBucket = "journal"

	producersBucket    = "producers"
	transactionsBucket = "transactions"
	pendingBucket      = "pending"
	membersBucket      = "members"
	usersBucket        = "users"
)

// laterBuckets were added to stores of version 1: a store without them is given them when it is opened for writing.
func laterBuckets() []string {
	return []string{producersBucket, transactionsBucket, pendingBucket, membersBucket, usersBucket}
}

// ErrSchema is returned for a store that a newer strata has written, or that is no store of strata's at all. Such a file
// is left as it is.
var ErrSchema = errors.New("unknown schema")

// HeldError says that another process, or another part of this one, has the store open.
type HeldError struct {
	Path string
	PID  int // 0 where it cannot be found out
}

// Error names the file and, where known, the process.
func (e *HeldError) Error() string {
	switch e.PID {
	case 0:
		return e.Path + " is held by another process"
	case os.Getpid():
		return e.Path + " is already open in this process"
	}
	return fmt.Sprintf("%s is held by process %d", e.Path, e.PID)
}

// DBOptions tunes OpenDB. The zero value suits a new data directory.
type DBOptions struct {
	// TopicsExist says whether the data directory has topics, so that an empty store is not taken for a new one. It is
	// asked only when that matters; nil means that there are none.
	TopicsExist func() bool
	ReadOnly    bool             // open for reading even where writing is possible
	Timeout     time.Duration    // how long to wait for another holder; 0 means 1 s
	Now         func() time.Time // for the name of a file moved aside; nil means time.Now
}

// DB is the store: strata.db. Its methods may be called from any goroutine.
//
// Invariants:
//   - bolt is nil only when readOnly is set: there is nothing to be read
//   - what a method has reported as written is on the disk
//   - once broken is set, no method touches the file again
type DB struct {
	path     string
	bolt     *bbolt.DB
	lock     *os.File // another file on the lock that bolt holds; nil where there is no bolt
	readOnly bool
	asked    bool // readOnly was asked for: the store as such may be writable
	notices  []string
	moved    bool // a damaged file was moved aside on opening
	lost     bool // the configs of the topics that there are were lost, and are not made good yet
	broken   atomic.Pointer[error]
	pending  pendingIndex

	mu      sync.Mutex
	waiting []*Write
	closed  bool
	wake    chan struct{} // cap 1
	done    chan struct{} // closed when the writer has ended
}

// Path returns the name of the store's file.
func (db *DB) Path() string { return db.path }

// ReadOnly reports whether nothing can be written.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Notices returns what there was to be said on opening: a file moved aside, a store that is read-only.
func (db *DB) Notices() []string { return slices.Clone(db.notices) }

// ConfigsLost reports whether there were topics, but the store had to be begun anew: the configs that they were given are
// lost. Whoever deletes by them, as retention does, must not take the defaults for what was wanted. It stays so over
// restarts, until TopicConfigs.Replace.
func (db *DB) ConfigsLost() bool { return db.lost }

// Close waits for the commits that are under way and closes the file.
func (db *DB) Close() error {
	db.mu.Lock()
	already := db.closed
	db.closed = true
	db.mu.Unlock()
	if already || db.bolt == nil {
		return nil
	}
	if !db.readOnly {
		db.rouse()
		<-db.done
	}
	defer db.lock.Close()
	if db.broken.Load() != nil {
		// bbolt may have left its own locks taken, and would wait for them: let go of the file without it.
		return unlockFile(db.lock)
	}
	if err := db.bolt.Close(); err != nil {
		return fmt.Errorf("close %s: %w", db.path, err)
	}
	return nil
}

// view runs fn in a read transaction. What fn takes from it is valid only until it returns. Where there is nothing to be
// read, fn is not called.
func (db *DB) view(fn func(tx *bbolt.Tx) error) error {
	if db.bolt == nil {
		return nil
	}
	return db.guard("read", func() error { return db.bolt.View(fn) })
}

// update runs fn in a write transaction and returns when it is on the disk, or when nothing of it is.
func (db *DB) update(fn func(tx *bbolt.Tx) error) error {
	if db.readOnly {
		return fmt.Errorf("%s: %w", db.path, model.ErrReadOnly)
	}
	return db.guard("write", func() error { return db.bolt.Update(fn) })
}

// guard turns a panic inside bbolt, which is how it meets damage, and a read beyond the end of a file that was cut while
// mapped, into an error. After one, bbolt's locks cannot be trusted, and the store answers with that error for ever. So it
// does after a failing disk: what the kernel has dropped would be missing from all that is written later.
func (db *DB) guard(what string, fn func() error) (err error) {
	if p := db.broken.Load(); p != nil {
		return *p
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &model.CorruptError{Path: db.path, Pos: model.Unknown, What: fmt.Sprintf("%s: %v", what, r)}
			db.broken.CompareAndSwap(nil, &err)
		}
	}()
	switch err = fn(); {
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return fmt.Errorf("%s: %w", db.path, model.ErrClosed)
	case errors.Is(err, syscall.EIO):
		err = fmt.Errorf("%s: %s: %w", what, db.path, err)
		db.broken.CompareAndSwap(nil, &err)
	}
	return err
}

// survey tells of the entries that cannot be read, each of which costs itself only.
func (db *DB) survey() error {
	bad := 0
	count := func(bucket string, parse func(k, v []byte) error) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(bucket))
			if b == nil {
				return nil // an older store, opened for reading
			}
			return b.ForEach(func(k, v []byte) error {
				if parse(k, v) != nil {
					bad++
				}
				return nil
			})
		}
	}
	parts := []func(*bbolt.Tx) error{
		count(offsetsBucket, func(k, v []byte) error { _, err := db.parseOffset(k, v); return err }),
		count(groupsBucket, func(_, v []byte) error { _, err := parseGroupRecord(v); return err }),
		count(journalBucket, func(k, v []byte) error { _, err := db.journalEntry(k, v); return err }),
		count(configsBucket, func(_, v []byte) error { _, err := parseConfigs(v); return err }),
		count(transactionsBucket, func(k, v []byte) error { _, err := parseTxn(k, v); return err }),
		count(pendingBucket, func(k, v []byte) error {
			_, err := parsePendingKey(k)
			if err == nil {
				_, err = parseCommitted(v)
			}
			return err
		}),
	}
	for _, part := range parts {
		if err := db.view(part); err != nil {
			return err
		}
	}
	if bad > 0 {
		db.notice("%s holds %d entries that cannot be read; they are left out", db.path, bad)
	}
	return nil
}

// lostKey stands in the schema bucket as long as ConfigsLost holds.
const lostKey = "configs lost"

// prepare checks the schema, and makes the buckets of a new store.
func (db *DB) prepare(topicsExist func() bool) (fresh bool, err error) {
	err = db.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(schemaBucket))
		if b == nil {
			if k, _ := tx.Cursor().First(); k != nil {
				return fmt.Errorf("%s: %w: it is a bbolt file, but not a store of strata's (first bucket %q)", db.path, ErrSchema, k)
			}
			fresh = true
			return nil
		}
		v := b.Get([]byte("version"))
		if len(v) != 4 {
			return fmt.Errorf("%s: %w: its version is %d bytes long", db.path, ErrSchema, len(v))
		}
		if n := binary.BigEndian.Uint32(v); n != schemaVersion {
			return fmt.Errorf("%s: %w: version %d, this strata knows version %d; use a newer strata, or another data directory",
				db.path, ErrSchema, n, schemaVersion)
		}
		for _, name := range []string{offsetsBucket, groupsBucket, configsBucket, journalBucket} {
			if tx.Bucket([]byte(name)) == nil {
				return &model.CorruptError{Path: db.path, Pos: model.Unknown, What: fmt.Sprintf("bucket %q is missing", name)}
			}
		}
		db.lost = db.lost || b.Get([]byte(lostKey)) != nil
		return nil
	})
	if err == nil && fresh && !db.lost && topicsExist() {
		db.lost = true // whoever made the file was stopped before it had a schema
	}
	if err != nil || db.readOnly {
		return fresh, err
	}
	if !fresh {
		return false, db.addBuckets()
	}
	return true, db.update(func(tx *bbolt.Tx) error {
		for _, name := range append(laterBuckets(), schemaBucket, offsetsBucket, groupsBucket, configsBucket, journalBucket) {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return fmt.Errorf("make bucket %q: %w", name, err)
			}
		}
		b := tx.Bucket([]byte(schemaBucket))
		if db.lost {
			if err := b.Put([]byte(lostKey), []byte{formatV1}); err != nil {
				return err
			}
		}
		return b.Put([]byte("version"), binary.BigEndian.AppendUint32(nil, schemaVersion))
	})
}

// addBuckets makes the buckets that an older store has not yet.
func (db *DB) addBuckets() error {
	missing := false
	err := db.view(func(tx *bbolt.Tx) error {
		for _, name := range laterBuckets() {
			missing = missing || tx.Bucket([]byte(name)) == nil
		}
		return nil
	})
	if err != nil || !missing {
		return err
	}
	return db.update(func(tx *bbolt.Tx) error {
		for _, name := range laterBuckets() {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return fmt.Errorf("make bucket %q: %w", name, err)
			}
		}
		return nil
	})
}

package groups

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/strata-kafka/strata/model"
)

// errDamaged marks a store that cannot be opened for what is in it, and not for what is around it.
var errDamaged = errors.New("damaged")

// OpenDB opens the store at path, or makes a new one. What there is to be said about it is in Notices.
//
// A damaged store, and an empty file where topics exist, is moved aside as path.damaged-TIME and a new one made. A store
// that cannot be written is opened read-only; one that can be neither written nor read (damaged or missing in a folder that
// cannot be written) is opened read-only and empty. Errors: *HeldError; ErrSchema; what the file system says.
func OpenDB(path string, o DBOptions) (*DB, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = time.Second
	}
	if o.TopicsExist == nil {
		o.TopicsExist = func() bool { return false }
	}
	db := &DB{path: path, readOnly: o.ReadOnly, asked: o.ReadOnly, wake: make(chan struct{}, 1), done: make(chan struct{})}
	deadline := time.Now().Add(o.Timeout)
	for range 5 { // each turn either opens it or moves a file out of the way
		again, err := db.open(o, deadline)
		if err != nil {
			return nil, err
		}
		if !again {
			if db.bolt != nil && !db.readOnly {
				go db.writeLoop() // ended by Close
			}
			return db, nil
		}
	}
	return nil, fmt.Errorf("open %s: it is replaced again and again by someone else", path)
}

func (db *DB) notice(format string, args ...any) {
	db.notices = append(db.notices, fmt.Sprintf(format, args...))
}

// open makes one attempt; again says that the file at path is another one now.
func (db *DB) open(o DBOptions, deadline time.Time) (again bool, err error) {
	_, serr := os.Stat(db.path)
	missing := errors.Is(serr, fs.ErrNotExist)
	f, err := db.file(missing)
	if err != nil {
		return false, err
	}
	if f == nil {
		db.lost = o.TopicsExist()
		db.notice("there is no %s, and none can be made: no offsets are known", db.path)
		return false, nil
	}
	if err := lockFile(f, !db.readOnly, deadline); err != nil {
		f.Close()
		if errors.Is(err, errHeld) {
			return false, &HeldError{Path: db.path, PID: holder(db.path)}
		}
		return false, fmt.Errorf("lock %s: %w", db.path, err)
	}
	// Whoever held the lock may have moved the file aside meanwhile.
	here, herr := f.Stat()
	there, terr := os.Stat(db.path)
	if herr != nil || terr != nil || !os.SameFile(here, there) {
		f.Close()
		return true, nil
	}
	why := db.inspect(f, here.Size(), missing, o.TopicsExist)
	if why == nil && here.Size() == 0 && db.readOnly {
		f.Close()
		db.lost = o.TopicsExist()
		db.notice("%s is empty and read-only: no offsets are known", db.path)
		return false, nil
	}
	if why == nil {
		why = db.start(f, o)
	}
	if why == nil {
		return false, nil
	}
	defer f.Close() // the lock is kept until the file has been moved
	if !errors.Is(why, errDamaged) {
		return false, why
	}
	// bbolt lets go of the lock when it fails.
	if err := lockFile(f, !db.readOnly, deadline); err != nil {
		return false, &HeldError{Path: db.path, PID: holder(db.path)}
	}
	db.lost = o.TopicsExist()
	return db.aside(why, o.Now()), nil
}

// file opens the file for writing, and where that is not allowed for reading. It returns nil where there is none.
func (db *DB) file(missing bool) (*os.File, error) {
	if !db.readOnly {
		// A file that nobody may write is left alone, though root could.
		st, err := os.Stat(db.path)
		if err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o222 == 0 {
			db.readOnly = true
			db.notice("%s is read-only: offsets are shown, but cannot be committed or reset", db.path)
		}
	}
	if !db.readOnly {
		f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
			return nil, fmt.Errorf("open the offsets' store: %w", err)
		}
		db.readOnly = true
		if !missing {
			db.notice("%s cannot be written (%v): offsets are shown, but cannot be committed or reset", db.path, errors.Unwrap(err))
		}
	}
	f, err := os.Open(db.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the offsets' store: %w", err)
	}
	return f, nil
}

// inspect looks at a locked file before bbolt does. Its error wraps errDamaged.
func (db *DB) inspect(f *os.File, size int64, missing bool, topicsExist func() bool) error {
	if size == 0 {
		switch {
		case !topicsExist():
		case missing && db.moved:
		case missing:
			db.lost = true
			db.notice("%s is new, though there are topics: no offsets were committed here, or they are lost", db.path)
		default:
			return fmt.Errorf("%w: it is empty, though there are topics", errDamaged)
		}
		return nil
	}
	short, single, err := checkFile(f, size)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if single {
		db.notice("%s: one of its two meta pages is damaged; the newest commits may be lost", db.path)
	}
	if short > 0 {
		if !db.readOnly {
			if err := f.Truncate(size + short); err != nil {
				return fmt.Errorf("lengthen %s: %w", db.path, err)
			}
		}
		db.notice("%s was %d bytes shorter than it should be; nothing that it holds was in them", db.path, short)
	}
	return nil
}

// start hands the locked file to bbolt and checks the schema. On an error the file is still open and locked.
func (db *DB) start(f *os.File, o DBOptions) (err error) {
	used := false
	opts := &bbolt.Options{
		Timeout:      o.Timeout,
		ReadOnly:     db.readOnly,
		FreelistType: bbolt.FreelistMapType,
		// bbolt closes what it was given, also when it fails: give it a file of its own on the same lock.
		OpenFile: func(string, int, os.FileMode) (*os.File, error) {
			if used {
				return nil, errors.New("asked for the file twice")
			}
			used = true
			return duplicate(f)
		},
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			db.bolt = nil
			err = fmt.Errorf("%w: %v", errDamaged, r)
		}
	}()
	bolt, err := bbolt.Open(db.path, 0o600, opts)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return &HeldError{Path: db.path, PID: holder(db.path)}
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return fmt.Errorf("%w: %w", errDamaged, err)
	case err != nil:
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	db.bolt = bolt
	fresh, err := db.prepare(o.TopicsExist)
	if err == nil {
		err = db.survey()
	}
	if err == nil && fresh {
		syncDir(db.path)
	}
	var corrupt *model.CorruptError
	if errors.As(err, &corrupt) {
		err = fmt.Errorf("%w: %s", errDamaged, corrupt.What)
	}
	if err != nil {
		if db.broken.Load() == nil {
			err = errors.Join(err, bolt.Close())
		}
		db.bolt = nil
		db.broken.Store(nil)
		return err
	}
	db.lock = f
	return nil
}

// aside moves a damaged file out of the way, so that the next attempt makes a new one. Where that is not possible the store
// is opened read-only and empty.
func (db *DB) aside(why error, now time.Time) (again bool) {
	reason := why.Error()
	if db.readOnly {
		db.notice("%s is %s; it is read-only and was left as it is: no offsets are known", db.path, reason)
		return false
	}
	base := db.path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	to := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = fmt.Sprintf("%s-%d", base, n)
	}
	if err := os.Rename(db.path, to); err != nil {
		db.readOnly = true
		db.notice("%s is %s; it could not be moved aside (%v) and was left as it is: no offsets are known", db.path, reason, err)
		return false
	}
	syncDir(db.path)
	db.moved = true
	db.notice("%s was %s; it was moved aside as %s, and a new one made: groups start without offsets", db.path, reason, to)
	return true
}

// syncDir makes the name of a file durable. Not all file systems can do that, and the file is no worse for it.
func syncDir(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

package groups

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// The bounds of the journal; the oldest entries go first, and the newest stays in any case.
const (
	maxJournal      = 10_000   // resets
	maxJournalBytes = 64 << 20 // of their entries, each of which has a row a partition: Journal reads them all
)

// trimJournal removes the oldest entries beyond so many, or so many bytes.
func trimJournal(journal *bbolt.Bucket, entries, size int) error {
	var old [][]byte
	c, n := journal.Cursor(), 0
	for k, v := c.Last(); k != nil; k, v = c.Prev() {
		n++
		size -= len(v)
		if n > entries || n > 1 && size < 0 {
			old = append(old, bytes.Clone(k))
		}
	}
	for _, k := range old {
		if err := journal.Delete(k); err != nil {
			return fmt.Errorf("trim the journal: %w", err)
		}
	}
	return nil
}

// whereDelete stands in the journal for the deletion of a group.
const whereDelete = "delete group"

// DeleteGroup removes a group and its offsets, with a journal entry by which the offsets can be had back. Errors: ErrNoGroup;
// ErrRefused while it is active.
func (s *Service) DeleteGroup(ctx context.Context, id string) error {
	fail := func(err error) error { return fmt.Errorf("delete group %q: %w", id, err) }
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	if err := s.writable(); err != nil {
		return fail(err)
	}
	defer s.release(id, s.hold(id))
	if err := s.db.put(ctx, nil); err != nil { // what is still on its way would be there after the deletion
		return fail(err)
	}
	if why := s.refusal(id); why != "" {
		return fail(fmt.Errorf("%w: %s", model.ErrRefused, why))
	}
	now := s.o.Now().UnixMilli()
	err := s.db.update(func(tx *bbolt.Tx) error {
		st, err := readGroup(s.db, tx, id)
		if err != nil {
			return err
		}
		if !st.known && len(st.offsets) == 0 && !s.db.pending.in(s.db, id) {
			return model.ErrNoGroup
		}
		e := model.JournalEntry{Group: id, At: now, Who: s.o.Who, Where: whereDelete}
		for _, c := range st.offsets {
			e.Rows = append(e.Rows, model.PlanRow{TopicPartition: c.TopicPartition, From: c.Offset, To: model.Unknown, Change: model.NoCount(),
				LeaderEpoch: -1, FromEpoch: c.LeaderEpoch, FromMetadata: c.Metadata})
		}
		if len(e.Rows) > 0 {
			if err := s.write(tx, &e, now); err != nil {
				return err
			}
		}
		return forget(tx, id)
	})
	if errors.Is(err, model.ErrNoGroup) {
		return s.noGroup(id)
	}
	if err == nil {
		err = s.DropPending(id, nil)
	}
	if err != nil {
		return fail(err)
	}
	s.tell()
	return nil
}

// Journal returns the resets made, newest first. Damaged entries are left out.
func (s *Service) Journal(ctx context.Context) ([]model.JournalEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []model.JournalEntry
	err := s.db.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(journalBucket)).Cursor()
		for k, v := c.Last(); k != nil; k, v = c.Prev() {
			// What is damaged was said on opening.
			if e, err := s.db.journalEntry(k, v); err == nil {
				out = append(out, e)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return out, nil
}

func (db *DB) journalEntry(k, v []byte) (model.JournalEntry, error) {
	e, err := parseJournal(v)
	if err != nil {
		return e, db.corrupt("journal entry %x: %v", k, err)
	}
	f := fields{b: bytes.Clone(k)}
	e.ID = f.u64()
	return e, f.end()
}

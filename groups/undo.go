package groups

import (
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// PlanUndo plans the taking back of a journal entry; 0 means the newest that stands. What was new is taken away again, and
// an undo can be undone like any other reset.
//
// The plan's From is what is stored now. A row that has moved since the entry was made (the group has read on) is taken out
// of the plan, and its note says so: it is for the user to take it in again, seeing what it would cost. A taking back that
// is not whole leaves its entry standing, so that the rest can be taken back later.
//
// Errors: ErrInvalid where there is no such entry; ErrRefused where it is taken back already.
func (s *Service) PlanUndo(ctx context.Context, id uint64) (model.ResetPlan, error) {
	entries, err := s.Journal(ctx)
	if err != nil {
		return model.ResetPlan{}, fmt.Errorf("plan an undo: %w", err)
	}
	e, err := pick(entries, id)
	if err != nil {
		return model.ResetPlan{}, fmt.Errorf("plan an undo: %w", err)
	}
	plan := model.ResetPlan{Group: e.Group, Where: fmt.Sprintf("undo %d", e.ID), Made: s.o.Now().UnixMilli(), UndoOf: e.ID}
	st, err := s.read(e.Group)
	if err != nil {
		return model.ResetPlan{}, fmt.Errorf("plan undo %d: %w", e.ID, err)
	}
	for i := range e.Rows {
		row, err := s.undoRow(ctx, &e.Rows[i], st)
		if err != nil {
			return model.ResetPlan{}, fmt.Errorf("plan undo %d: %w", e.ID, err)
		}
		plan.Rows = append(plan.Rows, row)
	}
	plan.Refused = s.refusal(e.Group)
	return plan, nil
}

// pick finds the entry to be taken back.
func pick(entries []model.JournalEntry, id uint64) (model.JournalEntry, error) {
	for _, e := range entries {
		switch {
		case id == 0 && e.Undone == 0:
			return e, nil
		case id == 0 || e.ID != id:
			continue
		case e.Undone != 0:
			return e, fmt.Errorf("%w: journal entry %d was taken back by entry %d; undo %d to have it again", model.ErrRefused, id, e.Undone, e.Undone)
		}
		return e, nil
	}
	if id == 0 {
		return model.JournalEntry{}, fmt.Errorf("%w: there is nothing to undo", model.ErrInvalid)
	}
	return model.JournalEntry{}, fmt.Errorf("%w journal entry %d: there is none of that number", model.ErrInvalid, id)
}

// undoRow plans the way back of one row.
func (s *Service) undoRow(ctx context.Context, made *model.PlanRow, st *stored) (model.PlanRow, error) {
	row := model.PlanRow{TopicPartition: made.TopicPartition, From: model.Unknown, FromEpoch: -1,
		To: made.From, LeaderEpoch: made.FromEpoch, Metadata: made.FromMetadata, Change: model.NoCount()}
	now, ok := st.offset(made.TopicPartition)
	ok = ok && now.Offset >= 0
	if ok {
		row.From, row.FromEpoch, row.FromMetadata = now.Offset, now.LeaderEpoch, now.Metadata
	}
	back := Committed{Commit: model.Commit{Offset: row.To, LeaderEpoch: row.LeaderEpoch, Metadata: row.Metadata}}
	left := Committed{Commit: model.Commit{Offset: made.To, LeaderEpoch: made.LeaderEpoch, Metadata: made.Metadata}}
	switch {
	case ok == (row.To >= 0) && (!ok || now.Same(back)):
		stay(&row, "as it was before already")
		return row, nil
	case ok != (made.To >= 0) || ok && !now.Same(left):
		row.Excluded = true
		row.Note = fmt.Sprintf("moved since: the reset stored %s, now it is %s", word(made.To), word(row.From))
	case row.To < 0:
		row.Note = "nothing was committed before"
	}
	start, end, err := s.logs.Bounds(ctx, row.TopicPartition)
	if err != nil {
		// What was stored before can be stored again, whatever became of the log.
		row.Change = model.Count{}
		row.Note = join(row.Note, err.Error())
		return row, nil
	}
	if row.To >= 0 && row.To < start {
		row.Note = join(row.Note, fmt.Sprintf("%d lost", start-row.To))
	}
	return row, measure(ctx, s.logs, &row, start, end)
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// takeBack marks in the journal that entry id has taken back the one that its plan is an undo of, unless some of its rows
// were taken out. Where that one was an undo itself, what it had taken back stands again, and so on down.
func (s *Service) takeBack(tx *bbolt.Tx, id uint64, p model.ResetPlan) error {
	if p.UndoOf == 0 {
		return nil
	}
	b := tx.Bucket([]byte(journalBucket))
	v := b.Get(journalKey(p.UndoOf))
	if v == nil {
		return fmt.Errorf("%w: journal entry %d is no longer there", model.ErrRefused, p.UndoOf)
	}
	e, err := s.db.journalEntry(journalKey(p.UndoOf), v)
	if err != nil {
		return err
	}
	if e.Undone != 0 {
		return fmt.Errorf("%w: journal entry %d was taken back by entry %d meanwhile", model.ErrRefused, e.ID, e.Undone)
	}
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Excluded && r.From != r.To {
			return nil
		}
	}
	by := id
	for {
		e.Undone = by
		if err := b.Put(journalKey(e.ID), appendJournal(nil, e)); err != nil {
			return fmt.Errorf("mark journal entry %d: %w", e.ID, err)
		}
		if e.UndoOf == 0 {
			return nil
		}
		// e was an undo, and is undone: what it took back is in force again, and takes back in its turn.
		again, ok, err := s.entry(b, e.UndoOf)
		if err != nil || !ok {
			return err
		}
		again.Undone = 0
		if err := b.Put(journalKey(again.ID), appendJournal(nil, again)); err != nil {
			return fmt.Errorf("mark journal entry %d: %w", again.ID, err)
		}
		if again.UndoOf == 0 {
			return nil
		}
		by = again.ID
		if e, ok, err = s.entry(b, again.UndoOf); err != nil || !ok {
			return err
		}
	}
}

// entry reads a journal entry; ok is false where it is gone.
func (s *Service) entry(b *bbolt.Bucket, id uint64) (e model.JournalEntry, ok bool, err error) {
	v := b.Get(journalKey(id))
	if v == nil {
		return e, false, nil
	}
	e, err = s.db.journalEntry(journalKey(id), v)
	return e, err == nil, err
}

package groups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// PlanReset computes a reset and changes nothing. Refused says why it could not be applied now. A group without commits can
// be planned for when topics are named. Errors: ErrNoGroup, and those of Plan.
func (s *Service) PlanReset(ctx context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	fail := func(err error) (model.ResetPlan, error) {
		return model.ResetPlan{}, fmt.Errorf("plan a reset of group %q: %w", r.Group, err)
	}
	if r.Group == "" || len(r.Group) > maxGroupID {
		return fail(fmt.Errorf("%w group's name: want 1 to %d bytes, have %d", model.ErrInvalid, maxGroupID, len(r.Group)))
	}
	st, err := s.read(r.Group)
	if err != nil {
		return fail(err)
	}
	g := s.lookup(r.Group)
	if len(st.offsets) == 0 && !st.known && !g.Active() && len(r.Topics) == 0 && r.Where.Kind != model.ToFile && r.Where.Kind != model.ToGroup {
		return fail(s.noGroup(r.Group))
	}
	in := PlanInput{Request: r, Stored: placed(st.offsets), Now: s.o.Now(), Location: s.o.Location}
	if r.Where.Kind == model.ToGroup {
		like, err := s.read(r.Where.Group)
		if err != nil {
			return fail(err)
		}
		in.Like = placed(like.offsets)
		if len(in.Like) == 0 {
			return fail(s.noGroup(r.Where.Group))
		}
	}
	plan, err := Plan(ctx, s.logs, in)
	if err != nil {
		return fail(s.nearer(ctx, r, err))
	}
	plan.Refused = s.refusal(r.Group)
	return plan, nil
}

// placed returns the offsets that say where a group is: a client may store a negative one, and means nothing by it.
func placed(all []Committed) []Committed {
	return slices.DeleteFunc(slices.Clone(all), func(c Committed) bool { return c.Offset < 0 })
}

// nearer adds the nearest names to ErrNoTopic where the logs can list their topics and did not do so.
func (s *Service) nearer(ctx context.Context, r model.ResetRequest, err error) error {
	lister, ok := s.logs.(interface {
		Topics(context.Context) ([]model.Topic, error)
	})
	if !ok || !errors.Is(err, model.ErrNoTopic) || strings.Contains(err.Error(), "did you mean") {
		return err
	}
	topics, terr := lister.Topics(ctx)
	if terr != nil {
		return err
	}
	have := map[string]bool{}
	names := make([]string, 0, len(topics))
	for _, t := range topics {
		have[t.Name] = true
		names = append(names, t.Name)
	}
	for _, sel := range r.Topics {
		if !have[sel.Topic] {
			return model.NotFound(model.ErrNoTopic, sel.Topic, names)
		}
	}
	for _, c := range r.Where.Rows {
		if !have[c.Topic] {
			return model.NotFound(model.ErrNoTopic, c.Topic, names)
		}
	}
	return err
}

// refusal says why the offsets of a group cannot be changed now, or "". A store that was opened for reading only by wish
// does not refuse a plan: who applies it opens the store again.
func (s *Service) refusal(id string) string {
	if s.db.ReadOnly() && !s.db.asked {
		return s.db.Path() + " is read-only"
	}
	g := s.lookup(id)
	if !g.Active() {
		return ""
	}
	names := make([]string, 0, len(g.Members))
	for _, m := range g.Members {
		names = append(names, m.Client+"@"+m.Host)
	}
	if len(names) == 0 {
		return fmt.Sprintf("group is %s", g.State)
	}
	return fmt.Sprintf("group is %s, members %s", g.State, strings.Join(names, ", "))
}

// ApplyReset stores what a plan says, in one transaction with its journal entry, and reads it back. Rows taken out and rows
// that change nothing are not touched. Errors wrap ErrRefused when the group is active, when what a row starts from is no
// longer what is stored, when the plan changes nothing, or when what it takes back has been taken back meanwhile; then,
// and on any other error, nothing is changed.
func (s *Service) ApplyReset(ctx context.Context, p model.ResetPlan) (model.ResetResult, error) {
	fail := func(err error) error { return fmt.Errorf("reset group %q: %w", p.Group, err) }
	if err := ctx.Err(); err != nil {
		return model.ResetResult{}, fail(err)
	}
	if err := s.writable(); err != nil {
		return model.ResetResult{}, fail(err)
	}
	if err := checkPlan(p); err != nil {
		return model.ResetResult{}, fail(err)
	}
	defer s.release(p.Group, s.hold(p.Group))
	if err := s.db.put(ctx, nil); err != nil { // what is still on its way would undo the reset
		return model.ResetResult{}, fail(err)
	}
	if why := s.refusal(p.Group); why != "" {
		return model.ResetResult{}, fail(fmt.Errorf("%w: %s", model.ErrRefused, why))
	}
	now := s.o.Now().UnixMilli()
	e := model.JournalEntry{Group: p.Group, At: now, Who: s.o.Who, Where: p.Where, UndoOf: p.UndoOf, Rows: changed(p.Rows)}
	err := s.db.update(func(tx *bbolt.Tx) error {
		if err := s.unmoved(tx, p); err != nil {
			return err
		}
		if err := s.write(tx, &e, now); err != nil {
			return err
		}
		return s.takeBack(tx, e.ID, p)
	})
	if err != nil {
		return model.ResetResult{}, fail(err)
	}
	s.tell()
	res, err := s.readBack(p, e.ID)
	if err != nil {
		return res, fmt.Errorf("reset group %q: it was stored as journal entry %d, but could not be read back: %w", p.Group, e.ID, err)
	}
	return res, nil
}

// checkPlan says what is wrong with a plan as such.
func checkPlan(p model.ResetPlan) error {
	seen := make(map[model.TopicPartition]bool, len(p.Rows))
	n := 0
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Excluded {
			continue
		}
		if seen[r.TopicPartition] {
			return fmt.Errorf("%w plan: two rows for %s", model.ErrInvalid, r.TopicPartition)
		}
		seen[r.TopicPartition] = true
		if r.To < 0 && r.To != model.Unknown {
			return fmt.Errorf("%w plan: offset %d for %s", model.ErrInvalid, r.To, r.TopicPartition)
		}
		c := model.Commit{TopicPartition: r.TopicPartition, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata}
		if err := checkCommit(p.Group, c); err != nil {
			return err
		}
		if rowChanges(r) {
			n++
		}
	}
	if n == 0 {
		return fmt.Errorf("%w: the plan changes nothing", model.ErrRefused)
	}
	return nil
}

// rowChanges reports whether a row would store anything else than what it starts from.
func rowChanges(r *model.PlanRow) bool {
	return !r.Excluded && (r.From != r.To || r.To >= 0 && (r.FromEpoch != r.LeaderEpoch || r.FromMetadata != r.Metadata))
}

func changed(rows []model.PlanRow) []model.PlanRow {
	var out []model.PlanRow
	for i := range rows {
		if rowChanges(&rows[i]) {
			r := rows[i]
			r.First = nil
			out = append(out, r)
		}
	}
	return out
}

// unmoved refuses a plan of which any row starts from something else than what is stored.
func (s *Service) unmoved(tx *bbolt.Tx, p model.ResetPlan) error {
	var moved []string
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Excluded {
			continue
		}
		c, ok, err := readOffset(s.db, tx, p.Group, r.TopicPartition)
		if err != nil {
			return err
		}
		ok = ok && c.Offset >= 0
		if was := (Committed{Commit: model.Commit{Offset: r.From, LeaderEpoch: r.FromEpoch, Metadata: r.FromMetadata}}); ok == (r.From >= 0) && (!ok || c.Same(was)) {
			continue
		}
		moved = append(moved, fmt.Sprintf("%s is %s, was %s", r.TopicPartition, word(c.Offset), word(r.From)))
	}
	if len(moved) == 0 {
		return nil
	}
	more := ""
	if len(moved) > 3 {
		moved, more = moved[:3], fmt.Sprintf(" and %d more", len(moved)-3)
	}
	return fmt.Errorf("%w: offsets have moved since the plan was made: %s%s; plan again", model.ErrRefused, strings.Join(moved, "; "), more)
}

// word puts a committed offset into words.
func word(off int64) string {
	if off < 0 {
		return "nothing"
	}
	return fmt.Sprint(off)
}

// write stores a reset's rows and its journal entry, whose number it sets. Where the group had members once, its retention
// begins anew: whoever resets a group wants to use it. Members that a broker may come back to have to join anew, else they
// would read on and commit over it.
func (s *Service) write(tx *bbolt.Tx, e *model.JournalEntry, now int64) error {
	offsets := tx.Bucket([]byte(offsetsBucket))
	for i := range e.Rows {
		r := &e.Rows[i]
		key := appendOffsetKey(nil, e.Group, r.TopicPartition)
		var value []byte
		if r.To >= 0 {
			c := model.Commit{TopicPartition: r.TopicPartition, Offset: r.To, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata}
			value = appendCommitted(nil, Committed{Commit: c, At: now, Expires: model.NoTime})
		}
		if err := set(offsets, key, value); err != nil {
			return fmt.Errorf("store %s: %w", r.TopicPartition, err)
		}
	}
	if err := tx.Bucket([]byte(membersBucket)).Delete([]byte(e.Group)); err != nil {
		return fmt.Errorf("forget former members: %w", err)
	}
	groups := tx.Bucket([]byte(groupsBucket))
	if v := groups.Get([]byte(e.Group)); v != nil {
		rec, err := parseGroupRecord(v)
		if err != nil {
			return s.db.corrupt("group %q: %v", e.Group, err)
		}
		rec.EmptySince = now
		if err := groups.Put([]byte(e.Group), appendGroupRecord(nil, rec)); err != nil {
			return fmt.Errorf("store group: %w", err)
		}
	}
	journal := tx.Bucket([]byte(journalBucket))
	id, err := journal.NextSequence()
	if err != nil {
		return fmt.Errorf("number the journal entry: %w", err)
	}
	e.ID = id
	if err := journal.Put(journalKey(id), appendJournal(nil, *e)); err != nil {
		return fmt.Errorf("store the journal entry: %w", err)
	}
	return trimJournal(journal, maxJournal, maxJournalBytes)
}

// readBack compares what is stored with what was planned.
func (s *Service) readBack(p model.ResetPlan, id uint64) (model.ResetResult, error) {
	res := model.ResetResult{Journal: id}
	wrong := 0
	err := s.db.view(func(tx *bbolt.Tx) error {
		if tx.Bucket([]byte(journalBucket)).Get(journalKey(id)) == nil {
			return s.db.corrupt("journal entry %d is missing", id)
		}
		for i := range p.Rows {
			r := &p.Rows[i]
			if r.Excluded {
				continue
			}
			c, ok, err := readOffset(s.db, tx, p.Group, r.TopicPartition)
			if err != nil {
				return err
			}
			ok = ok && c.Offset >= 0
			row := model.ResetRow{TopicPartition: r.TopicPartition, Stored: max(c.Offset, model.Unknown), OK: !ok && r.To < 0}
			if ok {
				row.OK = c.Same(Committed{Commit: model.Commit{Offset: r.To, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata}})
			}
			if !row.OK {
				wrong++
			}
			res.Rows = append(res.Rows, row)
		}
		return nil
	})
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d rows are not as planned", wrong)
	}
	return res, err
}

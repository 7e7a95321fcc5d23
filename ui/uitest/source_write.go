package uitest

import (
	"context"
	"slices"

	"github.com/strata-kafka/strata/model"
)

// Group implements model.GroupReader.
func (s *Source) Group(_ context.Context, id string) (model.Group, error) {
	if err := s.note("Group", id); err != nil {
		return model.Group{}, err
	}
	for _, g := range s.GroupSet {
		if g.ID == id {
			return g, nil
		}
	}
	return model.Group{}, model.NotFound(model.ErrNoGroup, id, nil)
}

// PlanReset implements model.Resetter.
func (s *Source) PlanReset(_ context.Context, r model.ResetRequest) (model.ResetPlan, error) {
	err := s.note("PlanReset", r.Group, r.Where)
	p := s.Plan
	p.Rows = append([]model.PlanRow(nil), s.Plan.Rows...)
	return p, err
}

// ApplyReset implements model.Resetter.
func (s *Source) ApplyReset(_ context.Context, p model.ResetPlan) (model.ResetResult, error) {
	return s.Result, s.note("ApplyReset", p.Group)
}

// Journal implements model.Resetter.
func (s *Source) Journal(context.Context) ([]model.JournalEntry, error) {
	return append([]model.JournalEntry(nil), s.Journals...), s.note("Journal")
}

// PlanUndo implements model.Resetter.
func (s *Source) PlanUndo(_ context.Context, id uint64) (model.ResetPlan, error) {
	p := s.Plan
	p.UndoOf = id
	return p, s.note("PlanUndo", id)
}

// DeleteGroup implements model.Resetter.
func (s *Source) DeleteGroup(_ context.Context, id string) error { return s.note("DeleteGroup", id) }

// Produce implements model.Producer.
func (s *Source) Produce(_ context.Context, r model.ProduceRequest) ([]model.Produced, error) {
	if err := s.note("Produce", r.Topic, len(r.Records)); err != nil {
		return nil, err
	}
	out := make([]model.Produced, len(r.Records))
	for i := range out {
		out[i] = model.Produced{Partition: max(0, r.Records[i].Partition), Offset: 4_812_339 + int64(i), Timestamp: Now().UnixMilli()}
	}
	return out, nil
}

// CreateTopic implements model.TopicAdmin.
func (s *Source) CreateTopic(_ context.Context, spec model.TopicSpec) error {
	return s.note("CreateTopic", spec.Name, spec.Partitions)
}

// GrowTopic implements model.TopicAdmin.
func (s *Source) GrowTopic(_ context.Context, topic string, partitions int32) error {
	return s.note("GrowTopic", topic, partitions)
}

// AlterTopic implements model.TopicAdmin.
func (s *Source) AlterTopic(_ context.Context, topic string, changes []model.ConfigChange) error {
	return s.note("AlterTopic", topic, changes)
}

// DeleteTopic implements model.TopicAdmin.
func (s *Source) DeleteTopic(_ context.Context, topic string) error {
	return s.note("DeleteTopic", topic)
}

// PreviewAlter implements model.TopicAdmin.
func (s *Source) PreviewAlter(_ context.Context, topic string, _ []model.ConfigChange) (model.Preview, error) {
	return s.Preview, s.note("PreviewAlter", topic)
}

// TopicConfig implements model.ConfigReader.
func (s *Source) TopicConfig(_ context.Context, topic string) ([]model.ConfigEntry, error) {
	return append([]model.ConfigEntry(nil), s.Configs...), s.note("TopicConfig", topic)
}

// PreviewDelete implements model.RecordDeleter.
func (s *Source) PreviewDelete(_ context.Context, tp model.TopicPartition, before int64) (model.Preview, error) {
	return s.Preview, s.note("PreviewDelete", tp, before)
}

// DeleteRecords implements model.RecordDeleter.
func (s *Source) DeleteRecords(_ context.Context, tp model.TopicPartition, before int64) (int64, error) {
	return before, s.note("DeleteRecords", tp, before)
}

// Focus implements model.Focuser.
func (s *Source) Focus(topics []string) { _ = s.note("Focus", topics) }

// Overview implements model.Inspector.
func (s *Source) Overview(context.Context) ([]model.DirOverview, error) {
	return s.Dirs, s.note("Overview")
}

// Decode implements model.Decoder: it knows no internal topic.
func (s *Source) Decode(model.Record) (string, bool) { return "", false }

// TrafficState implements model.Traffic.
func (s *Source) TrafficState() model.TrafficState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Demo
}

// SetRate implements model.Traffic.
func (s *Source) SetRate(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Demo.Rate = n
}

// SetPaused implements model.Traffic.
func (s *Source) SetPaused(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Demo.Paused = paused
}

// Deliver implements model.Deliverer: it tells Runs, those that are asked for.
func (s *Source) Deliver(ctx context.Context, q model.DeliveryQuery, tell func(model.DeliveryEvent) bool) error {
	if err := s.note("Deliver", q.Modes, q.Faults); err != nil {
		return err
	}
	for _, e := range s.Runs {
		var mode model.DeliveryMode
		var fault model.DeliveryFault
		if e.Step != nil {
			mode, fault = e.Step.Mode, e.Step.Fault
		} else {
			mode, fault = e.Result.Mode, e.Result.Fault
		}
		if q.Modes != nil && !slices.Contains(q.Modes, mode) || q.Faults != nil && !slices.Contains(q.Faults, fault) {
			continue
		}
		if !tell(e) {
			return ctx.Err()
		}
	}
	return nil
}

package layout

import (
	"math"
	"slices"
	"strings"
)

// Groups is how consumer groups are coordinated: group.*.
type Groups struct {
	InitialDelayMS int64 // group.initial.rebalance.delay.ms; default 0, where Kafka's own is 3 s
	MinSessionMS   int64 // group.min.session.timeout.ms; default 6 s
	MaxSessionMS   int64 // group.max.session.timeout.ms; default 30 minutes
	MaxSize        int   // group.max.size; default any

	ConsumerSessionMS   int64    // group.consumer.session.timeout.ms; default 45 s
	ConsumerHeartbeatMS int64    // group.consumer.heartbeat.interval.ms; default 5 s
	ConsumerMaxSize     int      // group.consumer.max.size; default any
	ConsumerAssignors   []string // group.consumer.assignors: uniform, range, the default first
	ConsumerMigration   string   // group.consumer.migration.policy: bidirectional (the default), upgrade, downgrade, disabled
}

// groups reads the settings of the group coordinator.
func (s *settings) groups() Groups {
	return Groups{
		InitialDelayMS:      s.number("group.initial.rebalance.delay.ms", 0, 0, math.MaxInt32),
		MinSessionMS:        s.number("group.min.session.timeout.ms", 6000, 0, math.MaxInt32),
		MaxSessionMS:        s.number("group.max.session.timeout.ms", 1_800_000, 1, math.MaxInt32),
		MaxSize:             int(s.number("group.max.size", math.MaxInt32, 1, math.MaxInt32)),
		ConsumerSessionMS:   s.number("group.consumer.session.timeout.ms", 45_000, 1, math.MaxInt32),
		ConsumerHeartbeatMS: s.number("group.consumer.heartbeat.interval.ms", 5000, 1, math.MaxInt32),
		ConsumerMaxSize:     int(s.number("group.consumer.max.size", math.MaxInt32, 1, math.MaxInt32)),
		ConsumerAssignors:   s.assignors("group.consumer.assignors"),
		ConsumerMigration:   s.word("group.consumer.migration.policy", "bidirectional", "upgrade", "downgrade", "disabled"),
	}
}

// word takes one of several words, in any case; the first is the default.
func (s *settings) word(key string, words ...string) string {
	p, ok := s.take(key)
	if !ok {
		return words[0]
	}
	if w := strings.ToLower(strings.TrimSpace(p.Value)); slices.Contains(words, w) {
		return w
	}
	s.invalid(p, "one of "+strings.Join(words, ", "))
	return words[0]
}

// assignors takes a list of those that are built into Kafka, by name or by class.
func (s *settings) assignors(key string) []string {
	all := []string{"uniform", "range"}
	p, ok := s.take(key)
	if !ok {
		return all
	}
	var names []string
	for _, name := range SplitList(p.Value) {
		name = strings.TrimPrefix(name, "org.apache.kafka.coordinator.group.assignor.")
		name = strings.ToLower(strings.TrimSuffix(name, "Assignor"))
		if !slices.Contains(all, name) || slices.Contains(names, name) {
			s.invalid(p, "a list of uniform, range, each once")
			return all
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		s.invalid(p, "a list of uniform, range")
		return all
	}
	return names
}

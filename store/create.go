package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/partition"
)

// makers is how many partitions are made at once: each takes five small files.
const makers = 4

// CreateTopic makes a topic. Errors wrap model.ErrInvalid (its name, a config, the number of partitions) and
// model.ErrExists. When it fails, or the process dies within, nothing of the topic is left.
func (e *Engine) CreateTopic(ctx context.Context, s model.TopicSpec) error {
	return e.CreateTopics(ctx, []model.TopicSpec{s})[0]
}

// birth is a topic that is being made.
type birth struct {
	*topic
	n      int // partitions
	intent intent
	err    error
}

// CreateTopics makes topics, each as CreateTopic does, and returns what became of them, in their order.
func (e *Engine) CreateTopics(ctx context.Context, specs []model.TopicSpec) []error {
	errs := make([]error, len(specs))
	all := func(err error) []error {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	end, err := e.begin(ctx)
	if err != nil {
		return all(err)
	}
	defer end()
	births := make([]birth, len(specs))
	for i := range specs {
		births[i] = e.conceive(specs[i])
	}
	e.admin.Lock()
	defer e.admin.Unlock()
	var begun []*birth
	var intents []intent
	for i := range births {
		b := &births[i]
		if b.err == nil {
			b.err = e.free(b.name, begun)
		}
		if b.err == nil {
			begun, intents = append(begun, b), append(intents, b.intent)
		}
	}
	if len(begun) > 0 {
		e.bear(ctx, begun, intents)
	}
	for i := range births {
		if errs[i] = births[i].err; errs[i] != nil {
			errs[i] = fmt.Errorf("create topic %s: %w", specs[i].Name, errs[i])
		}
	}
	return errs
}

// conceive says what a topic is to be.
func (e *Engine) conceive(s model.TopicSpec) birth {
	b := birth{topic: &topic{name: s.Name, id: layout.NewID()}, n: int(s.Partitions)}
	b.intent = intent{what: intentCreate, topic: s.Name, id: b.id}
	if b.n == 0 {
		b.n = int(e.o.Partitions)
	}
	switch err := layout.ValidTopic(s.Name); {
	case err != nil:
		b.err = err
	case layout.Internal(s.Name):
		b.err = fmt.Errorf("%w topic name %q: it is one of Kafka's own", model.ErrInvalid, s.Name)
	case b.n < 1 || b.n > maxPartitions:
		b.err = fmt.Errorf("%w number of partitions %d: want 1 to %d", model.ErrInvalid, b.n, maxPartitions)
	default:
		b.configs, b.err = change(nil, s.Configs)
	}
	return b
}

// bear makes the topics, which are seen when all of each is there. e.admin is held.
func (e *Engine) bear(ctx context.Context, begun []*birth, intents []intent) {
	fail := func(err error) {
		for _, b := range begun {
			if b.err == nil {
				b.err = err
			}
		}
	}
	if err := errors.Join(e.dropStaleOf(begun), e.forget(begun)); err != nil {
		fail(err)
		return
	}
	if err := e.intend(intents...); err != nil {
		fail(err)
		return
	}
	counts := e.perDir()
	made := make([][]*partition.Log, len(begun))
	for i, b := range begun {
		if b.err = e.save(b.name, b.configs); b.err == nil {
			made[i], b.err = e.makePartitions(ctx, b.topic, b.id, b.n, counts)
		}
	}
	// From here on a crash leaves the topics: what is not to be must be gone before.
	for _, b := range begun {
		if b.err != nil {
			b.err = errors.Join(b.err, e.unsave(b.name))
		}
	}
	err := e.fulfilled(intents...)
	if err == nil {
		err = e.syncDirs()
	}
	if err != nil {
		for i, b := range begun {
			if b.err == nil {
				b.err = errors.Join(err, undo(made[i]), e.unsave(b.name))
			}
		}
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, b := range begun {
		if b.err == nil {
			b.parts = made[i]
			e.topics[b.name], e.ids[b.id] = b.topic, b.name
			e.shape.Add(1)
		}
	}
}

// dropStaleOf writes the checkpoints anew where they may have lines of a topic of the same name that was deleted: to a new
// partition, should the process die, they would mean that its records lie below the log start. e.admin is held.
func (e *Engine) dropStaleOf(begun []*birth) error {
	for _, b := range begun {
		if e.stale[b.name] {
			if err := errors.Join(e.checkpointAll(), e.syncDirs()); err != nil {
				return err
			}
			clear(e.stale)
			return nil
		}
	}
	return nil
}

// forget has forgotten what is kept elsewhere of former topics of the same names.
func (e *Engine) forget(begun []*birth) error {
	if e.o.Forget == nil {
		return nil
	}
	var names []string
	for _, b := range begun {
		names = append(names, b.name)
	}
	return e.o.Forget(names)
}

// free says why a topic of that name cannot be made, beside those that are being made.
func (e *Engine) free(name string, begun []*birth) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.topics[name] != nil {
		return model.ErrExists
	}
	collides := func(other string) error {
		return fmt.Errorf("%w topic name %q: it differs from %q only in dot and underscore, which Kafka takes for the same", model.ErrInvalid, name, other)
	}
	for _, b := range begun {
		if b.name == name {
			return model.ErrExists
		}
		if layout.Collides(name, b.name) {
			return collides(b.name)
		}
	}
	if !layout.MayCollide(name) {
		return nil
	}
	for other := range e.topics {
		if layout.Collides(name, other) {
			return collides(other)
		}
	}
	return nil
}

// makePartitions makes the partitions that a topic lacks of n. When it fails, those it made are gone again.
func (e *Engine) makePartitions(ctx context.Context, t *topic, id layout.ID, n int, counts map[*logDir]int) ([]*partition.Log, error) {
	first := len(t.parts)
	made, failed := make([]*partition.Log, n-first), make([]error, n-first)
	dirs := make([]*logDir, n-first)
	for i := range dirs {
		dirs[i] = e.emptiest(counts)
		counts[dirs[i]]++
	}
	e.effective(t) // which all of them share
	var wg sync.WaitGroup
	for w := range min(makers, len(made)) {
		wg.Go(func() {
			for i := w; i < len(made); i += makers {
				if failed[i] = ctx.Err(); failed[i] != nil {
					return
				}
				tp := model.TopicPartition{Topic: t.name, Partition: int32(first + i)}
				made[i], failed[i] = partition.CreateLog(e.logOptions(dirs[i], t, tp), id)
				if failed[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, errors.Join(err, undo(made))
		}
	}
	return made, nil
}

// undo removes partitions that nobody has seen.
func undo(made []*partition.Log) error {
	var errs []error
	for _, l := range made {
		if l != nil {
			errs = append(errs, l.Abandon(), os.RemoveAll(l.Dir()))
		}
	}
	return errors.Join(errs...)
}

// perDir counts the partitions in each directory.
func (e *Engine) perDir() map[*logDir]int {
	if len(e.dirs) == 1 {
		return map[*logDir]int{}
	}
	by := map[string]int{}
	for _, l := range e.logs() {
		by[filepath.Dir(l.Dir())]++
	}
	counts := map[*logDir]int{}
	for _, d := range e.dirs {
		counts[d] = by[d.path]
	}
	return counts
}

// emptiest returns the directory with the fewest partitions; of several the one named first.
func (e *Engine) emptiest(counts map[*logDir]int) *logDir {
	best := e.dirs[0]
	for _, d := range e.dirs[1:] {
		if counts[d] < counts[best] {
			best = d
		}
	}
	return best
}

// GrowTopic gives a topic more partitions, all of them or none. Errors wrap model.ErrNoTopic and model.ErrInvalid.
func (e *Engine) GrowTopic(ctx context.Context, name string, partitions int32) error {
	t, end, err := e.take(ctx, name)
	if err != nil {
		return err
	}
	defer end()
	have := len(t.parts)
	if int(partitions) <= have || partitions > maxPartitions {
		return fmt.Errorf("%w number of partitions %d: %s has %d, want more, and at most %d", model.ErrInvalid, partitions, name, have, maxPartitions)
	}
	id := e.learnID(t)
	growth := intent{what: intentGrow, topic: name, id: id, from: int32(have)}
	if err := e.intend(growth); err != nil {
		return fmt.Errorf("grow topic %s: %w", name, err)
	}
	made, err := e.makePartitions(ctx, t, id, int(partitions), e.perDir())
	if ferr := e.fulfilled(growth); err == nil {
		err = ferr
	}
	if err == nil {
		err = e.syncDirs()
	}
	if err != nil {
		return fmt.Errorf("grow topic %s: %w", name, errors.Join(err, undo(made)))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.parts = append(t.parts, made...)
	e.shape.Add(1)
	return nil
}

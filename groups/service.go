package groups

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/strata-kafka/strata/model"
)

// Logs is what groups need to know of the logs. Its methods may be called from any goroutine.
type Logs interface {
	// Bounds returns a partition's log start and the offset at which consumers' reading ends (the high watermark), as they
	// are now: a bound that is older than a commit would put the commit past the end. ErrNoTopic, ErrNoPartition.
	Bounds(ctx context.Context, tp model.TopicPartition) (start, end int64, err error)
	// CountBetween counts the data records in [from, to).
	CountBetween(ctx context.Context, tp model.TopicPartition, from, to int64) (model.Count, error)
	// AtTime returns the offset of the first record at or after ms.
	AtTime(ctx context.Context, tp model.TopicPartition, ms int64) (offset int64, found bool, err error)
	// FirstRecord returns the first data record at or after from, or nil at the end.
	FirstRecord(ctx context.Context, tp model.TopicPartition, from int64) (*model.Record, error)
	// PartitionIDs returns a topic's partitions, ascending. ErrNoTopic.
	PartitionIDs(ctx context.Context, topic string) ([]int32, error)
}

// Options tunes a Service. The zero value is the broker's default.
type Options struct {
	Now       func() time.Time // nil means time.Now
	Who       string           // who resets, for the journal; "" means user@host
	Retention time.Duration    // offsets.retention.minutes; 0 means 7 days
	Location  *time.Location   // of the times in notes; nil means UTC
	// ListBudget is how long Groups may count before it gives estimates and counts on behind; 0 means 150 ms.
	ListBudget time.Duration
	// CountTTL is how long counted records are believed to be still there; 0 means 30 s.
	CountTTL time.Duration
}

// Service is the groups of the embedded broker: what they have committed, their members, their lag, and how to move them.
// Its methods may be called from any goroutine. The store is the caller's to close, after the Service.
//
// Invariants:
//   - a group whose fence is held gains and loses no member
type Service struct {
	db     *DB
	logs   Logs
	o      Options
	counts *counter

	changed chan struct{} // cap 1

	mu     sync.Mutex
	live   map[string]*live
	closed bool
	stop   context.CancelFunc // ends the goroutine that counts on behind; nil while there is none
	wg     sync.WaitGroup
}

// New returns a Service on an open store.
func New(db *DB, logs Logs, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Who == "" {
		o.Who = whoami()
	}
	if o.Retention == 0 {
		o.Retention = 7 * 24 * time.Hour
	}
	if o.Location == nil {
		o.Location = time.UTC
	}
	if o.ListBudget == 0 {
		o.ListBudget = 150 * time.Millisecond
	}
	if o.CountTTL == 0 {
		o.CountTTL = 30 * time.Second
	}
	return &Service{
		db: db, logs: logs, o: o,
		counts:  &counter{logs: logs, ttl: o.CountTTL, now: o.Now, byTP: map[model.TopicPartition]*anchors{}},
		changed: make(chan struct{}, 1),
		live:    map[string]*live{},
	}
}

func whoami() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// Close ends what runs behind. It does not close the store.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.stop != nil {
		s.stop()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return nil
}

// Changed returns the channel that is told when a group may have changed: a commit, a member, a reset, an expiry, a lag
// counted behind. What is not taken is merged into one. It is never closed.
func (s *Service) Changed() <-chan struct{} { return s.changed }

func (s *Service) tell() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Writable returns why nothing can be stored, ErrReadOnly or ErrClosed, or nil.
func (s *Service) Writable() error { return s.writable() }

func (s *Service) writable() error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return model.ErrClosed
	}
	if s.db.ReadOnly() {
		return fmt.Errorf("%s: %w", s.db.Path(), model.ErrReadOnly)
	}
	return nil
}

// Commit stores offsets of a group and returns when they are on the disk, all of them or none. Commits of many callers
// share one write. It does not ask whether the group has members: the coordinator does. When ctx
// ends first, they may be stored or not.
func (s *Service) Commit(ctx context.Context, group string, commits []model.Commit) error {
	all := make([]Committed, 0, len(commits))
	for _, c := range commits {
		if err := checkCommit(group, c); err != nil {
			return fmt.Errorf("commit offsets of group %q: %w", group, err)
		}
		all = append(all, Committed{Commit: c, Expires: model.NoTime})
	}
	w, err := s.Stage(group, all)
	if err == nil {
		err = w.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("commit offsets of group %q: %w", group, err)
	}
	return nil
}

// Stage begins to store offsets of a group as clients send them: negative offsets and those past the end too, the empty
// group's, and metadata of any length that the protocol lets through. They are on the disk, all of them or none, when the
// Write is done. At is set to now.
func (s *Service) Stage(group string, commits []Committed) (*Write, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return written(), nil
	}
	now := s.o.Now().UnixMilli()
	entries := make([]entry, len(commits))
	for i := range commits {
		c := &commits[i]
		if len(group) > maxGroupID || c.Topic == "" || len(c.Topic) > maxTopic || c.Partition < 0 {
			return nil, fmt.Errorf("%w commit of %s", model.ErrInvalid, c.TopicPartition)
		}
		c.At = now
		entries[i] = offsetEntry(group, *c)
	}
	return s.db.enqueue(entries, s.tell)
}

// DropOffsets removes what a group has committed for some partitions, and returns when that is on the disk.
func (s *Service) DropOffsets(ctx context.Context, group string, tps []model.TopicPartition) error {
	if err := s.writable(); err != nil {
		return fmt.Errorf("drop offsets of group %q: %w", group, err)
	}
	if len(tps) == 0 {
		return nil
	}
	entries := make([]entry, 0, len(tps))
	for _, tp := range tps {
		entries = append(entries, entry{bucket: offsetsBucket, key: appendOffsetKey(nil, group, tp)})
	}
	if err := s.db.put(ctx, entries); err != nil {
		return fmt.Errorf("drop offsets of group %q: %w", group, err)
	}
	s.tell()
	return nil
}

// Fetch returns what a group has committed, by topic and partition; of some partitions where tps is not nil. A partition
// without a commit, and a group that does not exist, is left out.
func (s *Service) Fetch(ctx context.Context, group string, tps []model.TopicPartition) ([]Committed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, err := s.read(group)
	if err != nil {
		return nil, fmt.Errorf("fetch offsets of group %q: %w", group, err)
	}
	if tps == nil {
		return st.offsets, nil
	}
	var out []Committed
	for _, tp := range tps {
		if c, ok := st.offset(tp); ok {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Committed) int { return a.Compare(b.TopicPartition) })
	return out, nil
}

// read reads one group from the store.
func (s *Service) read(group string) (st *stored, err error) {
	st = &stored{}
	err = s.db.view(func(tx *bbolt.Tx) error {
		st, err = readGroup(s.db, tx, group)
		return err
	})
	return st, err
}

// names returns the names of all groups that are stored or live, ascending.
func (s *Service) names() ([]string, error) {
	all, err := s.stored()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// stored reads all groups, those too that are known only for their members.
func (s *Service) stored() (all map[string]*stored, err error) {
	all = map[string]*stored{}
	err = s.db.view(func(tx *bbolt.Tx) error {
		all, err = readAll(s.db, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.live {
		if now := l.snapshot(); all[id] == nil && now.Active() {
			all[id] = &stored{}
		}
	}
	return all, nil
}

// noGroup returns ErrNoGroup with the nearest names.
func (s *Service) noGroup(id string) error {
	names, err := s.names()
	if err != nil {
		return err
	}
	return model.NotFound(model.ErrNoGroup, id, names)
}

package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

const (
	pollRecords   = 500              // records that Next returns at most
	memberSession = 10 * time.Second // after which a member that was killed is taken for gone
	memberFetch   = 8 << 20          // bytes of one fetch
	leaveWithin   = 3 * time.Second  // whoever leaves shall not wait for a broker that does not answer
)

// Member is a member of a group. Its methods are called from one goroutine.
//
// Invariants:
//   - rebalances are held off from when Next returns records until Commit, the next Next, or Leave
type Member struct {
	c    *Client
	kgo  *kgo.Client
	r    model.JoinRequest
	told map[string]bool // troubles that were told since the last records

	mu  sync.Mutex
	has map[model.TopicPartition]bool
}

// JoinGroup makes a member of a group. It joins behind; what goes wrong with that is told to Trouble, and tried again.
func (c *Client) JoinGroup(_ context.Context, r model.JoinRequest) (*Member, error) {
	if err := c.writing("join group " + r.Group); err != nil {
		return nil, err
	}
	m := &Member{c: c, r: r, told: map[string]bool{}, has: map[model.TopicPartition]bool{}}
	if m.r.Moved == nil {
		m.r.Moved = func([]model.TopicPartition) {}
	}
	if m.r.Trouble == nil {
		m.r.Trouble = func(error) {}
	}
	start := kgo.NewOffset().AtEnd()
	if r.Earliest {
		start = kgo.NewOffset().AtStart()
	}
	opts := append(c.way(),
		kgo.ClientID(c.o.ClientID),
		kgo.SoftwareNameAndVersion("strata", softwareVersion(c.o.Version)),
		kgo.MetadataMinAge(250*time.Millisecond),
		kgo.DisableClientMetrics(),
		kgo.ConsumerGroup(r.Group),
		kgo.ConsumeTopics(r.Topics...),
		kgo.ConsumeResetOffset(start),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(memberSession),
		kgo.HeartbeatInterval(time.Second),
		kgo.FetchMaxWait(500*time.Millisecond),
		kgo.FetchMaxBytes(memberFetch),
		kgo.OnPartitionsAssigned(m.assigned),
		kgo.OnPartitionsRevoked(m.lost),
		kgo.OnPartitionsLost(m.lost),
	)
	if r.Client != "" {
		opts = append(opts, kgo.ClientID(r.Client))
	}
	if c.o.Dial != nil {
		opts = append(opts, kgo.Dialer(c.o.Dial))
	}
	if r.Committed {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	switch r.Protocol {
	case "", "classic":
		// Whatever the other members can: most clients know range, some cooperative-sticky alone.
		opts = append(opts, kgo.Balancers(kgo.RangeBalancer(), kgo.RoundRobinBalancer(), kgo.StickyBalancer(), kgo.CooperativeStickyBalancer()))
	case "consumer":
		opts = append(opts, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	default:
		return nil, fmt.Errorf("%w protocol %q: want classic or consumer", model.ErrInvalid, r.Protocol)
	}
	var err error
	if m.kgo, err = kgo.NewClient(opts...); err != nil {
		return nil, fmt.Errorf("join group %q: %w", r.Group, err)
	}
	return m, nil
}

func (m *Member) assigned(_ context.Context, _ *kgo.Client, tps map[string][]int32) {
	m.moved(tps, true)
}

func (m *Member) lost(_ context.Context, _ *kgo.Client, tps map[string][]int32) {
	m.moved(tps, false)
}

func (m *Member) moved(tps map[string][]int32, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for t, ps := range tps {
		for _, p := range ps {
			if tp := (model.TopicPartition{Topic: t, Partition: p}); mine {
				m.has[tp] = true
			} else {
				delete(m.has, tp)
			}
		}
	}
	now := make([]model.TopicPartition, 0, len(m.has))
	for tp := range m.has {
		now = append(now, tp)
	}
	slices.SortFunc(now, model.TopicPartition.Compare)
	m.r.Moved(now)
}

// Next implements model.Membership.
func (m *Member) Next(ctx context.Context) ([]model.Record, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(m.c.ctx, stop)()
	for {
		m.kgo.AllowRebalance()
		fetches := m.kgo.PollRecords(ctx, pollRecords)
		if n := fetches.NumRecords(); n > 0 {
			clear(m.told)
			out := make([]model.Record, 0, n)
			fetches.EachRecord(func(r *kgo.Record) { out = append(out, fromKgo(r)) })
			return out, nil
		}
		switch {
		case m.c.ctx.Err() != nil:
			return nil, model.ErrClosed
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case fetches.IsClientClosed():
			return nil, model.ErrClosed
		}
		gone := map[string]bool{}
		fetches.EachError(func(topic string, p int32, err error) {
			m.trouble(topic, p, err)
			if errors.Is(err, kerr.UnknownTopicID) {
				gone[topic] = true
			}
		})
		m.anew(gone)
	}
}

// anew subscribes again to topics that were deleted: one made anew under the name has another id, which the client does
// not ask for by itself.
func (m *Member) anew(topics map[string]bool) {
	for t := range topics {
		m.kgo.AllowRebalance()
		m.kgo.PurgeTopicsFromConsuming(t)
		m.kgo.AddConsumeTopics(t)
	}
}

// trouble tells of what goes wrong, each thing once until records come again.
func (m *Member) trouble(topic string, p int32, err error) {
	var session *kgo.ErrGroupSession
	switch {
	case errors.Is(err, context.Canceled):
		return
	case errors.As(err, &session):
		err = fmt.Errorf("group %q: %w", m.r.Group, answer(session.Err, ""))
	case topic != "":
		err = fmt.Errorf("%s: %w", model.TopicPartition{Topic: topic, Partition: p}, answer(err, ""))
	default:
		err = answer(err, "")
	}
	if text := err.Error(); !m.told[text] {
		m.told[text] = true
		m.r.Trouble(err)
	}
}

// Commit implements model.Membership.
func (m *Member) Commit(ctx context.Context, records []model.Record) error {
	defer m.kgo.AllowRebalance()
	ctx, done := m.c.bound(ctx)
	defer done()
	next := map[string]map[int32]kgo.EpochOffset{}
	for i := range records {
		r := &records[i]
		if next[r.Topic] == nil {
			next[r.Topic] = map[int32]kgo.EpochOffset{}
		}
		next[r.Topic][r.Partition] = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset + 1}
	}
	if len(next) == 0 {
		return nil
	}
	var err error
	// Without this the member's id is kept as metadata, of which nobody is any the wiser.
	ctx = kgo.PreCommitFnContext(ctx, func(r *kmsg.OffsetCommitRequest) error {
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				r.Topics[i].Partitions[j].Metadata = nil
			}
		}
		return nil
	})
	m.kgo.CommitOffsetsSync(ctx, next, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, cerr error) {
		if err = cerr; err != nil || resp == nil {
			return
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if perr := kerr.ErrorForCode(p.ErrorCode); perr != nil {
					err = errors.Join(err, fmt.Errorf("%s/%d: %w", t.Topic, p.Partition, answer(perr, "")))
				}
			}
		}
	})
	if err != nil {
		return fmt.Errorf("commit offsets of group %q: %w", m.r.Group, m.c.why(ctx, err))
	}
	return nil
}

// Leave implements model.Membership.
func (m *Member) Leave(ctx context.Context) error {
	ctx, done := m.c.within(ctx, min(m.c.o.Timeout, leaveWithin))
	defer done()
	m.kgo.AllowRebalance()
	err := m.kgo.LeaveGroupContext(ctx)
	m.kgo.CloseAllowingRebalance()
	if err != nil {
		return fmt.Errorf("leave group %q: %w", m.r.Group, m.c.why(ctx, err))
	}
	return nil
}

// fromKgo puts a record into the words of model. What lies around it on the broker's disk is not known.
func fromKgo(r *kgo.Record) model.Record {
	out := model.Record{
		TopicPartition: model.TopicPartition{Topic: r.Topic, Partition: r.Partition},
		Offset:         r.Offset, Timestamp: r.Timestamp.UnixMilli(), TimestampType: model.TimestampType(r.Attrs.TimestampType()),
		Key: r.Key, Value: r.Value, LeaderEpoch: r.LeaderEpoch, Batch: model.Unknown, BatchPos: model.Unknown, Segment: model.Unknown,
		Transactional: r.Attrs.IsTransactional(), ProducerID: r.ProducerID, ProducerEpoch: r.ProducerEpoch, Sequence: -1,
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, model.Header{Name: h.Key, Value: h.Value})
	}
	return out
}

package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strata-kafka/strata/model"
)

// Broker is what the demo writes to.
type Broker interface {
	model.Producer
	CreateTopic(ctx context.Context, s model.TopicSpec) error
}

// Reader is what the demo's consumers read from.
type Reader interface {
	Records(ctx context.Context, q model.RecordQuery) (model.RecordPage, error)
}

// Member is a consumer's place in its group.
type Member interface {
	// Assignment returns what it is to read now; none while the group has not agreed.
	Assignment() []model.TopicPartition
	// Committed returns what the group has committed for the assignment. It waits until there is one.
	Committed(ctx context.Context) ([]model.Commit, error)
	Commit(ctx context.Context, cs []model.Commit) error
	Leave() error
}

// Options tunes the traffic.
type Options struct {
	Rate int // records a second in all; 0 means 200, negative none
	Seed uint64
	Now  func() time.Time // nil means time.Now
	// Join makes a consumer a member of a group. nil means that there are no consumers.
	Join func(group, client string, topics []string) (Member, error)
}

// Rates are bounded: past MaxRate the demo would measure itself.
const (
	MaxRate     = 1_000_000
	defaultRate = 200
	tick        = 50 * time.Millisecond
	auditEvery  = 500 * time.Millisecond
)

// Demo is running traffic. It implements model.Traffic.
//
// Invariants:
//   - the goroutines it started end before Close returns
//   - rate and paused may change at any time; made only rises
type Demo struct {
	broker Broker
	now    func() time.Time
	rate   atomic.Int64
	paused atomic.Bool
	actual atomic.Int64
	stop   context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	err    error // the last thing that went wrong; guarded by mu
}

// Start makes the topics that are missing, writes a history where they are new, and starts producers and consumers.
func Start(ctx context.Context, b Broker, r Reader, o Options) (*Demo, error) {
	d := &Demo{broker: b, now: o.Now}
	if d.now == nil {
		d.now = time.Now
	}
	d.SetRate(o.Rate)
	if o.Rate == 0 {
		d.SetRate(defaultRate)
	}
	shop := newShop(rand.New(rand.NewPCG(o.Seed, 0x7374726174610a)))
	fresh, err := d.topics(ctx)
	if err != nil {
		return nil, err
	}
	if fresh {
		if err := d.history(ctx, shop); err != nil {
			return nil, err
		}
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	d.wg.Go(func() { d.produce(run, shop) })
	if o.Join != nil {
		if err := d.consumers(run, r, o.Join, fresh); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// Close stops the traffic and waits for it. It returns the last error that the traffic met.
func (d *Demo) Close() error {
	d.stop()
	d.wg.Wait()
	return d.Err()
}

// Err returns the last error that the traffic met; it goes on after one.
func (d *Demo) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *Demo) fail(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	d.mu.Lock()
	d.err = err
	d.mu.Unlock()
}

// TrafficState implements model.Traffic.
func (d *Demo) TrafficState() model.TrafficState {
	return model.TrafficState{Rate: int(d.rate.Load()), Actual: int(d.actual.Load()), Paused: d.paused.Load()}
}

// SetRate implements model.Traffic. The rate is kept between 0 and MaxRate.
func (d *Demo) SetRate(perSecond int) { d.rate.Store(int64(min(max(perSecond, 0), MaxRate))) }

// SetPaused implements model.Traffic.
func (d *Demo) SetPaused(paused bool) { d.paused.Store(paused) }

// topics creates what is missing and reports whether everything was.
func (d *Demo) topics(ctx context.Context) (fresh bool, err error) {
	fresh = true
	for _, s := range shopTopics(d.rate.Load()) {
		err := d.broker.CreateTopic(ctx, s)
		if errors.Is(err, model.ErrExists) {
			fresh = false
			continue
		}
		if err != nil {
			return false, fmt.Errorf("make topic %s: %w", s.Name, err)
		}
	}
	return fresh, nil
}

// history is how many records of each topic lie there before the first screen, and over how long they are spread.
var historyCounts = [...]struct {
	topic string
	n     int
}{{topicOrders, 4000}, {topicPayments, 2000}, {topicClicks, 20000}, {topicStock, 800}}

const historySpan = 20 * time.Minute

func (d *Demo) history(ctx context.Context, s *shop) error {
	const burst = 500
	for _, h := range historyCounts {
		begin := d.now().Add(-historySpan)
		for done := 0; done < h.n; done += burst {
			n := min(burst, h.n-done)
			from := begin.Add(historySpan * time.Duration(done) / time.Duration(h.n))
			step := historySpan / time.Duration(h.n)
			if err := d.send(ctx, h.topic, s.make(h.topic, n, from, step)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Demo) send(ctx context.Context, topic string, rs []model.ProduceRecord) error {
	if len(rs) == 0 {
		return nil
	}
	_, err := d.broker.Produce(ctx, model.ProduceRequest{Topic: topic, Records: rs, Codec: codecs(topic), Acks: -1})
	if err != nil {
		return fmt.Errorf("produce to %s: %w", topic, err)
	}
	return nil
}

// produce makes records until ctx ends. What a burst could not make in full is carried to the next.
func (d *Demo) produce(ctx context.Context, s *shop) {
	t := time.NewTicker(tick)
	defer t.Stop()
	var owed [len(shares)]float64
	last, audit, second, made := d.now(), d.now(), d.now(), int64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		now := d.now()
		gone := min(now.Sub(last), time.Second)
		last = now
		if since := now.Sub(second); since >= time.Second {
			d.actual.Store(int64(float64(made) / since.Seconds()))
			second, made = now, 0
		}
		if d.paused.Load() {
			continue
		}
		for i, sh := range shares {
			owed[i] += float64(d.rate.Load()) * sh.part * gone.Seconds()
			n := int(owed[i])
			owed[i] -= float64(n)
			if n > 0 {
				d.fail(ctx, d.send(ctx, sh.topic, s.make(sh.topic, n, now.Add(-gone), gone/time.Duration(n))))
				made += int64(n)
			}
		}
		if d.rate.Load() > 0 && now.Sub(audit) >= auditEvery {
			audit = now
			d.fail(ctx, d.send(ctx, topicAudit, s.make(topicAudit, 1, now, 0)))
			made++
		}
	}
}

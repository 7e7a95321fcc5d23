package transfer

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/strata-kafka/strata/model"
)

// lane sends the batches of one partition, some of them at a time.
//
// The sequence of a batch is where it must come to lie, counted from the producer's first offset. So the broker itself
// refuses what would lie anywhere else, and knows again what it has already.
//
// The first batch goes alone: of a producer that it does not know yet a broker takes any sequence, so that a second one would
// be taken in the place of a first one that was lost.
//
// Invariants:
//   - flying are in order, and lie behind each other from m.end on
type lane struct {
	c        *Copy
	w        Writer
	tp       model.TopicPartition
	producer *producer
	m        *offsetMap
	landed   func(b *batch)
	store    *buffers
	flying   []flight
	end      int64 // offset behind the last one in flying
	known    bool  // the broker has taken a batch of this producer
	tries    int
}

type flight struct {
	b      *batch
	at     int64 // where it must come to lie
	answer func() (int64, error)
}

// run sends all that src gives.
func (l *lane) run(ctx context.Context, src *stream) error {
	l.end = l.m.end
	for {
		for len(l.flying) < l.room() {
			b, err := src.next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := l.add(ctx, b); err != nil {
				return err
			}
		}
		if len(l.flying) == 0 {
			return nil
		}
		if err := l.land(ctx); err != nil {
			return fmt.Errorf("write to %s: %w", l.tp, err)
		}
	}
}

// room is how many batches may be on their way.
func (l *lane) room() int {
	if l.known {
		return l.c.o.InFlight
	}
	return 1
}

// add sends a batch behind all others.
func (l *lane) add(ctx context.Context, b *batch) error {
	f := flight{b: b, at: l.end}
	if err := stamp(b.buf, l.producer.ID, l.producer.Epoch, l.producer.sequence(l.tp.Partition, f.at)); err != nil {
		return err
	}
	f.answer = l.w.SendBatch(ctx, l.tp, b.buf)
	l.flying, l.end = append(l.flying, f), l.end+b.n
	return nil
}

// land waits for what has come of the oldest batch.
func (l *lane) land(ctx context.Context) error {
	f := l.flying[0]
	base, err := f.answer()
	switch {
	case err == nil && base != f.at && base != model.Unknown:
		return l.astray(f, base)
	case err == nil:
		l.known = true
		l.flying, l.tries = append(l.flying[:0], l.flying[1:]...), 0
		l.m.add(f.b, f.b.n)
		l.landed(f.b)
		l.store.put(f.b.buf)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case !again(err):
		return fmt.Errorf("records from offset %d of the source on (%d bytes): %w", f.b.from, len(f.b.buf), err)
	}
	return l.retry(ctx, err)
}

func (l *lane) astray(f flight, base int64) error {
	return fmt.Errorf("%w: what is for offset %d went to %d: somebody else writes to the topic", model.ErrRefused, f.at, base)
}

// retry sends all again that is on its way, once it is known what has come of each: a broker takes none twice.
func (l *lane) retry(ctx context.Context, cause error) error {
	for _, f := range l.flying[1:] {
		if base, err := f.answer(); err == nil && base != f.at && base != model.Unknown { // all else is told again
			return l.astray(f, base)
		}
	}
	if l.tries++; l.tries > l.c.o.Patience {
		return fmt.Errorf("tried %d times: %w", l.tries, cause)
	}
	if err := pause(ctx, min(50*time.Millisecond<<min(l.tries, 10), 5*time.Second)); err != nil {
		return err
	}
	for i := range l.flying {
		l.flying[i].answer = l.w.SendBatch(ctx, l.tp, l.flying[i].b.buf)
	}
	return nil
}

// producer is that of the copy of one topic.
type producer struct {
	ID    int64
	Epoch int16
	// Starts are by partition the offsets on the other side at which its sequence is 0.
	Starts map[int32]int64
}

// sequence is that of the batch which is to lie at an offset.
func (p *producer) sequence(partition int32, offset int64) int32 {
	return int32((offset - p.Starts[partition]) & math.MaxInt32)
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// ahead is how many batches a stream reads before they are asked for.
const ahead = 4

// stream gives the committed batches of a partition one by one, read ahead by a goroutine that ends with close.
type stream struct {
	*buffers
	c    chan *batch
	done chan struct{}
	stop context.CancelFunc
	err  error // once c is closed
}

// open begins to read a partition from an offset to another.
func open(ctx context.Context, r Reader, q model.ScanQuery, store *buffers) *stream {
	ctx, stop := context.WithCancel(ctx)
	s := &stream{buffers: store, c: make(chan *batch, ahead), done: make(chan struct{}), stop: stop}
	sh := shaper{buffers: store}
	go func() {
		defer close(s.done)
		defer close(s.c)
		if q.From >= q.To {
			return
		}
		s.err = r.ScanBatches(ctx, q, func(raw model.RawBatch) error {
			b, err := sh.shape(raw, q.From, q.To)
			if err != nil || b == nil {
				return err
			}
			select {
			case s.c <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return s
}

// close ends the reading.
func (s *stream) close() {
	s.stop()
	<-s.done
}

// next returns the next batch; nil at the end.
func (s *stream) next(ctx context.Context) (*batch, error) {
	select {
	case b, ok := <-s.c:
		if !ok {
			return nil, s.err
		}
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cursor goes through a stream, by batches or by records.
//
// Invariants:
//   - at records of b were taken; b is nil before the first batch, and when all of it is taken
type cursor struct {
	*stream
	b    *batch
	at   int64
	rd   record.Reader
	open bool // rd is at record number at of b
}

// load gets the next batch where nothing is left of the one before. There is none at the end.
func (c *cursor) load(ctx context.Context) (err error) {
	if c.b == nil {
		c.b, err = c.next(ctx)
		c.at, c.open = 0, false
	}
	return err
}

// drop leaves the batch that is loaded.
func (c *cursor) drop() {
	c.put(c.b.buf)
	c.b = nil
}

// record returns the next record of the batch that is loaded, valid until the next call.
func (c *cursor) record() (*record.Record, error) {
	if !c.open {
		c.rd.MaxInflated = maxInflated
		if err := c.rd.Reset(c.b.buf); err != nil {
			return nil, fmt.Errorf("batch at offset %d: %w", c.b.from, err)
		}
		c.open = true
	}
	if !c.rd.Next() {
		err := c.rd.Err()
		if err == nil {
			err = errFew
		}
		return nil, fmt.Errorf("batch at offset %d: %w", c.b.from, err)
	}
	c.at++
	return c.rd.Record(), nil
}

var errFew = errors.New("it holds fewer records than it says")

// offset is that of the record that was taken last, in its log.
func (c *cursor) offset() int64 {
	k := c.at - 1
	for _, r := range c.b.spans() {
		if k < r.n {
			return r.from + k
		}
		k -= r.n
	}
	return c.b.next
}

// same reports whether two records are the same but for where they lie.
func same(a, b *record.Record) bool {
	return a.Timestamp == b.Timestamp && equal(a.Key, b.Key) && equal(a.Value, b.Value) && a.HeaderCount == b.HeaderCount && bytes.Equal(a.RawHeaders, b.RawHeaders)
}

// equal tells null from empty, too.
func equal(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

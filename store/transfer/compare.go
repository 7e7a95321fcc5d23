package transfer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc64"

	"github.com/strata-kafka/strata/store/record"
)

// checksum is a CRC-64 of records.
type checksum struct {
	table *crc64.Table
	sum   uint64
	fixed [24]byte
}

func newChecksum() *checksum { return &checksum{table: crc64.MakeTable(crc64.ECMA)} }

// add adds time, key, value and headers of a record, each with its length; that of null is -1.
func (c *checksum) add(r *record.Record) {
	length := func(b []byte) uint32 {
		if b == nil {
			return 1<<32 - 1
		}
		return uint32(len(b))
	}
	f := c.fixed[:]
	binary.BigEndian.PutUint64(f, uint64(r.Timestamp))
	binary.BigEndian.PutUint32(f[8:], length(r.Key))
	binary.BigEndian.PutUint32(f[12:], length(r.Value))
	binary.BigEndian.PutUint32(f[16:], uint32(r.HeaderCount))
	binary.BigEndian.PutUint32(f[20:], uint32(len(r.RawHeaders)))
	c.sum = crc64.Update(c.sum, c.table, f)
	c.sum = crc64.Update(c.sum, c.table, r.Key)
	c.sum = crc64.Update(c.sum, c.table, r.Value)
	c.sum = crc64.Update(c.sum, c.table, r.RawHeaders)
}

// comparison goes through two logs side by side.
type comparison struct {
	from, to *cursor
	sum      *checksum
	// passed is told of records of from that are the same in to: the first n of the batch that from is at, or all of them.
	passed func(b *batch, n int64)
	n      int64 // records that are the same
	next   int64 // offset in from behind the last of these
}

// run compares until to has ended. It says what is not the same; "" for nothing.
func (c *comparison) run(ctx context.Context) (differ string, err error) {
	for {
		if err := c.to.load(ctx); err != nil {
			return "", err
		}
		if c.to.b == nil {
			if b := c.from.b; b != nil && c.from.at > 0 {
				c.passed(b, c.from.at)
			}
			return "", nil
		}
		if err := c.from.load(ctx); err != nil {
			return "", err
		}
		if c.from.b == nil {
			return fmt.Sprintf("offset %d is not of this copy: there are more records than on the source", c.to.b.from), nil
		}
		if c.from.at == 0 && c.to.at == 0 && bytes.Equal(c.from.b.buf, c.to.b.buf) {
			err = c.batch()
		} else {
			differ, err = c.records()
		}
		if err != nil || differ != "" {
			return differ, err
		}
		c.dropped()
	}
}

// batch takes two batches that are the same.
func (c *comparison) batch() error {
	for range c.from.b.n {
		r, err := c.from.record()
		if err != nil {
			return err
		}
		c.sum.add(r)
	}
	c.n += c.from.b.n
	c.next = c.from.b.next
	c.to.at = c.to.b.n
	return nil
}

// records compares records one by one, up to the end of either batch.
func (c *comparison) records() (differ string, err error) {
	for c.from.at < c.from.b.n && c.to.at < c.to.b.n {
		a, err := c.from.record()
		if err != nil {
			return "", err
		}
		b, err := c.to.record()
		if err != nil {
			return "", err
		}
		if !same(a, b) {
			return fmt.Sprintf("offset %d is not what offset %d of the source is: %s", c.to.offset(), c.from.offset(), what(a, b)), nil
		}
		c.sum.add(a)
		c.n++
		c.next = c.from.offset() + 1
	}
	return "", nil
}

// dropped leaves batches of which nothing is left.
func (c *comparison) dropped() {
	if b := c.from.b; c.from.at == b.n {
		c.next = b.next
		c.passed(b, b.n)
		c.from.drop()
	}
	if c.to.at == c.to.b.n {
		c.to.drop()
	}
}

// ended says whether from has ended, too.
func (c *comparison) ended(ctx context.Context) (differ string, err error) {
	if err := c.from.load(ctx); err != nil || c.from.b == nil {
		return "", err
	}
	offset := c.from.b.from
	if c.from.at > 0 {
		offset = c.from.offset() + 1
	}
	return fmt.Sprintf("it ends before what was offset %d on the source", offset), nil
}

// what says in which respect two records differ.
func what(a, b *record.Record) string {
	switch {
	case a.Timestamp != b.Timestamp:
		return fmt.Sprintf("its time is %d, and not %d", b.Timestamp, a.Timestamp)
	case !equal(a.Key, b.Key):
		return "another key"
	case !equal(a.Value, b.Value):
		return "another value"
	}
	return "other headers"
}

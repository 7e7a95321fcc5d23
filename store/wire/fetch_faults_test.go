package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

func (c *core) big(topic string, n int) []byte {
	c.t.Helper()
	for range n {
		var in []record.Input
		for i := range 16 {
			in = append(in, record.Input{Timestamp: time.Now().UnixMilli(), Value: bytes.Repeat([]byte{byte('a' + i)}, 1000)})
		}
		b, err := record.AppendBatch(nil, record.Spec{}, in)
		if err != nil {
			c.t.Fatal(err)
		}
		if _, err := c.engine.AppendBatches(c.t.Context(), model.TopicPartition{Topic: topic}, b); err != nil {
			c.t.Fatal(err)
		}
	}
	return c.stored(topic, 0)
}

// TestFetchOfDeleted deletes the segment, and then the topic, that is being sent.
func TestFetchOfDeleted(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, c *core)
	}{
		{"segment", func(t *testing.T, c *core) {
			if _, err := c.engine.DeleteRecords(t.Context(), model.TopicPartition{Topic: "t"}, model.FromEnd); err != nil {
				t.Fatal(err)
			}
			l := c.engine.Find([]byte("t"), 0)
			if _, err := l.Retain(); err != nil {
				t.Fatal(err)
			}
			if err := c.engine.Sweep(); err != nil {
				t.Fatal(err)
			}
			until(t, "the file is gone", func() bool {
				_ = c.engine.Sweep()
				found, _ := filepath.Glob(filepath.Join(l.Dir(), "00000000000000000000.log*"))
				return len(found) == 0
			})
		}},
		{"topic", func(t *testing.T, c *core) {
			dir := c.engine.Find([]byte("t"), 0).Dir()
			if err := c.engine.DeleteTopic(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
			until(t, "the folder is gone", func() bool {
				_ = c.engine.Sweep()
				found, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "t-0*"))
				return len(found) == 0
			})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := startCore(t, Options{}, set("t", 1, "segment.bytes", "16777216", "segment.ms", "3600000", "file.delete.delay.ms", "0", "retention.ms", "-1"))
			want := c.big("t", 1100) // the first segment is closed, and the whole answer
			req := c.fetchOf(part{topic: "t", max: 64 << 20})
			req.MaxBytes = 64 << 20
			cl := c.dial()
			cl.send(frameOf(req, 11, 1))
			var head [4]byte
			if _, err := io.ReadFull(cl.nc, head[:]); err != nil {
				t.Fatal(err)
			}
			tc.do(t, c) // the rest does not fit the sockets' buffers
			b := make([]byte, binary.BigEndian.Uint32(head[:]))
			if _, err := io.ReadFull(cl.nc, b); err != nil {
				t.Fatal(err)
			}
			r := req.ResponseKind().(*kmsg.FetchResponse)
			if err := r.ReadFrom(b[4:]); err != nil {
				t.Fatal(err)
			}
			if p := only(t, r); !bytes.Equal(p.RecordBatches, want) {
				t.Errorf("%d bytes, want the %d that were there", len(p.RecordBatches), len(want))
			}
		})
	}
}

// TestFetchSlow has many ask for much and take nothing: what is not taken costs no memory.
func TestFetchSlow(t *testing.T) {
	const many = 100
	c := startCore(t, Options{}, set("t", 1))
	c.big("t", 1000)
	req := c.fetchOf(part{topic: "t", max: 64 << 20})
	req.MaxBytes = 64 << 20
	frame := frameOf(req, 11, 1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range many {
		cl := c.dial()
		cl.send(frame)
		var head [4]byte
		if _, err := io.ReadFull(cl.nc, head[:]); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("%d answers of 16 MiB that nobody takes hold %d MiB", many, grown>>20)
	}
}

// TestFetchDamaged reads around what cannot be read.
func TestFetchDamaged(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(f *os.File, size int64) error
		offset int64
		code   int16
	}{
		{"a header in the middle", func(f *os.File, size int64) error { _, err := f.WriteAt(make([]byte, 61), size); return err }, 4, kerr.CorruptMessage.Code},
		{"a length that leads outside", func(f *os.File, size int64) error {
			_, err := f.WriteAt([]byte{0x7f, 0xff, 0xff, 0xff}, size+8)
			return err
		}, 4, kerr.CorruptMessage.Code},
		{"a file cut short", func(f *os.File, size int64) error { return f.Truncate(size + 3) }, 4, kerr.CorruptMessage.Code},
		{"behind what is asked for", func(f *os.File, size int64) error { _, err := f.WriteAt(make([]byte, 61), 2*size); return err }, 4, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := startCore(t, Options{}, set("t", 2))
			size := c.append("t", 0, 3)
			c.append("t", 1, 1)
			f, err := os.OpenFile(filepath.Join(c.engine.Find([]byte("t"), 0).Dir(), "00000000000000000000.log"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := tc.damage(f, size); err != nil {
				t.Fatal(err)
			}
			req := c.fetchOf(part{topic: "t", offset: tc.offset, max: int32(size)}, part{topic: "t", number: 1})
			req.MaxWaitMillis = 100
			r := c.dial().fetch(req, 11)
			got := r.Topics[0].Partitions
			if got[0].ErrorCode != tc.code || tc.code == 0 && len(got[0].RecordBatches) == 0 {
				t.Errorf("error %d, want %d", got[0].ErrorCode, tc.code)
			}
			if got[1].ErrorCode != 0 || !slices.Equal(bases(got[1].RecordBatches), []int64{0}) {
				t.Errorf("the other partition: %+v", got[1])
			}
		})
	}
	t.Run("cut short while it is sent", func(t *testing.T) {
		c := startCore(t, Options{}, set("t", 1))
		c.big("t", 40)
		path := filepath.Join(c.engine.Find([]byte("t"), 0).Dir(), "00000000000000000000.log")
		if err := os.Truncate(path, 100<<10); err != nil {
			t.Fatal(err)
		}
		cl := c.dial()
		cl.send(frameOf(c.fetchOf(part{topic: "t"}), 11, 1))
		if b, err := cl.receive(); err == nil {
			t.Errorf("%d bytes that are not there", len(b))
		}
	})
}

// TestFetchAppended reads while others write and retention deletes: what comes is whole, in order and without a gap but
// where the log start has moved.
func TestFetchAppended(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1, "segment.bytes", "65536", "retention.bytes", "262144", "file.delete.delay.ms", "0"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		batch := batchOf(t, record.Spec{}, string(make([]byte, 2000)), "b", "c")
		for ctx.Err() == nil {
			if _, err := c.engine.AppendBatches(ctx, model.TopicPartition{Topic: "t"}, slices.Clone(batch)); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
			if _, err := c.engine.Find([]byte("t"), 0).Retain(); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	cl, next, moved := c.dial(), int64(0), 0
	for next < 3000 {
		req := c.fetchOf(part{topic: "t", offset: next, max: 100_000})
		req.MaxWaitMillis = 1000
		p := only(t, cl.fetch(req, 11))
		if p.ErrorCode == kerr.OffsetOutOfRange.Code {
			b, err := c.engine.Find([]byte("t"), 0).Bounds()
			if err != nil || b.Start <= next {
				t.Fatalf("offset %d is out of range of %+v: %v", next, b, err)
			}
			next = b.Start
			moved++
			continue
		}
		if p.ErrorCode != 0 {
			t.Fatalf("at %d: error %d", next, p.ErrorCode)
		}
		for b := p.RecordBatches; len(b) > 0; {
			h, err := record.ParseHeader(b)
			if err != nil || h.Size() > int64(len(b)) {
				break
			}
			if h.BaseOffset > next || record.CRC(b[21:h.Size()]) != h.CRC || h.NextOffset() > p.HighWatermark {
				t.Fatalf("batch %d to %d where %d comes next, high watermark %d", h.BaseOffset, h.LastOffset(), next, p.HighWatermark)
			}
			next = h.NextOffset()
			b = b[h.Size():]
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// first returns a connection that is served.
func (s *Server) first() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		return c
	}
	return nil
}

// TestFetchGivenUp has a client take nothing: it is given up, and its file let go.
func TestFetchGivenUp(t *testing.T) {
	c := startCore(t, Options{WriteTimeout: 50 * time.Millisecond}, set("t", 1))
	c.big("t", 1000)
	req := c.fetchOf(part{topic: "t", max: 64 << 20})
	req.MaxBytes = 64 << 20
	cl := c.dial()
	cl.send(frameOf(req, 11, 1))
	until(t, "it is there", func() bool { return c.first() != nil })
	until(t, "it is given up", func() bool { return c.first() == nil })
}

// TestFetchGone has a client go while it is made to wait.
func TestFetchGone(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1))
	req := c.fetchOf(part{topic: "t"})
	req.MaxWaitMillis = int32(time.Hour / time.Millisecond)
	cl := c.dial()
	cl.send(frameOf(req, 11, 1))
	l := c.engine.Find([]byte("t"), 0)
	until(t, "it waits", func() bool { return l.Waiting() == 1 })
	conn := c.first()
	if conn.gone() {
		t.Error("taken for gone")
	}
	if err := cl.nc.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "it is seen to have gone", conn.gone)
	conn.end() // what watch does then
	until(t, "nobody waits", func() bool { return l.Waiting() == 0 && c.first() == nil })
}

package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// core is a listener over an engine, without groups and transactions.
type core struct {
	t testing.TB
	*Server
	engine *store.Engine
}

func startCore(t testing.TB, o Options, topics ...model.TopicSpec) *core {
	t.Helper()
	return startCoreIn(t, t.TempDir(), o, topics...)
}

func startCoreIn(t testing.TB, dir string, o Options, topics ...model.TopicSpec) *core {
	t.Helper()
	return startAPIsIn(t, dir, apis(), o, topics...)
}

func startAPIs(t testing.TB, all map[kmsg.Key]api, o Options, topics ...model.TopicSpec) *core {
	t.Helper()
	return startAPIsIn(t, t.TempDir(), all, o, topics...)
}

func startAPIsIn(t testing.TB, dir string, all map[kmsg.Key]api, o Options, topics ...model.TopicSpec) *core {
	t.Helper()
	e, err := store.Open([]string{dir}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, s := range topics {
		if err := e.CreateTopic(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(ln, Broker{Engine: e, Admin: e}, o, all)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &core{t: t, Server: s, engine: e}
}

// client is one raw connection.
type client struct {
	t  testing.TB
	nc net.Conn
	n  int32
}

func (c *core) dial() *client {
	c.t.Helper()
	nc, err := net.Dial("tcp", c.Address())
	if err != nil {
		c.t.Fatal(err)
	}
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = nc.Close() })
	return &client{t: c.t, nc: nc}
}

// frameOf is a request as a client sends it.
func frameOf(req kmsg.Request, version int16, corr int32) []byte {
	req.SetVersion(version)
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("tester"))
	return f.AppendRequest(nil, req, corr)
}

func (c *client) send(b []byte) {
	c.t.Helper()
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// receive reads one answer, without its length.
func (c *client) receive() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.nc, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(c.nc, b)
	return b, err
}

// closed reports whether the server has closed the connection without an answer.
func (c *client) closed() bool {
	b, err := c.receive()
	var late net.Error
	return err != nil && len(b) == 0 && !(errors.As(err, &late) && late.Timeout())
}

// ask sends a request and decodes its answer.
func (c *client) ask(req kmsg.Request, version int16) kmsg.Response {
	c.t.Helper()
	c.n++
	c.send(frameOf(req, version, c.n))
	return c.answerTo(req, c.n)
}

func (c *client) answerTo(req kmsg.Request, corr int32) kmsg.Response {
	c.t.Helper()
	b, err := c.receive()
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	if got := int32(binary.BigEndian.Uint32(b)); got != corr {
		c.t.Fatalf("answer %d, want %d", got, corr)
	}
	b = b[4:]
	if req.IsFlexible() && req.Key() != int16(kmsg.ApiVersions) {
		if b[0] != 0 {
			c.t.Fatalf("a header with tags: %x", b[:8])
		}
		b = b[1:]
	}
	r := req.ResponseKind()
	if err := r.ReadFrom(b); err != nil {
		c.t.Fatalf("answer of key %d version %d: %v", req.Key(), req.GetVersion(), err)
	}
	if out := r.AppendTo(nil); !bytes.Equal(out, b) {
		c.t.Fatalf("answer of key %d version %d has bytes that kmsg does not know:\n%x\n%x", req.Key(), req.GetVersion(), b, out)
	}
	return r
}

// batchOf is a batch of records with these values.
func batchOf(t testing.TB, s record.Spec, values ...string) []byte {
	t.Helper()
	now := time.Now().UnixMilli()
	var in []record.Input
	for _, v := range values {
		in = append(in, record.Input{Timestamp: now, Key: []byte("k"), Value: []byte(v)})
	}
	b, err := record.AppendBatch(nil, s, in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// produceOf is a Produce of one batch to each of some partitions.
func produceOf(topic string, acks int16, batches map[int32][]byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 1000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	for p := range int32(64) {
		if b, ok := batches[p]; ok {
			rt.Partitions = append(rt.Partitions, kmsg.ProduceRequestTopicPartition{Partition: p, Records: b})
		}
	}
	req.Topics = append(req.Topics, rt)
	return req
}

// stored returns the bytes of a partition's first segment.
func (c *core) stored(topic string, partition int32) []byte {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.engine.Find([]byte(topic), partition).Dir(), layout.FileName(0, layout.KindLog)))
	if err != nil {
		c.t.Fatal(err)
	}
	return b
}

// await waits for a state.
func (c *core) await(reached func() bool) {
	c.t.Helper()
	for begin := time.Now(); !reached(); runtime.Gosched() {
		if time.Since(begin) > patience {
			c.t.Fatal("it has not come to that")
		}
	}
}

// connections returns how many there are.
// refusedFor returns why connections were refused.
func (c *core) refusedFor() (why []string) {
	c.t.Helper()
	last, _, err := c.Refused(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, r := range last {
		why = append(why, r.Address+": "+r.Why)
	}
	return why
}

func (c *core) connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// waiting returns how many requests are being served that may wait.
func (c *core) waiting() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		if conn.since.Load() != 0 {
			n++
		}
	}
	return n
}

// served returns how many requests of an API were served.
func (c *core) served(k kmsg.Key) int64 { return c.stats.apis[k].count.Load() }

package embedded

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// raw is a connection that sends what it is told, in the version it is told.
type raw struct {
	t    *testing.T
	nc   net.Conn
	corr int32
}

func dial(t *testing.T, b *Broker) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", b.Address())
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	return &raw{t: t, nc: nc}
}

// send sends a request; receive reads the answer to it.
func (c *raw) send(version int16, req kmsg.Request) {
	c.t.Helper()
	req.SetVersion(version)
	c.corr++
	if _, err := c.nc.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, c.corr)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *raw) receive(req kmsg.Request) kmsg.Response {
	c.t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(c.nc, head[:]); err != nil {
		c.t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c.nc, b); err != nil {
		c.t.Fatal(err)
	}
	b = b[4:]
	if req.IsFlexible() {
		b = b[1:]
	}
	r := req.ResponseKind()
	if err := r.ReadFrom(b); err != nil {
		c.t.Fatal(err)
	}
	return r
}

func inquire[R kmsg.Response](c *raw, version int16, req kmsg.Request) R {
	c.t.Helper()
	c.send(version, req)
	r, ok := c.receive(req).(R)
	if !ok {
		c.t.Fatalf("the answer to %T is of another kind", req)
	}
	return r
}

// holder is a transactional producer, step by step.
type holder struct {
	*raw
	id    string
	pid   int64
	epoch int16
	seq   int32
}

func (c *raw) begin(id string) *holder {
	c.t.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, 60_000
	r := inquire[*kmsg.InitProducerIDResponse](c, 4, req)
	if r.ErrorCode != 0 {
		c.t.Fatalf("InitProducerId: %d", r.ErrorCode)
	}
	return &holder{raw: c, id: id, pid: r.ProducerID, epoch: r.ProducerEpoch}
}

func (h *holder) add(partition int32) int16 {
	h.t.Helper()
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = h.id, h.pid, h.epoch
	req.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "t", Partitions: []int32{partition}}}
	return inquire[*kmsg.AddPartitionsToTxnResponse](h.raw, 3, req).Topics[0].Partitions[0].ErrorCode
}

func (h *holder) produce(version int16, partition int32) int16 {
	h.t.Helper()
	batch, err := record.AppendBatch(nil, record.Spec{HasProducer: true, ProducerID: h.pid, ProducerEpoch: h.epoch, BaseSequence: h.seq, Transactional: true},
		[]record.Input{{Timestamp: time.Now().UnixMilli(), Value: []byte(h.id)}})
	if err != nil {
		h.t.Fatal(err)
	}
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis, req.TransactionID = -1, 1000, &h.id
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, batch
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{part}}}
	code := inquire[*kmsg.ProduceResponse](h.raw, version, req).Topics[0].Partitions[0].ErrorCode
	if code == 0 {
		h.seq++
	}
	return code
}

func (h *holder) endRequest(commit bool) *kmsg.EndTxnRequest {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = h.id, h.pid, h.epoch, commit
	return req
}

func (h *holder) end(version int16, commit bool) int16 {
	h.t.Helper()
	r := inquire[*kmsg.EndTxnResponse](h.raw, version, h.endRequest(commit))
	if version >= 5 && r.ErrorCode == 0 {
		h.pid, h.epoch, h.seq = r.ProducerID, r.ProducerEpoch, 0
	}
	return r.ErrorCode
}

func fetchFrom(offset int64, isolation int8, wait int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.IsolationLevel = -1, wait, 1, isolation
	part := kmsg.NewFetchRequestTopicPartition()
	part.FetchOffset, part.PartitionMaxBytes, part.CurrentLeaderEpoch = offset, 1<<20, -1
	req.Topics = []kmsg.FetchRequestTopic{{Topic: "t", Partitions: []kmsg.FetchRequestTopicPartition{part}}}
	return req
}

func serving(t *testing.T) *Broker {
	t.Helper()
	b, err := Open(Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, b) })
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: "t", Partitions: 2}); err != nil {
		t.Fatal(err)
	}
	return b
}

func wantCode(t *testing.T, what string, got, want int16) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// TestReadersOfCommittedRecords holds that they see neither open nor aborted transactions, and are woken by a marker.
func TestReadersOfCommittedRecords(t *testing.T) {
	b := serving(t)
	w, r := dial(t, b), dial(t, b)
	x, y := w.begin("x"), w.begin("y")
	for _, h := range []*holder{x, y} {
		wantCode(t, "add", h.add(0), 0)
		wantCode(t, "produce", h.produce(9, 0), 0)
	}
	at := func(isolation int8) kmsg.FetchResponseTopicPartition {
		return inquire[*kmsg.FetchResponse](r, 11, fetchFrom(0, isolation, 0)).Topics[0].Partitions[0]
	}
	if p := at(1); p.HighWatermark != 2 || p.LastStableOffset != 0 || len(p.RecordBatches) > 0 {
		t.Errorf("two open: HW %d, LSO %d, %d bytes", p.HighWatermark, p.LastStableOffset, len(p.RecordBatches))
	}
	if p := at(0); len(p.RecordBatches) == 0 {
		t.Error("a reader of all records sees none")
	}
	wait := fetchFrom(0, 1, 20_000)
	r.send(11, wait)
	wantCode(t, "commit of the second", y.end(3, true), 0) // the first still holds it back
	wantCode(t, "abort of the first", x.end(3, false), 0)
	p := r.receive(wait).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if p.LastStableOffset != 4 || len(p.RecordBatches) == 0 {
		t.Errorf("woken with LSO %d and %d bytes", p.LastStableOffset, len(p.RecordBatches))
	}
	if a := p.AbortedTransactions; len(a) != 1 || a[0].ProducerID != x.pid || a[0].FirstOffset != 0 {
		t.Errorf("aborted %+v", a)
	}
}

// TestWhatTransactionsRefuse goes through what a transactional producer may not do.
func TestWhatTransactionsRefuse(t *testing.T) {
	b := serving(t)
	c := dial(t, b)
	x := c.begin("x")
	wantCode(t, "produce to what was not added, 9", x.produce(9, 0), 48)
	wantCode(t, "produce to what was not added, 11", x.produce(11, 0), 120)
	wantCode(t, "unknown partition", x.add(7), 3)
	wantCode(t, "end of nothing", x.end(3, true), 48)
	wantCode(t, "produce, 12", x.produce(12, 0), 0)
	again := *x
	again.epoch++
	wantCode(t, "another epoch, 3", again.add(0), 90)
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &x.id, 60_000
	wantCode(t, "InitProducerId while it is open", inquire[*kmsg.InitProducerIDResponse](c, 4, req).ErrorCode, 51)
	next := c.begin("x")
	if next.pid != x.pid || next.epoch != x.epoch+2 {
		t.Errorf("after %d/%d comes %d/%d", x.pid, x.epoch, next.pid, next.epoch)
	}
	wantCode(t, "produce of the fenced", x.produce(12, 0), 47)
	wantCode(t, "end of the fenced, 1", x.end(1, true), 47)
	wantCode(t, "end of the fenced, 3", x.end(3, true), 90)
	wantCode(t, "produce of the next", next.produce(12, 1), 0)
	wantCode(t, "end of the next", next.end(5, true), 0)
	wantCode(t, "and once more", next.produce(12, 1), 0)
}

// TestAHangingTransactionIsLetGo writes a marker past the coordinator, as Kafka's tool does.
func TestAHangingTransactionIsLetGo(t *testing.T) {
	b := serving(t)
	c := dial(t, b)
	x := c.begin("x")
	wantCode(t, "produce", x.produce(12, 0), 0)
	ps, err := b.Producers(t.Context(), model.TopicPartition{Topic: "t"})
	if err != nil || len(ps) != 1 || ps[0].ProducerID != x.pid || ps[0].TxnFirst != 0 || ps[0].LastSequence != 0 {
		t.Errorf("producers %+v, %v", ps, err)
	}
	d := kmsg.NewPtrDescribeTransactionsRequest()
	d.TransactionalIDs = []string{"x", "nobody"}
	if s := inquire[*kmsg.DescribeTransactionsResponse](c, 0, d).TransactionStates; s[0].State != "Ongoing" || len(s[0].Topics) != 1 || s[1].ErrorCode != 105 {
		t.Errorf("described as %+v", s)
	}
	l := kmsg.NewPtrListTransactionsRequest()
	l.StateFilters, l.DurationFilterMillis = []string{"Ongoing"}, -1
	if s := inquire[*kmsg.ListTransactionsResponse](c, 1, l).TransactionStates; len(s) != 1 || s[0].TransactionalID != "x" {
		t.Errorf("listed as %+v", s)
	}
	mark := kmsg.NewWriteTxnMarkersRequestMarker()
	mark.ProducerID, mark.ProducerEpoch = x.pid, x.epoch
	mark.Topics = []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: "t", Partitions: []int32{0, 9}}}
	m := kmsg.NewPtrWriteTxnMarkersRequest()
	m.Markers = append(m.Markers, mark)
	parts := inquire[*kmsg.WriteTxnMarkersResponse](c, 1, m).Markers[0].Topics[0].Partitions
	wantCode(t, "marker", parts[0].ErrorCode, 0)
	wantCode(t, "marker for no partition", parts[1].ErrorCode, 3)
	m.Markers[0].ProducerEpoch--
	m.Markers[0].Topics[0].Partitions = []int32{0}
	wantCode(t, "marker of an old epoch", inquire[*kmsg.WriteTxnMarkersResponse](c, 1, m).Markers[0].Topics[0].Partitions[0].ErrorCode, 47)
	log, err := b.Log(model.TopicPartition{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if bounds, err := log.Bounds(); err != nil || bounds.LastStable != bounds.HighWatermark {
		t.Errorf("held back still: %+v, %v", bounds, err)
	}
}

// TestTransactionsAreAnnounced holds that the screen is told of each step.
func TestTransactionsAreAnnounced(t *testing.T) {
	b := serving(t)
	c := dial(t, b)
	x := c.begin("x")
	wantCode(t, "produce", x.produce(12, 0), 0)
	for told := false; !told; {
		select {
		case change := <-b.Changes():
			told = change.Transactions
		case <-time.After(20 * time.Second):
			t.Fatal("nothing was told")
		}
	}
	list, err := b.Transactions(t.Context())
	if err != nil || len(list) != 1 || list[0].State != model.TxnOngoing || len(list[0].Partitions) != 1 || list[0].Started == model.NoTime {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestOpenTransactionsAreHeldBackAfterARest holds that the last stable offset is known as soon as a log is, after a clean
// stop too.
func TestOpenTransactionsAreHeldBackAfterARest(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(Options{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CreateTopic(t.Context(), model.TopicSpec{Name: "t"}); err != nil {
		t.Fatal(err)
	}
	x := dial(t, b).begin("x")
	wantCode(t, "produce", x.produce(12, 0), 0)
	shut(t, b)
	if b, err = Open(Options{Dir: dir, Listen: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	defer shut(t, b)
	log, err := b.Log(model.TopicPartition{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if bounds, err := log.Bounds(); err != nil || bounds.LastStable != 0 || bounds.HighWatermark != 1 {
		t.Errorf("%+v, %v: want the record held back", bounds, err)
	}
	// Its holder goes on where it was.
	x.raw = dial(t, b)
	wantCode(t, "produce after the rest", x.produce(12, 0), 0)
	wantCode(t, "end after the rest", x.end(5, true), 0)
	if bounds, err := log.Bounds(); err != nil || bounds.LastStable != 3 {
		t.Errorf("%+v, %v: want all of it stable", bounds, err)
	}
}

package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

const hour = 60 * 60 * 1000

// set is a topic with configs, NAME and VALUE by turns.
func set(name string, partitions int32, configs ...string) model.TopicSpec {
	s := model.TopicSpec{Name: name, Partitions: partitions}
	for i := 0; i < len(configs); i += 2 {
		s.Configs = append(s.Configs, model.ConfigChange{Name: configs[i], Value: configs[i+1]})
	}
	return s
}

// patched is a batch with bytes of it changed, and a right CRC.
func patched(b []byte, pos int, value ...byte) []byte {
	b = slices.Clone(b)
	copy(b[pos:], value)
	if len(b) > record.HeaderSize {
		binary.BigEndian.PutUint32(b[17:], record.CRC(b[21:]))
	}
	return b
}

func be32(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// end returns where a partition ends.
func (c *core) end(topic string, partition int32) int64 {
	c.t.Helper()
	b, err := c.engine.Find([]byte(topic), partition).Bounds()
	if err != nil {
		c.t.Fatal(err)
	}
	return b.End
}

// TestProduceVersions produces with every version that is served, and with those that are only advertised.
func TestProduceVersions(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1))
	id, _ := c.engine.TopicID("t")
	for version := range int16(14) {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			cl, before := c.dial(), c.end("t", 0)
			req := produceOf("t", -1, map[int32][]byte{0: batchOf(t, record.Spec{}, "a", "b")})
			req.Topics[0].TopicID = id
			if version < 3 {
				cl.send(frameOf(req, version, 1))
				if !cl.closed() || c.end("t", 0) != before {
					t.Error("want it closed, and nothing appended")
				}
				return
			}
			r := cl.ask(req, version).(*kmsg.ProduceResponse)
			p := r.Topics[0].Partitions[0]
			if p.ErrorCode != 0 || p.BaseOffset != before || c.end("t", 0) != before+2 || p.LogAppendTime != -1 {
				t.Errorf("got %+v, log end %d", p, c.end("t", 0))
			}
			if version >= 13 && r.Topics[0].TopicID != [16]byte(id) || version < 13 && r.Topics[0].Topic != "t" {
				t.Errorf("answer for topic %q %x", r.Topics[0].Topic, r.Topics[0].TopicID)
			}
		})
	}
}

// TestProduceBatches holds the answers to batches of all kinds against those of Apache Kafka 4.4. Those that end in start
// have the log's start in the answer, the others -1.
func TestProduceBatches(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1), set("dated", 1, "message.timestamp.type", "LogAppendTime"), set("compacted", 1, "cleanup.policy", "compact"),
		set("near", 1, "message.timestamp.before.max.ms", "1000", "message.timestamp.after.max.ms", "1000"), set("small", 1, "max.message.bytes", "200"),
		set("segment", 1, "segment.bytes", "1048576", "max.message.bytes", "4000000"))
	one := batchOf(t, record.Spec{}, "v")
	two := batchOf(t, record.Spec{}, "a", "b")
	at := func(ms ...int64) []byte {
		var in []record.Input
		for _, ms := range ms {
			in = append(in, record.Input{Timestamp: ms, Value: []byte("v")})
		}
		b, err := record.AppendBatch(nil, record.Spec{}, in)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	sized := func(n int) []byte {
		b := at(1)
		for size := n - len(b) - 8; len(b) < n; size++ {
			var err error
			if b, err = record.AppendBatch(nil, record.Spec{}, []record.Input{{Timestamp: time.Now().UnixMilli(), Value: make([]byte, size)}}); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	garbage := func(codec byte) []byte { return patched(one, 22, codec) }
	now := time.Now().UnixMilli()
	longer, lower := slices.Clone(one), slices.Clone(one)
	binary.BigEndian.PutUint32(longer[8:], uint32(len(one)-12+10))
	binary.BigEndian.PutUint32(lower[8:], uint32(len(one)-12-3))
	crc := slices.Clone(one)
	crc[17] ^= 1
	const start = true
	for name, tc := range map[string]struct {
		topic   string
		version int16
		records []byte
		code    int16
		start   bool
		record  int // to blame; 0 where there is an error without one
		named   bool
	}{
		"records null":                    {records: nil, code: 87},
		"no bytes":                        {records: []byte{}, code: 87},
		"8 bytes":                         {records: make([]byte, 8), code: 87},
		"100 zero bytes":                  {records: make([]byte, 100), code: 2},
		"two batches":                     {records: append(slices.Clone(one), one...), code: 87},
		"5 bytes behind":                  {records: append(slices.Clone(one), 1, 2, 3, 4, 5)},
		"cut short":                       {records: one[:50], code: 87},
		"length too high":                 {records: longer, code: 87},
		"length too low":                  {records: lower, code: 2},
		"length of 20 in all":             {records: patched(one, 8, be32(20)...), code: 2},
		"magic 1":                         {records: patched(one, 16, 1), code: 87},
		"magic 3":                         {records: patched(one, 16, 3), code: 2},
		"CRC wrong":                       {records: crc, code: 2},
		"no records":                      {records: patched(patched(patched(one[:61], 57, be32(0)...), 23, be32(-1)...), 8, be32(49)...), code: 87, start: start},
		"count too high":                  {records: patched(two, 57, be32(3)...), code: 87, start: start},
		"count and last delta too high":   {records: patched(patched(two, 57, be32(3)...), 23, be32(2)...), code: 87, start: start},
		"count 2^31-1":                    {records: patched(two, 57, be32(1<<31-1)...), code: 87, start: start},
		"last delta too low":              {records: patched(two, 23, be32(0)...), code: 87, start: start},
		"base offset 5":                   {records: patched(one, 7, 5), code: 87, start: start},
		"control bit":                     {records: patched(one, 22, 0x20), code: 87, start: start},
		"producer without sequence":       {records: patched(one, 43, append(make([]byte, 10), be32(-1)...)...), code: 87, start: start},
		"delete horizon bit":              {records: patched(one, 22, 0x40)},
		"LogAppendTime bit":               {records: patched(one, 22, 8)},
		"a byte behind the last record":   {records: patched(patched(append(slices.Clone(one), 9), 8, be32(int32(len(one)-11))...), 0), code: 87, start: start},
		"gzip over garbage":               {records: garbage(1), code: -1, start: start},
		"codec 6":                         {records: garbage(6), code: -1, start: start},
		"gzip":                            {records: batchOf(t, record.Spec{Codec: record.Gzip}, "v")},
		"zstd v6":                         {version: 6, records: batchOf(t, record.Spec{Codec: record.Zstd}, "v"), code: 76},
		"zstd v7":                         {version: 7, records: batchOf(t, record.Spec{Codec: record.Zstd}, "v")},
		"transactional, no id":            {records: patched(one, 22, 0x10), code: 53},
		"two hours ahead":                 {records: at(now + 2*hour), code: 32, start: start, named: true},
		"second record two hours ahead":   {records: at(now, now+2*hour), code: 32, start: start, named: true, record: 1},
		"1970":                            {records: at(1)},
		"no time":                         {records: at(-1)},
		"a minute late":                   {topic: "near", records: at(now - 60_000), code: 32, start: start, named: true},
		"a minute early":                  {topic: "near", records: at(now + 60_000), code: 32, start: start, named: true},
		"dated by the log":                {topic: "dated", records: at(1)},
		"dated by the log and by the bit": {topic: "dated", records: patched(one, 22, 8), code: 32, start: start, named: true},
		"compacted, keys":                 {topic: "compacted", records: two},
		"compacted, null key":             {topic: "compacted", records: at(now), code: 87, start: start, named: true},
		"max.message.bytes":               {topic: "small", records: sized(200)},
		"one byte over":                   {topic: "small", records: sized(201), code: 10},
		"1 MiB and 12":                    {records: sized(1<<20 + 12)},
		"1 MiB and 13":                    {records: sized(1<<20 + 13), code: 10},
		"larger than a segment":           {topic: "segment", records: sized(2 << 20), code: 18},
		"__consumer_offsets":              {topic: "__consumer_offsets", records: one, code: 17},
		"unknown topic":                   {topic: "none", records: one, code: 3},
		"a topic's name that cannot be":   {topic: "a b", records: one, code: 3},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.topic == "" {
				tc.topic = "t"
			}
			if tc.version == 0 {
				tc.version = 9
			}
			known := c.engine.HasTopic(tc.topic)
			var before int64
			if known {
				before = c.end(tc.topic, 0)
			}
			cl := c.dial()
			r := cl.ask(produceOf(tc.topic, -1, map[int32][]byte{0: tc.records}), tc.version).(*kmsg.ProduceResponse)
			p := r.Topics[0].Partitions[0]
			if p.ErrorCode != tc.code {
				t.Fatalf("error %d, want %d: %+v", p.ErrorCode, tc.code, p)
			}
			switch {
			case tc.code == 0:
				if p.BaseOffset != before || c.end(tc.topic, 0) == before || p.LogStartOffset != 0 {
					t.Errorf("got %+v, want base offset %d", p, before)
				}
			case p.BaseOffset != -1 || known && c.end(tc.topic, 0) != before:
				t.Errorf("got %+v; the log went from %d to %d", p, before, c.end(tc.topic, 0))
			case (p.LogStartOffset == 0) != tc.start:
				t.Errorf("log start %d", p.LogStartOffset)
			}
			if tc.named != (len(p.ErrorRecords) == 1) || tc.named && (int(p.ErrorRecords[0].RelativeOffset) != tc.record || p.ErrorMessage == nil) {
				t.Errorf("records to blame %+v", p.ErrorRecords)
			}
			if dated := tc.topic == "dated" && tc.code == 0; dated != (p.LogAppendTime > 1000) {
				t.Errorf("append time %d", p.LogAppendTime)
			}
			// The connection goes on.
			if cl.ask(produceOf("t", 1, map[int32][]byte{0: one}), 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode != 0 {
				t.Error("the next batch is not taken")
			}
		})
	}
}

// TestProduceAcks holds what a client is answered by its acks.
func TestProduceAcks(t *testing.T) {
	one := batchOf(t, record.Spec{}, "v")
	bad := slices.Clone(one)
	bad[17] ^= 1
	c := startCore(t, Options{}, set("t", 1))
	for name, tc := range map[string]struct {
		acks   int16
		topic  string
		batch  []byte
		code   int16
		closed bool
	}{
		"all":                 {acks: -1, topic: "t", batch: one},
		"one":                 {acks: 1, topic: "t", batch: one},
		"two":                 {acks: 2, topic: "t", batch: one, code: 21},
		"minus two":           {acks: -2, topic: "t", batch: one, code: 21},
		"none":                {acks: 0, topic: "t", batch: one},
		"none, bad CRC":       {acks: 0, topic: "t", batch: bad, closed: true},
		"none, no such topic": {acks: 0, topic: "none", batch: one, closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			cl, before := c.dial(), c.end("t", 0)
			req := produceOf(tc.topic, tc.acks, map[int32][]byte{0: tc.batch})
			if tc.acks != 0 {
				if got := cl.ask(req, 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; got != tc.code {
					t.Errorf("error %d, want %d", got, tc.code)
				}
				return
			}
			cl.send(frameOf(req, 9, 5))
			if tc.closed {
				if !cl.closed() || c.end("t", 0) != before {
					t.Error("want it closed, and nothing appended")
				}
				return
			}
			m := kmsg.NewPtrMetadataRequest()
			cl.ask(m, 4) // the first answer is to this
			if c.end("t", 0) != before+1 {
				t.Error("nothing was appended")
			}
		})
	}
}

// TestProduceMany holds that each partition of a request has its own answer, and one that comes twice has one.
func TestProduceMany(t *testing.T) {
	c := startCore(t, Options{}, set("a", 40), set("b", 2))
	one := batchOf(t, record.Spec{}, "v")
	bad := slices.Clone(one)
	bad[17] ^= 1
	batches := map[int32][]byte{}
	for i := range int32(42) {
		batches[i] = one
	}
	batches[3] = bad
	req := produceOf("a", -1, batches)
	req.Topics = append(req.Topics, produceOf("b", -1, map[int32][]byte{0: one}).Topics[0], produceOf("a", -1, map[int32][]byte{0: one, 39: one}).Topics[0],
		produceOf("b", -1, map[int32][]byte{1: one}).Topics[0])
	r := c.dial().ask(req, 9).(*kmsg.ProduceResponse)
	if len(r.Topics) != 2 || r.Topics[0].Topic != "a" || len(r.Topics[0].Partitions) != 42 || r.Topics[1].Topic != "b" || len(r.Topics[1].Partitions) != 2 {
		t.Fatalf("answers %+v", r.Topics)
	}
	for i, p := range r.Topics[0].Partitions {
		want := map[int]int16{3: 2, 40: 3, 41: 3}[i]
		if int(p.Partition) != i || p.ErrorCode != want {
			t.Errorf("partition %d: %+v, want error %d", i, p, want)
		}
		if i < 40 && c.end("a", int32(i)) != map[bool]int64{true: 1}[i != 3] {
			t.Errorf("partition %d ends at %d", i, c.end("a", int32(i)))
		}
	}
}

// TestProduceByID holds the answers to topics' ids that are not, or no longer, there.
func TestProduceByID(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1), set("gone", 1))
	id, _ := c.engine.TopicID("t")
	gone, _ := c.engine.TopicID("gone")
	if err := c.engine.DeleteTopic(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if err := c.engine.CreateTopic(t.Context(), set("gone", 1)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		id        [16]byte
		partition int32
		code      int16
	}{
		"known":             {id: id},
		"unknown":           {id: [16]byte{9}, code: 100},
		"zero":              {code: 100},
		"former":            {id: gone, code: 100},
		"no such partition": {id: id, partition: 7, code: 3},
		"virtual":           {id: c.virtualID("__consumer_offsets"), code: 17},
	} {
		t.Run(name, func(t *testing.T) {
			req := produceOf("", -1, map[int32][]byte{tc.partition: batchOf(t, record.Spec{}, "v")})
			req.Topics[0].TopicID = tc.id
			r := c.dial().ask(req, 13).(*kmsg.ProduceResponse)
			if got := r.Topics[0].Partitions[0].ErrorCode; got != tc.code || r.Topics[0].TopicID != tc.id {
				t.Errorf("error %d of %x, want %d", got, r.Topics[0].TopicID, tc.code)
			}
		})
	}
}

// TestProduceIdempotent plays an idempotent producer's batches, good and bad, one after the other.
func TestProduceIdempotent(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1))
	cl := c.dial()
	for _, step := range []struct {
		name   string
		epoch  int16
		seq    int32
		n      int
		code   int16
		offset int64 // where it is told to lie
	}{
		{"first", 0, 0, 1, 0, 0},
		{"again", 0, 0, 1, 0, 0},
		{"again, but two records", 0, 0, 2, 45, -1},
		{"next", 0, 1, 2, 0, 1},
		{"inside the last", 0, 2, 1, 45, -1},
		{"one left out", 0, 4, 1, 45, -1},
		{"next again", 0, 3, 1, 0, 3},
		{"lower epoch", -1, 9, 1, 47, -1},
		{"higher epoch, sequence 5", 1, 5, 1, 45, -1},
		{"higher epoch, sequence 0", 1, 0, 1, 0, 4},
		{"old epoch", 0, 4, 1, 47, -1},
		{"old epoch, sent before", 0, 3, 1, 47, -1},
	} {
		values := make([]string, step.n)
		b := batchOf(t, record.Spec{HasProducer: true, ProducerID: 7, ProducerEpoch: step.epoch, BaseSequence: step.seq}, values...)
		p := cl.ask(produceOf("t", -1, map[int32][]byte{0: b}), 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		if p.ErrorCode != step.code || p.BaseOffset != step.offset || p.LogStartOffset != 0 {
			t.Errorf("%s: error %d at %d (log start %d), want %d at %d", step.name, p.ErrorCode, p.BaseOffset, p.LogStartOffset, step.code, step.offset)
		}
		if dup := step.name == "again"; dup != (p.LogAppendTime > 0) {
			t.Errorf("%s: append time %d", step.name, p.LogAppendTime)
		}
	}
}

// TestProduceCodec holds that a topic's codec is the one its batches are stored in.
func TestProduceCodec(t *testing.T) {
	for _, want := range []string{"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"} {
		for _, from := range []record.Codec{record.None, record.Gzip, record.Zstd} {
			t.Run(fmt.Sprintf("%s from %s", want, from), func(t *testing.T) {
				c := startCore(t, Options{}, set("t", 1, "compression.type", want))
				sent := batchOf(t, record.Spec{Codec: from, HasProducer: true, ProducerID: 3}, "first value, first value, first value", "second")
				p := c.dial().ask(produceOf("t", -1, map[int32][]byte{0: sent}), 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
				if p.ErrorCode != 0 {
					t.Fatalf("error %d", p.ErrorCode)
				}
				stored := c.stored("t", 0)
				h, err := record.ParseHeader(stored)
				if err != nil {
					t.Fatal(err)
				}
				codec := map[string]string{"producer": from.String(), "uncompressed": "none"}[want]
				if codec == "" {
					codec = want
				}
				if h.Codec().String() != codec || h.Count != 2 || h.ProducerID != 3 {
					t.Errorf("stored as %s, want %s: %+v", h.Codec(), codec, h)
				}
				var r record.Reader
				if err := r.Reset(stored); err != nil {
					t.Fatal(err)
				}
				var values []string
				for r.Next() {
					values = append(values, string(r.Record().Value))
				}
				if r.Err() != nil || !slices.Equal(values, []string{"first value, first value, first value", "second"}) {
					t.Errorf("read back %q, %v", values, r.Err())
				}
			})
		}
	}
}

// FuzzProduce holds that no body makes the decoder fail, trust a length, or put partitions down twice.
func FuzzProduce(f *testing.F) {
	for _, v := range []int16{3, 8, 9, 13} {
		req := produceOf("topic", -1, map[int32][]byte{0: []byte("records"), 3: nil})
		req.TransactionID = kmsg.StringPtr("tx")
		req.Topics = append(req.Topics, req.Topics[0])
		req.SetVersion(v)
		f.Add(v, req.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if version < 3 || version > 13 {
			return
		}
		var p produceRequest
		own := p.parse(body, version)
		req := kmsg.NewPtrProduceRequest()
		req.SetVersion(version)
		if err := req.ReadFrom(body); err == nil && own != nil {
			for _, rt := range req.Topics {
				if version < produceByID && rt.Topic == "" {
					return // null, where it must not be
				}
			}
			t.Fatalf("kmsg reads what we do not: %v", own)
		}
		if own != nil {
			return
		}
		seen, n := map[partKey]bool{}, 0
		for i := range p.parts {
			k := partKey{p.parts[i].topic, p.parts[i].number}
			if seen[k] || i > 0 && p.parts[i].topic < p.parts[i-1].topic {
				t.Fatalf("partition %v twice, or out of order", k)
			}
			seen[k] = true
		}
		for i := range p.topics {
			n += p.topics[i].count
		}
		if n != len(p.parts) {
			t.Fatalf("%d partitions, the topics count %d", len(p.parts), n)
		}
		r := produceReply{&p, version}
		back := req.ResponseKind()
		if err := back.ReadFrom(r.AppendTo(nil)); err != nil {
			t.Fatalf("an answer that cannot be read: %v", err)
		}
	})
}

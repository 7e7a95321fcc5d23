package cli

import (
	"encoding/base64"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/strata-kafka/strata/model"
)

// object builds one JSON object, its fields in the order of the calls. It never escapes more than JSON asks for, so
// that integers and texts come out as they are.
type object struct {
	b []byte
}

func (o *object) reset() { o.b = append(o.b[:0], '{') }

func (o *object) name(n string) {
	if len(o.b) > 1 {
		o.b = append(o.b, ',')
	}
	o.b = appendString(o.b, n)
	o.b = append(o.b, ':')
}

func (o *object) str(n, v string)          { o.name(n); o.b = appendString(o.b, v) }
func (o *object) num(n string, v int64)    { o.name(n); o.b = strconv.AppendInt(o.b, v, 10) }
func (o *object) boolean(n string, v bool) { o.name(n); o.b = strconv.AppendBool(o.b, v) }
func (o *object) null(n string)            { o.name(n); o.b = append(o.b, "null"...) }

// maybe writes v, or null where it is negative: an Unknown, a NoTime, a NoProducer.
func (o *object) maybe(n string, v int64) {
	if v < 0 {
		o.null(n)
		return
	}
	o.num(n, v)
}

// maybeStr writes v, or null where it is empty.
func (o *object) maybeStr(n, v string) {
	if v == "" {
		o.null(n)
		return
	}
	o.str(n, v)
}

// count writes a Count, or null where there is none or it is not known exactly.
func (o *object) count(n string, c model.Count) {
	if c.State != model.CountExact {
		o.null(n)
		return
	}
	o.num(n, c.N)
}

// failure writes the field error: null, or what went wrong.
func (o *object) failure(err error) {
	if err == nil {
		o.null("error")
		return
	}
	o.str("error", err.Error())
}

// list writes an array of strings.
func (o *object) list(n string, vs []string) {
	o.name(n)
	o.b = append(o.b, '[')
	for i, v := range vs {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, v)
	}
	o.b = append(o.b, ']')
}

// ids writes an array of the ids of brokers.
func (o *object) ids(n string, ids []int32) {
	o.name(n)
	o.b = append(o.b, '[')
	for i, id := range ids {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = strconv.AppendInt(o.b, int64(id), 10)
	}
	o.b = append(o.b, ']')
}

// bytes writes null, a string where v is UTF-8, and else nothing under n but the bytes under b64.
func (o *object) bytes(n, b64 string, v []byte) {
	switch {
	case v == nil:
		o.null(n)
	case utf8.Valid(v):
		o.str(n, string(v))
	default:
		o.str(b64, base64.StdEncoding.EncodeToString(v))
	}
}

// line closes the object and returns it with its newline; valid until reset.
func (o *object) line() []byte {
	o.b = append(o.b, '}', '\n')
	return o.b
}

const hexDigits = "0123456789abcdef"

// appendString appends v quoted. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, v string) []byte {
	b = append(b, '"')
	for _, r := range v {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < 0x20 || r == 0x7f || r >= 0x80 && hidden(r):
			b = appendEscape(b, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// hidden reports whether r needs no escape in JSON, but must not reach a terminal that shows the line: C1 controls,
// line separators, and format characters such as the bidirectional overrides.
func hidden(r rune) bool {
	return r < 0xa0 || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cf, r)
}

// appendEscape appends r as \uXXXX, or as a pair of surrogates.
func appendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		hi, lo := utf16.EncodeRune(r)
		return appendEscape(appendEscape(b, hi), lo)
	}
	b = append(b, `\u`...)
	for s := 12; s >= 0; s -= 4 {
		b = append(b, hexDigits[r>>s&0xf])
	}
	return b
}

func topicJSON(o *object, t *model.Topic, groups int, lag model.Count) []byte {
	o.reset()
	o.str("name", t.Name)
	o.num("partitions", int64(t.Partitions))
	o.count("records", t.Records)
	o.maybe("bytes", t.Bytes)
	if t.Retention.Known {
		o.num("retentionMs", t.Retention.MS)
		o.num("retentionBytes", t.Retention.Bytes)
	} else {
		o.null("retentionMs")
		o.null("retentionBytes")
	}
	o.str("retention", retention(t.Retention))
	o.num("groups", int64(groups))
	o.count("lag", lag)
	o.maybeStr("topicId", t.ID)
	o.boolean("internal", t.Internal)
	return o.line()
}

func partitionJSON(o *object, p *model.Partition) []byte {
	o.reset()
	o.str("topic", p.Topic)
	o.num("partition", int64(p.Partition))
	o.maybe("logStart", p.LogStart)
	o.maybe("highWatermark", p.HighWatermark)
	o.maybe("lastStable", p.LastStable)
	o.maybe("logEnd", p.LogEnd)
	o.count("records", p.Records)
	o.maybe("bytes", p.Bytes)
	o.maybe("segments", int64(p.Segments))
	o.maybe("leader", int64(p.Leader))
	o.failure(p.Err)
	if p.State != model.Live {
		o.str("state", p.State.String())
	}
	if len(p.Replicas) > 1 {
		o.ids("replicas", p.Replicas)
		o.ids("isr", p.ISR)
		o.ids("offline", p.Offline)
	}
	return o.line()
}

func segmentJSON(o *object, s *model.Segment) []byte {
	o.reset()
	o.str("topic", s.Topic)
	o.num("partition", int64(s.Partition))
	o.num("base", s.Base)
	o.maybe("last", s.Last)
	o.count("records", s.Records)
	o.count("batches", s.Batches)
	o.num("bytes", s.Bytes)
	o.maybe("indexEntries", int64(s.IndexEntries))
	o.maybe("firstTimestamp", s.FirstTimestamp)
	o.maybe("lastTimestamp", s.LastTimestamp)
	o.str("state", string(s.State))
	o.maybe("leaves", s.Leaves)
	o.maybeStr("rule", s.Rule)
	if s.Err != nil {
		o.failure(s.Err)
	}
	return o.line()
}

func batchJSON(o *object, b *model.Batch) []byte {
	o.reset()
	o.maybe("position", b.Position)
	o.num("base", b.Base)
	o.num("last", b.Last)
	o.num("count", int64(b.Count))
	o.num("bytes", b.Bytes)
	o.str("codec", b.Codec)
	o.num("magic", int64(b.Magic))
	o.str("timestampType", b.TimestampType.String())
	o.maybe("firstTimestamp", b.FirstTimestamp)
	o.maybe("maxTimestamp", b.MaxTimestamp)
	if b.ProducerID < 0 {
		o.null("producerId")
		o.null("producerEpoch")
		o.null("baseSequence")
	} else {
		o.num("producerId", b.ProducerID)
		o.num("producerEpoch", int64(b.ProducerEpoch))
		o.maybe("baseSequence", int64(b.BaseSequence))
	}
	o.maybe("leaderEpoch", int64(b.LeaderEpoch))
	o.boolean("transactional", b.Transactional)
	o.maybeStr("control", b.Control)
	o.num("crc", int64(b.CRC))
	o.num("crcComputed", int64(b.CRCComputed))
	o.boolean("valid", b.Valid)
	o.failure(b.Err)
	return o.line()
}

func recordJSON(o *object, r *model.Record) []byte {
	o.reset()
	o.str("topic", r.Topic)
	o.num("partition", int64(r.Partition))
	o.num("offset", r.Offset)
	o.num("timestamp", r.Timestamp)
	o.str("timestampType", r.TimestampType.String())
	o.bytes("key", "keyBase64", r.Key)
	o.bytes("value", "valueBase64", r.Value)
	o.name("headers")
	o.b = append(o.b, '[')
	for i, h := range r.Headers {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, `{"name":`...)
		o.b = appendString(o.b, h.Name)
		switch {
		case h.Value == nil:
			o.b = append(o.b, `,"value":null}`...)
		case utf8.Valid(h.Value):
			o.b = append(o.b, `,"value":`...)
			o.b = appendString(o.b, string(h.Value))
			o.b = append(o.b, '}')
		default:
			o.b = append(o.b, `,"base64":"`...)
			o.b = base64.StdEncoding.AppendEncode(o.b, h.Value)
			o.b = append(o.b, `"}`...)
		}
	}
	o.b = append(o.b, ']')
	o.maybe("leaderEpoch", int64(r.LeaderEpoch))
	o.maybe("batch", r.Batch)
	if r.Control != "" {
		o.str("control", r.Control)
	}
	o.boolean("transactional", r.Transactional)
	o.maybe("producerId", r.ProducerID)
	return o.line()
}

func groupJSON(o *object, g *model.Group) []byte {
	o.reset()
	o.str("group", g.ID)
	o.str("state", string(g.State))
	o.str("protocol", g.ProtocolType)
	o.num("members", int64(len(g.Members)))
	o.list("topics", topicsOf(g))
	o.count("lag", g.Lag)
	o.str("type", g.Type)
	o.str("assignor", g.Protocol)
	return o.line()
}

func groupOffsetJSON(o *object, group string, r *model.GroupOffset) []byte {
	o.reset()
	o.str("group", group)
	o.str("topic", r.Topic)
	o.num("partition", int64(r.Partition))
	o.maybe("committed", r.Committed)
	o.str("metadata", r.Metadata)
	o.maybe("leaderEpoch", int64(r.LeaderEpoch))
	o.maybe("logStart", r.LogStart)
	o.maybe("logEnd", r.LogEnd)
	o.count("lag", r.Lag)
	o.num("lost", r.Lost)
	o.num("ahead", r.Ahead)
	o.maybeStr("member", r.Member)
	if r.Err != nil {
		o.failure(r.Err)
	}
	return o.line()
}

func planRowJSON(o *object, r *model.PlanRow) []byte {
	o.reset()
	o.str("topic", r.Topic)
	o.num("partition", int64(r.Partition))
	o.maybe("from", r.From)
	o.maybe("to", r.To)
	o.count("change", r.Change)
	o.str("note", r.Note)
	return o.line()
}

func faultJSON(o *object, f *model.Fault) []byte {
	o.reset()
	o.maybeStr("topic", f.TP.Topic)
	if f.TP.Topic == "" {
		o.null("partition")
	} else {
		o.num("partition", int64(f.TP.Partition))
	}
	o.str("file", f.File)
	o.maybe("position", f.Position)
	o.maybe("offset", f.Offset)
	o.str("kind", f.Kind)
	o.str("what", f.What)
	o.str("severity", string(f.Severity))
	o.maybeStr("follows", f.Follows)
	return o.line()
}

func stepJSON(o *object, s *model.LookupStep) []byte {
	o.reset()
	o.str("step", s.Step)
	o.str("what", s.What)
	o.str("value", s.Value)
	return o.line()
}

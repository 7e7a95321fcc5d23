package groups

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/strata-kafka/strata/model"
)

// The bounds of what is kept. They make sure that every key fits into bbolt's 32,768 bytes and every length into its
// prefix.
const (
	maxGroupID  = 8192 // bytes of a group's name
	maxTopic    = 249  // bytes of a topic's name
	maxMetadata = 4096 // letters of UTF-16 of an offset's metadata (offset.metadata.max.bytes, which Kafka counts so)
)

// formatV1 begins every value; a reader refuses any other number.
const formatV1 = 1

var errShort = errors.New("shorter than its fields")

// Committed is an offset as it is stored.
type Committed struct {
	model.Commit
	At      int64 // ms when it was committed
	Expires int64 // ms, set by a client that asked for it; NoTime: the group's retention decides
}

// Same reports whether two stored offsets are the same to a consumer: offset, leader epoch and metadata.
func (c Committed) Same(o Committed) bool {
	return c.Offset == o.Offset && c.LeaderEpoch == o.LeaderEpoch && c.Metadata == o.Metadata
}

// groupRecord is what is stored of a group beside its offsets.
type groupRecord struct {
	EmptySince   int64 // ms since when it has no members; NoTime while it has some
	Generation   int32
	Type         string // Classic, Consumer
	ProtocolType string // "consumer", or "" for a group that only commits
	Protocol     string // the assignor, or ""
}

// appendGroupPrefix appends what all offset keys of a group begin with.
func appendGroupPrefix(dst []byte, group string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(group)))
	return append(dst, group...)
}

// appendOffsetKey appends the key of a committed offset.
func appendOffsetKey(dst []byte, group string, tp model.TopicPartition) []byte {
	dst = appendGroupPrefix(dst, group)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(tp.Topic)))
	dst = append(dst, tp.Topic...)
	return binary.BigEndian.AppendUint32(dst, uint32(tp.Partition))
}

// parseOffsetKey is the inverse of appendOffsetKey.
func parseOffsetKey(b []byte) (group string, tp model.TopicPartition, err error) {
	r := fields{b: b}
	group = r.short()
	tp.Topic = r.short()
	tp.Partition = int32(r.u32())
	return group, tp, r.end()
}

// appendCommitted appends the value of a committed offset; its partition is in the key.
func appendCommitted(dst []byte, c Committed) []byte {
	dst = append(dst, formatV1)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Offset))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.LeaderEpoch))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.At))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Expires))
	return append(dst, c.Metadata...)
}

// parseCommitted is the inverse of appendCommitted. It copies what it keeps of b.
func parseCommitted(b []byte) (Committed, error) {
	r := fields{b: b}
	r.format()
	var c Committed
	c.Offset = int64(r.u64())
	c.LeaderEpoch = int32(r.u32())
	c.At = int64(r.u64())
	c.Expires = int64(r.u64())
	c.Metadata = string(r.take(len(r.b)))
	return c, r.end()
}

func appendGroupRecord(dst []byte, g groupRecord) []byte {
	dst = append(dst, formatV1)
	dst = binary.BigEndian.AppendUint64(dst, uint64(g.EmptySince))
	dst = binary.BigEndian.AppendUint32(dst, uint32(g.Generation))
	dst = appendLong(dst, g.Type)
	dst = appendLong(dst, g.ProtocolType)
	return appendLong(dst, g.Protocol)
}

func parseGroupRecord(b []byte) (groupRecord, error) {
	r := fields{b: b}
	r.format()
	g := groupRecord{EmptySince: int64(r.u64()), Generation: int32(r.u32())}
	g.Type, g.ProtocolType, g.Protocol = r.long(), r.long(), r.long()
	return g, r.end()
}

func appendConfigs(dst []byte, configs map[string]string) []byte {
	dst = append(dst, formatV1)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(configs)))
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		dst = appendLong(dst, name)
		dst = appendLong(dst, configs[name])
	}
	return dst
}

func parseConfigs(b []byte) (map[string]string, error) {
	r := fields{b: b}
	r.format()
	n := r.u32()
	m := make(map[string]string, min(int(n), len(b)/8))
	prev := ""
	for i := uint32(0); i < n && r.err == nil; i++ {
		name := r.long()
		if i > 0 && name <= prev && r.err == nil {
			r.err = fmt.Errorf("config %q is out of order", name)
		}
		m[name], prev = r.long(), name
	}
	return m, r.end()
}

// appendJournal appends the value of a journal entry; its number is in the key. First, and whatever else of a row only
// serves the showing of a plan, is left out.
func appendJournal(dst []byte, e model.JournalEntry) []byte {
	dst = append(dst, formatV1)
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.At))
	dst = binary.BigEndian.AppendUint64(dst, e.UndoOf)
	dst = binary.BigEndian.AppendUint64(dst, e.Undone)
	dst = appendLong(dst, e.Who)
	dst = appendLong(dst, e.Group)
	dst = appendLong(dst, e.Where)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(e.Rows)))
	for i := range e.Rows {
		p := &e.Rows[i]
		dst = appendLong(dst, p.Topic)
		dst = binary.BigEndian.AppendUint32(dst, uint32(p.Partition))
		dst = binary.BigEndian.AppendUint64(dst, uint64(p.From))
		dst = binary.BigEndian.AppendUint32(dst, uint32(p.FromEpoch))
		dst = appendLong(dst, p.FromMetadata)
		dst = binary.BigEndian.AppendUint64(dst, uint64(p.To))
		dst = binary.BigEndian.AppendUint32(dst, uint32(p.LeaderEpoch))
		dst = appendLong(dst, p.Metadata)
		dst = append(dst, byte(p.Change.State))
		dst = binary.BigEndian.AppendUint64(dst, uint64(p.Change.N))
		dst = appendLong(dst, p.Note)
	}
	return dst
}

// parseJournal is the inverse of appendJournal.
func parseJournal(b []byte) (model.JournalEntry, error) {
	r := fields{b: b}
	r.format()
	e := model.JournalEntry{At: int64(r.u64()), UndoOf: r.u64(), Undone: r.u64()}
	e.Who, e.Group, e.Where = r.long(), r.long(), r.long()
	n := r.u32()
	for i := uint32(0); i < n && r.err == nil; i++ {
		var p model.PlanRow
		p.Topic = r.long()
		p.Partition = int32(r.u32())
		p.From = int64(r.u64())
		p.FromEpoch = int32(r.u32())
		p.FromMetadata = r.long()
		p.To = int64(r.u64())
		p.LeaderEpoch = int32(r.u32())
		p.Metadata = r.long()
		if s := r.take(1); s != nil {
			p.Change.State = model.CountState(s[0])
		}
		p.Change.N = int64(r.u64())
		p.Note = r.long()
		e.Rows = append(e.Rows, p)
	}
	return e, r.end()
}

func appendLong(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

func journalKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// fields takes values from the front of b. After the first error all values are zero.
type fields struct {
	b   []byte
	err error
}

func (r *fields) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		if r.err == nil {
			r.err = errShort
		}
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *fields) format() {
	if v := r.take(1); v != nil && v[0] != formatV1 {
		r.err = fmt.Errorf("format %d, want %d", v[0], formatV1)
	}
}

func (r *fields) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *fields) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// short takes a string with a length of two bytes, long one with a length of four.
func (r *fields) short() string {
	if b := r.take(2); b != nil {
		return string(r.take(int(binary.BigEndian.Uint16(b))))
	}
	return ""
}

func (r *fields) long() string { return string(r.take(int(r.u32()))) }

// end returns the first error, or says that bytes are left over.
func (r *fields) end() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(r.b))
	}
	return r.err
}

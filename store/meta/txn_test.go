package meta

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// script writes records of __consumer_offsets one after the other.
type script struct {
	t    *testing.T
	g    Groups
	next int64
}

func (s *script) apply(r GroupRecord) {
	s.t.Helper()
	r.Offset = s.next
	s.next++
	if err := s.g.Apply(r); err != nil {
		s.t.Fatalf("record %d: %v", r.Offset, err)
	}
}

func key(version int16, parts ...any) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(version))
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(p))), p...)
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		}
	}
	return b
}

func (s *script) commit(group string, offset int64, producer int64) {
	s.t.Helper()
	v := binary.BigEndian.AppendUint16(nil, 3)
	v = binary.BigEndian.AppendUint64(v, uint64(offset))
	v = append(v, 0xff, 0xff, 0xff, 0xff, 0, 0)
	v = binary.BigEndian.AppendUint64(v, 1700000000000)
	s.apply(GroupRecord{Key: key(1, group, "orders", 0), Value: v, ProducerID: producer, Transactional: producer >= 0})
}

func (s *script) uncommit(group string) {
	s.t.Helper()
	s.apply(GroupRecord{Key: key(1, group, "orders", 0), ProducerID: -1})
}

func (s *script) marker(producer int64, commit bool) {
	s.t.Helper()
	k := []byte{0, 0, 0, 0}
	if commit {
		k[3] = 1
	}
	s.apply(GroupRecord{Key: k, Value: []byte{0, 0, 0, 0, 0, 9}, ProducerID: producer, Transactional: true, Control: true})
}

func (s *script) record(version int16, value []byte, names ...any) {
	s.t.Helper()
	s.apply(GroupRecord{Key: key(version, names...), Value: value, ProducerID: -1})
}

// committed returns what a group has committed; -1 for nothing, -2 for no such group.
func (s *script) committed(group string) (offset int64, note string) {
	g, ok := s.g.Group(group, nil)
	switch {
	case !ok:
		return -2, ""
	case len(g.Offsets) == 0:
		return -1, g.Note
	}
	return g.Offsets[0].Committed, g.Note
}

func TestReplayOfTransactions(t *testing.T) {
	for name, tc := range map[string]struct {
		play func(s *script)
		want int64
		note string
	}{
		"committed":             {func(s *script) { s.commit("g", 10, 7); s.marker(7, true) }, 10, ""},
		"open":                  {func(s *script) { s.commit("g", 10, 7) }, -1, "1 offset pending in an open transaction"},
		"open over a plain":     {func(s *script) { s.commit("g", 5, -1); s.commit("g", 10, 7); s.commit("g", 11, 7) }, 5, "1 offset pending in an open transaction"},
		"aborted":               {func(s *script) { s.commit("g", 5, -1); s.commit("g", 10, 7); s.marker(7, false) }, 5, ""},
		"aborted, nothing else": {func(s *script) { s.commit("g", 10, 7); s.marker(7, false) }, -2, ""},
		"of another producer":   {func(s *script) { s.commit("g", 10, 7); s.marker(8, true) }, -1, "1 offset pending in an open transaction"},
		"a newer plain commit":  {func(s *script) { s.commit("g", 10, 7); s.commit("g", 20, -1); s.marker(7, true) }, 20, ""},
		"an older plain commit": {func(s *script) { s.commit("g", 20, -1); s.commit("g", 10, 7); s.marker(7, true) }, 10, ""},
		"two producers":         {func(s *script) { s.commit("g", 10, 7); s.commit("g", 20, 8); s.marker(8, true); s.marker(7, true) }, 20, ""},
		"twice":                 {func(s *script) { s.commit("g", 10, 7); s.marker(7, true); s.commit("g", 30, 7); s.marker(7, false) }, 10, ""},
		"marker alone":          {func(s *script) { s.marker(7, true) }, -2, ""},
		"deleted":               {func(s *script) { s.commit("g", 10, -1); s.uncommit("g") }, -2, ""},
		"deleted, then open":    {func(s *script) { s.commit("g", 10, -1); s.commit("g", 11, 7); s.uncommit("g") }, -1, "1 offset pending in an open transaction"},
		"deleted, then committed": {func(s *script) {
			s.commit("g", 10, -1)
			s.commit("g", 11, 7)
			s.uncommit("g")
			s.marker(7, true)
		}, 11, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t}
			tc.play(s)
			if got, note := s.committed("g"); got != tc.want || note != tc.note {
				t.Errorf("committed %d %q, want %d %q", got, note, tc.want, tc.note)
			}
		})
	}
}

func TestReplayOfGroups(t *testing.T) {
	const (
		classic = 2
		epoch   = 3
		member  = 5
		target  = 6
		current = 8
	)
	meta := []byte("\x00\x00\x00\x00\x02c\x02h\x01\x00\x00\x00\x00\x05\x00\x00") // no instance, no rack, client c, host h
	at := func(n byte) []byte { return []byte{0, 0, 0, 0, 0, n, 0} }
	owns := func(epoch, state byte) []byte {
		b := []byte{0, 0, 0, 0, 0, epoch, 0, 0, 0, 0, state, 2}
		id := layout.ID{15: 9}
		b = append(b, id[:]...)
		return append(b, 2, 0, 0, 0, 1, 0, 1, 0)
	}
	empty := append([]byte{0, 3, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, make([]byte, 12)...)
	for name, tc := range map[string]struct {
		play  func(s *script)
		state model.GroupState
		typ   string
	}{
		"new, nobody": {func(s *script) { s.record(epoch, at(1), "g") }, model.GroupEmpty, "Consumer"},
		"new, to be assigned": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(epoch, at(2), "g")
			s.record(target, at(1), "g")
		}, model.GroupAssigning, "Consumer"},
		"new, member without an assignment": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(epoch, at(2), "g")
			s.record(target, at(2), "g")
		}, model.GroupReconciling, "Consumer"},
		"new, member of an older epoch": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(epoch, at(2), "g")
			s.record(target, at(2), "g")
			s.record(current, owns(1, 0), "g", "m")
		}, model.GroupReconciling, "Consumer"},
		"new, member has to revoke": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(epoch, at(2), "g")
			s.record(target, at(2), "g")
			s.record(current, owns(2, 1), "g", "m")
		}, model.GroupReconciling, "Consumer"},
		"new, stable": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(epoch, at(2), "g")
			s.record(target, at(2), "g")
			s.record(current, owns(2, 0), "g", "m")
		}, model.GroupStable, "Consumer"},
		"new, its own record compacted to the end": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(target, at(2), "g")
			s.record(current, owns(2, 0), "g", "m")
		}, model.GroupStable, "Consumer"},
		"new, the member left": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(epoch, at(2), "g")
			s.record(current, owns(2, 0), "g", "m")
			s.record(current, nil, "g", "m")
			s.record(7, nil, "g", "m")
			s.record(member, nil, "g", "m")
		}, model.GroupEmpty, "Consumer"},
		"new, deleted": {func(s *script) {
			s.record(member, meta, "g", "m")
			s.record(epoch, at(2), "g")
			s.record(member, nil, "g", "m")
			s.record(target, nil, "g")
			s.record(epoch, nil, "g")
		}, "", ""},
		"classic, deleted":         {func(s *script) { s.record(classic, empty, "g"); s.record(classic, nil, "g") }, "", ""},
		"classic, offsets deleted": {func(s *script) { s.record(classic, empty, "g"); s.commit("g", 1, -1); s.uncommit("g") }, model.GroupEmpty, "Classic"},
		"classic becomes new": {func(s *script) {
			s.record(classic, empty, "g")
			s.record(classic, nil, "g")
			s.record(epoch, at(1), "g")
		}, model.GroupEmpty, "Consumer"},
		"a late tombstone of the old":  {func(s *script) { s.record(epoch, at(1), "g"); s.record(classic, nil, "g") }, model.GroupEmpty, "Consumer"},
		"new becomes classic":          {func(s *script) { s.record(epoch, at(1), "g"); s.record(epoch, nil, "g"); s.record(classic, empty, "g") }, model.GroupEmpty, "Classic"},
		"nothing but a target":         {func(s *script) { s.record(target, at(1), "g") }, "", ""},
		"tombstones of an unknown one": {func(s *script) { s.record(epoch, nil, "g"); s.record(member, nil, "g", "m"); s.uncommit("g") }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t}
			tc.play(s)
			g, _ := s.g.Group("g", func(layout.ID) string { return "orders" })
			if g.State != tc.state || g.Type != tc.typ {
				t.Errorf("%s %s, want %s %s", g.Type, g.State, tc.typ, tc.state)
			}
			if g.State == model.GroupStable {
				if m := g.Members[0]; m.Client != "c" || m.Host != "h" || len(m.Assignment) != 1 || m.Assignment[0].String() != "orders-1" {
					t.Errorf("member %+v", m)
				}
			}
		})
	}
}

func TestReplayGoesOnBehindWhatItCannotRead(t *testing.T) {
	s := &script{t: t}
	s.commit("g", 10, -1)
	for name, r := range map[string]GroupRecord{
		"unknown key":     {Key: []byte{0, 99, 0, 1, 'g'}, Value: []byte{0, 0}},
		"cut key":         {Key: []byte{0, 1, 0, 9, 'g'}, Value: []byte{0, 0}},
		"cut value":       {Key: key(1, "g", "orders", 0), Value: []byte{0, 3, 0}},
		"newer value":     {Key: key(1, "g", "orders", 0), Value: []byte{0, 5, 0}},
		"no value at all": {Key: key(3, "g"), Value: []byte{}},
		"cut marker":      {Key: []byte{0}, Control: true},
	} {
		if err := s.g.Apply(r); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	s.commit("h", 11, -1)
	if n, _ := s.committed("g"); n != 10 || s.g.Len() != 2 {
		t.Errorf("g at %d, %d groups", n, s.g.Len())
	}
	s.g.Forget(0)
	if s.g.Len() != 0 {
		t.Errorf("%d groups after Forget", s.g.Len())
	}
}

// A count that promises billions must not be believed, nor a message be looked into that is too long.
func TestHostileCountsTakeNoMemory(t *testing.T) {
	huge := make([]byte, maxMessage+1)
	copy(huge, "\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff")
	cases := map[string][2][]byte{
		"members":          {key(2, "g"), []byte("\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7f\xff\xff\xff")},
		"members too long": {key(2, "g"), huge},
		"compact array":    {key(7, "g", "m"), []byte("\x00\x00\xff\xff\xff\xff\x0f")},
		"compact string":   {key(5, "g", "m"), []byte("\x00\x00\xff\xff\xff\xff\x0f")},
		"tags":             {key(3, "g"), []byte("\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff\x0f")},
		"tag's size":       {key(3, "g"), []byte("\x00\x00\x00\x00\x00\x01\x01\x05\xff\xff\xff\xff\x0f")},
		"long varint":      {key(7, "g", "m"), []byte("\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
		"negative string":  {[]byte{0, 1, 0xff, 0xf0}, nil},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, c := range cases {
		words, ok := Text(layout.OffsetsTopic, c[0], c[1])
		if !ok || !strings.HasPrefix(words, "not decodable: ") {
			t.Errorf("%s: %q", name, words)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("took %d bytes", took)
	}
}

func TestWords(t *testing.T) {
	for name, tc := range map[string]struct {
		topic      string
		key, value []byte
		want       string
	}{
		"commit": {layout.OffsetsTopic, key(1, "g1", "orders", 2), unhex(t, "0003000000000000002a0000000500016d0000018bcfe56800"),
			"g1: orders/2 committed at 42, leader epoch 5, metadata m, 2023-11-14T22:13:20.000Z"},
		"commit deleted":     {layout.OffsetsTopic, key(1, "g1", "orders", 2), nil, "g1: commit of orders/2 deleted"},
		"group deleted":      {layout.OffsetsTopic, key(2, "g1"), nil, "g1: GroupMetadata deleted"},
		"member left":        {layout.OffsetsTopic, key(8, "g1", "m 1"), nil, `g1: ConsumerGroupCurrentMemberAssignment of member "m 1" deleted`},
		"epoch":              {layout.OffsetsTopic, key(3, "g1"), []byte{0, 0, 0, 0, 0, 7, 0}, "g1: ConsumerGroupMetadata epoch=7"},
		"hostile group":      {layout.OffsetsTopic, key(1, "\x1b[2J", "orders", 0), nil, `"\x1b[2J": commit of orders/0 deleted`},
		"key of the future":  {layout.OffsetsTopic, key(77, "g1"), nil, "not known here: group key version 77: unknown type or version"},
		"type of the future": {layout.MetadataTopic, nil, []byte{1, 99, 0}, "not known here: metadata record of type 99: unknown type or version"},
		"no value":           {layout.MetadataTopic, nil, nil, "not decodable: metadata record: byte 0: ends too early"},
		"topic": {layout.MetadataTopic, nil, append(append([]byte("\x01\x02\x00\x04saz"), make([]byte, 16)...), 0),
			"TopicRecord name=saz topicId=AAAAAAAAAAAAAAAAAAAAAA"},
		"transaction gone": {layout.TransactionsTopic, key(0, "tx-a"), nil, "tx-a: deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := Text(tc.topic, tc.key, tc.value); !ok || got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	if _, ok := Text("orders", []byte{0, 1}, nil); ok {
		t.Error("orders is none of Kafka's topics")
	}
}

func TestUnknownIsToldApart(t *testing.T) {
	for name, b := range map[string][]byte{
		"type":    {1, 99, 0, 0},
		"version": {1, 2, 9, 0},
		"frame":   {2, 2, 0, 0},
	} {
		if _, err := ParseMetadataRecord(b); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m, _ := ParseMetadataRecord([]byte{1, 2, 9, 0}); m.Name != "TopicRecord" || m.Version != 9 {
		t.Errorf("%+v", m)
	}
}

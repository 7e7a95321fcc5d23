package wire

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/partition"
)

// sessionOf is a Fetch within a session.
func (c *core) sessionOf(id, epoch int32, parts ...part) *kmsg.FetchRequest {
	req := c.fetchOf(parts...)
	req.SessionID, req.SessionEpoch = id, epoch
	return req
}

// told are the partitions in an answer: their numbers, where there is an error with its code.
func told(r *kmsg.FetchResponse) []string {
	list := []string{}
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			s := fmt.Sprint(p.Partition)
			if p.ErrorCode != 0 {
				s += fmt.Sprintf(":%d", p.ErrorCode)
			}
			if n := len(bases(p.RecordBatches)); n > 0 {
				s += fmt.Sprintf("+%d", n)
			}
			list = append(list, s)
		}
	}
	return list
}

func TestFetchSession(t *testing.T) {
	for _, version := range []int16{7, 12, 13, 18} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			c := startCore(t, Options{}, set("t", 3), set("u", 1))
			c.append("t", 0, 1)
			cl := c.dial()
			id := int32(0)
			step := func(what string, req *kmsg.FetchRequest, v int16, code int16, want ...string) {
				t.Helper()
				r := cl.fetch(req, v)
				if got := told(r); r.ErrorCode != code || !slices.Equal(got, append([]string{}, want...)) {
					t.Fatalf("%s: error %d, %q; want %d, %q", what, r.ErrorCode, got, code, want)
				}
				if code == 0 && id != 0 && r.SessionID != id {
					t.Fatalf("%s: session %d, want %d", what, r.SessionID, id)
				}
				id = max(id, r.SessionID)
			}
			forget := func(req *kmsg.FetchRequest, numbers ...int32) *kmsg.FetchRequest {
				f := kmsg.NewFetchRequestForgottenTopic()
				f.Topic, f.Partitions = "t", numbers
				f.TopicID, _ = c.engine.TopicID("t")
				req.ForgottenTopics = append(req.ForgottenTopics, f)
				return req
			}
			gone := kerr.UnknownTopicOrPartition.Code
			if version >= 13 {
				gone = kerr.UnknownTopicID.Code
			}
			step("opens", c.sessionOf(0, 0, part{topic: "t"}, part{topic: "t", number: 1}, part{topic: "u"}), version, 0, "0+1", "1", "0")
			if id <= 0 {
				t.Fatalf("session %d", id)
			}
			step("moved to the end", c.sessionOf(id, 1, part{topic: "t", offset: 3}), version, 0)
			step("nothing new", c.sessionOf(id, 2), version, 0)
			c.append("t", 1, 1)
			step("an append", c.sessionOf(id, 3), version, 0, "1+1")
			step("not moved on", c.sessionOf(id, 4), version, 0, "1+1")
			step("the epoch again", c.sessionOf(id, 4), version, kerr.InvalidFetchSessionEpoch.Code)
			step("another epoch", c.sessionOf(id, 9), version, kerr.InvalidFetchSessionEpoch.Code)
			step("a partition forgotten, another new", forget(c.sessionOf(id, 5, part{topic: "t", number: 2}), 1), version, 0, "2")
			c.append("t", 1, 1)
			step("an append to the forgotten one", c.sessionOf(id, 6), version, 0)
			step("out of range", c.sessionOf(id, 7, part{topic: "u", offset: 7}), version, 0, "0:1")
			step("still out of range", c.sessionOf(id, 8), version, 0, "0:1")
			step("mended", c.sessionOf(id, 9, part{topic: "u"}), version, 0, "0")
			if _, err := c.engine.DeleteRecords(t.Context(), model.TopicPartition{Topic: "t"}, 2); err != nil {
				t.Fatal(err)
			}
			step("the log start moved", c.sessionOf(id, 10), version, 0, "0")
			if err := c.engine.DeleteTopic(t.Context(), "u"); err != nil {
				t.Fatal(err)
			}
			step("a topic deleted", c.sessionOf(id, 11), version, 0, fmt.Sprintf("0:%d", gone))
			step("and still", c.sessionOf(id, 12), version, 0, fmt.Sprintf("0:%d", gone))
			other := int16(13)
			if version >= 13 {
				other = 12
			}
			if version != 7 {
				step("names and ids", c.sessionOf(id, 13), other, kerr.FetchSessionTopicIDError.Code)
			}
			was := id
			id = 0
			step("ends", c.sessionOf(was, -1, part{topic: "t", number: 1, offset: 3}), version, 0, "1+1")
			step("over", c.sessionOf(was, 14), version, kerr.FetchSessionIDNotFound.Code)
		})
	}
}

// TestFetchSessionTurns has a session that never gets all it could give everyone a turn.
func TestFetchSessionTurns(t *testing.T) {
	c := startCore(t, Options{}, set("t", 3))
	for i := range int32(3) {
		c.append("t", i, 1)
	}
	cl := c.dial()
	req := c.sessionOf(0, 0, part{topic: "t"}, part{topic: "t", number: 1}, part{topic: "t", number: 2})
	req.MaxBytes = 1
	r := cl.fetch(req, 12)
	seen := map[int32]bool{}
	for epoch := range int32(4) { // the first answer, a full one, changes no order
		for _, x := range r.Topics {
			for _, p := range x.Partitions {
				if len(p.RecordBatches) > 0 {
					seen[p.Partition] = true
				}
			}
		}
		next := c.sessionOf(r.SessionID, epoch+1)
		next.MaxBytes = 1
		r = cl.fetch(next, 12)
	}
	if len(seen) != 3 {
		t.Errorf("only %v had their turn", seen)
	}
}

func TestFetchSessionsKept(t *testing.T) {
	open := func(c *fetchSessions, parts int, now int64) int32 {
		r := &fetchReply{}
		for i := range int32(parts) {
			r.parts = append(r.parts, fetchPart{topic: "t", number: i, slice: partition.Slice{}})
		}
		return c.end(sessionUse{opens: true}, r, now)
	}
	filled := func(parts int) *fetchSessions {
		c := &fetchSessions{}
		for range maxSessions {
			if open(c, parts, 0) == 0 {
				t.Fatal("no session though there is room")
			}
		}
		return c
	}
	for _, tc := range []struct {
		name    string
		have    int // partitions of each of the sessions there
		want    int // of the new one
		now     int64
		given   bool
		touched bool // all sessions are in use
	}{
		{name: "all are new", have: 2, want: 100, now: sessionRest, given: false},
		{name: "one unused for long", have: 2, want: 1, now: sessionRest + 1, given: true},
		{name: "old, in use, and smaller", have: 2, want: 3, now: sessionRest + 1, touched: true, given: true},
		{name: "old, in use, and as large", have: 2, want: 2, now: sessionRest + 1, touched: true, given: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := filled(tc.have)
			if tc.touched {
				for _, s := range c.by {
					if !c.resize(s, s.size, tc.now) {
						t.Fatal("too large")
					}
				}
			}
			id := open(c, tc.want, tc.now)
			if (id != 0) != tc.given || len(c.by) != maxSessions {
				t.Errorf("session %d, %d sessions", id, len(c.by))
			}
			sum := 0
			for _, s := range c.by {
				sum += s.size
			}
			if sum != c.parts {
				t.Errorf("%d partitions counted, there are %d", c.parts, sum)
			}
		})
	}
	t.Run("too many partitions", func(t *testing.T) {
		c := &fetchSessions{}
		if open(c, maxSessionParts, 0) == 0 {
			t.Error("no session though there is room")
		}
		if open(c, 1, 0) != 0 {
			t.Error("a session though there is no room")
		}
	})
}

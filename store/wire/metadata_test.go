package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store/layout"
)

// TestMetadata asks for topics in all the ways there are.
func TestMetadata(t *testing.T) {
	c := startCore(t, Options{}, set("a", 2), set("b", 1), set("gone", 1))
	id, _ := c.engine.TopicID("a")
	former, _ := c.engine.TopicID("gone")
	if err := c.engine.DeleteTopic(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	name := func(s string) kmsg.MetadataRequestTopic { return kmsg.MetadataRequestTopic{Topic: &s} }
	byID := func(id layout.ID) kmsg.MetadataRequestTopic { return kmsg.MetadataRequestTopic{TopicID: id} }
	list := func(topics ...kmsg.MetadataRequestTopic) []kmsg.MetadataRequestTopic {
		return append([]kmsg.MetadataRequestTopic{}, topics...)
	}
	long := strings.Repeat("n", 250)
	for what, tc := range map[string]struct {
		version int16
		topics  []kmsg.MetadataRequestTopic
		want    string // NAME/partitions or NAME!error, one behind the other
		brokers int
	}{
		"v0 null":                      {0, nil, "a/2 b/1 __consumer_offsets/50", 1},
		"v0 empty":                     {0, list(), "a/2 b/1 __consumer_offsets/50", 1},
		"v1 null":                      {1, nil, "a/2 b/1 __consumer_offsets/50", 1},
		"v1 empty":                     {1, list(), "", 1},
		"v12 null":                     {12, nil, "a/2 b/1 __consumer_offsets/50", 1},
		"v13 empty":                    {13, list(), "", 1},
		"names":                        {9, list(name("b"), name("a")), "b/1 a/2", 1},
		"a name twice":                 {9, list(name("a"), name("a")), "a/2", 1},
		"unknown beside known":         {12, list(name("none"), name("a")), "none!3 a/2", 1},
		"a bad name":                   {4, list(name("a b")), "a b!17", 1},
		"no name":                      {4, list(name("")), "!17", 1},
		"dots":                         {4, list(name(".."), name(".")), "..!17 .!17", 1},
		"249 letters":                  {4, list(name(long[1:])), long[1:] + "!3", 1},
		"250 letters":                  {4, list(name(long)), long + "!17", 1},
		"id":                           {12, list(byID(id)), "a/2", 1},
		"id twice":                     {12, list(byID(id), byID(id)), "a/2", 1},
		"id of another name":           {12, list(kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr("b"), TopicID: id}), "a/2", 1},
		"unknown id":                   {12, list(byID(layout.ID{9})), "null!100", 1},
		"id of a topic deleted":        {12, list(byID(former)), "null!100", 1},
		"id before v12":                {10, list(byID(id)), "!42", 0},
		"neither id nor name":          {12, list(kmsg.MetadataRequestTopic{}), "!-1", 0},
		"the offsets topic":            {9, list(name("__consumer_offsets"), name("__transaction_state")), "__consumer_offsets/50 __transaction_state/50", 1},
		"the offsets topic, by its id": {13, list(byID(c.virtualID("__consumer_offsets"))), "__consumer_offsets/50", 1},
	} {
		t.Run(what, func(t *testing.T) {
			req := kmsg.NewPtrMetadataRequest()
			req.Topics, req.AllowAutoTopicCreation = tc.topics, false
			r := c.dial().ask(req, tc.version).(*kmsg.MetadataResponse)
			var got []string
			for _, rt := range r.Topics {
				s := "null"
				if rt.Topic != nil {
					s = *rt.Topic
				}
				if rt.ErrorCode != 0 {
					got = append(got, fmt.Sprintf("%s!%d", s, rt.ErrorCode))
					continue
				}
				got = append(got, fmt.Sprintf("%s/%d", s, len(rt.Partitions)))
				if tc.version >= 1 && rt.IsInternal != strings.HasPrefix(s, "__") || tc.version >= 10 && rt.TopicID == [16]byte{} {
					t.Errorf("topic %+v", rt)
				}
				for i, p := range rt.Partitions {
					if int(p.Partition) != i || p.Leader != 1 || len(p.Replicas) != 1 || len(p.ISR) != 1 || (p.LeaderEpoch == 0) != (tc.version >= 7) {
						t.Errorf("partition %+v", p)
					}
				}
			}
			if s := strings.Join(got, " "); s != tc.want || len(r.Brokers) != tc.brokers {
				t.Errorf("got %q of %d brokers, want %q of %d", s, len(r.Brokers), tc.want, tc.brokers)
			}
			if tc.brokers == 1 && fmt.Sprintf("%s:%d", r.Brokers[0].Host, r.Brokers[0].Port) != c.Address() {
				t.Errorf("broker %+v, dialled %s", r.Brokers[0], c.Address())
			}
		})
	}
}

// TestOperations holds what a client is told that it may do.
func TestOperations(t *testing.T) {
	c := startCore(t, Options{}, set("a", 1))
	for version, cluster := range map[int16]int32{8: 8096, 10: 8096, 12: -1 << 31} {
		req := kmsg.NewPtrMetadataRequest()
		req.IncludeClusterAuthorizedOperations, req.IncludeTopicAuthorizedOperations = true, true
		r := c.dial().ask(req, version).(*kmsg.MetadataResponse)
		if r.Topics[0].AuthorizedOperations != 3576 || r.AuthorizedOperations != cluster {
			t.Errorf("v%d: topic %d, cluster %d", version, r.Topics[0].AuthorizedOperations, r.AuthorizedOperations)
		}
	}
}

// TestAdvertised holds where clients are sent to.
func TestAdvertised(t *testing.T) {
	for advertised, want := range map[string]string{"kafka.example:9093": "kafka.example:9093", "[::1]:77": "::1:77"} {
		c := startCore(t, Options{Advertised: advertised})
		r := c.dial().ask(kmsg.NewPtrMetadataRequest(), 9).(*kmsg.MetadataResponse)
		if got := fmt.Sprintf("%s:%d", r.Brokers[0].Host, r.Brokers[0].Port); got != want {
			t.Errorf("%s: sent to %s", advertised, got)
		}
		f := c.dial().ask(&kmsg.FindCoordinatorRequest{CoordinatorKey: "g"}, 3).(*kmsg.FindCoordinatorResponse)
		if got := fmt.Sprintf("%s:%d", f.Host, f.Port); got != want {
			t.Errorf("%s: coordinated by %s", advertised, got)
		}
	}
}

// TestFindCoordinator asks for coordinators of all kinds.
func TestFindCoordinator(t *testing.T) {
	c := startCore(t, Options{})
	share := "g:" + layout.NewID().String() + ":0"
	for name, tc := range map[string]struct {
		version int16
		kind    int8
		key     string
		code    int16
		text    string // "null" for none
	}{
		"v0":                  {0, 0, "g", 0, "null"},
		"v1":                  {1, 0, "g", 0, "NONE"},
		"v3 transaction":      {3, 1, "t", 0, "NONE"},
		"v3 empty":            {3, 0, "", 0, "NONE"},
		"v3 kind 3":           {3, 3, "g", 42, "The coordinator type 3 is unknown."},
		"v4":                  {4, 0, "g", 0, ""},
		"v5 transaction":      {5, 1, "t", 0, ""},
		"v5 kind -1":          {5, -1, "g", 42, "The coordinator type -1 is unknown."},
		"v5 share":            {5, 2, share, 42, ""},
		"v6 share":            {6, 2, share, 0, ""},
		"v6 share without id": {6, 2, "g", 42, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := &kmsg.FindCoordinatorRequest{CoordinatorKey: tc.key, CoordinatorType: tc.kind, CoordinatorKeys: []string{tc.key, tc.key}}
			r := c.dial().ask(req, tc.version).(*kmsg.FindCoordinatorResponse)
			all := r.Coordinators
			if tc.version < 4 {
				all = []kmsg.FindCoordinatorResponseCoordinator{{Key: tc.key, NodeID: r.NodeID, Host: r.Host, Port: r.Port, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage}}
			} else if len(all) != 2 {
				t.Fatalf("%d answers", len(all))
			}
			for _, k := range all {
				text := "null"
				if k.ErrorMessage != nil {
					text = *k.ErrorMessage
				}
				at := "1 " + c.Address()
				if tc.code != 0 {
					at = "-1 :-1"
				}
				if got := fmt.Sprintf("%d %s:%d", k.NodeID, k.Host, k.Port); got != at || k.ErrorCode != tc.code || text != tc.text || k.Key != tc.key {
					t.Errorf("got %+v, %q, want %s, %d, %q", k, text, at, tc.code, tc.text)
				}
			}
		})
	}
}

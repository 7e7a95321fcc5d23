package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// topicRequest is a CreateTopics of one topic; configs are name=value, or name alone for a null value.
func topicRequest(name string, partitions int32, factor int16, configs ...string) *kmsg.CreateTopicsRequest {
	r := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, factor
	for _, c := range configs {
		k, v, given := strings.Cut(c, "=")
		e := kmsg.CreateTopicsRequestTopicConfig{Name: k}
		if given {
			e.Value = &v
		}
		t.Configs = append(t.Configs, e)
	}
	r.Topics = append(r.Topics, t)
	return r
}

func placedRequest(name string, partitions int32, factor int16, replicas map[int32][]int32, twice ...int32) *kmsg.CreateTopicsRequest {
	r := topicRequest(name, partitions, factor)
	for p, nodes := range replicas {
		r.Topics[0].ReplicaAssignment = append(r.Topics[0].ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: p, Replicas: nodes})
	}
	for _, p := range twice {
		r.Topics[0].ReplicaAssignment = append(r.Topics[0].ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: p, Replicas: []int32{1}})
	}
	return r
}

func TestCreateTopics(t *testing.T) {
	s := startCore(t, Options{}, model.TopicSpec{Name: "there", Partitions: 1}, model.TopicSpec{Name: "a.b", Partitions: 1})
	c := s.dial()
	validate := func(r *kmsg.CreateTopicsRequest) *kmsg.CreateTopicsRequest {
		r.ValidateOnly = true
		return r
	}
	both := func(rs ...*kmsg.CreateTopicsRequest) *kmsg.CreateTopicsRequest {
		for _, r := range rs[1:] {
			rs[0].Topics = append(rs[0].Topics, r.Topics...)
		}
		return rs[0]
	}
	for name, tc := range map[string]struct {
		version int16
		req     *kmsg.CreateTopicsRequest
		codes   []int16
		made    int // partitions of the first topic afterwards
	}{
		"two partitions":             {7, topicRequest("n1", 2, 1), []int16{0}, 2},
		"oldest version":             {2, topicRequest("n2", 2, 1), []int16{0}, 2},
		"defaults":                   {7, topicRequest("n3", -1, -1), []int16{0}, 1},
		"there already":              {7, topicRequest("there", 1, 1), []int16{36}, 1},
		"no partitions":              {7, topicRequest("n4", 0, 1), []int16{37}, 0},
		"-2 partitions":              {7, topicRequest("n4", -2, 1), []int16{37}, 0},
		"9,999 partitions":           {7, validate(topicRequest("n4", 9999, 1)), []int16{0}, 0},
		"10,000 partitions":          {7, topicRequest("n4", 10_000, 1), []int16{44}, 0},
		"2^31-1 partitions":          {7, topicRequest("n4", 1<<31-1, 1), []int16{44}, 0},
		"12,000 in all":              {7, both(topicRequest("n4", 6000, 1), topicRequest("n5", 6000, 1)), []int16{44, 44}, 0},
		"factor 0":                   {7, topicRequest("n4", 1, 0), []int16{38}, 0},
		"factor -2":                  {7, topicRequest("n4", 1, -2), []int16{38}, 0},
		"factor 2":                   {7, topicRequest("n4", 1, 2), []int16{38}, 0},
		"no name":                    {7, topicRequest("", 1, 1), []int16{17}, 0},
		"two dots":                   {7, topicRequest("..", 1, 1), []int16{17}, 0},
		"a blank":                    {7, topicRequest("a b", 1, 1), []int16{17}, 0},
		"250 letters":                {7, topicRequest(strings.Repeat("n", 250), 1, 1), []int16{17}, 0},
		"collides":                   {7, topicRequest("a_b", 1, 1), []int16{17}, 0},
		"two that collide":           {7, both(topicRequest("c.d", 1, 1), topicRequest("c_d", 1, 1)), []int16{0, 17}, 1},
		"the groups' offsets":        {7, topicRequest("__consumer_offsets", 1, 1), []int16{36}, 0},
		"the controllers' log":       {7, topicRequest("__cluster_metadata", 1, 1), []int16{29}, 0},
		"unknown config":             {7, topicRequest("n4", 1, 1, "nonsense=1"), []int16{40}, 0},
		"no number":                  {7, topicRequest("n4", 1, 1, "retention.ms=soon"), []int16{40}, 0},
		"null value":                 {7, topicRequest("n4", 1, 1, "retention.ms"), []int16{40}, 0},
		"null value overruled":       {7, topicRequest("n4", 1, 1, "retention.ms", "retention.ms=2"), []int16{40}, 0},
		"of old versions":            {7, topicRequest("n4", 1, 1, "message.format.version=2.0"), []int16{40}, 0},
		"no policy":                  {7, topicRequest("n6", 1, 1, "cleanup.policy="), []int16{0}, 1},
		"validated":                  {7, validate(topicRequest("n4", 3, 1)), []int16{0}, 0},
		"validated, factor 3":        {7, validate(topicRequest("n4", 3, 3)), []int16{38}, 0},
		"twice":                      {7, both(topicRequest("n4", 1, 1), topicRequest("n4", 1, 1)), []int16{42}, 0},
		"a good and a bad one":       {7, both(topicRequest("n7", 1, 1), topicRequest("a b", 1, 1)), []int16{0, 17}, 1},
		"placed":                     {7, placedRequest("n8", -1, -1, map[int32][]int32{0: {1}, 1: {1}}), []int16{0}, 2},
		"placed, and a number":       {7, placedRequest("n4", 1, -1, map[int32][]int32{0: {1}}), []int16{42}, 0},
		"placed, and a factor":       {7, placedRequest("n4", -1, 1, map[int32][]int32{0: {1}}), []int16{42}, 0},
		"placed elsewhere":           {7, placedRequest("n4", -1, -1, map[int32][]int32{0: {7}}), []int16{39}, 0},
		"placed here and elsewhere":  {7, placedRequest("n4", -1, -1, map[int32][]int32{0: {1, 7}}), []int16{39}, 0},
		"placed here twice":          {7, placedRequest("n4", -1, -1, map[int32][]int32{0: {1, 1}}), []int16{39}, 0},
		"placed with a gap":          {7, placedRequest("n4", -1, -1, map[int32][]int32{0: {1}, 2: {1}}), []int16{39}, 0},
		"placed nowhere":             {7, placedRequest("n4", -1, -1, map[int32][]int32{0: {}}), []int16{39}, 0},
		"one partition placed twice": {7, placedRequest("n4", -1, -1, nil, 0, 0), []int16{39}, 0},
		"nothing":                    {7, &kmsg.CreateTopicsRequest{}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.ask(tc.req, tc.version).(*kmsg.CreateTopicsResponse)
			var codes []int16
			for _, a := range r.Topics {
				codes = append(codes, a.ErrorCode)
				if (a.ErrorCode != 0) != (a.ErrorMessage != nil) {
					t.Errorf("code %d, message %v", a.ErrorCode, a.ErrorMessage)
				}
			}
			if !slices.Equal(codes, tc.codes) {
				t.Errorf("codes %v, want %v", codes, tc.codes)
			}
			if len(tc.req.Topics) > 0 && s.engine.PartitionCount(tc.req.Topics[0].Topic) != tc.made {
				t.Errorf("%d partitions, want %d", s.engine.PartitionCount(tc.req.Topics[0].Topic), tc.made)
			}
		})
	}
}

func TestCreateTopicsTellsConfigs(t *testing.T) {
	s := startCore(t, Options{})
	r := s.dial().ask(topicRequest("t", 3, 1, "retention.ms=1", "retention.ms=2"), 7).(*kmsg.CreateTopicsResponse)
	a := r.Topics[0]
	id, _ := s.engine.TopicID("t")
	if a.TopicID != id || a.NumPartitions != 3 || a.ReplicationFactor != 1 || len(a.Configs) != 37 {
		t.Errorf("id %x, want %x; %d partitions, factor %d, %d configs", a.TopicID, id, a.NumPartitions, a.ReplicationFactor, len(a.Configs))
	}
	for _, c := range a.Configs {
		if c.Name == "retention.ms" && (*c.Value != "2" || c.Source != 1) {
			t.Errorf("retention.ms is %s of source %d, want 2 of the topic", *c.Value, c.Source)
		}
	}
}

func TestDeleteTopics(t *testing.T) {
	s := startCore(t, Options{}, model.TopicSpec{Name: "a", Partitions: 1}, model.TopicSpec{Name: "b", Partitions: 2},
		model.TopicSpec{Name: "c", Partitions: 1}, model.TopicSpec{Name: "d", Partitions: 1}, model.TopicSpec{Name: "e", Partitions: 1})
	c := s.dial()
	idOf := func(name string) [16]byte {
		id, _ := s.engine.TopicID(name)
		return id
	}
	b, e := idOf("b"), idOf("e")
	topics := func(list ...kmsg.DeleteTopicsRequestTopic) *kmsg.DeleteTopicsRequest {
		return &kmsg.DeleteTopicsRequest{Topics: list}
	}
	name := func(n string) kmsg.DeleteTopicsRequestTopic { return kmsg.DeleteTopicsRequestTopic{Topic: &n} }
	id := func(i [16]byte) kmsg.DeleteTopicsRequestTopic { return kmsg.DeleteTopicsRequestTopic{TopicID: i} }
	for _, tc := range []struct {
		what    string
		version int16
		req     *kmsg.DeleteTopicsRequest
		codes   []int16
	}{
		{"by name, oldest version", 1, &kmsg.DeleteTopicsRequest{TopicNames: []string{"a"}}, []int16{0}},
		{"again", 5, &kmsg.DeleteTopicsRequest{TopicNames: []string{"a"}}, []int16{3}},
		{"by id", 6, topics(id(b)), []int16{0}},
		{"by id again", 6, topics(id(b)), []int16{100}},
		{"an id that none has", 6, topics(id([16]byte{9})), []int16{100}},
		{"id and name", 6, topics(kmsg.DeleteTopicsRequestTopic{Topic: kmsg.StringPtr("e"), TopicID: e}), []int16{42}},
		{"neither", 6, topics(kmsg.DeleteTopicsRequestTopic{}), []int16{42}},
		{"the same twice", 6, topics(name("c"), name("c")), []int16{42}},
		{"the same by name and by id", 6, topics(name("e"), id(e)), []int16{42}},
		{"a bad name", 6, topics(name("a b")), []int16{3}},
		{"the groups' offsets", 6, topics(name("__consumer_offsets")), []int16{17}},
		{"one that is there, one that is not", 6, topics(name("d"), name("none")), []int16{0, 3}},
		{"nothing", 6, topics(), nil},
	} {
		t.Run(tc.what, func(t *testing.T) {
			var codes []int16
			for _, a := range c.ask(tc.req, tc.version).(*kmsg.DeleteTopicsResponse).Topics {
				codes = append(codes, a.ErrorCode)
			}
			if !slices.Equal(codes, tc.codes) {
				t.Errorf("codes %v, want %v", codes, tc.codes)
			}
		})
	}
	if got := s.engine.Topics(); !slices.Equal(got, []string{"c", "e"}) {
		t.Errorf("topics left: %q", got)
	}
}

func TestCreatePartitions(t *testing.T) {
	s := startCore(t, Options{}, model.TopicSpec{Name: "t", Partitions: 2}, model.TopicSpec{Name: "u", Partitions: 1})
	c := s.dial()
	grow := func(name string, count int32, nodes ...[]int32) *kmsg.CreatePartitionsRequest {
		a := kmsg.NewCreatePartitionsRequestTopic()
		a.Topic, a.Count = name, count
		for _, n := range nodes {
			a.Assignment = append(a.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: n})
		}
		return &kmsg.CreatePartitionsRequest{Topics: []kmsg.CreatePartitionsRequestTopic{a}}
	}
	validate := func(r *kmsg.CreatePartitionsRequest) *kmsg.CreatePartitionsRequest {
		r.ValidateOnly = true
		return r
	}
	both := func(a, b *kmsg.CreatePartitionsRequest) *kmsg.CreatePartitionsRequest {
		a.Topics = append(a.Topics, b.Topics...)
		return a
	}
	for _, tc := range []struct {
		what  string
		req   *kmsg.CreatePartitionsRequest
		codes []int16
		left  int // partitions of t
	}{
		{"the same", grow("t", 2), []int16{37}, 2},
		{"fewer", grow("t", 1), []int16{37}, 2},
		{"-1", grow("t", -1), []int16{37}, 2},
		{"unknown", grow("none", 4), []int16{3}, 2},
		{"validated", validate(grow("t", 3)), []int16{0}, 2},
		{"more", grow("t", 4), []int16{0}, 4},
		{"one more, placed", grow("t", 5, []int32{1}), []int16{0}, 5},
		{"one more, placed elsewhere", grow("t", 6, []int32{9}), []int16{39}, 5},
		{"one more, two placed", grow("t", 6, []int32{1}, []int32{1}), []int16{39}, 5},
		{"twice", both(grow("t", 6), grow("t", 7)), []int16{42}, 5},
		{"too many in all", both(validate(grow("t", 6000)), grow("u", 6000)), []int16{44, 44}, 5},
		{"the groups' offsets, as they are", grow("__consumer_offsets", 50), []int16{37}, 5},
		{"the groups' offsets, more", grow("__consumer_offsets", 60), []int16{17}, 5},
	} {
		t.Run(tc.what, func(t *testing.T) {
			var codes []int16
			for _, a := range c.ask(tc.req, 3).(*kmsg.CreatePartitionsResponse).Topics {
				codes = append(codes, a.ErrorCode)
			}
			if !slices.Equal(codes, tc.codes) || s.engine.PartitionCount("t") != tc.left {
				t.Errorf("codes %v, %d partitions, want %v, %d", codes, s.engine.PartitionCount("t"), tc.codes, tc.left)
			}
		})
	}
}

func TestDescribeTopicPartitions(t *testing.T) {
	s := startCore(t, Options{}, model.TopicSpec{Name: "a", Partitions: 2}, model.TopicSpec{Name: "b", Partitions: 3})
	c := s.dial()
	type cursor = kmsg.DescribeTopicPartitionsRequestCursor
	at := func(topic string, partition int32) *cursor { return &cursor{Topic: topic, Partition: partition} }
	for name, tc := range map[string]struct {
		limit  int32
		cursor *cursor
		topics []string
		want   string // each topic's name, code and partitions, and where the next page begins
	}{
		"two":                             {2000, nil, []string{"b", "a"}, "a 0 [0 1], b 0 [0 1 2]"},
		"one twice":                       {2000, nil, []string{"a", "a"}, "a 0 [0 1]"},
		"a page":                          {3, nil, []string{"a", "b"}, "a 0 [0 1], b 0 [0] > b 1"},
		"a page that ends with a topic":   {2, nil, []string{"a", "b"}, "a 0 [0 1] > b 0"},
		"the next page":                   {2000, at("b", 1), []string{"a", "b"}, "b 0 [1 2]"},
		"a page beyond the last":          {2000, at("b", 9), []string{"a", "b"}, "b 0 []"},
		"limit 0":                         {0, nil, []string{"a"}, "a 0 [0] > a 1"},
		"limit -1":                        {-1, nil, []string{"a"}, "a 0 [0] > a 1"},
		"unknown":                         {2000, nil, []string{"none"}, "none 3 []"},
		"a bad name":                      {2000, nil, []string{"a b"}, "a b 17 []"},
		"cursor -1":                       {2000, at("b", -1), []string{"a", "b"}, "a 42 [], b 42 []"},
		"a cursor at what is not asked":   {2000, at("aa", 0), []string{"a", "b"}, "a 42 [], b 42 []"},
		"all, a page":                     {1, at("a", 1), nil, "a 0 [1] > b 0"},
		"all, from one that has gone":     {3, at("aa", 1), nil, "b 0 [0 1 2]"},
		"all, the groups' offsets first":  {1, nil, nil, "__consumer_offsets 0 [0] > __consumer_offsets 1"},
		"all, the groups' offsets' limit": {1, at("__consumer_offsets", 49), nil, "__consumer_offsets 0 [49] > a 0"},
	} {
		t.Run(name, func(t *testing.T) {
			req := kmsg.NewPtrDescribeTopicPartitionsRequest()
			req.ResponsePartitionLimit, req.Cursor = tc.limit, tc.cursor
			for _, n := range tc.topics {
				req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: n})
			}
			r := c.ask(req, 0).(*kmsg.DescribeTopicPartitionsResponse)
			var got []string
			for _, a := range r.Topics {
				numbers := []int32{}
				for _, p := range a.Partitions {
					numbers = append(numbers, p.Partition)
					if p.LeaderID != 1 || len(p.ISR) != 1 || p.LeaderEpoch != 0 {
						t.Errorf("%s-%d: leader %d of epoch %d, in sync %v", *a.Topic, p.Partition, p.LeaderID, p.LeaderEpoch, p.ISR)
					}
				}
				got = append(got, fmt.Sprintf("%s %d %v", *a.Topic, a.ErrorCode, numbers))
			}
			text := strings.Join(got, ", ")
			if n := r.NextCursor; n != nil {
				text += fmt.Sprintf(" > %s %d", n.Topic, n.Partition)
			}
			if text != tc.want {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
}

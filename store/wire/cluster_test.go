package wire

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/record"
)

func TestDescribeCluster(t *testing.T) {
	s := startCore(t, Options{})
	c := s.dial()
	host, port, err := net.SplitHostPort(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		version    int16
		endpoint   int8
		operations bool
		code       int16
		want       int32
	}{
		"brokers":               {2, 1, false, 0, -1 << 31},
		"oldest version":        {0, 1, false, 0, -1 << 31},
		"authorised operations": {1, 1, true, 0, 8096},
		"controllers":           {1, 2, false, 114, -1 << 31},
		"what there is not":     {1, 9, false, 115, -1 << 31},
	} {
		t.Run(name, func(t *testing.T) {
			req := kmsg.NewPtrDescribeClusterRequest()
			req.EndpointType, req.IncludeClusterAuthorizedOperations = tc.endpoint, tc.operations
			r := c.ask(req, tc.version).(*kmsg.DescribeClusterResponse)
			if r.ErrorCode != tc.code || r.ClusterAuthorizedOperations != tc.want {
				t.Errorf("code %d, operations %d, want %d, %d", r.ErrorCode, r.ClusterAuthorizedOperations, tc.code, tc.want)
			}
			if tc.code != 0 {
				return
			}
			if len(r.Brokers) != 1 || r.Brokers[0].NodeID != 1 || r.Brokers[0].Host != host || strconv.Itoa(int(r.Brokers[0].Port)) != port {
				t.Errorf("brokers %+v, want 1 at %s:%s", r.Brokers, host, port)
			}
			if r.ControllerID != 1 || r.ClusterID != s.engine.ClusterID() {
				t.Errorf("controller %d of cluster %q, want 1 of %q", r.ControllerID, r.ClusterID, s.engine.ClusterID())
			}
		})
	}
}

func TestDescribeLogDirs(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	e, err := store.Open([]string{one, two}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, spec := range []model.TopicSpec{{Name: "t", Partitions: 3}, {Name: "u", Partitions: 1}} {
		if err := e.CreateTopic(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	s := serveEngine(t, e)
	c := s.dial()
	batch := batchOf(t, record.Spec{BaseSequence: -1, ProducerID: -1, ProducerEpoch: -1}, "v")
	c.ask(produceOf("t", 1, map[int32][]byte{2: batch}), 9)
	partitions := func(topic string, numbers ...int32) kmsg.DescribeLogDirsRequestTopic {
		return kmsg.DescribeLogDirsRequestTopic{Topic: topic, Partitions: numbers}
	}
	size := fmt.Sprint(len(batch))
	for name, tc := range map[string]struct {
		version int16
		topics  []kmsg.DescribeLogDirsRequestTopic
		want    []string // in the first directory and in the second
	}{
		"all":                     {4, nil, []string{"t-0=0 t-2=" + size, "t-1=0 u-0=0"}},
		"oldest version":          {1, nil, []string{"t-0=0 t-2=" + size, "t-1=0 u-0=0"}},
		"some":                    {4, []kmsg.DescribeLogDirsRequestTopic{partitions("t", 2, 2, 1, 9), partitions("none", 0)}, []string{"t-2=" + size, "t-1=0"}},
		"one in two lists":        {4, []kmsg.DescribeLogDirsRequestTopic{partitions("t", 0), partitions("t", 2, 0)}, []string{"t-0=0 t-2=" + size, ""}},
		"a topic that is unknown": {4, []kmsg.DescribeLogDirsRequestTopic{partitions("none", 0)}, []string{"", ""}},
		"none":                    {4, []kmsg.DescribeLogDirsRequestTopic{}, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.ask(&kmsg.DescribeLogDirsRequest{Topics: tc.topics}, tc.version).(*kmsg.DescribeLogDirsResponse)
			if len(r.Dirs) != 2 || r.Dirs[0].Dir != one || r.Dirs[1].Dir != two {
				t.Fatalf("directories %+v", r.Dirs)
			}
			for i, d := range r.Dirs {
				var got []string
				for _, topic := range d.Topics {
					for _, p := range topic.Partitions {
						got = append(got, fmt.Sprintf("%s-%d=%d", topic.Topic, p.Partition, p.Size))
					}
				}
				slices.Sort(got)
				if text := join(got); text != tc.want[i] {
					t.Errorf("directory %d: %q, want %q", i, text, tc.want[i])
				}
				if tc.version >= 4 && (d.TotalBytes <= 0 || d.UsableBytes <= 0 || d.UsableBytes > d.TotalBytes) {
					t.Errorf("directory %d: %d of %d bytes left", i, d.UsableBytes, d.TotalBytes)
				}
			}
		})
	}
}

func join(list []string) string {
	s := fmt.Sprint(list)
	return s[1 : len(s)-1]
}

// TestNothingEver asks what is never otherwise with one broker: leaders, replicas, quotas and rules.
func TestNothingEver(t *testing.T) {
	s := startCore(t, Options{}, model.TopicSpec{Name: "t", Partitions: 1})
	c := s.dial()
	elect := func(kind int8, topics ...kmsg.ElectLeadersRequestTopic) *kmsg.ElectLeadersRequest {
		return &kmsg.ElectLeadersRequest{ElectionType: kind, Topics: topics}
	}
	of := func(topic string, numbers ...int32) kmsg.ElectLeadersRequestTopic {
		return kmsg.ElectLeadersRequestTopic{Topic: topic, Partitions: numbers}
	}
	move := func(topic string, number int32, replicas []int32) *kmsg.AlterPartitionAssignmentsRequest {
		return &kmsg.AlterPartitionAssignmentsRequest{Topics: []kmsg.AlterPartitionAssignmentsRequestTopic{
			{Topic: topic, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Partition: number, Replicas: replicas}}}}}
	}
	quotas := func(kinds ...string) *kmsg.DescribeClientQuotasRequest {
		r := kmsg.NewPtrDescribeClientQuotasRequest()
		for _, k := range kinds {
			r.Components = append(r.Components, kmsg.DescribeClientQuotasRequestComponent{EntityType: k})
		}
		return r
	}
	for name, tc := range map[string]struct {
		version int16
		req     kmsg.Request
		codes   []int16 // at the top, then of the parts
	}{
		"elect leaders":                {2, elect(0, of("t", 0, 7), of("none", 0)), []int16{0, 84, 3, 3}},
		"elect leaders, unclean":       {2, elect(1, of("t", 0)), []int16{0, 84}},
		"elect leaders, oldest":        {0, elect(0, of("t", 0)), []int16{0, 84}},
		"elect leaders of all":         {2, elect(0), []int16{0}},
		"elect leaders in another way": {2, elect(7, of("t", 0)), []int16{42, 42}},
		"move to where it is":          {1, move("t", 0, []int32{1}), []int16{0, 0}},
		"move elsewhere":               {0, move("t", 0, []int32{2}), []int16{0, 39}},
		"move nowhere":                 {0, move("t", 0, []int32{}), []int16{0, 39}},
		"call a move off":              {0, move("t", 0, nil), []int16{0, 85}},
		"move what is not there":       {0, move("t", 7, []int32{1}), []int16{0, 3}},
		"moves":                        {0, kmsg.NewPtrListPartitionReassignmentsRequest(), []int16{0}},
		"quotas":                       {1, quotas("user", "client-id"), []int16{0}},
		"quotas of a user twice":       {1, quotas("user", "user"), []int16{42}},
		"quotas of what there is not":  {1, quotas("house"), []int16{35}},
		"rules":                        {2, &kmsg.DescribeACLsRequest{ResourceType: 1, ResourcePatternType: 1, Operation: 1, PermissionType: 1}, []int16{54}},
		"make a rule":                  {2, &kmsg.CreateACLsRequest{Creations: []kmsg.CreateACLsRequestCreation{{ResourceType: 2, ResourcePatternType: 3, Operation: 3, PermissionType: 3}}}, []int16{54}},
		"delete a rule":                {2, &kmsg.DeleteACLsRequest{Filters: []kmsg.DeleteACLsRequestFilter{{ResourceType: 1, ResourcePatternType: 1, Operation: 1, PermissionType: 1}}}, []int16{54}},
		"client metrics":               {0, kmsg.NewPtrListConfigResourcesRequest(), []int16{0}},
		"what is set of nothing":       {1, &kmsg.ListConfigResourcesRequest{ResourceTypes: []int8{77}}, []int16{35}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := codesOf(c.ask(tc.req, tc.version)); !slices.Equal(got, tc.codes) {
				t.Errorf("codes %v, want %v", got, tc.codes)
			}
		})
	}
}

func codesOf(r kmsg.Response) (codes []int16) {
	switch r := r.(type) {
	case *kmsg.ElectLeadersResponse:
		codes = append(codes, r.ErrorCode)
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				codes = append(codes, p.ErrorCode)
			}
		}
	case *kmsg.AlterPartitionAssignmentsResponse:
		codes = append(codes, r.ErrorCode)
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				codes = append(codes, p.ErrorCode)
			}
		}
	case *kmsg.ListPartitionReassignmentsResponse:
		codes = append(codes, r.ErrorCode)
	case *kmsg.DescribeClientQuotasResponse:
		codes = append(codes, r.ErrorCode)
	case *kmsg.DescribeACLsResponse:
		codes = append(codes, r.ErrorCode)
	case *kmsg.CreateACLsResponse:
		for _, a := range r.Results {
			codes = append(codes, a.ErrorCode)
		}
	case *kmsg.DeleteACLsResponse:
		for _, a := range r.Results {
			codes = append(codes, a.ErrorCode)
		}
	case *kmsg.ListConfigResourcesResponse:
		codes = append(codes, r.ErrorCode)
	}
	return codes
}

package wire

import (
	"path/filepath"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/store"
	"github.com/strata-kafka/strata/store/partition"
)

// describeLogDirs tells of the data directories (DescribeLogDirs 1-5): how large the file system is, what is left of it, and
// how much the partitions asked for take, those of all topics where none are named. Topics that there are not are left out.
// Nothing is ever moved between directories, so that no replica is a future one and none lags.
func (s *Server) describeLogDirs(c *call) (reply, error) {
	req := c.req.(*kmsg.DescribeLogDirsRequest)
	r := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	at := map[string]int{}
	for _, d := range s.b.Engine.Usage() {
		a := kmsg.NewDescribeLogDirsResponseDir()
		a.Dir, a.TotalBytes, a.UsableBytes = d.Path, d.Total, d.Usable
		if d.Err != nil {
			a.ErrorCode = kerr.KafkaStorageError.Code
		}
		a.Topics = []kmsg.DescribeLogDirsResponseDirTopic{}
		at[d.Path] = len(r.Dirs)
		r.Dirs = append(r.Dirs, a)
	}
	if req.Topics == nil {
		for _, name := range s.b.Engine.Topics() {
			if f, ok := s.b.Engine.Facts(name); ok {
				s.sizes(c, r, at, f, nil)
			}
		}
		return r, nil
	}
	asked := map[string][]int32{}
	for i := range req.Topics {
		t := &req.Topics[i]
		asked[t.Topic] = append(asked[t.Topic], t.Partitions...)
	}
	for name, numbers := range asked {
		if f, ok := s.b.Engine.Facts(name); ok {
			slices.Sort(numbers)
			s.sizes(c, r, at, f, slices.Compact(numbers))
		}
	}
	return r, nil
}

// sizes adds a topic's partitions, those of numbers or, where that is nil, all, to the directories that they lie in.
func (s *Server) sizes(c *call, r *kmsg.DescribeLogDirsResponse, at map[string]int, f store.TopicFacts, numbers []int32) {
	mine := map[int]int{} // where the topic stands in a directory's list
	add := func(l *partition.Log) {
		dir, ok := at[filepath.Dir(l.Dir())]
		if !ok {
			return
		}
		size, err := l.Size()
		if err != nil {
			return // it is being deleted
		}
		p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		p.Partition, p.Size = l.TP().Partition, size
		topics := &r.Dirs[dir].Topics
		i, begun := mine[dir]
		if !begun {
			i = len(*topics)
			mine[dir] = i
			t := kmsg.NewDescribeLogDirsResponseDirTopic()
			t.Topic = f.Name
			*topics = append(*topics, t)
		}
		(*topics)[i].Partitions = append((*topics)[i].Partitions, p)
	}
	if numbers == nil {
		for _, l := range f.Logs {
			if l != nil && c.ctx.Err() == nil {
				add(l)
			}
		}
		return
	}
	for _, n := range numbers {
		if n >= 0 && int(n) < len(f.Logs) && f.Logs[n] != nil {
			add(f.Logs[n])
		}
	}
}

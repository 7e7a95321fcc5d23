package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// fileConfigs is a ConfigStore in a file, which is replaced in one step.
type fileConfigs struct{ path string }

func (f fileConfigs) Load() (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	b, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	return all, err
}

func (f fileConfigs) edit(change func(map[string]map[string]string)) error {
	all, err := f.Load()
	if err != nil {
		return err
	}
	change(all)
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.path+".tmp", b, 0o644); err != nil {
		return err
	}
	return os.Rename(f.path+".tmp", f.path)
}

func (f fileConfigs) Save(topic string, configs map[string]string) error {
	return f.edit(func(all map[string]map[string]string) { all[topic] = configs })
}

func (f fileConfigs) Delete(topic string) error {
	return f.edit(func(all map[string]map[string]string) { delete(all, topic) })
}
func (fileConfigs) Lost() bool                                 { return false }
func (fileConfigs) Replace(map[string]map[string]string) error { return nil }

// topicsChild makes, grows and deletes topics for ever, and tells of each step before and after it, until it is killed. A
// topic has its number of partitions in its configs.
func topicsChild() {
	dir := os.Args[1]
	seed, err := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(seed, 3))
	check := func(err error) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	e, err := Open([]string{dir}, Options{Configs: fileConfigs{filepath.Join(dir, "configs.json")}, CheckpointEvery: 3 * time.Millisecond})
	check(err)
	ctx := context.Background()
	fmt.Println("ready")
	for {
		name := fmt.Sprintf("t%d", r.IntN(4))
		n := e.PartitionCount(name)
		switch {
		case n == 0:
			n = 1 + r.IntN(30)
			fmt.Println("try", name, n, 0)
			check(e.CreateTopic(ctx, model.TopicSpec{Name: name, Partitions: int32(n), Configs: []model.ConfigChange{{Name: "segment.bytes", Value: "1000"}}}))
		case r.IntN(2) == 0:
			fmt.Println("try", name, n+5, n)
			n += 5
			check(e.GrowTopic(ctx, name, int32(n)))
		default:
			fmt.Println("try", name, 0, n)
			n = 0
			check(e.DeleteTopic(ctx, name))
		}
		fmt.Println("ack", name, n)
		if n > 0 {
			q := model.ProduceRequest{Topic: name, Acks: 1, Records: []model.ProduceRecord{{Value: []byte("v"), Partition: int32(r.IntN(n))}}}
			_, err := e.Produce(ctx, q)
			check(err)
		}
	}
}

// TestKillTopics kills a process that changes topics again and again, at any moment. A topic is whole or not there at all, as
// it was before the step that was cut short or as it was to be after it, and never anything else.
func TestKillTopics(t *testing.T) {
	dir := t.TempDir()
	store := fileConfigs{filepath.Join(dir, "configs.json")}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 4))
	sizes := map[string]int{}
	acked := 0
	for round := range *killRounds {
		cmd, out := child(t, "topics", dir, strconv.Itoa(round))
		var kill *time.Timer
		trying, could := "", 0
		for out.Scan() {
			f := strings.Fields(out.Text())
			switch f[0] {
			case "ready":
				kill = time.AfterFunc(time.Duration(r.Int64N(int64(80*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			case "try":
				trying = f[1]
				could, _ = strconv.Atoi(f[2])
			case "ack":
				sizes[f[1]], _ = strconv.Atoi(f[2])
				trying = ""
				acked++
			default:
				t.Fatalf("round %d: %s", round, out.Text())
			}
		}
		if kill != nil {
			kill.Stop()
		}
		_ = cmd.Wait() // it was killed
		e, err := Open([]string{dir}, Options{Configs: store})
		if err != nil {
			t.Fatal(err)
		}
		configs, err := store.Load()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			name := fmt.Sprintf("t%d", i)
			n := len(liveFolders(t, dir, name))
			if n != sizes[name] && (name != trying || n != could) {
				t.Errorf("round %d: topic %s has %d folders, want %d; being made of it: %v %d", round, name, n, sizes[name], name == trying, could)
			}
			if got := e.PartitionCount(name); got != n {
				t.Errorf("round %d: topic %s has %d partitions and %d folders", round, name, got, n)
			}
			if _, kept := configs[name]; kept != (n > 0) {
				t.Errorf("round %d: topic %s of %d partitions: configs kept: %v", round, name, n, kept)
			}
			id, _ := e.TopicID(name)
			for p := range n {
				b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s-%d", name, p), layout.PartitionMetaFile))
				if got, perr := layout.ParsePartitionMeta(b); err != nil || perr != nil || got != id {
					t.Errorf("round %d: %s-%d: id %v, want %v, errors %v, %v", round, name, p, got, id, err, perr)
				}
			}
			sizes[name] = n
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds, %d steps acknowledged", *killRounds, acked)
	if acked == 0 {
		t.Error("no step was acknowledged in any round")
	}
}

// TestTopicsAtOnce has many make, grow, change, delete and write topics of the same names at once. Afterwards the folders are
// those of the topics that are there.
func TestTopicsAtOnce(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{Configs: keptConfigs{}}, dir)
	ctx := t.Context()
	var wg sync.WaitGroup
	var steps [5]atomic.Int64
	may := func(i int, err error) {
		for _, ok := range []error{nil, model.ErrNoTopic, model.ErrNoPartition, model.ErrExists, model.ErrClosed, model.ErrInvalid} {
			if errors.Is(err, ok) {
				if err == nil {
					steps[i].Add(1)
				}
				return
			}
		}
		t.Errorf("step %d: %v", i, err)
	}
	for w := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 5))
			for range 60 {
				name := fmt.Sprintf("t%d", r.IntN(3))
				switch i := r.IntN(5); i {
				case 0:
					may(i, e.CreateTopic(ctx, model.TopicSpec{Name: name, Partitions: 1 + r.Int32N(3)}))
				case 1:
					may(i, e.GrowTopic(ctx, name, 1+r.Int32N(6)))
				case 2:
					may(i, e.AlterTopic(ctx, name, []model.ConfigChange{{Name: "segment.bytes", Value: strconv.Itoa(1000 + r.IntN(9))}}))
				case 3:
					may(i, errors.Join(e.DeleteTopics(ctx, []string{name, "none"})[0]))
				case 4:
					_, err := e.Produce(ctx, model.ProduceRequest{Topic: name, Acks: 1, Records: []model.ProduceRecord{{Value: []byte("v"), Partition: r.Int32N(3)}}})
					may(i, err)
				}
				e.TopicID(name)
				e.Facts(name)
			}
		})
	}
	wg.Wait()
	for i := range 3 {
		name := fmt.Sprintf("t%d", i)
		if n, folders := e.PartitionCount(name), liveFolders(t, dir, name); n != len(folders) {
			t.Errorf("topic %s has %d partitions and the folders %q", name, n, folders)
		}
	}
	for i := range steps {
		if steps[i].Load() == 0 {
			t.Errorf("no step of kind %d came off", i)
		}
	}
}

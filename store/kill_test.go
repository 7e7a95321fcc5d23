package store

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

var killRounds = flag.Int("kill.rounds", 6, "how often the appending child of TestKill is killed")

const killPartitions = 3

// appendChild appends to a directory for ever, in sizes and codecs by chance, and tells of each record what it is about
// to write and what was acknowledged, until it is killed.
func appendChild() {
	seed, err := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	e, err := Open(os.Args[1:2], Options{Writers: 2, FlushEvery: time.Millisecond, CheckpointEvery: 3 * time.Millisecond, HighWaterEvery: 2 * time.Millisecond})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for _, n := range e.Notices() {
		fmt.Println("notice", n)
	}
	if len(e.Topics()) == 0 {
		spec := model.TopicSpec{Name: "t", Partitions: killPartitions}
		for k, v := range map[string]string{"segment.bytes": "20000", "index.interval.bytes": "300", "flush.ms": "5", "segment.index.bytes": "600"} {
			spec.Configs = append(spec.Configs, model.ConfigChange{Name: k, Value: v})
		}
		if err := e.CreateTopic(context.Background(), spec); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	codecs := []string{"none", "gzip", "snappy", "lz4", "zstd"}
	fmt.Println("ready")
	for i := 0; ; i++ {
		p := r.Int32N(killPartitions)
		q := model.ProduceRequest{Topic: "t", Codec: codecs[r.IntN(len(codecs))], Acks: -1}
		for range 1 + r.IntN(20) {
			v := fmt.Sprintf("%d.%d.%d.%s", seed, i, len(q.Records), strings.Repeat("x", r.IntN(200)))
			q.Records = append(q.Records, model.ProduceRecord{Value: []byte(v), Partition: p})
		}
		var b strings.Builder
		fmt.Fprintf(&b, "try %d", p)
		for _, rec := range q.Records {
			b.WriteString(" " + string(rec.Value))
		}
		fmt.Println(b.String())
		out, err := e.Produce(context.Background(), q)
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("ack", p, out[0].Offset, len(out))
	}
}

// TestKill kills an appending process again and again, at any moment. What it acknowledged is there, at its offset;
// what is there beyond it was about to be written; and the directory is whole when it is opened again.
func TestKill(t *testing.T) {
	var dir string
	var kept [][]string
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	acked := 0
	for round := range *killRounds {
		if round%10 == 0 { // anew, so that long runs do not spend their time in reading ever more
			if dir != "" {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			dir, kept = t.TempDir(), make([][]string, killPartitions)
		}
		tried, n := runAndKill(t, dir, round, time.Duration(r.Int64N(int64(60*time.Millisecond))), kept)
		acked += n
		for p := range int32(killPartitions) {
			if !exists(filepath.Join(dir, fmt.Sprintf("t-%d", p))) {
				continue
			}
			checkKilled(t, dir, p, &kept[p], tried[p])
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d rounds, %d requests acknowledged", *killRounds, acked)
	if acked == 0 {
		t.Error("nothing was acknowledged in any round")
	}
}

// checkKilled opens what the killed process left, and compares.
func checkKilled(t *testing.T, dir string, p int32, kept *[]string, tried []string) {
	t.Helper()
	e, err := Open([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range e.Notices() {
		if !strings.Contains(n, "torn batch") && !strings.Contains(n, ".deleted") {
			t.Errorf("notice %q: more than a torn tail", n)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	got := values(t, dir, tp("t", p))
	if len(got) < len(*kept) {
		t.Errorf("partition %d: %d records, %d were acknowledged", p, len(got), len(*kept))
		return
	}
	for i, v := range *kept {
		if got[i] != v {
			t.Errorf("partition %d offset %d: %q, acknowledged was %q", p, i, got[i], v)
			return
		}
	}
	// A request that was not acknowledged may be there, whole or in part, and nothing else.
	rest := got[len(*kept):]
	if len(rest) > len(tried) {
		t.Errorf("partition %d: %d records nobody wrote", p, len(rest)-len(tried))
		return
	}
	for i, v := range rest {
		if v != tried[i] {
			t.Errorf("partition %d: %q, about to be written was %q", p, v, tried[i])
			return
		}
	}
	*kept = got
}

// runAndKill runs the child, kills it so long after it is ready, and notes what it acknowledged in kept. It returns what
// was about to be written, by partition, and how many requests were acknowledged.
func runAndKill(t *testing.T, dir string, round int, after time.Duration, kept [][]string) (tried [killPartitions][]string, acked int) {
	t.Helper()
	c, out := child(t, "append", dir, strconv.Itoa(round))
	out.Buffer(nil, 1<<20)
	var kill *time.Timer
	for out.Scan() {
		word, rest, _ := strings.Cut(out.Text(), " ")
		f := strings.Fields(rest)
		switch word {
		case "ready":
			kill = time.AfterFunc(after, func() { _ = c.Process.Kill() })
			defer kill.Stop()
		case "try":
			p, err := strconv.Atoi(f[0])
			if err != nil {
				t.Fatal(err)
			}
			tried[p] = f[1:]
		case "ack":
			var p, first, n int
			if k, err := fmt.Sscan(rest, &p, &first, &n); k != 3 {
				continue // cut off by the kill
			} else if err != nil {
				t.Fatal(err)
			}
			if first != len(kept[p]) || n != len(tried[p]) {
				t.Errorf("partition %d: %d records acknowledged at %d, expected %d at %d", p, n, first, len(tried[p]), len(kept[p]))
			}
			kept[p] = append(kept[p], tried[p]...)
			tried[p] = nil
			acked++
		case "error":
			t.Errorf("the child says %s", rest)
		}
	}
	_ = c.Wait() // it was killed
	return tried, acked
}

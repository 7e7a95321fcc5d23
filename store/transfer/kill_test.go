package transfer_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/logdir"
	"github.com/strata-kafka/strata/store/remote"
	"github.com/strata-kafka/strata/store/transfer"
)

// childEnv makes the test's own program one that copies: FROM|TO|JOURNAL.
const childEnv = "STRATA_TEST_COPY"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := child(strings.Split(job, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child copies, and prints a line for every batch.
func child(job []string) error {
	src, err := logdir.Open([]string{job[0]}, logdir.Options{Still: true, Embedded: true})
	if err != nil {
		return err
	}
	c, err := remote.OpenCluster(context.Background(), []string{job[1]}, remote.Options{Still: true})
	if err != nil {
		return err
	}
	cp := transfer.New(transfer.Side{Reader: src, Name: job[0]}, transfer.Target{Side: transfer.Side{Reader: c, Name: job[1]}, Writer: c}, transfer.Options{Journal: job[2]})
	p, err := cp.Plan(context.Background(), model.CopyQuery{Topics: []string{"t"}, Configs: true, Resume: true})
	if err != nil {
		return err
	}
	res, err := cp.Apply(context.Background(), p, func(e model.CopyEvent) { fmt.Println(e.Phase, e.Records) })
	if err != nil {
		return err
	}
	if res.Bad() {
		return fmt.Errorf("not the same: %+v", res)
	}
	return nil
}

// many makes a source with a topic of many batches.
func many(t testing.TB, rounds int) broker {
	t.Helper()
	a := start(t, t.TempDir())
	must(t, a.CreateTopic(t.Context(), model.TopicSpec{Name: "t", Partitions: 2, Configs: []model.ConfigChange{{Name: "retention.ms", Value: "-1"}}}))
	for n := range rounds {
		fill(t, a, "t", int32(n%2), 1+n%7, n, []string{"none", "lz4", "zstd"}[n%3])
	}
	return a
}

// TestKilled kills a copy again and again, by kill -9 and wherever it is, and resumes it: in the end every record is there
// once, in its order. Half of the time the journal is lost as well.
func TestKilled(t *testing.T) {
	a := many(t, 600)
	src := files(t, true, a.dir)
	kills := 0
	for round := range 4 {
		b := start(t, t.TempDir())
		journal := filepath.Join(t.TempDir(), "journal")
		rnd := rand.New(rand.NewPCG(7, uint64(round)))
		for done := false; !done; {
			done = run(t, []string{a.dir, b.Address(), journal}, 1+rnd.IntN(400))
			if !done {
				kills++
			}
			if !done && round%2 == 1 {
				must(t, os.RemoveAll(journal))
			}
		}
		out := files(t, true, b.dir)
		for p := range int32(2) {
			tp := model.TopicPartition{Topic: "t", Partition: p}
			if n := equal(t, src, out, tp, tp); n == 0 {
				t.Error("there was nothing to copy")
			}
		}
		left, err := filepath.Glob(filepath.Join(journal, "*"))
		must(t, err)
		if len(left) > 0 {
			t.Errorf("the journal still holds %v", left)
		}
	}
	if kills < 4 {
		t.Errorf("only %d copies were killed", kills)
	}
}

// run runs a child and kills it after so many lines; of copying; it reports whether the child was done before that.
func run(t *testing.T, job []string, lines int) (done bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(job, "|"))
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	s := bufio.NewScanner(out)
	for s.Scan() {
		if !strings.HasPrefix(s.Text(), string(model.CopyCopies)) {
			continue // the other phases begin from the beginning again: it would never come to an end
		}
		if lines--; lines == 0 {
			must(t, cmd.Process.Kill())
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case errors.As(err, &exit) && !exit.Exited():
		return false
	}
	t.Fatalf("%v: %s", err, said.String())
	return false
}

// flaky is a writer that loses requests, or the answers to them.
type flaky struct {
	transfer.Writer
	mu  sync.Mutex
	rnd *rand.Rand
}

type lost struct{}

func (lost) Error() string { return "lost" }
func (lost) Again() bool   { return true }

func (f *flaky) SendBatch(ctx context.Context, tp model.TopicPartition, batch []byte) func() (int64, error) {
	f.mu.Lock()
	dice := f.rnd.IntN(12)
	f.mu.Unlock()
	gone := func() (int64, error) { return model.Unknown, lost{} }
	if dice == 0 {
		return gone // it never left
	}
	answer := f.Writer.SendBatch(ctx, tp, batch)
	if dice == 1 { // it has arrived, and nobody knows
		return func() (int64, error) {
			if _, err := answer(); err != nil {
				return model.Unknown, err
			}
			return gone()
		}
	}
	return answer
}

// TestLossy copies over a network that loses requests and answers.
func TestLossy(t *testing.T) {
	a := many(t, 300)
	b := start(t, t.TempDir())
	src := files(t, true, a.dir)
	target := to(b.cluster)
	target.Writer = &flaky{Writer: b.cluster, rnd: rand.New(rand.NewPCG(1, 2))}
	good(t, transferred(t, src, target, model.CopyQuery{Topics: []string{"t"}, Configs: true}, transfer.Options{Patience: 1000}))
	out := files(t, true, b.dir)
	for p := range int32(2) {
		tp := model.TopicPartition{Topic: "t", Partition: p}
		equal(t, src, out, tp, tp)
	}
}

// late is a writer that loses the first request to each partition.
type late struct {
	transfer.Writer
	mu   sync.Mutex
	seen map[model.TopicPartition]bool
}

func (l *late) SendBatch(ctx context.Context, tp model.TopicPartition, batch []byte) func() (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen[tp] {
		l.seen[tp] = true
		return func() (int64, error) { return model.Unknown, lost{} }
	}
	return l.Writer.SendBatch(ctx, tp, batch)
}

// TestFirstLost loses the first batch: no later one may take its place, though a broker takes any sequence of a producer that
// it does not know.
func TestFirstLost(t *testing.T) {
	a := many(t, 40)
	b := start(t, t.TempDir())
	src := files(t, true, a.dir)
	target := to(b.cluster)
	target.Writer = &late{Writer: b.cluster, seen: map[model.TopicPartition]bool{}}
	good(t, transferred(t, src, target, model.CopyQuery{Topics: []string{"t"}, Configs: true}, transfer.Options{}))
	out := files(t, true, b.dir)
	for p := range int32(2) {
		tp := model.TopicPartition{Topic: "t", Partition: p}
		equal(t, src, out, tp, tp)
	}
}

// TestIntruder has somebody else write to the topic while it is copied: the copy ends, and says so.
func TestIntruder(t *testing.T) {
	a := many(t, 100)
	b := start(t, t.TempDir())
	target := to(b.cluster)
	target.Writer = &intruder{Writer: b.cluster, b: b, t: t}
	c := transfer.New(transfer.Side{Reader: files(t, true, a.dir), Name: "here"}, target, transfer.Options{})
	p, err := c.Plan(t.Context(), model.CopyQuery{Topics: []string{"t"}})
	must(t, err)
	if _, err := c.Apply(t.Context(), p, nil); !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), "somebody else writes") {
		t.Errorf("Apply returns %v", err)
	}
}

// intruder appends a record of its own before the tenth batch.
type intruder struct {
	transfer.Writer
	b  broker
	t  *testing.T
	mu sync.Mutex
	n  int
}

func (i *intruder) SendBatch(ctx context.Context, tp model.TopicPartition, batch []byte) func() (int64, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.n++; i.n == 10 {
		fill(i.t, i.b, tp.Topic, tp.Partition, 1, 1, "none")
	}
	return i.Writer.SendBatch(ctx, tp, batch)
}

package logdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/strata-kafka/strata/model"
)

// Verify implements model.Verifier. Two partitions are checked at a time; faults are told partition by partition, in
// order.
func (d *Dir) Verify(ctx context.Context, q model.VerifyQuery, tell func(model.VerifyEvent)) (model.VerifySummary, error) {
	var sum model.VerifySummary
	if err := d.begin(ctx); err != nil {
		return sum, err
	}
	list, err := d.toVerify(q)
	if err != nil {
		return sum, err
	}
	run := &verifyRun{seg: q.Segment, jobs: make([]verifyJob, len(list)), step: make(chan verifyStep, walkers)}
	d.mu.Lock()
	for i, p := range list {
		run.advance(&run.jobs[i], 0, p.sums.bytes)
	}
	d.mu.Unlock()
	if q.Topic == "" {
		d.verifyRoots(&sum, tell)
	}
	ctx, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	workers.Go(func() {
		defer close(run.step)
		// Why it ended early is in ctx.
		_ = twice(ctx, len(list), func(i int) { run.check(ctx, d, i, list[i]) })
	})
	told := 0
	for step := range run.step {
		run.progress(step.i, tell)
		if step.done || step.i == told {
			told = run.flush(told, tell)
		}
	}
	run.flush(told, tell)
	for i := range run.jobs {
		sum = addSummary(sum, run.jobs[i].sum)
		if e := run.jobs[i].err; e != nil && err == nil && ctx.Err() == nil {
			err = fmt.Errorf("check %s: %w", list[i].tp, e)
		}
	}
	if cerr := ctx.Err(); cerr != nil {
		return sum, cerr
	}
	return sum, err
}

// toVerify returns the parts that a query names.
func (d *Dir) toVerify(q model.VerifyQuery) ([]*part, error) {
	if q.Topic != "" && q.Partition >= 0 {
		p, err := d.find(model.TopicPartition{Topic: q.Topic, Partition: q.Partition})
		return []*part{p}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if q.Topic != "" && d.topics[q.Topic] == nil {
		return nil, model.NotFound(model.ErrNoTopic, q.Topic, d.names())
	}
	var list []*part
	for _, p := range d.parts {
		if p.state == model.Live && (q.Topic == "" || p.tp.Topic == q.Topic) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *part) int { return a.tp.Compare(b.tp) })
	return list, nil
}

// verifyRoots tells of the log directories' own files.
func (d *Dir) verifyRoots(sum *model.VerifySummary, tell func(model.VerifyEvent)) {
	for _, r := range d.roots {
		o := model.DirOverview{Path: r.path}
		d.metaFacts(r, &o)
		d.stopFacts(r, &o)
		for _, name := range checkpoints() {
			d.checkpointFact(r, name, &o)
			sum.Files++
		}
		for i := range o.Faults {
			sum.Warnings++
			tell(model.VerifyEvent{Fault: &o.Faults[i]})
		}
	}
}

// verifyRun is a running check.
type verifyRun struct {
	seg  int64
	step chan verifyStep

	mu    sync.Mutex
	jobs  []verifyJob
	bytes int64 // of all jobs: there may be tens of thousands
	all   int64
}

// verifyStep says that the check of a part has come on, or is done.
type verifyStep struct {
	i    int
	done bool
}

// verifyJob is what is known of the check of one part.
type verifyJob struct {
	faults []model.Fault
	bytes  int64 // read
	all    int64 // to be read
	at     string
	done   bool
	sum    model.VerifySummary
	err    error
}

// check checks one part, on a worker's goroutine.
func (v *verifyRun) check(ctx context.Context, d *Dir, i int, p *part) {
	view, err := d.look(ctx, p)
	var sum model.VerifySummary
	var file *fs.PathError
	if ctx.Err() == nil && errors.As(err, &file) && !gone(err) {
		f := model.Fault{TP: p.tp, File: p.name, Position: model.Unknown, Offset: model.Unknown, Kind: "read", What: err.Error(), Severity: model.SevDamage}
		v.mu.Lock()
		v.jobs[i].faults = append(v.jobs[i].faults, f)
		v.mu.Unlock()
		sum.Damage, err = 1, nil
	} else if err == nil {
		sum, err = view.Verify(ctx, v.seg, func(e model.VerifyEvent) {
			v.mu.Lock()
			j := &v.jobs[i]
			if e.Fault != nil {
				j.faults = append(j.faults, *e.Fault)
			}
			v.advance(j, e.BytesDone, max(j.all, e.BytesAll))
			j.at = e.At
			v.mu.Unlock()
			select {
			case v.step <- verifyStep{i: i}:
			default: // the teller has enough to tell
			}
		})
	}
	v.mu.Lock()
	j := &v.jobs[i]
	j.done, j.sum, j.err = true, sum, err
	v.advance(j, sum.Bytes, sum.Bytes)
	if j.at == "" {
		j.at = p.name
	}
	v.mu.Unlock()
	select {
	case v.step <- verifyStep{i, true}:
	case <-ctx.Done():
	}
}

// progress tells how far the check has come.
func (v *verifyRun) progress(i int, tell func(model.VerifyEvent)) {
	v.mu.Lock()
	e := v.event(v.jobs[i].at)
	v.mu.Unlock()
	tell(e)
}

// advance notes how far a job has come. v.mu is held.
func (v *verifyRun) advance(j *verifyJob, bytes, all int64) {
	all = max(all, bytes)
	v.bytes += bytes - j.bytes
	v.all += all - j.all
	j.bytes, j.all = bytes, all
}

// event says how far all has come. v.mu is held.
func (v *verifyRun) event(at string) model.VerifyEvent {
	return model.VerifyEvent{At: at, BytesDone: v.bytes, BytesAll: v.all}
}

// flush tells the faults of the parts from number first on that are done, up to the first that is not, whose faults
// it tells as far as they are known. It returns that one's number.
func (v *verifyRun) flush(first int, tell func(model.VerifyEvent)) int {
	for ; first < len(v.jobs); first++ {
		v.mu.Lock()
		j := &v.jobs[first]
		faults, done, e := j.faults, j.done, v.event(j.at)
		j.faults = nil
		v.mu.Unlock()
		for i := range faults {
			e.Fault = &faults[i]
			tell(e)
		}
		if !done {
			break
		}
	}
	return first
}

func addSummary(a, b model.VerifySummary) model.VerifySummary {
	return model.VerifySummary{
		Files: a.Files + b.Files, Batches: a.Batches + b.Batches, Records: a.Records + b.Records, Bytes: a.Bytes + b.Bytes,
		Damage: a.Damage + b.Damage, Warnings: a.Warnings + b.Warnings, Infos: a.Infos + b.Infos,
	}
}

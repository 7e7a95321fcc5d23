package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/strata-kafka/strata/model"
)

// maxFaults is how many damaged places are told one by one.
const maxFaults = 1000

// job is one plan being applied.
type job struct {
	*Copy
	plan  model.CopyPlan
	w     Writer
	parts []*part
	store buffers
	// journals are the files that keep the producers.
	journals []string
	res      model.CopyResult

	mu    sync.Mutex // guards what follows, res.Faults, and the calls of tell
	tell  func(model.CopyEvent)
	event model.CopyEvent
}

// part is a partition of a job.
type part struct {
	from, to model.TopicPartition
	plan     model.CopyPartition
	producer *producer // of its topic
	m        offsetMap
	at       int64 // offset on the source to go on from
	keeps    int64 // ms, its topic's retention.ms to be; negative: it does not matter, or is not known
	old      int64 // records in batches that are older than that
	res      model.CopiedPartition
}

// Apply implements model.Copier.
func (c *Copy) Apply(ctx context.Context, p model.CopyPlan, tell func(model.CopyEvent)) (model.CopyResult, error) {
	fail := func(err error) error { return fmt.Errorf("copy to %s: %w", c.to.Name, err) }
	w, err := c.writer()
	if err != nil {
		return model.CopyResult{}, err
	}
	if p.Refuse != "" {
		return model.CopyResult{}, fail(fmt.Errorf("%w: %s", model.ErrRefused, p.Refuse))
	}
	j := &job{Copy: c, plan: p, w: w, tell: tell}
	if err := j.prepare(ctx); err != nil {
		return j.res, fail(err)
	}
	steps := []func(context.Context) error{j.check, j.copy}
	if !p.Query.Unverified {
		steps = append(steps, j.verify)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return j.result(), fail(err)
		}
	}
	j.result()
	if !j.res.Differs() {
		if err := j.finish(ctx); err != nil {
			return j.res, fail(err)
		}
	}
	return j.res, nil
}

// prepare makes the topics and the producers.
func (j *job) prepare(ctx context.Context) error {
	for i := range j.plan.Topics {
		t := &j.plan.Topics[i]
		if t.Create {
			if err := j.create(ctx, t); err != nil {
				return err
			}
		}
		p, err := j.producer(ctx, t)
		if err != nil {
			return err
		}
		ms := j.retention(ctx, t)
		for _, cp := range t.Partitions {
			q := &part{plan: cp, producer: p, at: cp.From, keeps: ms, m: offsetMap{start: cp.Start, end: cp.Start},
				from: model.TopicPartition{Topic: t.From, Partition: cp.Partition}, to: model.TopicPartition{Topic: t.To, Partition: cp.Partition}}
			q.res.From, q.res.To = q.from, q.to
			j.parts = append(j.parts, q)
		}
	}
	return nil
}

// create makes a topic with the configs that it is filled with.
func (j *job) create(ctx context.Context, t *model.CopyTopic) error {
	spec := model.TopicSpec{Name: t.To, Partitions: int32(len(t.Partitions))}
	for _, w := range windows() {
		spec.Configs = append(hold(t.Configs), w...)
		if _, err := j.w.CheckTopic(ctx, spec); err == nil || !refusal(err) {
			break // what is wrong then CreateTopic tells
		}
	}
	if err := j.w.CreateTopic(ctx, spec); err != nil {
		return err
	}
	j.res.Topics = append(j.res.Topics, t.To)
	return nil
}

// result sums up what was done.
func (j *job) result() model.CopyResult {
	j.res.Partitions = nil
	for _, p := range j.parts {
		p.res.Records = p.m.end - p.m.start
		j.res.Partitions = append(j.res.Partitions, p.res)
	}
	return j.res
}

// begin begins a phase, in which so many offsets are gone through.
func (j *job) begin(phase model.CopyPhase, all int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.event = model.CopyEvent{Phase: phase, All: all}
	j.say()
}

func (j *job) say() {
	if j.tell != nil {
		j.tell(j.event)
	}
}

// passed tells of records of the source that are done with, up to an offset.
func (j *job) passed(b *batch, n int64, at *int64, next int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.event.Records += n
	j.event.Bytes += int64(b.lain)
	j.event.Done += max(0, next-*at)
	*at = max(*at, next)
	j.say()
}

// fault keeps what is damaged on the source.
func (j *job) fault(f model.Fault) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.res.Faults) < maxFaults {
		j.res.Faults = append(j.res.Faults, f)
	}
}

// check compares what an earlier copy has written with the source, and finds where to go on.
func (j *job) check(ctx context.Context) error {
	var parts []*part
	all := int64(0)
	for _, p := range j.parts {
		if p.plan.End > p.plan.Start {
			parts = append(parts, p)
			all += p.plan.End - p.plan.Start
		}
	}
	if len(parts) == 0 {
		return nil
	}
	j.begin(model.CopyChecks, all)
	err := each(ctx, j.o.Parallel, len(parts), func(ctx context.Context, i int) error { return j.checkPart(ctx, parts[i]) })
	for _, p := range parts {
		j.res.Before += p.m.end - p.m.start
	}
	return err
}

func (j *job) checkPart(ctx context.Context, p *part) error {
	from := cursor{stream: open(ctx, j.from, model.ScanQuery{TP: p.from, From: p.plan.From, To: p.plan.To, Fault: j.fault}, &j.store)}
	defer from.close()
	to := cursor{stream: open(ctx, j.to, model.ScanQuery{TP: p.to, From: p.plan.Start, To: p.plan.End}, &j.store)}
	defer to.close()
	at := p.plan.From
	c := comparison{from: &from, to: &to, sum: newChecksum(), next: p.at, passed: func(b *batch, n int64) {
		p.m.add(b, n)
		j.aged(p, b, n)
		j.passed(b, n, &at, at+n)
	}}
	differ, err := c.run(ctx)
	if err == nil && differ == "" && p.m.end != p.plan.End {
		differ = fmt.Sprintf("it holds %d records in %d offsets", p.m.end-p.m.start, p.plan.End-p.plan.Start)
	}
	if err == nil && differ != "" {
		err = fmt.Errorf("%w: %s is not what an earlier copy has left: %s", model.ErrRefused, p.to, differ)
	}
	p.at = c.next
	return err
}

// copy sends what is not there yet.
func (j *job) copy(ctx context.Context) error {
	all := int64(0)
	for _, p := range j.parts {
		all += max(0, p.plan.To-p.at)
	}
	j.begin(model.CopyCopies, all)
	err := each(ctx, j.o.Parallel, len(j.parts), func(ctx context.Context, i int) error { return j.copyPart(ctx, j.parts[i]) })
	j.res.Records, j.res.Bytes = j.event.Records, j.event.Bytes
	return err
}

func (j *job) copyPart(ctx context.Context, p *part) error {
	src := open(ctx, j.from, model.ScanQuery{TP: p.from, From: p.at, To: p.plan.To, Fault: j.fault}, &j.store)
	defer src.close()
	l := lane{c: j.Copy, w: j.w, tp: p.to, producer: p.producer, m: &p.m, store: &j.store, landed: func(b *batch) {
		if b.recoded {
			p.res.Recoded++
		}
		j.aged(p, b, b.n)
		j.passed(b, b.n, &p.at, b.next)
	}}
	return l.run(ctx, src)
}

// verify reads both sides and compares them.
func (j *job) verify(ctx context.Context) error {
	all := int64(0)
	for _, p := range j.parts {
		all += max(0, p.plan.To-p.plan.From)
	}
	j.begin(model.CopyVerifies, all)
	return each(ctx, j.o.Parallel, len(j.parts), func(ctx context.Context, i int) error { return j.verifyPart(ctx, j.parts[i]) })
}

func (j *job) verifyPart(ctx context.Context, p *part) error {
	start, _, err := j.from.ScanBounds(ctx, p.from)
	if err != nil {
		return err
	}
	_, end, err := j.to.ScanBounds(ctx, p.to)
	if err != nil {
		return err
	}
	begin, there := p.plan.From, p.m.start
	if start > begin { // the source has deleted some since they were copied
		begin, there = min(start, p.plan.To), p.m.at(start)
		if there > p.m.start {
			j.notice(fmt.Sprintf("%s: %d records could not be compared: the source has deleted them meanwhile", p.to, there-p.m.start))
		}
	}
	from := cursor{stream: open(ctx, j.from, model.ScanQuery{TP: p.from, From: begin, To: p.plan.To}, &j.store)}
	defer from.close()
	to := cursor{stream: open(ctx, j.to, model.ScanQuery{TP: p.to, From: there, To: max(end, p.m.end)}, &j.store)}
	defer to.close()
	at := p.plan.From
	c := comparison{from: &from, to: &to, sum: newChecksum(), passed: func(b *batch, n int64) { j.passed(b, n, &at, b.next) }}
	differ, err := c.run(ctx)
	if err == nil && differ == "" {
		differ, err = c.ended(ctx)
	}
	if err != nil {
		return err
	}
	p.res.Differ, p.res.Checksum, p.res.Verified = differ, c.sum.sum, differ == ""
	return nil
}

func (j *job) notice(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.res.Notes = append(j.res.Notes, s)
}

// retention returns for how long (ms) a topic will keep records; negative: for ever, or it is not known, or it is so already.
func (j *job) retention(ctx context.Context, t *model.CopyTopic) int64 {
	have, err := j.to.TopicConfig(ctx, t.To)
	if err != nil || !held(have) {
		return -1
	}
	// It is no error where the other side does not tell: what it will do is what its topics do.
	will, _ := j.w.CheckTopic(ctx, model.TopicSpec{Name: checkName(t.To), Partitions: 1, Configs: t.Configs})
	return keeps(will)
}

// aged counts the first n records of a batch where they are older than the retention.
func (j *job) aged(p *part, b *batch, n int64) {
	if p.keeps >= 0 && b.newest >= 0 && b.newest < j.o.Now()-p.keeps {
		p.old += n
	}
}

// expired tells of records that a topic's retention is about to delete. Where that is all of a partition, the topic is to be
// kept without retention: a broker that runs would have deleted it on the source as well, and where none does, nobody has
// asked for that.
func (j *job) expired(t *model.CopyTopic) (keep bool) {
	old, whole, ms := int64(0), 0, int64(0)
	for _, p := range j.parts {
		if p.to.Topic == t.To && p.old > 0 {
			old += p.old
			ms = p.keeps
			if p.old == p.m.end-p.m.start {
				whole++
			}
		}
	}
	switch {
	case whole > 0:
		j.notice(fmt.Sprintf("%s is kept without retention: %s=%d would delete %d records at once, and all of %s; strata topic alter sets it", t.To, retentionMS, ms, old, plural(whole, "partition")))
	case old > 0:
		j.notice(fmt.Sprintf("%s: %d records are older than its retention (%s=%d), which deletes them soon", t.To, old, retentionMS, ms))
	}
	return whole > 0
}

// finish gives the topics that were made the configs that are to stay, and stores the groups' offsets.
func (j *job) finish(ctx context.Context) error {
	for i := range j.plan.Topics {
		t := &j.plan.Topics[i]
		have, err := j.to.TopicConfig(ctx, t.To)
		if err != nil {
			return err
		}
		if !t.Create && !held(have) {
			continue
		}
		changes := release(t.Configs, have)
		if j.expired(t) {
			changes = slices.DeleteFunc(changes, func(ch model.ConfigChange) bool { return ch.Name == retentionMS })
		}
		if err := j.w.AlterTopic(ctx, t.To, changes); err != nil {
			return errors.Join(err, fmt.Errorf("%s still has the configs that it was filled with", t.To))
		}
	}
	if len(j.plan.Groups) > 0 {
		j.begin(model.CopyGroups, int64(len(j.plan.Groups)))
		if err := j.groups(ctx); err != nil {
			return err
		}
	}
	j.forget()
	slices.Sort(j.res.Topics)
	return nil
}

// plural is a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

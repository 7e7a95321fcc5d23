package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

func (a *app) topicsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "topics",
		Short: "name, partitions, records, bytes, retention, groups, lag",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c, Look, a.topics)
		},
	}
}

func (a *app) topics(ctx context.Context, src model.Source) error {
	if err := a.count(ctx, src, nil); err != nil {
		return err
	}
	ts, err := src.Topics(ctx)
	if err != nil {
		return err
	}
	gs, err := exactGroups(ctx, src)
	if err != nil {
		a.warn("groups and lag are not known: " + err.Error())
	}
	readers, lags := groupFigures(gs)
	if a.opts.json {
		var o object
		for i := range ts {
			if _, err := a.out.Write(topicJSON(&o, &ts[i], readers[ts[i].Name], lags[ts[i].Name])); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "TOPIC", ">PARTITIONS", ">RECORDS", ">BYTES", "RETENTION", ">GROUPS", ">LAG", "NOTE")
	for _, x := range ts {
		lag := model.NoCount()
		if readers[x.Name] > 0 {
			lag = lags[x.Name]
		}
		if err := t.row(x.Name, strconv.Itoa(x.Partitions), count(x.Records), offset(x.Bytes), retention(x.Retention),
			strconv.Itoa(readers[x.Name]), count(lag), x.Note); err != nil {
			return err
		}
	}
	return t.flush()
}

// count makes counts exact. What cannot be read is told, and stays unknown in the listing that follows.
func (a *app) count(ctx context.Context, src model.Source, topics []string) error {
	counter, ok := src.(model.Counter)
	if !ok {
		return nil
	}
	// A cluster would have to send all that it holds.
	if info, err := src.Info(ctx); err != nil || info.Kind == model.Cluster {
		return err
	}
	err := counter.Count(ctx, topics)
	if err == nil || ctx.Err() != nil || errors.Is(err, model.ErrNoTopic) {
		return err
	}
	a.trouble(err)
	return nil
}

// unreadable reports whether an error is that of a file, so that there may be others to go on with.
func (a *app) unreadable(ctx context.Context, err error) bool {
	var file *fs.PathError
	return ctx.Err() == nil && errors.As(err, &file) && a.out.Flush() == nil // else it is stdout that fails
}

// trouble tells of a part of the answer that could not be had; the rest of it goes on.
func (a *app) trouble(err error) {
	a.code = exitWrong
	a.flush()
	fmt.Fprintln(a.io.Err, "strata: "+safeError(err))
}

// groupFigures returns for each topic how many groups read it, and the worst lag among them.
func groupFigures(gs []model.Group) (readers map[string]int, lags map[string]model.Count) {
	readers, lags = map[string]int{}, map[string]model.Count{}
	for i := range gs {
		sums := map[string]model.Count{}
		for _, o := range gs[i].Offsets {
			if o.Committed < 0 {
				continue
			}
			sum, seen := sums[o.Topic]
			if !seen {
				sum = model.NoCount()
			}
			sums[o.Topic] = sum.Add(o.Lag)
		}
		for topic, lag := range sums {
			readers[topic]++
			if worst, seen := lags[topic]; !seen || lag.N > worst.N {
				lags[topic] = lag
			}
		}
	}
	return readers, lags
}

func (a *app) partitionsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "partitions [TOPIC]",
		Short: "log start, high watermark, last stable, end, records, bytes, segments, leader",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error {
				if len(args) == 0 {
					args = nil // all
				}
				return a.partitions(ctx, src, args)
			})
		},
	}
}

func (a *app) partitions(ctx context.Context, src model.Source, topics []string) error {
	if err := a.count(ctx, src, topics); err != nil {
		return err
	}
	if topics == nil {
		ts, err := src.Topics(ctx)
		if err != nil {
			return err
		}
		for i := range ts {
			topics = append(topics, ts[i].Name)
		}
	}
	var o object
	var t *table
	if !a.opts.json {
		t = newTable(a.out, "PARTITION", ">START", ">HIGH WATERMARK", ">STABLE", ">END", ">RECORDS", ">BYTES", ">SEGMENTS", ">LEADER", "NOTE")
	}
	for _, topic := range topics {
		ps, err := src.Partitions(ctx, topic)
		if err != nil {
			return err
		}
		for i := range ps {
			p := &ps[i]
			if p.Err != nil {
				a.code = exitWrong
			}
			if a.opts.json {
				_, err = a.out.Write(partitionJSON(&o, p))
			} else {
				err = t.row(p.String(), offset(p.LogStart), offset(p.HighWatermark), offset(p.LastStable), offset(p.LogEnd),
					count(p.Records), offset(p.Bytes), offset(int64(p.Segments)), offset(int64(p.Leader)), partitionNote(p))
			}
			if err != nil {
				return err
			}
		}
	}
	if t != nil {
		return t.flush()
	}
	return nil
}

func partitionNote(p *model.Partition) string {
	var notes []string
	if p.State != model.Live {
		notes = append(notes, p.State.String())
	}
	if p.Err != nil {
		notes = append(notes, p.Err.Error())
	}
	if p.Leader >= 0 && len(p.ISR) < len(p.Replicas) {
		notes = append(notes, fmt.Sprintf("%d of %d in sync", len(p.ISR), len(p.Replicas)))
	}
	return strings.Join(notes, ": ")
}

func (a *app) segmentsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "segments TOPIC/P",
		Short: "base offset, last offset, records, batches, bytes, first and last time, state, leaves",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error { return a.segments(ctx, src, args[0]) })
		},
	}
}

func (a *app) segments(ctx context.Context, src model.Source, arg string) error {
	reader, err := ability[model.SegmentReader](src, "see segments")
	if err != nil {
		return err
	}
	tps, err := resolve(ctx, src, arg)
	if err != nil {
		return err
	}
	var o object
	var t *table
	if !a.opts.json {
		t = newTable(a.out, "PARTITION", ">BASE", ">LAST", ">RECORDS", ">BATCHES", ">BYTES", "FIRST", "LAST", "STATE", "LEAVES")
	}
	for _, tp := range tps {
		segs, err := countedSegments(ctx, reader, tp)
		if err != nil {
			return err
		}
		for i := range segs {
			s := &segs[i]
			if a.opts.json {
				_, err = a.out.Write(segmentJSON(&o, s))
			} else {
				err = t.row(tp.String(), number(s.Base), offset(s.Last), count(s.Records), count(s.Batches), number(s.Bytes),
					a.stamp(s.FirstTimestamp), a.stamp(s.LastTimestamp), string(s.State), a.leaves(s))
			}
			if err != nil {
				return err
			}
		}
	}
	if t != nil {
		return t.flush()
	}
	return nil
}

// countedSegments returns a partition's segments with their counts, which a listing leaves out where a segment is large:
// to ask for the last batch counts them.
func countedSegments(ctx context.Context, reader model.SegmentReader, tp model.TopicPartition) ([]model.Segment, error) {
	segs, err := reader.Segments(ctx, tp)
	if err != nil {
		return nil, err
	}
	again := false
	for i := range segs {
		s := &segs[i]
		if s.Err != nil || s.Records.State == model.CountExact && s.Batches.State == model.CountExact {
			continue
		}
		if _, err := reader.Batches(ctx, model.BatchQuery{TP: tp, Base: s.Base, First: math.MaxInt64, Max: 1}); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // it has gone, or cannot be read: its row says so
		}
		again = true
	}
	if !again {
		return segs, nil
	}
	return reader.Segments(ctx, tp)
}

func (a *app) leaves(s *model.Segment) string {
	if s.Leaves < 0 {
		return s.Rule
	}
	return a.stamp(s.Leaves) + " by " + s.Rule
}

func (a *app) batchesCmd() *cobra.Command {
	var from int64
	c := &cobra.Command{
		Use:   "batches TOPIC/P|FILE",
		Short: "one line a batch: position, offsets, count, codec, producer, flags, crc",
		Long: `batches prints one line a batch: position, offsets, count, codec, producer, flags, crc. Control batches and
those of aborted transactions are among them.

A cluster shows batches as Fetch gives them, not where they lie: there is no position then, and null with --json.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if from < 0 {
				return fmt.Errorf("%w --from %d: want an offset", model.ErrInvalid, from)
			}
			word, arg := a.fileOr(args[0])
			return a.withSource(c, word, Look, DirOptions{Still: true}, func(ctx context.Context, src model.Source) error { return a.batches(ctx, src, arg, from) })
		},
	}
	c.Flags().Int64Var(&from, "from", 0, "leave out batches that end before this offset")
	return c
}

// batchHeads are the columns of a batch.
var batchHeads = [...]string{">POSITION", ">BASE", ">LAST", ">COUNT", ">BYTES", "CODEC", "TIME", "PRODUCER", "KIND", "CRC"}

func (a *app) batches(ctx context.Context, src model.Source, arg string, from int64) error {
	if told, ok := src.(model.BatchLister); ok {
		if _, files := src.(model.SegmentReader); !files {
			return a.fetchedBatches(ctx, src, told, arg, from)
		}
	}
	reader, err := ability[model.SegmentReader](src, "see batches")
	if err != nil {
		return err
	}
	if arg == "" {
		if arg, err = theFile(src); err != nil {
			return err
		}
	}
	at, tps, err := resolveAt(ctx, src, arg)
	if err != nil {
		return err
	}
	var o object
	var t *table
	if !a.opts.json {
		t = newTable(a.out, batchHeads[:]...)
	}
	for _, tp := range tps {
		segs, err := reader.Segments(ctx, tp)
		if err != nil {
			return err
		}
		for _, s := range segs {
			if !wanted(&s, at.Segment) {
				continue
			}
			if err := a.segmentBatches(ctx, reader, tp, s.Base, from, &o, t); err != nil {
				if !a.unreadable(ctx, err) {
					return err
				}
				a.trouble(err)
			}
			if at.Segment >= 0 {
				break
			}
		}
	}
	if t != nil {
		return t.flush()
	}
	return nil
}

// wanted reports whether a segment is the one that an address names, or where it names none, part of the log.
func wanted(s *model.Segment, base int64) bool {
	if base >= 0 {
		return s.Base == base
	}
	return s.State == model.SegmentActive || s.State == model.SegmentSealed || s.State == model.SegmentSwap
}

func (a *app) segmentBatches(ctx context.Context, reader model.SegmentReader, tp model.TopicPartition, base, from int64, o *object, t *table) error {
	told := map[model.Fault]bool{}
	for first := int64(0); ; {
		page, err := reader.Batches(ctx, model.BatchQuery{TP: tp, Base: base, First: first, Max: 1000, Check: true})
		if err != nil {
			return err
		}
		for i := range page.Batches {
			b := &page.Batches[i]
			if b.Last >= 0 && b.Last < from {
				continue
			}
			if err := a.printBatch(b, o, t); err != nil {
				return err
			}
		}
		for _, f := range page.Faults { // what is no batch has no line
			if !told[f] {
				told[f] = true
				a.faults([]model.Fault{f})
			}
		}
		first = page.First + int64(len(page.Batches))
		if len(page.Batches) == 0 || page.Whole && first >= page.Total {
			return nil
		}
	}
}

// fileOr takes an argument that is an existing file for the source, and anything else for a place in the source of
// --source. A file whose name could be a place as well must be a .log.
func (a *app) fileOr(arg string) (word, place string) {
	if st, err := os.Stat(arg); err == nil && st.Mode().IsRegular() {
		if _, err := model.ParseAddress(arg); err != nil || strings.HasSuffix(arg, ".log") {
			return arg, ""
		}
	}
	return a.opts.source, arg
}

// theFile is the place that a source shows which was opened for one file.
func theFile(src model.Source) (string, error) {
	f, ok := src.(filer)
	if !ok || f.File().Topic == "" {
		return "", fmt.Errorf("%w: one file was expected", model.ErrInvalid)
	}
	return f.File().String(), nil
}

// resolveAt reads TOPIC, TOPIC/P or a deeper address, and returns the live partitions it means.
func resolveAt(ctx context.Context, src model.Source, arg string) (model.Address, []model.TopicPartition, error) {
	at, err := model.ParseAddress(arg)
	if err != nil {
		return at, nil, err
	}
	if at.Topic == "" {
		return at, nil, fmt.Errorf("%w place %q: want TOPIC or TOPIC/P", model.ErrInvalid, arg)
	}
	ps, err := src.Partitions(ctx, at.Topic)
	if err != nil {
		return at, nil, err
	}
	if at.Partition >= 0 {
		p, err := findPartition(ps, at.TP())
		if err != nil {
			return at, nil, err
		}
		return at, []model.TopicPartition{p.TopicPartition}, nil
	}
	var tps []model.TopicPartition
	for i := range ps {
		if ps[i].State == model.Live {
			tps = append(tps, ps[i].TopicPartition)
		}
	}
	if len(tps) == 0 {
		return at, nil, fmt.Errorf("%w: %s has no live partition here", model.ErrNoPartition, at.Topic)
	}
	return at, tps, nil
}

func resolve(ctx context.Context, src model.Source, arg string) ([]model.TopicPartition, error) {
	_, tps, err := resolveAt(ctx, src, arg)
	return tps, err
}

// one reads TOPIC/P.
func one(ctx context.Context, src model.Source, arg string) (model.TopicPartition, error) {
	at, tps, err := resolveAt(ctx, src, arg)
	if err != nil {
		return model.TopicPartition{}, err
	}
	if at.Partition < 0 && len(tps) > 1 {
		return model.TopicPartition{}, fmt.Errorf("%w place %q: %s has %d partitions; say which, as %s/0", model.ErrInvalid, arg, at.Topic, len(tps), at.Topic)
	}
	return tps[0], nil
}

func findPartition(ps []model.Partition, tp model.TopicPartition) (*model.Partition, error) {
	i := slices.IndexFunc(ps, func(p model.Partition) bool { return p.Partition == tp.Partition && p.State == model.Live })
	if i < 0 {
		i = slices.IndexFunc(ps, func(p model.Partition) bool { return p.Partition == tp.Partition })
	}
	if i < 0 {
		return nil, fmt.Errorf("%w: %s has no partition %d (it has %d of them here)", model.ErrNoPartition, tp.Topic, tp.Partition, len(ps))
	}
	return &ps[i], nil
}

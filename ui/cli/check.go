package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

func (a *app) verifyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [TOPIC[/P]|FILE]",
		Short: "check every length, checksum, offset and index; one line a fault",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			word, arg := a.opts.source, ""
			if len(args) == 1 {
				word, arg = a.fileOr(args[0])
			}
			return a.withSource(c, word, Look, DirOptions{Still: true}, func(ctx context.Context, src model.Source) error { return a.verify(ctx, src, arg) })
		},
	}
}

func (a *app) verify(ctx context.Context, src model.Source, arg string) error {
	v, err := ability[model.Verifier](src, "check files")
	if err != nil {
		return err
	}
	q := model.VerifyQuery{Partition: -1, Segment: model.Unknown}
	if file, err := theFile(src); arg == "" && err == nil {
		arg = file
	}
	if arg != "" {
		at, _, err := resolveAt(ctx, src, arg)
		if err != nil {
			return err
		}
		q.Topic, q.Partition, q.Segment = at.Topic, at.Partition, at.Segment
	}
	var o object
	var werr error
	meter := a.meter("checked")
	began := a.now()
	sum, err := v.Verify(ctx, q, func(e model.VerifyEvent) {
		if e.Fault == nil {
			meter.show(e.BytesDone, e.BytesAll)
			if werr == nil && a.io.OutTTY {
				werr = a.out.Flush()
			}
			return
		}
		meter.clear()
		var line []byte
		if a.opts.json {
			line = faultJSON(&o, e.Fault)
		} else {
			line = []byte(faultText(e.Fault) + "\n")
		}
		if _, err := a.out.Write(line); err != nil && werr == nil {
			werr = err
		}
	})
	meter.clear()
	if err == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	if sum.Damage > 0 {
		a.code = exitWrong
	}
	a.warn(fmt.Sprintf("%d files, %d batches, %d records, %d bytes checked in %s: %d damaged places, %d warnings, %d notes", sum.Files, sum.Batches, sum.Records,
		sum.Bytes, a.now().Sub(began).Round(time.Millisecond), sum.Damage, sum.Warnings, sum.Infos))
	return nil
}

// faultText is a fault in one line: severity, where, what, what follows.
func faultText(f *model.Fault) string {
	s := string(f.Severity) + ": "
	if f.TP.Topic != "" {
		s += safe(f.TP.String()) + ": "
	}
	s += safe(f.File)
	if f.Position >= 0 {
		s += ", byte " + number(f.Position)
	}
	if f.Offset >= 0 {
		s += ", offset " + number(f.Offset)
	}
	s += ": " + safe(f.What)
	if f.Follows != "" {
		s += "; " + safe(f.Follows)
	}
	return s
}

// meter shows progress on a terminal, at most ten times a second.
type meter struct {
	a    *app
	verb string
	last time.Time
	on   bool
}

func (a *app) meter(verb string) *meter { return &meter{a: a, verb: verb, last: a.now()} }

func (m *meter) show(done, all int64) {
	if !m.a.io.ErrTTY || m.a.now().Sub(m.last) < 100*time.Millisecond {
		return
	}
	m.last, m.on = m.a.now(), true
	percent := int64(100)
	if all > 0 {
		percent = done * 100 / all
	}
	fmt.Fprintf(m.a.io.Err, "\r%3d %% of %d MiB %s\x1b[K", percent, all>>20, m.verb)
}

func (m *meter) clear() {
	if m.on {
		fmt.Fprint(m.a.io.Err, "\r\x1b[K")
		m.on = false
	}
}

func (a *app) lookupCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "lookup TOPIC/P OFFSET|TIME",
		Short: "the steps by which an offset or a time is found: segments, index entries, bytes scanned",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error { return a.lookup(ctx, src, args[0], args[1]) })
		},
	}
}

func (a *app) lookup(ctx context.Context, src model.Source, place, what string) error {
	reader, err := ability[model.SegmentReader](src, "look up")
	if err != nil {
		return err
	}
	var t model.Target
	if n, perr := strconv.ParseInt(what, 10, 64); perr == nil && n >= 0 {
		t.Offset = n
	} else {
		t.ByTime = true
		if t.Time, err = model.ParseTime(what, a.now(), a.zone); err != nil {
			return fmt.Errorf("%w target %q: want an offset or a time", model.ErrInvalid, what)
		}
	}
	tp, err := one(ctx, src, place)
	if err != nil {
		return err
	}
	res, err := reader.Lookup(ctx, tp, t)
	if err != nil {
		return err
	}
	a.faults(res.Faults)
	if !res.Found {
		a.code = exitWrong
	}
	if a.opts.json {
		var o object
		for i := range res.Steps {
			if _, err := a.out.Write(stepJSON(&o, &res.Steps[i])); err != nil {
				return err
			}
		}
		return nil
	}
	table := newTable(a.out, "STEP", "WHAT", "VALUE")
	for _, s := range res.Steps {
		if err := table.row(s.Step, s.What, s.Value); err != nil {
			return err
		}
	}
	return table.flush()
}

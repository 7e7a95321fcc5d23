package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

func (a *app) deliveryCmd() *cobra.Command {
	var modes, faults []string
	var q model.DeliveryQuery
	var steps bool
	var keep string
	c := &cobra.Command{
		Use:   "delivery",
		Short: "run at most once, at least once and exactly once, with faults in their way, and count what is lost or doubled",
		Long: `Runs at most once, at least once and exactly once on a broker of its own in a temporary directory: real clients send
records and work on them, one fault is put in the way of each run, and what was lost or doubled is counted.

Exits with 1 when a run could not be made, or exactly once was not.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if q.Modes, err = words(modes, model.DeliveryModes(), "mode"); err != nil {
				return err
			}
			if q.Faults, err = words(faults, model.DeliveryFaults(), "fault"); err != nil {
				return err
			}
			return a.inScratch(c.Context(), keep, func(ctx context.Context, src model.Source) error {
				return a.deliver(ctx, src, q, steps)
			})
		},
	}
	c.Flags().StringSliceVar(&modes, "mode", nil, "at-most-once, at-least-once, exactly-once (default all)")
	c.Flags().StringSliceVar(&faults, "fault", nil, "none, lost-request, lost-ack, killed-producer, killed-consumer (default all)")
	c.Flags().IntVar(&q.Records, "records", 100, "records of a run, 10 to 100,000")
	c.Flags().BoolVar(&steps, "steps", false, "print what happens, step by step")
	c.Flags().StringVar(&keep, "keep", "", "keep the broker's data in this directory, to be looked at with strata --data DIR")
	return c
}

// words reads flags' words, in which blanks are written as hyphens.
func words[T ~string](given []string, known []T, what string) ([]T, error) {
	var list []T
	for _, w := range given {
		var names []string
		found := false
		for _, k := range known {
			name := strings.ReplaceAll(string(k), " ", "-")
			names = append(names, name)
			if name == strings.ReplaceAll(w, " ", "-") {
				list, found = append(list, k), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%w %s %q: want one of %s", model.ErrInvalid, what, w, strings.Join(names, ", "))
		}
	}
	return list, nil
}

// inScratch runs do on a broker in a directory that is gone afterwards, unless keep names one.
func (a *app) inScratch(ctx context.Context, keep string, do func(context.Context, model.Source) error) (err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "strata-delivery-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	src, err := a.eng.OpenData(ctx, DataOptions{DirOptions: DirOptions{Still: true}, Dir: dir, Access: Own, Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	return do(ctx, src)
}

// deliver runs the experiment and prints what comes of it.
func (a *app) deliver(ctx context.Context, src model.Source, q model.DeliveryQuery, steps bool) error {
	d, err := ability[model.Deliverer](src, "show deliveries")
	if err != nil {
		return err
	}
	var o object
	var line []byte
	var results []*model.DeliveryResult
	var werr error
	err = d.Deliver(ctx, q, func(e model.DeliveryEvent) bool {
		switch line = line[:0]; {
		case e.Step != nil && steps && a.opts.json:
			line = deliveryStepJSON(&o, e.Step)
		case e.Step != nil && steps:
			line = fmt.Appendf(line, "%s, %s: %d ms %s %s\n", e.Step.Mode, e.Step.Fault, e.Step.At, e.Step.Who, safe(e.Step.What))
		case e.Result != nil:
			results = append(results, e.Result)
			if a.opts.json {
				line = deliveryJSON(&o, e.Result)
			}
		}
		if len(line) > 0 {
			if _, werr = a.out.Write(line); werr == nil {
				werr = a.out.Flush()
			}
		}
		return werr == nil
	})
	for _, r := range results {
		if r.Err != nil || r.Mode == model.ExactlyOnce && len(r.Lost)+len(r.Doubled) > 0 {
			a.code = exitWrong
		}
	}
	if err = errors.Join(err, werr); err != nil || a.opts.json {
		return err
	}
	return a.printDeliveries(results)
}

// printDeliveries prints a table of the runs.
func (a *app) printDeliveries(results []*model.DeliveryResult) error {
	t := newTable(a.out, "FAULT", "MODE", ">SENT", ">IN LOG", ">WORKED ON", ">LOST", ">DOUBLED", "WHY")
	for _, r := range results {
		why := r.Why
		if r.Err != nil {
			why = r.Err.Error()
		}
		err := t.row(string(r.Fault), string(r.Mode), strconv.Itoa(r.Sent), strconv.Itoa(r.InLog), strconv.Itoa(r.Worked),
			strconv.Itoa(len(r.Lost)), strconv.Itoa(len(r.Doubled)), safe(why))
		if err != nil {
			return err
		}
	}
	return t.flush()
}

func deliveryStepJSON(o *object, s *model.DeliveryStep) []byte {
	o.reset()
	o.str("mode", string(s.Mode))
	o.str("fault", string(s.Fault))
	o.num("ms", s.At)
	o.str("who", s.Who)
	o.str("what", s.What)
	return o.line()
}

func deliveryJSON(o *object, r *model.DeliveryResult) []byte {
	o.reset()
	o.str("mode", string(r.Mode))
	o.str("fault", string(r.Fault))
	o.num("sent", int64(r.Sent))
	o.num("inLog", int64(r.InLog))
	o.num("workedOn", int64(r.Worked))
	o.num("lost", int64(len(r.Lost)))
	o.num("doubled", int64(len(r.Doubled)))
	o.str("topic", r.Topic)
	o.maybeStr("why", r.Why)
	o.failure(r.Err)
	return o.line()
}

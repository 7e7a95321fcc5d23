package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/strata-kafka/strata/model"
)

const (
	defaultRecords = 100
	maxRecords     = 100_000
	chunks         = 10 // batches of a run
	hitAt          = 5  // the batch, from 1, at which the fault is put
	runTimeout     = 30 * time.Second
)

// Options says on which broker the experiments run.
type Options struct {
	// Address returns the broker's HOST:PORT, "" where it does not listen.
	Address func() string
	// Client are further options of the clients, as to authenticate.
	Client []kgo.Opt
}

// Runner runs experiments; it is a model.Deliverer. One experiment may run at a time.
type Runner struct {
	o    Options
	busy chan struct{} // cap 1
}

// New returns a Runner.
func New(o Options) *Runner { return &Runner{o: o, busy: make(chan struct{}, 1)} }

// Deliver runs the experiment, one run behind the other; see model.Deliverer. Errors wrap model.ErrInvalid for what is
// asked for, model.ErrRefused where another experiment runs or the broker does not listen. What goes wrong in a run is
// told with its result.
func (r *Runner) Deliver(ctx context.Context, q model.DeliveryQuery, tell func(model.DeliveryEvent) bool) error {
	if q.Records == 0 {
		q.Records = defaultRecords
	}
	if q.Records < chunks || q.Records > maxRecords {
		return fmt.Errorf("%w number of records %d: want %d to %d", model.ErrInvalid, q.Records, chunks, maxRecords)
	}
	if q.Modes == nil {
		q.Modes = model.DeliveryModes()
	}
	if q.Faults == nil {
		q.Faults = model.DeliveryFaults()
	}
	for _, m := range q.Modes {
		if !slices.Contains(model.DeliveryModes(), m) {
			return fmt.Errorf("%w delivery mode %q", model.ErrInvalid, m)
		}
	}
	for _, f := range q.Faults {
		if !slices.Contains(model.DeliveryFaults(), f) {
			return fmt.Errorf("%w fault %q", model.ErrInvalid, f)
		}
	}
	if r.o.Address() == "" {
		return fmt.Errorf("deliver: %w: the broker does not listen, so no client can connect; start strata without --no-listen", model.ErrRefused)
	}
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	default:
		return fmt.Errorf("deliver: %w: another experiment is running", model.ErrRefused)
	}
	for _, f := range q.Faults {
		for _, m := range q.Modes {
			x := newRun(r.o, m, f, q.Records, tell)
			res := x.do(ctx)
			if err := ctx.Err(); err != nil {
				return err
			}
			if x.stopped.Load() || !tell(model.DeliveryEvent{Result: &res}) {
				return nil
			}
		}
	}
	return nil
}

// topicOf names the topic of a run, which no other program is likely to have.
func topicOf(m model.DeliveryMode, f model.DeliveryFault) string {
	return "strata-delivery." + strings.ReplaceAll(string(m), " ", "-") + "." + strings.ReplaceAll(string(f), " ", "-")
}

// do runs one experiment.
func (x *run) do(ctx context.Context) model.DeliveryResult {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	res := model.DeliveryResult{Mode: x.mode, Fault: x.fault, Sent: x.n, Topic: x.topic}
	err := x.prepare(ctx)
	if err == nil {
		err = x.produceAll(ctx)
	}
	if err == nil && x.mode == model.AtMostOnce {
		err = x.arrive(ctx)
	}
	if err == nil {
		err = x.consumeAll(ctx)
	}
	if err == nil {
		err = x.count(ctx, &res)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("it took longer than %s: %w", runTimeout, err)
		}
		res.Err = fmt.Errorf("%s, %s: %w", x.mode, x.fault, err)
		return res
	}
	res.Finished = true
	res.Why = why(&res)
	return res
}

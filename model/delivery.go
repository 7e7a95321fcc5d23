package model

import "context"

// DeliveryMode is a way of producing and consuming, named by what it promises.
type DeliveryMode string

// The modes.
const (
	AtMostOnce  DeliveryMode = "at most once"  // acks=0, no retries; the offset is committed before the work is done
	AtLeastOnce DeliveryMode = "at least once" // acks=all, retries without idempotence; the offset is committed after
	ExactlyOnce DeliveryMode = "exactly once"  // idempotent, transactional, read_committed
)

// DeliveryFault is what is put in the way.
type DeliveryFault string

// The faults.
const (
	NoFault        DeliveryFault = "none"
	LostAck        DeliveryFault = "lost ack"        // the broker has written, and its answer does not arrive
	LostRequest    DeliveryFault = "lost request"    // the request does not arrive
	KilledProducer DeliveryFault = "killed producer" // between two sends, or before its transaction's end
	KilledConsumer DeliveryFault = "killed consumer" // between its work and its commit
)

// DeliveryModes are all modes, from the one that promises least.
func DeliveryModes() []DeliveryMode { return []DeliveryMode{AtMostOnce, AtLeastOnce, ExactlyOnce} }

// DeliveryFaults are all faults.
func DeliveryFaults() []DeliveryFault {
	return []DeliveryFault{NoFault, LostRequest, LostAck, KilledProducer, KilledConsumer}
}

// DeliveryQuery asks for an experiment.
type DeliveryQuery struct {
	Modes   []DeliveryMode  // nil means all three
	Faults  []DeliveryFault // nil means all
	Records int             // of a run, 10 to 100,000; 0 means 100
}

// DeliveryStep is something that happened in a run, in the order of time.
type DeliveryStep struct {
	Mode  DeliveryMode
	Fault DeliveryFault
	At    int64  // ms since the run began
	Who   string // producer, broker, consumer
	What  string // one line
}

// DeliveryResult is what came of a run.
type DeliveryResult struct {
	Mode     DeliveryMode
	Fault    DeliveryFault
	Sent     int   // different records that the producer was given to send
	InLog    int   // records in the log that a consumer of the mode is shown
	Worked   int   // times that the consumer has worked on a record
	Lost     []int // numbers of records that were sent and never worked on
	Doubled  []int // numbers of records that were worked on more than once
	Why      string
	Topic    string // where the records are, to be looked at
	Finished bool
	Err      error
}

// DeliveryEvent is one step, or one result.
type DeliveryEvent struct {
	Step   *DeliveryStep
	Result *DeliveryResult
}

// Deliverer is the ability to show what delivery guarantees mean, by running them. It makes topics whose names begin
// with "strata-delivery.", and deletes those of the same run before.
type Deliverer interface {
	// Deliver runs the experiment; tell is called on the calling goroutine and returns false to stop.
	Deliver(ctx context.Context, q DeliveryQuery, tell func(DeliveryEvent) bool) error
}

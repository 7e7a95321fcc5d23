// Package delivery shows what at most once, at least once and exactly once mean, by running them: real clients on the
// broker itself, with one fault put in the way of each run.
//
//	producer ──► Produce ──► broker ──► topic ──► consumer ──► work
//	     ▲                      │                     │
//	     └── answer ◄── ✗ ──────┘                     └── commit of its offset
//
//	mode           producer                      consumer
//	at most once   acks=0, never again           commits, then works
//	at least once  acks=all, again until it is   works, then commits
//	               answered, no sequences
//	exactly once   transactions                  work and commit are one transaction
//
//	fault            where it is put
//	lost request     the connection breaks before the fifth Produce has left
//	lost ack         it breaks behind the broker's answer to the fifth Produce
//	killed producer  behind its fifth batch, before its next step
//	killed consumer  between the two halves of its fifth turn
//
// # Why
//
//   - Faults are put in where a client dials, into its connection: the broker that is seen is the one that runs, and
//     nothing of it knows of the experiment.
//   - What is lost and doubled is counted from what the consumers did, never taken from a table; the words that explain
//     an outcome are chosen by what was counted, and say so when it is not what the mode promises.
//   - A consumer is no member of a group but commits under its name: a rebalance would hide the two steps that matter.
//   - Topics have fixed names of this package's own, so that what is deleted before a run can only be what a run has made.
package delivery

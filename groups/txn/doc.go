// Package txn is the transaction coordinator of the embedded broker: it hands out producer ids, and carries
// transactions to their end.
//
//	             a partition or a group is added        end               markers and offsets written
//	InitProducerId → Empty ──────────→ Ongoing ──────────→ PrepareCommit ──────────→ CompleteCommit ─┐
//	                   ↑                  │ └────────────→ PrepareAbort  ──────────→ CompleteAbort  ─┤
//	                   │                  └─ its time is over, or its holder is fenced: ↑            │
//	                   └──────────────── InitProducerId; or Ongoing again ───────────────────────────┘
//
// A step is stored before anything follows from it, and before it is answered:
//
//	Ongoing          with the partitions, before the first record is appended to one of them
//	Prepare…         decides: whatever happens from here on, the transaction ends so
//	a marker         in each partition's log
//	Complete…        in one write with the offsets, which so become committed or are gone
//
// A process that is killed between two of them finds on its next start what was begun: what was prepared is completed
// (a partition may then hold its marker twice, which changes nothing), what is Ongoing goes on, or is aborted when its
// time is over.
//
// # Why
//
//   - The end of a transaction is answered when it is complete, not when it is prepared as in Kafka: the next
//     transaction never meets CONCURRENT_TRANSACTIONS and need not wait and ask again.
//   - What a producer may append to is kept beside the state, and is the one thing that is looked at per batch. It is
//     looked at twice: before the append, where the partition may still be added, and by the log, locked, when a batch
//     would open a transaction. A transaction's partitions are taken away before its markers are written, so that no
//     batch slips in behind its marker and hangs there for ever.
//   - A transaction that was fenced or ran out of time is aborted with a higher epoch; so what the old holder has under
//     way is refused by every log that holds the marker.
//   - With the second version of transactions (KIP-890) every end raises the epoch. When the epochs of an id have run out,
//     the next id is taken before the transaction is prepared, so that completing it needs nothing that could fail.
//   - The epoch before is stored too, unlike in Kafka: a client whose answer was lost may ask again after a restart.
//   - Timers are a transaction's own; a thousand open transactions are a thousand timers of the runtime and no list to
//     go through.
package txn

// Package wire is the listener: it speaks Kafka's protocol, so that any Kafka client can use the embedded broker.
//
//	listener ─ accept ─ conn (one goroutine) ─ frame ─ header ─ apis table ─ handler ─ answer
//	                                                               │
//	                     store.Engine · groups.Service · coordinator.Coordinator · txn.Coordinator
//
// One file an API, named by its number. Messages are encoded and decoded by kmsg; what they mean is here.
//
// # Why
//
//   - One request of a connection at a time, as in Kafka: answers leave in the order of the requests, and nothing of a
//     client overtakes itself. What waits (Fetch, JoinGroup, SyncGroup) holds up its own connection only.
//   - A connection that is silent holds 4 KiB and a goroutine: frames and answers are taken from pools and given back. What a
//     frame announces is believed as far as the client has sent as much before; memory follows what has come.
//   - Produce is decoded here, in place: its batches go from the frame into the log, and nothing is made for a request.
//     Every record is looked at once before that, for readers must be able to trust a log: it costs less than a tenth of
//     copying it.
//   - Offset deltas of a batch's records must be 0, 1, 2…; Kafka stores others in an uncompressed batch, and no reader knows
//     what to make of them.
//   - A topic that Metadata creates is in the same answer. Kafka says first that it is not there, and every client waits for
//     its next try.
//   - Requests without records are bounded to 1 MiB, Produce by Options.MaxRequest: decoding multiplies what they hold.
//   - Answers are written in steps of 64 KiB with a time-out each: a slow client may take as long as it goes on.
//   - Records are fetched from the file into the connection, with sendfile where the system has it: over loopback it takes a
//     third to half of the processor's time that reading and writing take, and a client that is slow to take a large
//     answer holds a file open, and no memory. Answers of up to 64 KiB are read and written: one call instead of two.
//   - The answer to a Fetch is encoded here, around the records; kmsg would have them in memory. The tests hold it against
//     kmsg, byte by byte.
//   - Fetch sessions are kept as Kafka keeps them, 1000 of them, and of no more than a quarter of a million partitions
//     together: a session that is refused or forgotten costs a client one more request.
//   - The virtual topics that clients are shown can be fetched from, and are empty.
//   - Of a broker's configs those are described that mean something here, with what holds here, and a few that tools ask for;
//     a change of what means nothing here is refused, rather than kept and not done.
//   - min.insync.replicas is always set for all brokers, to 1, as in Kafka since 4.1: tools show it so.
//   - A handler returns an error only where Kafka closes the connection; what the protocol has a code for is an answer.
package wire

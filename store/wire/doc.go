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

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
//   - A handler returns an error only where Kafka closes the connection; what the protocol has a code for is an answer.
package wire

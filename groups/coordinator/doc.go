// Package coordinator is the group coordinator of the embedded broker: it has members join and leave, tells them what to
// read or who of them is to say so, and knows who may commit. It knows nothing of the wire: requests and answers are plain
// structs, and what went wrong is a groups.Code.
//
//	request ─ Coordinator ─ lock ─ group (one mutex each) ─ kind: *classic or *consumerKind ─ unlock ─ answer
//	                                 │                        │                                 │
//	                                 │                        └ timers, under the same mutex    └ groups.Service.Post:
//	                                 └ in memory only while it has members                        what screens see
//
// A classic group's members agree among themselves:
//
//	Empty ─ join ─→ PreparingRebalance ─ all have joined ─→ CompletingRebalance ─ the leader has synced ─→ Stable
//	  ↑                  │  ↑                                      │                                          │
//	  └── none is left ──┘  └────────── a member joins anew, leaves, or is not heard of any more ─────────────┘
//
// # What is stored of the members
//
// A group's record, which groups.Service keeps with it, begins with a byte for its kind. All integers are big-endian;
// "long" is a string or bytes behind a length of four bytes. Of a classic group (1):
//
//	1, u8 flags (1: a rebalance was under way), i32 generation, long protocol type, long protocol, long leader,
//	u32 count, count × member
//
//	member   long id, long instance, long client, long host, i64 rebalance timeout, i64 session timeout (ms),
//	         u8 flags (1: in this process), u32 count, count × (long protocol, long metadata), long assignment
//
// # Why
//
//   - A group has one mutex, and whatever happens to it (request, timer) happens under it: the rules are read from top to
//     bottom, and what is waited for is waited for outside, on a channel that gets exactly one answer.
//   - A group without members is not in memory: what is to be known of it is in the store, and a client that makes up
//     names costs nothing that stays.
//   - What is stored is stored when Kafka stores it (the leader has assigned, the last member has left, a static member has
//     come back), and when a member leaves: else it would come back with the broker and hold its partitions for a session.
//     The answer waits for the disk, the mutex does not.
//   - Times are those of the time package, so that tests turn the clock with testing/synctest.
//   - A session's timer is not moved by each heartbeat; it looks, when it fires, when the member was heard of last.
//   - Members in this process have no session: they live as long as it does, and are told of a rebalance at once. They are
//     not taken over by the next process.
package coordinator

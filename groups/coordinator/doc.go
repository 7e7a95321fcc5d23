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
// Of a consumer group (2), whose members the coordinator assigns to:
//
//	2, u32 group epoch, u32 epoch of the targets, u32 count, count × (long topic, 16 bytes id, u32 partitions),
//	u32 count, count × member
//
//	member   long id, long instance, long rack, long client, long host, long pattern, long assignor, i64 rebalance timeout (ms),
//	         u32 count, count × long topic, i32 epoch, i32 epoch before, u8 state, held: what it has, held: what it is to give up,
//	         held: its target, u8 1 and classic side, or 0
//	held     u32 count, count × (16 bytes topic id, u32 count, count × (u32 partition, i32 had since epoch))
//	classic  i64 session timeout (ms), u32 count, count × (long protocol, long metadata)
//
// # Consumer groups
//
//	a member joins, leaves, subscribes anew; a topic comes, goes, grows ─→ group epoch + 1 ─→ targets (package assign)
//	                                                                                            │ at each heartbeat
//	        ┌── has what is not in its target ─→ told to give up ─→ says that it has ───────────┤
//	Stable ─┤                                    (unrevoked; out after its rebalance timeout)   ↓
//	        └── lacks what others still have ──→ has the rest, waits (unreleased) ─────────→ Stable, target's epoch
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
//   - A consumer group's rules (consumerGroup) know no clock, no lock and no store: what happens is a function of what was,
//     the request and the time, so that thousands of steps are tried in a second, with a kill between any two.
//   - A consumer group's epoch is kept when the last member has left: a member that was cut off never meets its own epoch
//     again as somebody else's.
//   - What is new in the topics is looked for when a heartbeat comes, and costs one comparison where nothing is.
//   - Targets are made at once. Kafka waits for a second after the one before (group.consumer.assignment.interval.ms).
//   - So are regular expressions looked up at once, where Kafka does it behind the first heartbeat.
//   - Each step of a consumer group is stored before it is answered, the whole group as one record: many steps at once cost
//     one write, since the store keeps the last of each key.
//   - Members of the classic protocol in a consumer group are members like the others, with a side of their own; the group
//     becomes a classic one when the last of the others leaves.
//   - Times are those of the time package, so that tests turn the clock with testing/synctest.
//   - A session's timer is not moved by each heartbeat; it looks, when it fires, when the member was heard of last.
//   - Members in this process have no session: they live as long as it does, and are told of a rebalance at once. They are
//     not taken over by the next process.
package coordinator

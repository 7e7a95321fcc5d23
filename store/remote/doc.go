// Package remote speaks to a Kafka broker as any client does: it makes and changes topics, appends and deletes records,
// lists groups, moves their committed offsets, and consumes as a member of a group.
//
//	Client ── kgo ── one connection a broker ── topics, records, groups
//	  ├ kgo, one for each codec, acks and partitioner in use ── Produce
//	  ├ Groups: a Client with the logs that lags are counted in (groups.Logs)
//	  └ Member: a kgo of its own ── JoinGroup … LeaveGroup
//
// # Why
//
//   - Every request is bounded in time (Options.Timeout), whatever context it comes with: a key of the explorer must never
//     wait for a broker that has gone.
//   - A Client connects with its first request, and again after each failure: whoever has the broker may start it anew.
//   - Lags are counted by groups.Logs, which are the files where they are at hand: no protocol tells how many records lie
//     between two offsets.
//   - A reset is checked, stored and read back by three requests and not in one step, because the protocol has no
//     other. The broker itself refuses the second one while a group has members.
//   - A Member commits what its caller has done with, never what was merely fetched, and holds rebalances off between the
//     two: at least once, and twice only after a failure.
package remote

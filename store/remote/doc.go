// Package remote speaks to a Kafka broker as any client does: it makes and changes topics, appends and deletes records,
// lists groups, moves their committed offsets, and consumes as a member of a group. A Cluster is all of that as a source to
// be explored.
//
//	Client ── kgo ── one connection a broker ── topics, records, groups
//	  ├ kgo, one for each codec, acks and partitioner in use ── Produce
//	  ├ Groups: a Client with the logs that lags are counted in (groups.Logs)
//	  └ Member: a kgo of its own ── JoinGroup … LeaveGroup
//
//	Cluster ─ Client
//	  ├ table: the last metadata, whole ── Topics, at once
//	  ├ seen: offsets, measured by ListOffsets ── Partitions, and Topics as far as they are known
//	  ├ watcher: asks again for what is in focus ── Changes
//	  ├ fetch: one partition's batches as they lie ── Records, and by a kgo of its own Search, Count and lags
//	  ├ mail: batches as they are, of several partitions in one Produce ── SendBatch
//	  └ tail: a kgo of its own that consumes without a group
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
//   - A Cluster's topics are listed by one metadata request, and their offsets come behind: 40,000 partitions would make
//     the list wait for three requests to every broker. What nobody looks at is not asked for.
//   - Records are fetched by requests of our own and not by kgo's consumer: that one hides markers, holes and what was
//     aborted, has no way back, and reads on where a page wants one small answer.
//   - Every fetch below the last stable offset is one of a committed reader: brokers send all records to it all the same,
//     and tell which were aborted besides. Only what is behind is fetched otherwise.
//   - The last n records are those of the last n offsets, and where these hold too few, of runs of offsets before them that
//     grow four times each: a compacted partition of a thousand million offsets costs a dozen requests.
//   - Search, counts and tails have connections of their own: a broker answers one request of a connection at a time, and a
//     page must not wait for a search.
//   - A search reads on while it looks, in chunks that grow while the network is quick, and holds at most four of them. How
//     much there is to read no broker tells: progress is in offsets, and the bytes are estimated from those read.
//   - Batches that are sent as they are wait for those of other partitions once two requests are on their way: brokers take one
//     of each partition in a request, and a request for each costs twice as much.
//   - Lags of up to 50,000 offsets are counted, others estimated: counting means to have all batches sent.
//   - Undoing a reset needs to know who committed since; a cluster does not tell, and so there is no journal of resets.
//   - A broker is asked itself whether it lives, bounded on its own, and a listing waits a moment only: what is late is known
//     the next time. A hang of one must not look like a hang of all.
//   - What any broker can answer is asked of another when the first is slow (anyone): kgo asks one, and a broker that takes
//     connections and says nothing would cost the whole timeout.
//   - The controller is the leader of the metadata quorum: in KRaft the controller that Metadata names is any broker.
//   - Brokers that have gone are found by the replicas that are assigned to them, and as fenced ones where that is told.
//   - What may not write is held to it next to the network (guard), by API key and on each connection, TLS inside: whatever
//     makes a request, now or in a later version of kgo, goes through there. Only what is known to read passes.
//   - A cluster that is only read is another type (Reading), because an ability is found by assertion: keys grey out by
//     themselves.
//   - A Member commits what its caller has done with, never what was merely fetched, and holds rebalances off between the
//     two: at least once, and twice only after a failure.
package remote

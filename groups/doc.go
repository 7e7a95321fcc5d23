// Package groups is the consumer groups of the embedded broker: what they have committed, who their members are, how far
// they lag, and how to move them. It keeps them in strata.db, a bbolt file, and knows of the logs only what the interface
// Logs tells. Its pure parts (OffsetRow, LagRange, TotalLag, Plan) serve every source.
//
// # strata.db
//
// All integers are big-endian. "short" is a string behind a length of two bytes, "long" one behind four. Times are
// milliseconds since 1970, -1 for none. A value's first byte is the number of its format, 1.
//
//	schema   "version"                                      → u32, 1
//	         "configs lost"                                 → 1; there from when the configs were lost until they are made good
//	offsets  short group, short topic, i32 partition        → 1, i64 offset, i32 leader epoch, i64 committed at,
//	                                                          i64 expires at (-1: by the group's retention), metadata to the end
//	groups   group                                          → 1, i64 empty since (-1: has members), i32 generation,
//	                                                          long type, long protocol type, long protocol
//	configs  topic                                          → 1, u32 count, count × (long name, long value), by name
//	journal  u64 number, from 1                             → 1, i64 made at, u64 undo of (0: none), u64 undone by (0: none),
//	                                                          long who, long group, long where, u32 count, count × row
//
//	producers     "next id"                                 → u64, the first producer id that was not handed out yet
//	transactions  transactional id                          → 1, i64 producer id, i64 the one before, i64 the next one (-1: none),
//	                                                          i16 epoch, i16 the one before, u8 version, u8 state (Kafka's number),
//	                                                          i64 timeout, i64 started at, i64 updated at, u32 count,
//	                                                          count × (long topic, i32 partition), u32 count, count × long group
//	members       group                                     → 1, the coordinator's record of the members; see its package
//	pending       u64 producer id, key as in offsets        → as in offsets; waits for the producer's transaction
//
//	row      long topic, i32 partition, i64 from, i32 from's leader epoch, long from's metadata, i64 to, i32 leader epoch,
//	         long metadata, u8 certainty of the change, i64 change, long note        (an offset of -1: nothing committed)
//
// A group is there when it has an offset or an entry in groups; the latter is written when members have agreed for the first
// time, or the last one has left. The buckets from producers on were added later: an older store is given them when it is
// opened for writing.
//
// # Commits
//
//	committer ─┐                    ┌─ all waiting entries, sorted, the last of each key ─┐
//	committer ─┼→ waiting → writer ─┤                                                    ├→ one bbolt transaction → fsync
//	committer ─┘      ↑             └────────────────────────────────────────────────────┘              │
//	                  └──────────────── each is answered, and may come again ─────────────────────────────┘
//
// # Why
//
//   - The offsets lie in one flat bucket with the group first in the key: a bucket a group would cost a page a commit.
//   - One writer for commits, woken by the first and taking all that wait: bbolt's own Batch waits for 10 ms or 1,000.
//     The writer never waits, it only lets those run who were just answered.
//   - The list of free pages is kept in the file: without it bbolt rebuilds it on opening, and meets damage by a panic in a
//     goroutine of its own, which nothing can catch.
//   - The file is walked before bbolt opens it, for the same reason, and because bbolt opens a cut file without a word.
//   - The lock is taken before the walk, on the same open file that bbolt is given: a file that is being written looks
//     damaged. After the lock the file must still be the one at its path: another process may have moved it aside.
//   - A cut file whose missing part held nothing is lengthened and kept; its offsets are worth more than tidiness.
//   - A damaged value costs its own entry, and is said on opening and in its group; but configs are loaded whole or not at all,
//     and a reset wants to know the whole group: what deletes or overwrites must not guess.
//   - Topic configs are lost with a damaged store, so the store says that (ConfigsLost): retention by the defaults could delete
//     what was to be kept for ever. It keeps saying so until they are made good, all in one step: who moved the damaged file
//     aside may have been a command that only resets a group, or may have been killed.
//   - After an I/O error nothing is written any more: the kernel may have dropped pages that bbolt takes for written.
//   - A store without any write permission is read-only for root too.
//   - A plan's rows carry what they start from, and the transaction that applies it compares offset, epoch and metadata:
//     two commits of the same offset are the same to a consumer, so the commit's time does not count.
//   - Offsets that a reset stores have leader epoch -1 and no metadata, as Kafka's own tool stores them.
//   - Deleting a group is a journal entry like a reset to nothing, so that it can be undone.
//   - In an undo, rows that moved since the reset are taken out, not refused: the user sees each of them and may take it
//     in again, and a command line that applies at once does not throw away what a consumer has done since.
//   - Expiry is Kafka's; but a reset begins a group's retention anew, else it could be gone an hour later.
//   - What the members are is the coordinator's to say (Publish); how its record of them is laid out is its own affair. It is
//     kept in the same transaction as the group's, so that a generation and its assignments are never apart.
//   - A reset or deletion takes the members' record away: members that a later broker took over would read on from where they
//     were, and commit over it.
//   - A negative offset is stored as a client sends it, for Kafka does so, but says of no group where it is: resets and their
//     undoing take it for none.
//   - A group without members and offsets goes at the next expiry, as in Kafka; its generations begin anew.
//   - An offset of a transaction becomes committed in the write that makes the transaction complete: a crash finds both or
//     neither. It stays in a bucket of its own until then, so that nothing that reads offsets can see it.
//   - Counts are remembered as running sums at offsets, so that a thousand groups on one partition, and ends that move each
//     second, cost the records between the offsets and not the whole log.
package groups

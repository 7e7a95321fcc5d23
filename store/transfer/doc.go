// Package transfer copies topics from one source to another: records with their partitions, times, keys and headers,
// configs, and the committed offsets of groups.
//
//	Reader (files or a cluster)                                Writer (a cluster)
//	    batches as they lie ─ stream ─ shape ─ lane ─ stamp ─ Produce, five at a time
//	                              │              │
//	                          no markers,    offsetMap ─ offsets of groups
//	                          nothing aborted
//
//	Plan     looks at both sides, and says what would be done
//	check    with Resume: what is there already must be the beginning of the source
//	copy     the rest
//	verify   both sides are read and compared
//	finish   configs, then groups
//
// # Why
//
//   - A batch is sent with the bytes that it has on the source, compressed as it is: only its header says another producer.
//     It is written anew where a broker would not take it: with holes after compaction, of an old format, dated by its
//     broker, or cut by the log start.
//   - What is copied is what a consumer of committed records is given: on the other side the records lie without holes, and
//     its log end says how many there are. So it is the other side itself that says where to go on, and no journal can be
//     wrong about that.
//   - A batch's sequence is where it must come to lie, so that the broker refuses all that would come twice, or out of place,
//     even from a process that was killed while its last requests were on their way: the one that resumes is the same
//     producer, which is what the journal is for.
//   - A journal is found by the topic's id, not by a name or an address, for a producer's id means something in one cluster only.
//   - The first batch goes alone: a broker takes any sequence of a producer that it does not know, and so a second batch in the
//     place of a first one that was lost.
//   - Before a copy is resumed, what is there is compared with the source: records of anybody else are no beginning of it.
//   - Verify compares both sides record by record and does not only compare their checksums: where the bytes of a batch are the same
//     only their checksum is to be computed.
//   - A topic that is made here is kept without retention, compaction and LogAppendTime until it was verified: old records would
//     be gone before they were all there. It stays without retention where that would delete all of a partition at once.
//   - The offsets of a group are read once the records are copied, so that they are as new as these.
//   - A topic with records that is not resumed is refused: appending would be no copy.
package transfer

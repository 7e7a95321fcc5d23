// Package partition is one partition of a topic: a folder of segments, read through a View and written through a Log.
//
//	orders-2/
//	  00000000000003904112.log .index .timeindex .txnindex     a segment (store/segment)
//	  00000000000004640112.log .index .timeindex               the next one: its base offset bounds the one before
//	  00000000000004790000.log .index .timeindex               the active one, which is written to
//	  00000000000004790000.snapshot                            producers, as of the offset in its name
//	  leader-epoch-checkpoint                                  which leader epoch began at which offset
//	  partition.metadata                                       the topic's id
//	  00000000000003000000.log.deleted                         removed soon
//	  00000000000003904112.log.cleaned                         a compaction's output while it is written
//	  00000000000003904112.log.swap                            the same when it is whole: in the place of what it covers
//
//	log start                                last stable      high watermark   log end (LEO)
//	    |----------------------------------------|------------------|-------------|
//	    what may be read                         open transactions  not replicated
//
// The log start and the high watermark come from checkpoints of the log directory, outside of the folder. The log end is
// found behind the last index entry of the newest segment, the last stable offset behind the newest snapshot.
//
// View reads, of a live broker's folder as well as of a dead one's or of our own. It is a snapshot: what has grown since
// is seen by the View that Refresh or Grown returns. Log writes: it appends, rolls, keeps epochs and producers, deletes
// by retention, compacts, and recovers. What is shown never goes through it; what clients fetch does: as a Slice, which is a part
// of a file, never of memory.
//
// # Why
//
//   - A View holds no open file and maps none for longer than a walk, so that ten thousand partitions cost no descriptor
//     and a broker's truncation harms nobody.
//   - Who may see a record of a transaction is decided by the producer's next marker; the index of aborted transactions
//     is only the short way to it. A writer appends the marker before the index, and an index may be lost.
//   - A marker belongs to its data by producer id alone: brokers give it the epoch that follows.
//   - A record count is the sum of the batch headers' counts, which the checksum covers. Only where a batch reaches over
//     the log start, or is an old one that is compressed whole, is it decoded.
//   - The bounds of a page are the log end or the last stable offset, not the high watermark: in a directory that
//     comes from a checkpoint which lags behind the data, and would hide what is on disk.
//   - The last stable offset is looked for at once only where few bytes lie behind the newest snapshot; a record of no
//     transaction is shown without it.
//   - One batch with a damaged base offset must neither move the log end nor stop a reader that goes page by page: its
//     records are shown as untrusted, and do not count where a page goes on.
//   - What a walk over a segment's headers has found is kept with the file's size and time, so that it is made once, and
//     goes on where a file has grown.
//   - A search and a check work on chunks of two mebibytes, cut where the index says that batches begin. The index is not
//     trusted for that: a chunk that does not begin or end with a batch makes the rest be read in one go.
//   - A time is searched for in all segments. A broker looks into one: the first whose youngest record is young enough, or
//     whose file is, when compaction has left nothing with a time in it; then it says that there is no such record, which
//     is wrong where a later segment has one.
//   - A Log opens nothing before it is written to. After a clean stop its end is the recovery point, and a folder is listed
//     when someone asks for its start.
//   - Batches that come together are indexed and rolled as if they had come one by one: what lies on disk must not depend
//     on how full a socket was.
//   - The leader epoch of a run is one more than the last one's, as a lone broker's, but it has its line in the file from the
//     first append on only: a log that is only looked at stays as it is.
//   - A Slice is taken without the appender's lock: what may be read, and up to which byte, is published in one value after
//     the bytes were written, and the segments in another that is made anew after a roll or a deletion.
//   - Files that are fetched from stay open, a bounded number for all logs, and by references: retention and compaction
//     rename and remove them while they are sent, and the bytes stay what they were.
//   - A Slice begins with a whole batch and may end within one, as a broker's answer does: it need not be walked through to
//     know where its last batch ends.
//   - Who waits for a log says which offset must be passed, so that an append wakes nobody who would find nothing.
//   - Before a batch opens a transaction in a log, the coordinator is asked once more, with the log locked: else a batch that
//     was let in just before its transaction ended could come in behind the marker, and hold back readers for ever.
//   - After a clean stop the last stable offset is known from the snapshot of producers at the log's end, which is read when
//     the folder is listed: an open transaction holds back readers before anybody has written to the log.
//   - After a flush that failed no later one is believed: the system may have dropped the pages, and says so only once.
//   - All that was recovered waits for a flush again, though it could be read: what a killed process wrote may lie in the
//     system's memory only, and the recovery point says what is on the disk.
//   - A roll that fails takes back what it has made, so that on a full disk the old segment stays the active one.
//   - Compaction follows Kafka 4.4's cleaner batch by batch, so that a broker's cleaner leaves the very same batches: dirty
//     part, active producers' last batches kept as headers, horizons of tombstones and markers, groups of segments.
//   - Keys are told apart by half of their SHA-256, where Kafka takes MD5: who can make two keys with the same hash could
//     have somebody else's record removed. A faster keyed hash would be no proof against that.
//   - Where not even one batch fits the map of keys it grows: a cleaner that keeps to its memory at any price would never
//     get on.
//   - An abort that no transaction index tells of stops the compaction, which then begins again with what the markers say:
//     an index may be lost, and aborted data taken for committed would stay for ever, without its marker.
//   - A segment that is damaged is not compacted: a new checksum would make its damage look right.
//   - A .cleaned file is in its place only after three renames of each file, in Kafka's order: a broker that starts on what
//     a kill left finishes or takes back what we began, as we do what it began.
//   - The names of closed segments are locked while they are renamed, not the log: appends do not wait for it, and who opens
//     a .log and its index gets two that belong together.
package partition

// Package segment reads and writes the files that belong to one base offset of a partition.
//
//	00000000000000004096.log         batches, one behind the other (store/record)
//	00000000000000004096.index       i32 offset - base, i32 byte in the .log      8 bytes an entry
//	00000000000000004096.timeindex   i64 ms,            i32 offset - base        12 bytes an entry
//	00000000000000004096.txnindex    i16 version 0, i64 producer, first, last, stable   34 bytes
//
// An entry of .index says: what was appended at this byte ends with this offset or, as brokers before 2.0 wrote it,
// begins with it. Compaction, in brokers up to 3.6 at least, takes the offset of the last record that it leaves, which
// may be less than its batch's last. So the batch of an offset lies at or behind the byte of the last entry that is not
// beyond it, and at byte 0 where there is none. An entry of .timeindex says: up to this offset nothing is younger than
// this. Its offset is the last one of the batch that holds the youngest record, or, as brokers of 2021 wrote it, any of
// that batch. Where messages of magic 0 have no time, its time is that of their append. An entry of .txnindex is an
// aborted transaction: from its first record to its abort marker, and the last stable offset behind that. The file is
// there only where something was aborted.
//
//	.log      | batch | batch | batch | batch | batch | batch | torn… or 000000000000 |
//	.index                    ^ every 4 KiB           ^        0000000 (preallocated)
//
// An index is made larger in advance while its segment is written to: entries end at the first slot that is zero. A .log
// may end with zeros for the same reason, or within a batch that is being written.
//
// # Reading
//
// Scanner walks the batches; File looks offsets, times and the end up, and says which steps it took; Checker and Sequence
// hold all files of a segment against each other.
//
// What the check cannot find, because nothing on disk contradicts it:
//
//   - the offset of a time index entry, while it stays within the batch it leads to, and its time, where that is magic 0
//   - the offset of an offset index entry that gives its batch's beginning, before any that gives another's end
//   - the last stable offset of a .txnindex entry, while it is not beyond the abort
//   - the leader epoch of a batch, where the folder has no leader-epoch-checkpoint and epochs still do not fall
//   - the base offset of a batch, where there is a hole in front of it or behind it and no index entry leads to it
//
// A broker checks none of these either.
//
// # Writing
//
// Segment appends: batches are staged, then written by one write, then their index entries. The indexes of the segment
// that is written to have their full size and are mapped; closing cuts them to what they hold. Recover rebuilds them
// from the batches and cuts what a crash has torn.
//
// # Why
//
//   - Data is read by pread into one buffer, never mapped: a file that is cut while it is mapped kills its reader, and
//     reading is as fast.
//   - Indexes are not mapped for reading either: a broker cuts them from 10 MiB to what they hold when it rolls. A binary
//     search by pread needs a dozen reads of a third of a microsecond, about what mapping and unmapping cost.
//   - A batch is believed when its checksum is right, or when what follows it begins where its length says. Only where
//     both fail is its length taken to be wrong and the next batch searched for. So a flipped bit in a record costs its
//     batch's trust, a flipped bit in a length costs one batch, and neither costs what lies behind.
//   - A search for the next batch asks for a right checksum, so that it does not stop at bytes that only look like a
//     header; the bytes it may sum up are bounded, so that a hostile file cannot make it quadratic.
//   - A wrong index entry is never followed: the entry before it is taken, in the end the first byte. A lookup may become
//     slow by damage, but not wrong.
//   - Holes of a sparse file are not read where the file system can name them: preallocated segments open at once.
//   - Indexes are mapped for writing, as a broker's are, because an entry every 4 KiB would cost as many writes again. Their
//     disk blocks are taken beforehand by writing zeros: a full disk is then an error, where a mapped hole would be the
//     process's death.
//   - Room in the indexes is taken before the batches are written, so that nothing can fail once they are; a write that
//     fails is cut off again, and until that has worked nothing more is appended.
//   - Recovery cuts only at or past the recovery point. What lies below it was acknowledged and flushed: when that is
//     damaged it is evidence, and is kept, and the log goes on in a new segment where it must.
package segment

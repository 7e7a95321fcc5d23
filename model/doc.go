// Package model holds the words of the domain and the Source interface that every engine serves and every screen
// asks. It imports the standard library only, and everything else may import it.
//
// # Words
//
//	offset            a record's place in its partition; whole, never reused
//	pos, position     a byte's place in a file
//	base offset       the first offset of a batch or of a segment; names the segment's files
//	log start offset  the first offset that may be read
//	LEO, log end      the next offset to be written
//	HW                high watermark: consumers read below it
//	LSO               last stable offset: read_committed consumers read below it (never: log start)
//	leader epoch      the reign of a leader, stamped on each batch
//	batch             what is written, compressed and checksummed as one
//	record            key, value, headers, time; key and value may be null, and null is not empty
//	control record    a transaction's end (or KRaft's own); takes an offset, is no data
//	tombstone         a record with a null value, in a compacted topic a deletion
//	hole              offsets that hold no record any more, or never did
//	segment           the part of a partition that is kept in one .log and its indexes
//	active segment    the newest one, which is written to
//	roll              closing the active segment and starting the next
//	retention         deletion of whole segments by age or size
//	compaction        deletion of records with a newer one of the same key (not compression)
//	committed offset  the next offset that a group will read
//	lag               how many records a group has still to read
//	lost              records that a group will never read: committed below the log start
//	reset plan        what a reset would store, computed and shown before it is applied
//	fault             something wrong on disk, with its file and byte
//	ability           an interface beyond Source, found by assertion
//
// # Numbers
//
// Offsets, positions and byte counts are int64. Times are milliseconds since the Unix epoch, UTC; NoTime (-1) means
// that there is none. An offset of Unknown (-1) is not known. A Count says how sure it is of itself.
//
// # Ownership
//
// What a Source returns is the caller's to keep and to change, but for []byte inside a Record, which is the caller's
// to keep but shared between copies of that record: do not write into it.
//
// # Why
//
//   - A Source has the few reads that all engines can do; the rest are abilities, so that a log directory need not
//     pretend to reset offsets, and so that a key that cannot work can say why.
//   - Reads by window (RecordQuery.Max, BatchQuery.Max), never whole partitions: memory must not grow with the data.
//   - A reset plan is a value, so that what is applied is what was shown.
package model

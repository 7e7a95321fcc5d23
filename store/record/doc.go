// Package record reads and writes Kafka's record batches: bytes in, values
// out. It knows no files and no clock, trusts no length before checking it
// and never panics on bad input.
//
// Every entry of a .log file, whatever its age, begins alike:
//
//	byte  0        8        12        16      17
//	      | offset | length | (magic's own)| magic | ...
//	      | i64    | i32    | 4 bytes      | i8    |
//
// length counts what follows it, so the whole entry has 12 + length bytes.
// Integers are big-endian and signed unless they say otherwise.
//
// Magic 2, the record batch, has a header of 61 bytes:
//
//	 0 i64 base offset          27 i64 base timestamp (or delete horizon)
//	 8 i32 length               35 i64 max timestamp
//	12 i32 leader epoch         43 i64 producer id
//	16 i8  magic                51 i16 producer epoch
//	17 u32 CRC-32C of 21..end   53 i32 base sequence
//	21 i16 attributes           57 i32 record count
//	23 i32 last offset delta    61 ... records, maybe compressed as one
//
//	attributes: ....... . H C T A ccc   H delete horizon, C control,
//	                                    T transactional, A LogAppendTime, c codec
//
// A record inside it (varints are zigzag, 7 bits a byte, low bits first):
//
//	length | attributes i8 | timestamp delta | offset delta
//	| key length, key | value length, value
//	| header count | per header: name length, name, value length, value
//
// Length -1 means null, which is not empty. Null values are tombstones.
//
// Magic 0 and 1, the message set, has one message an entry:
//
//	12 u32 CRC-32 (IEEE) of 16..end
//	16 i8  magic
//	17 i8  attributes
//	18 i64 timestamp (magic 1 only)
//	.. i32 key length, key, i32 value length, value
//
// A compressed one is a wrapper: its value is a compressed message set, its
// offset is that of the LAST inner message, and for magic 1 the inner offsets
// are relative.
//
// # Places
//
// An offset is a record's number in its partition; pos is a byte's place. A
// pos given by this package counts from the start of the batch in
// FormatError and Field, and from the start of the decompressed records
// section in Record.
//
// # Why
//
//   - One Reader for all magics: a viewer meets old data in new directories.
//   - Reader owns its buffers and decoders and lends out slices: a scan of
//     millions of records must not allocate per record.
//   - The place of the next record comes from its length, not from adding up
//     its fields: the processor then decodes several records at once. The sum
//     is still compared, as a check.
//   - Records are checked up to 256 at a time, and only their borders are noted: a
//     tight loop over local variables is three times as fast as one that keeps
//     a record's fields in memory, and counting needs nothing else.
//   - Record headers are checked while reading but decoded only on demand:
//     most readers never look at them.
//   - The default limit of an inflated batch is 32 MiB: far above what brokers
//     accept by default, and a deflate bomb of 100 kB stays outside.
//   - LZ4 frames are taken apart here and only the blocks are given to the
//     library: old writers' frames have a wrong header checksum, which
//     libraries refuse, and the block interface needs no copy.
//   - Varints with needless zero groups are accepted, as Kafka does, but not
//     more than 5 (10) bytes or more than 32 (64) bits.
//   - The checksum of a message inside a legacy wrapper is not checked: that
//     of the wrapper covers it.
//   - Search jumps from one place of the needle's rarest byte to the next, and
//     where that byte is frequent compares two bytes of the needle at many
//     places at once, in assembly on amd64. The library's own search falls to a
//     tenth of its speed with such needles.
//   - The checksum of what is read is half of the work of checking it, so it is
//     folded 256 bytes at a time where the processor can multiply 64 bytes
//     without carry (AVX-512): more than twice as fast as hash/crc32, which
//     knows only the CRC32 instruction and does the rest.
//   - Search looks at a whole section before it decodes anything. A hit there
//     is only a candidate, since it may span two fields.
package record

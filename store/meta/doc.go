// Package meta decodes the records of Kafka's own topics, and replays __consumer_offsets into groups. Bytes go in and
// values come out: nothing is opened, nothing panics, and no length is believed unchecked.
//
//	topic                 key                              value
//	__consumer_offsets    i16 version = type of record     i16 version, fields
//	__transaction_state   i16 version 0, id                i16 version, fields
//	__share_group_state   i16 version = type of record     i16 version, fields
//	__cluster_metadata    null                             uvarint frame 1, uvarint type, uvarint version, fields
//	control records       i16 version, i16 type            i16 version, fields
//
// Fields come in one of two encodings. In the old one lengths are i16 (strings) and i32, and -1 is null. In the flexible
// one they are a uvarint of length+1, 0 is null, and every struct ends in its tagged fields:
//
//	uvarint how many | uvarint tag, uvarint size, bytes | …
//
// # Why
//
//   - One decoder reads every message from descriptions of a line each (specs.go): a new version of Kafka is a change of
//     data. Offset commits, of which there are millions, are read by hand beside it.
//   - kmsg is not used: it knows half of these messages only, and makes arrays as long as the bytes claim.
//   - Unknown tagged fields and bytes behind a message are kept and shown: a newer broker's record is still worth reading.
//   - A decoded message takes up to 40 times its bytes, so no more than 16 MiB are looked into.
//   - Replay does not expire offsets: a reader must not show less than what lies on disk because of its own clock.
//   - A marker ends what its producer id has pending, whatever the epoch: with transaction version 2 the marker carries
//     the epoch after the data's.
package meta

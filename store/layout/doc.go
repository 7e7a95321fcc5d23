// Package layout knows the names and the small files of a Kafka log directory, and Kafka's topic configs. Bytes go in
// and values come out: nothing is opened, nothing panics, and no length is believed unchecked.
//
//	log.dirs entry
//	├─ meta.properties                     Meta: node, cluster and directory id
//	├─ .lock  .kafka_cleanshutdown         CleanShutdown; there only after a clean stop
//	├─ recovery-point-offset-checkpoint    OffsetLine: flushed up to
//	├─ replication-offset-checkpoint       OffsetLine: high watermark
//	├─ log-start-offset-checkpoint         OffsetLine: moved log starts
//	├─ cleaner-offset-checkpoint           OffsetLine: compacted up to
//	├─ orders-0/                           Dir: topic and partition
//	│  ├─ 00000000000000000000.log         File: base offset, kind, suffix
//	│  ├─ 00000000000000000000.index  .timeindex  .txnindex
//	│  ├─ 00000000000000000120.snapshot    ProducerEntry: producers up to that offset
//	│  ├─ leader-epoch-checkpoint          Epoch: leader epoch and its first offset
//	│  └─ partition.metadata               ID of the topic
//	├─ orders-1.<32 hex>-delete/           Dir in another state; -future, -stray likewise
//	└─ __cluster_metadata-0/               with quorum-state and %020d-%010d.checkpoint
//
// A checkpoint is text:             A producer snapshot is binary:
//
//	0               version              i16 version 1 | u32 CRC-32C of the rest | i32 count
//	2               lines that follow    then 46 bytes each: i64 producer, i16 epoch, i32 last sequence,
//	orders 0 131                         i64 last offset, i32 offset delta, i64 ms, i32 coordinator epoch,
//	orders 1 7                           i64 first offset of the open transaction
//
// # Why
//
//   - Parsers return what they could read beside the error: a viewer of a damaged directory shows the rest, a broker
//     that wants to refuse looks at the error alone.
//   - A folder's name is taken only when writing it again gives the same name: t-0 and t-00 would else be one partition.
//   - A folder with a suffix that Kafka does not write falls through to the plain form, as in Kafka, so a topic may end
//     in -delete.
//   - segment.bytes may be as small as before Kafka 4.0, so that small logs can be looked at while they roll.
//   - Topic configs that Kafka 4 dropped are named as such, since files and habits still hold them.
//   - The list of a broker's keys is data: a key that is right but useless here must not be called a mistake.
package layout

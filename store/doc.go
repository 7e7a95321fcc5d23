// Package store is the embedded broker's engine: it owns a data directory of Apache Kafka's own layout, makes, changes
// and deletes topics, appends records, and lets old ones go. Reading is not its business: that goes through the files,
// by store/logdir, for our own directory as for any other.
//
//	DIR/                                    one of the log dirs
//	├─ .lock                                held while an Engine is open; JSON: pid, started, address, door
//	├─ meta.properties                      node, cluster and directory id
//	├─ .kafka_cleanshutdown                 there only after a clean stop
//	├─ recovery-point-offset-checkpoint     per partition: flushed below it
//	├─ log-start-offset-checkpoint          per partition whose records were deleted up to somewhere
//	├─ replication-offset-checkpoint        per partition: high watermark
//	├─ cleaner-offset-checkpoint            per compacted partition: cleaned below it
//	├─ strata-topics.intent                 what is being done to topics, while it is; in the first directory
//	├─ TOPIC-N/                             a partition, see store/partition
//	└─ TOPIC-N.ID-delete/                   removed after file.delete.delay.ms
//
// An Engine serves model.TopicAdmin, model.Producer and model.RecordDeleter. Its methods may be called from any
// goroutine.
//
// # Why
//
//   - The lock is the operating system's, on .lock, of the kind that Kafka's own brokers take (a POSIX record lock, on
//     Linux tied to the open file): a dead process cannot hold it, and a broker started on our directory is refused, as
//     we are on a live broker's.
//   - After a clean stop a log's end comes from the recovery point checkpoint; no log is opened before it is written to,
//     and no folder is listed before it is asked for. Ten thousand partitions open in the time of one folder's listing.
//   - Open writers are counted, and the one unused for longest is closed as a clean stop closes it: descriptors and
//     mappings stay bounded whatever the number of partitions.
//   - The mark of a clean stop is written once the checkpoints that it vouches for are on the disk, and taken away at every
//     start, also where a checkpoint could not be read: it must never outlive the stop that it tells of.
//   - A start drops the checkpoints' lines of partitions that are gone: a topic made anew under such a name would inherit
//     a log start beyond its end, and recovery would throw its records away.
//   - A topic of many partitions is made, grown and deleted as one: what is about to be done is written down first, and a
//     start after a crash undoes what was being made and finishes what was being deleted. The line is not forced to the
//     disk, for it has to outlive the process and not the power; one that comes back after a loss of power is known by the
//     records that the topic holds by then.
//   - What a broker is given while it runs, and what groups are given, lies beside the topics' configs, under names that
//     no topic can have (broker:1, broker:, group:payments): one store, one way to lose it.
//   - The checkpoints keep the lines of deleted topics until they are written anyway, or until a topic of that name is made:
//     a thousand deletions would write them a thousand times.
//   - The leader epoch rises at the first append after a start, not at every start: a log that is only looked at keeps
//     its files byte for byte.
//   - The replication checkpoint holds the LEO: there is one replica, so the high watermark is the log's end.
//   - The cleaner looks at all logs that are compacted again and again, as Kafka's does, and takes the one with the highest
//     dirty ratio. A damaged one is left alone until the next start; one that the disk had no room for is tried again.
//   - Deleting works on a full disk: what it would only write down is made good later.
//   - A data directory that belongs to a Kafka broker (it has __cluster_metadata) is refused: its metadata log would not
//     know of what we do there.
package store

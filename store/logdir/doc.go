// Package logdir shows one or several log directories of a broker, as they lie on disk, as a source: alive, dead or
// damaged, and without changing a byte of them. It is also how the embedded broker's own directory is read.
//
//	LOG DIR                                   read as
//	├── meta.properties, .kafka_cleanshutdown,
//	│   *-offset-checkpoint, .lock            Overview; log start and high watermark of the partitions' views
//	├── orders-0/ …                           a live partition: a view of store/partition
//	├── orders-1.‹id›-future|-delete|-stray/  a leftover, listed behind the live ones
//	├── __cluster_metadata-0/                 topics' ids and configs, leaders and replicas (metadata.go)
//	├── __consumer_offsets-N/                 groups (group.go)
//	└── anything else                         counted, named in Overview, left alone
//
// # What happens when
//
//	Open          names of the folders (one readdir), checkpoints                          some ms
//	first walk    size of every .log, on two goroutines                                    bytes are known
//	loader        a look at every partition: what is on screen first, then by name         log ends, estimates
//	counter       the records of what is on screen, and of small partitions                exact counts
//	watch         events in the roots and in the folders on screen, gathered for 50 ms     changes
//	next walks    every Restat: sizes of what is not watched                               changes
//
// Every request looks again at the partition that it is about before it reads, so that an answer is never older than
// its question.
//
// # Why
//
//   - Nothing is locked: whether a process holds .lock is read from the kernel's table of locks.
//   - No file stays open and none is mapped while nobody reads: a broker may rename and remove what it wants.
//   - The views of partitions that are on no screen are dropped once their numbers are known: ten thousand views of ten
//     segments would be tens of megabytes. Those that were asked for are kept within a bound (kept.go): groups, tails and
//     the page before come back to them.
//   - Retention and configs come from the metadata log. Where that sets no retention.ms it counts as not known, not as
//     Kafka's default: what a broker's server.properties says is not in its log directory.
//   - The log end, not the checkpointed high watermark, bounds lag and counts: the checkpoint is seconds old.
//   - A topic of which only leftovers are there is no topic: a client would not be told of it either.
//   - A tail reads files like everything else; its records never pass through a channel one by one.
package logdir

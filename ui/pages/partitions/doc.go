// Package partitions lists the partitions of a topic with their offsets, their sizes and how evenly the topic is spread
// over them. Folders that are being moved or removed stand below, with a word on what they are.
//
//	 3 partitions · records 4,812,339 · 1.9 GiB · 9 segments · skew 1.08×
//	──────────────────────────────────────────────────────────────────────────────────────────
//	   P  LOG START         HW        LSO        LEO    RECORDS      SIZE  SEGS  SKEW
//	▌  0  3,904,112  4,812,339  4,812,301  4,812,339    908,227  648 MiB      3  ███████· 1.02×
//
// # Why
//
//   - A high watermark that is behind the log end and was read from a checkpoint carries ≈: the checkpoint is written
//     now and then, and the truth may be further on.
//   - On a cluster leader and replicas stand first and stay longest, and segments are left out: a broker that is gone is
//     looked for here, files are not. The line at the bottom names racks, because it is asked of one partition at a time.
//   - An error costs its row and no more: the offsets that are known stay.
package partitions

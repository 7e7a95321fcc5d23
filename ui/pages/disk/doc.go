// Package disk says who takes the space: topics, then the partitions of one, then the segments of one, the biggest
// first, with how fast each grows and what retention frees next.
//
//	 1.9 GiB in 5 topics · growing 1.2 MiB/s
//	────────────────────────────────────────────────────────────────────────────
//	  TOPIC        SIZE  SHARE                        GROWTH
//	▌ clicks   12.4 GiB  ██████████████████▌·  92 %  1.1 MiB/s
//	  orders    1.0 GiB  █▌··················   8 %   97 KiB/s
//	────────────────────────────────────────────────────────────────────────────
//	 clicks: 256 MiB are freed in 4 min (clicks-3, retention.bytes)
//
// # Why
//
//   - It shows bytes of .log files: indexes are small, and preallocated ones would lie.
//   - The time until a disk is full is not shown: how much is free is not known to a source.
//   - What is freed next is asked for what is under the cursor alone: it needs the segments of all its partitions.
package disk

// Package records lists the records of a partition, as a window that moves over the log: both ways, through any number
// of offsets, with what lies between records said: transactions' ends, holes, damage, and where groups are.
//
//	start 3,904,112 · stable 4,812,301 · high watermark 4,812,339 · end 4,812,339 · 908,227 records · partition 2 of 6
//	──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
//	     OFFSET  TIME          KEY       VALUE                                                     HDRS      SIZE
//	  4,640,612  ── transaction of producer 1000 committed ───────────────────────────────────────────────────────
//	▌ 4,640,613  06:40:01.305  user-42   {"type":"paid","amount":12.50,"items":[…                     2  312 B
//	             2 offsets compacted away
//	             ▲ billing is here
//	  4,640,616  06:40:01.306  注文-7    ∅ tombstone                                                  0   12 B
//
// # Why
//
//   - One partition at a time, with [ and ] to the next: partitions have no common order, and a merged list would make one.
//   - The window holds at most maxRows records, read with their values cut; the record page reads the whole one.
//   - While the end is followed the window is read anew from the end at each change: a thousand records a frame cost as
//     much as one.
//   - A hole is said as what it is known to be. Offsets that the committed-only view leaves out are not called compacted.
package records

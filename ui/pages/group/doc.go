// Package group is one consumer group: its members and what they hold, and for each partition what is committed, what is
// still to be read, and what is lost.
//
//	Stable · Classic · range · 2 members · lag ▂▃▅▆ 12,004 · ▼ 41/s · gone in 4 min
//	── members ─────────────────────────────────────────────────────────────────────
//	   CLIENT    HOST         HOLDS  PARTITIONS
//	   c1        127.0.0.1        2  orders 0-1
//	── committed ───────────────────────────────────────────────────────────────────
//	   PARTITION  COMMITTED      START        END     LAG  NOTE                          WHEN
//	▌  orders-0   1,204,332        340  1,204,344      12                                5 s
//	   orders-1         100        340        350      10  ✗ 240 lost before the log start
//
// # Why
//
//   - Members are above and few lines high: who looks at a group wants its offsets; tab goes up to scroll them.
//   - A group is read at most four times a second, because each time its lag is counted.
//   - What a narrow screen drops is said of the row under the cursor at the foot.
package group

// Package tail follows topics: the newest record at the bottom, a rate graph in the head, a filter while it runs.
//
//	● following  orders, payments · 12 not shown · 1,204,332 arrived · 312 match
//	1.2k/s  ▂▃▅▆▇▇▆▅▂▃▅▆▇▇▆▅  peak 98k/s
//	─────────────────────────────────────────────────────────────────────────
//	  PARTITION     OFFSET  TIME          KEY       VALUE
//	  orders/2   4,812,337  09:12:00.113  user-42   {"type":"paid","amount":12.50}
//	             ── 12 records not shown: they came faster than they could be read ──
//	▌ orders/0   4,812,338  09:12:00.114  user-17   {"type":"new"}
//
// # Why
//
//   - No record is ever a message: the source keeps the newest in a bounded window, and at most every 50 ms the page
//     looks at the end of it.
//   - Pausing copies the window, so that what is being read does not go while it is.
//   - The filter is the source's: what does not match takes no place in the window. A new filter begins a new tail,
//     which looks at the newest records from before, too.
package tail

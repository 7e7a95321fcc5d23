// Package transactions shows the transactional ids of a source with the states of their transactions, and below what the
// one under the cursor holds back.
//
//	  TRANSACTIONAL ID  STATE       OPEN FOR  TIMES OUT  PRODUCER  EPOCH  PARTITIONS  GROUPS
//	▌ payments-1        ● Ongoing       12 s     in 48 s      1000      3           2  billing
//	  payments-2        CompleteCommit     –          –       1001      0           –
//	── payments-1 holds back ───────────────────────────────────────────────────────────────
//	  PARTITION      SINCE OFFSET  LAST STABLE  HIGH WATERMARK  HELD BACK
//	  orders-0            204,112      204,112         204,160         48
//
// # Why
//
//   - An open transaction matters by what readers do not see because of it, so that is what is shown of it: the last
//     stable offset of each of its partitions, and how many offsets lie above.
//   - Open ones come first, the oldest at the top: that one is looked for when a reader stands still.
package transactions

// Package index shows the entries of a segment's three indexes, what is wrong with them, and where the one under the
// cursor leads.
//
//	 ‹ index │ timeindex │ txnindex ›  4,012 entries · 1 wrong
//	─────────────────────────────────────────────────────────────────────────
//	   ENTRY     OFFSET    RELATIVE    POSITION
//	▌      0  4,640,612         500      16,482
//	       1  4,641,118       1,006      33,020   ✗ behind the end of the log
//	─────────────────────────────────────────────────────────────────────────
//	 to byte 16,482: batch 4,640,612 … 4,641,111, 500 records, CRC ✓
//
// # Why
//
//   - Entries come by window; where one leads is looked up for the one under the cursor alone, because that reads the log.
//   - The batch at an entry's byte is compared with the entry: an index that is well formed may still lead astray.
package index

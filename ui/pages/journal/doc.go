// Package journal lists the resets that were made, newest first, with the rows of the one under the cursor.
//
//	   #  WHEN   GROUP    RESET           ROWS  WHO       STANDS
//	▌ 12  9 s    reports  by -3              2  ada@host  ✓
//	  11  4 min  audit    as undo of reset 9  1  ada@host  ✓ took 9 back
//	   9  1 h    audit    to earliest        1  ada@host  taken back by 11
//	── reset 12 ────────────────────────────────────────────────────────────────────
//	   PARTITION         WAS     BECAME  CHANGE
//	   payments-0        700      → 697  ◂ 3 read again
//
// # Why
//
//   - The rows of the entry under the cursor are below the list, because what a reset did is what one looks for; enter
//     gives them the whole screen.
//   - Taking back is planned on the reset page: it is a reset like any other.
package journal

// Package reset moves what a group has committed: a plan that is made anew as one types, applied exactly as shown, and
// read back. The taking back of a reset is the same page with a plan that the journal makes.
//
//	to ◂ earliest │ latest │ offset │ time │ ago │ shift │ like group │ file ▸
//	   2026-11-29 23:00
//	── all that it has committed ───────────────────────────────────────────────────
//	   PARTITION  COMMITTED    WILL BE      CHANGE               FIRST RECORD IT WILL READ
//	 ● orders-0   1,204,332  → 1,101,000  ◂ 103,332 read again   23:00:00.120  user-42  {"type":…
//	 ● orders-2           –  → 0          ▸ new
//	 ○ orders-3   1,200,000    unchanged    taken out
//	────────────────────────────────────────────────────────────────────────────────
//	 ✓ 2 partitions move: 103,332 records read again, 1 new commit
//
// # Why
//
//   - It begins at earliest, whatever was chosen last: a plan that can be read at once teaches more than an empty field.
//   - A plan is asked for as one types, a moment after the last key, and always by the same request as the one applied.
//   - What was taken out and what was edited belong to partitions, so that they outlive a plan that is made anew.
//   - While the question "reset?" stands, no new plan is taken: what is applied is what was asked about.
//   - Log ends that move do not make a new plan, or the table would never hold still; a change of the group does, at most
//     once a second. What has moved between is refused by the source, shown, and planned again.
//   - The arrow keys turn through the places while no text is typed; enter goes into the text. So a place is found by
//     arrows alone, and letters stay keys.
package reset

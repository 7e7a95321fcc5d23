// Package delivery shows at most once, at least once and exactly once side by side: each is run on the broker itself,
// with one fault after the other put in its way, and what was lost or doubled is counted.
//
//	  FAULT              AT MOST ONCE     AT LEAST ONCE     EXACTLY ONCE
//	  none               ✓ right          ✓ right           ✓ right
//	  lost request       ✗ 10 lost        ✓ right           ✓ right
//	▌ lost ack           ✓ right        ▸ ✗ 10 doubled      ✓ right
//	── lost ack, at least once ─────────────────────────────────────────────────────
//	  100 sent · 110 in the log · 110 worked on · doubled 40–49
//	  no answer came, so the producer sent again what the broker had already written
//	    12 ms  producer  sends 40–49
//	    13 ms  network   the connection breaks: the broker has answered, and its answer never arrives
//
// # Why
//
//   - Side by side: what a guarantee is worth is seen in what the one beside it did with the same fault.
//   - Nothing runs before it is asked for: an experiment makes topics, and a broker is somebody's.
//   - The topic stays, so that the records, batches and markers of a run can be looked at like any other's.
package delivery

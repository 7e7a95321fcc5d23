// Package lookup shows the steps by which an offset or a time is found in a partition: the search over the segments, the
// search in the index, the scan of the log.
//
//	 offset or time  4,640,614█
//	─────────────────────────────────────────────────────────────────────
//	▌ segments   binary search over 28 base offsets, 5 compared
//	             ▕············░░░░█░░░░░░▏  20 of 28: 4,488,002 ≤ 4,640,614
//	             → 00000000000004640112.log
//	  index      binary search over 4,012 entries, 12 compared
//	             …
//	─────────────────────────────────────────────────────────────────────
//	 ✓ offset 4,640,614 at 2026-11-30 06:40:01.305, in the batch at byte 16,560
//
// # Why
//
//   - The steps are the source's own. The bars between them are drawn by searching the same lists once more, entry by
//     entry, because a step says only how many it compared; they are left out where the lists cannot be had.
package lookup

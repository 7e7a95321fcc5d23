// Package segments is the core sample: a partition drawn as strata. The newest layer is on top; each is as tall as its
// share of the bytes and shaded by its age; beside the layers stand the groups, at the depth to which they have read.
//
//	 start 3,904,112 · stable 4,812,301 · high watermark 4,812,339 · 908,227 records · 1.9 GiB
//	 ────────────────────────────────────────────────────────────────────────────────────────────────
//	        BASE OFFSET  RECORDS     SIZE  RATIO  WRITTEN        LEAVES                      GROUPS
//	 ▁▁▁▁▁▁   4,812,339 ───────────────────────────────────────────────────── log end ──
//	 ██████   4,790,000   22,339   48 MiB   3.1×  09:12 → now    active                      ◀ billing 12
//	▌▓▓▓▓▓▓   4,640,112  149,888  256 MiB   3.0×  06:40 → 09:12  in 6 d 21 h (retention.ms)
//	▌▓▓▓▓▓▓                                                                                  ◀ search 172,004
//	 ▔▔▔▔▔▔   3,904,112 ─────────────────────────────────────────────────── log start ──
//
// # Why
//
//   - The page lays out its own lines: a layer is several lines tall and moves under the cursor as one.
//   - Shade and colour go by rank, from the newest layer to the oldest: absolute ages would paint a directory of last
//     year in one colour, and WRITTEN says when.
//   - A layer is never more than a few lines taller than the mean, so that two segments do not become two walls.
package segments

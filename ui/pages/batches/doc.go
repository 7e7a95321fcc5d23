// Package batches lists the batches of a segment, and shows the bytes of the one under the cursor, field by field.
//
//	      POS  OFFSETS                  N      SIZE  CODEC      WRITTEN              PRODUCER      KIND    CRC
//	        0  4,640,112 … 4,640,611  500  16.1 KiB  zstd 3.2×  06:40:01.113 +88 ms  1000/0 #4012          ✓
//	▌  16,482  4,640,612                1    78 B    –          06:40:01.300         1000/0        COMMIT  ✓
//	── batch 2 of 3 · byte 16,482 ──────────────────────────────────────────────────────────────────────────
//	  base offset       4640612 │ 00004062  00 00 00 00 00 46 cf 64  00 00 00 42 00 00 00 03  ·····F·d ···B····
//	▌ length                 66 │ 00004072  02 3f 47 f5 b8 00 30 00  00 00 00 00 01 8b cf e5  ·?G···0· ········
//
// Of a source that shows no files and tells of batches all the same, which a cluster is, it lists those: without bytes, and
// from an offset on instead of by number. The page begins at the log's end, and is continued as the cursor nears an edge.
//
// # Why
//
//   - Rows are asked for by number and in small windows around the cursor: a segment may hold millions of batches, and
//     each window is checksummed as it comes.
//   - Bytes between two batches that belong to neither are said in the row behind them: damage must not vanish because
//     it has no row.
//   - Brokers give batches forwards only. What lies before the list is found from further and further back, so that a hole
//     that compaction has left costs the logarithm of its width, and no batch is left out.
//   - A change while the page is open asks for the last batch alone: what is on screen does not change in a log.
package batches

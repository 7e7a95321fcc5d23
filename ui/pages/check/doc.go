// Package check verifies a segment, a partition, a topic or everything while it is watched, and lists every fault with
// its file, its byte and what follows from it.
//
//	 │ segment │ partition │ topic │ everything │  orders
//	 ██████████▌········· 52 %  orders-2/00000000000004640112.log · 1.0 of 1.9 GiB · 820 MiB/s · 1 s to go
//	──────────────────────────────────────────────────────────────────────────────────────────────────────
//	  FAULT      PARTITION  FILE         BYTE     OFFSET  WHAT
//	▌ ✗ damage   orders-2   4640112.log  16,560   4,640,613  CRC is 1a2b3c4d, computed 99887766
//	──────────────────────────────────────────────────────────────────────────────────────────────────────
//	 orders-2/00000000000004640112.log, byte 16,560, offset 4,640,613: crc
//	 CRC is 1a2b3c4d, computed 99887766. 499 records after it are still readable
//
// # Why
//
//   - Faults are kept up to a bound and counted beyond it: a file of noise must not fill the memory.
//   - A check that is stopped keeps what it found and says how far it came: half a check is no clean bill.
package check

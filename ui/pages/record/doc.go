// Package record shows one record whole: where it lies, its key, its headers in order, and its value as JSON, as text,
// in hex, or decoded.
//
//	2026-11-30 06:40:01.305 create time · 312 B · producer 1000/0 #4012 · committed transaction
//	segment 00000000000004640112.log · batch 4,640,613 at byte 16,560 · leader epoch 3
//	──────────────────────────────────────────────────────────────────────────────────────────
//	  key    user-42
//	  trace  a1
//	  trace  a2
//	── value 61 B  key 7 B  headers 2 ────────────────────────────── ‹ json │ text │ hex › ──
//	▌ ▾ {
//	      "type": "paid",
//	      "id": 9223372036854775807
//	    }
//
// # Why
//
//   - The record is read whole here and nowhere else: lists read the beginnings of values.
//   - Saving never overwrites unasked, and what it replaces is replaced whole or not at all.
//   - The editor gets a copy: a log is never edited.
package record

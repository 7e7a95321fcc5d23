// Package produce writes records: one, the same one many times at a rate, or the lines of a file; and says where each
// went.
//
//	▌ key          ∅ null
//	  value        {"type":"paid","n":{{n}}}
//	  header 1     trace=a1
//	  header 2     name=value; name alone is null
//	  to           ‹ by key │ round robin │ random │ partition ›
//	  codec        ‹ none │ gzip │ snappy │ lz4 │ zstd ›
//	  times        5000
//	  per second   100
//	── sent ────────────────────────────────────────────────────────────────────────
//	████████····  42 %   2,100 of 5,000 · 100/s
//	  WHERE        OFFSET     TIME
//	▌ orders/1     4,812,339  09:12:00.000
//
// # Why
//
//   - Null is a state of a field beside its text: what was typed comes back when null is turned off again.
//   - A value that a line cannot hold (large, many lines, no UTF-8) is kept as bytes and shown as what it is; typing
//     replaces it. So a record that is sent again is the same to the byte.
//   - Stopping lets the batch that is under way finish, so that the counter tells what was written.
//   - {{n}} and {{now}} are all there is of templates: enough to tell records apart.
package produce

// Package rows draws records as lines of a list, one line a record whatever its bytes. The pages records, tail and
// search share it, so that a record looks the same in all three.
//
//	   OFFSET  TIME          KEY      VALUE                               HDRS      SIZE
//	4,640,613  06:40:01.305  user-42  {"type":"paid","amount":12.50,…        2  312 B
//	4,640,614  06:40:01.305  ∅        ␛[31mhello␛]52;c;…                     0   48 B
//	4,640,615  06:40:01.306  注文-7   ∅ tombstone                            0   12 B
//
// # Why
//
//   - Widths are decided here and not by kit.Table, because one rule comes first: the value is the widest column at any
//     width, and the others give way to it in a stated order: headers, size, the time's seconds, the time.
//   - Null is ∅, empty is "", and text that reads as either of them is put in quotes, so that the three differ without
//     colour too.
//   - An aborted record is dim and says so in a word.
//   - Lines are kept as they were drawn until anything they depend on changes: a key redraws forty lines of which one is
//     new. What is kept decides speed alone.
package rows

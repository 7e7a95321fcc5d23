// Package offsets draws what groups have committed and what a reset would make of it. The pages groups, group, reset and
// journal share it, so that a lag, a trend and a row of a plan look the same in all of them.
//
//	  PARTITION     COMMITTED        WILL BE   CHANGE                FIRST RECORD IT WILL READ
//	  orders-0      1,204,332  →   1,101,000   ◂ 103,332 read again  23:00:00.120  user-42  {"type":"paid"…
//	○ orders-3      1,200,000      unchanged   –                     taken out
//
// # Why
//
//   - A trend is the slope of a line through the samples of the last twenty seconds, and only told where it outweighs
//     their noise: a consumer that keeps up has a lag that goes up and down with every poll.
//   - Counted and estimated lags are never put into one trend: the step from one to the other is no movement.
package offsets

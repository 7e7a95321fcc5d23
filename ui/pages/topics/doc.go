// Package topics is the list of topics: how much each holds, how fast it grows, how long it keeps records, and how far
// the groups that read it are behind.
//
//	  TOPIC       PARTS     RECORDS      SIZE              RATE  NEWEST  KEEPS    GROUPS     LAG
//	▌ orders          6   4,812,339   1.9 GiB  ▂▃▅▆▇▇▆▅  1.2k/s     now  7 d           3  12,004
//	  audit.log       1           0     0 B                   –       –  forever       –       –
//	+ 2 internal (. shows them)
//
// # Why
//
//   - The rows' order is made anew only when names, filter or sort change, and once a second where a figure sorts:
//     rows that move under the eye cannot be read.
//   - Rates are counted into whole seconds: a sparkline that moves with every message says nothing.
//   - Groups come by a request of their own, at most once a second: names and figures do not wait for them.
package topics

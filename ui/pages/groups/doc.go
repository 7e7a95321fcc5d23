// Package groups is the list of consumer groups: who reads, how far behind, and whether that grows.
//
//	  GROUP     STATE   TYPE     PROTOCOL  MEMBERS  TOPICS     LAG  TREND    NOTE
//	▌ billing   Stable  Classic  range           2       1      12
//	  search    Stable  Classic  range           1       1  12,004  ▲ 41/s
//	  audit     Empty   Classic                  0       1  35,227           ✗ 12 lost
//
// # Why
//
//   - Groups are asked for at most once a second: lags are counted, and a busy topic would have them counted for ever.
//   - A topic narrows the list to the groups that read it, and LAG to what they have to read of it.
package groups

// Package search finds records by what is in them, in one partition, in all of a topic, or everywhere, and lists what it
// finds as it is found.
//
//	refund  in orders · everywhere · oldest first
//	▌▌▌▌▌▌▌▌▌▌·········· 42 %  1,204,332 records · 812 MiB of 1.9 GiB · 640 MiB/s · 2 s left
//	─────────────────────────────────────────────────────────────────────────────────────────
//	  PARTITION     OFFSET  TIME          KEY       VALUE
//	▌ orders/0   4,640,613  06:40:01.305  user-42   {"type":"refund","amount":12.50}
//
// # Why
//
//   - A search ends with its reason in words, and says of every end but the last how to go on.
//   - Hits keep the beginnings of their values only: a thousand of them must not hold a gigabyte.
//   - What was cancelled goes on where it was; what was looked at is not looked at again.
package search

// Package demo is live traffic for a newcomer: a small shop whose topics differ in what there is to see.
//
//	orders    3 partitions, keyed JSON with headers, zstd
//	payments  2 partitions, keyed JSON, some records with a null value, lz4
//	clicks    4 partitions, fast, null keys, snappy; kept by size
//	stock     1 partition, compact, tombstones, gzip
//	audit     1 partition, slow, small segments, kept half a minute: deletion can be watched
//
//	billing   reads orders and keeps up
//	search    reads clicks, too slowly: its lag grows
//	reports   read some of payments and stopped: its offsets can be reset
//
// It drives a broker through the same abilities as any program, knows no engine, and stops with Close.
//
// # Why
//
//   - A history is written first, dated back over the last minutes, so that the first screen is not empty.
//   - Records are made in bursts of 50 ms: at any rate it costs twenty wake-ups a second.
//   - Every topic is bounded by retention, so that a demo left alone overnight does not fill the disk.
package demo

// Package change makes and changes topics: create, alter (configs and the number of partitions), delete, and truncate
// (the deletion of a partition's oldest records).
//
//	CONFIG            VALUE      SOURCE   DEFAULT
//	▌ retention.ms    86400000   topic    604800000
//	  segment.bytes   1073741824 default  1073741824
//
//	retention.ms of orders: 604800000 → 60000
//	── what that deletes ───────────────────────────────────────────────────────────
//	  PARTITION   BASE OFFSET    RECORDS      SIZE  WRITTEN         GOES
//	  orders-2      3,904,112    183,771   255 MiB  yesterday 23:10  now
//	  orders-2      4,488,002    152,110   256 MiB  03:58            in 4 min
//
// # Why
//
//   - One package for four screens: they share how a preview of a deletion looks, which must look the same everywhere.
//   - Every change is previewed by the source, also the harmless ones: the preview is where a bad value is refused.
//   - What deletes records at once wants a typed name; what only deletes them sooner is asked about.
//   - Values may be typed with units (7d, 512MiB), because nobody counts milliseconds; what is stored is shown.
package change

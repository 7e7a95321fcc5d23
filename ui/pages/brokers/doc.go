// Package brokers shows the nodes of a cluster: whether they live, what they lead, hold and lack, and below the log
// directories of the one under the cursor and the quorum that keeps the metadata. Enter shows the configs of a broker
// that are not at their defaults.
//
//	 3 brokers · ✗ 1 does not answer · controller 2 · 36 replicas out of sync
//	────────────────────────────────────────────────────────────────────────────────────────────────────────────
//	  ID  ADDRESS          RACK           STATE              VERSION  LED  REPLICAS  OUT OF SYNC     SIZE
//	▌  1  127.0.0.1:9092   eu-central-1a  ● alive                4.4   18        36            –  1.9 GiB
//	   2  127.0.0.1:9093   eu-central-1b  ● controller           4.4   18        36            –  1.9 GiB
//	   3  127.0.0.1:9094   eu-central-1c  ✗ fenced: the contr…     –    0        36           36        ?
//	── log directories of broker 1 ─────────────────────────────────────────────────────────────────────────────
//	  PATH                  PARTITIONS     SIZE  VOLUME                  FREE
//	  /var/lib/kafka/data           36  1.9 GiB  █████···  100 GiB   38.1 GiB
//	── metadata quorum ─────────────────────────────────────────────────────────────────────────────────────────
//	  NODE  ROLE      LOG END  BEHIND  CAUGHT UP
//	     2  leader     12,004       –  now
//
// # Why
//
//   - A broker is alive when it has answered itself, not when the metadata lists it: the metadata is late by a session.
//   - Those that the cluster has lost stay in the list with why, because their replicas are what is missing.
//   - What one broker is slow to say is a ? until it does; the others are not kept waiting.
//   - The list is read again every five seconds, since no cluster tells of its own accord.
package brokers

// Package clients shows who is connected to the embedded broker, and below how each API of the listener does.
//
//	  CLIENT       SOFTWARE             ADDRESS          SINCE   REQ/S      IN/S     OUT/S  DELIVERY               GROUPS
//	▌ billing-1    apache-kafka-java 4.4  127.0.0.1:51312  4 min    12.0   1.2 KiB   310 KiB                        billing
//	  orders-api   librdkafka 2.0.2     127.0.0.1:51320    9 s     201   98.0 KiB   4.1 KiB  acks=all idempotent
//	── APIs ─────────────────────────────────────────────────────────────────────────────────────────────────────
//	  API             REQUESTS    REQ/S      P50      P99   ERRORS
//	  Produce           12,044    201.0   0.1 ms   0.4 ms
//
// # Why
//
//   - The figures come by a timer of a second: rates move all the time, and a list that jumps is read by nobody.
//   - What a client has shown of its delivery settings stands beside its name, because a producer with acks=0 is found
//     by looking for it.
//   - Who was refused is told in the last line, also when nobody is connected: a client with a wrong password is looked for
//     here, and is in no list.
//   - Rows keep their order while figures move: by the time of connecting, until the user sorts.
package clients

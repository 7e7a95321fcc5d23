// Package overview says what a log directory is: whose broker wrote it and in which mode, how its last stop was, what
// its checkpoints say, what lies in it that should not, and the newest records of the cluster's metadata.
//
//	/var/lib/kafka/data
//	  mode          KRaft                   meta.properties version 1
//	  cluster id    5L6g3nShT-eMCtK--X86sw
//	  last stop     clean                   broker epoch 4711
//	left over or not understood
//	  orders-1.5f…-delete                   2 segments, being removed
//	metadata log, the newest records
//	  1,204         TopicRecord             name orders, id b2sL…
//
// # Why
//
//   - One list for all sections: it is read from top to bottom, and the same keys move in it as anywhere else.
package overview

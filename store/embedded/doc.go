// Package embedded puts the embedded broker together as a model.Source: the files are read by store/logdir, as any log
// directory is; what is written goes through store's Engine; groups have a store of their own (strata.db).
//
//	            Broker              Look                Offsets
//	reads       logdir              logdir              logdir
//	writes      store.Engine        –                   –
//	groups      groups.Service      opened for each     groups.Service
//	                                question
//	locks       .lock, strata.db    nothing             strata.db
//
// # Why
//
//   - One reading side for all sources: what the explorer shows of its own broker is what is on disk, not what a writer
//     believes, and every fault of the reading side is found twice.
//   - It is a package of its own, because store and groups do not know each other, and main holds no logic.
//   - Look opens strata.db only for the moment of a question: bbolt's shared lock would keep a starting broker out.
package embedded

// Package embedded puts the embedded broker together as a model.Source: the files are read by store/logdir, as any log
// directory is; what is written goes through store's Engine; groups have a store of their own (strata.db).
//
//	            Broker              Attached            Look                Offsets
//	reads       logdir              logdir              logdir              logdir
//	writes      store.Engine        Owner               –                   –
//	groups      groups.Service      Owner; once it has  opened for each     groups.Service
//	                                ended as in Look    question
//	locks       .lock, strata.db    nothing             nothing             strata.db
//	listens     Options.Listen      –                   –                   –
//
// An Owner is the process that has the directory, spoken to by Kafka's protocol at the address in its lock. Where that
// address asks clients who they are there is a door besides, strata.door, which no other user may open.
//
// # Why
//
//   - One reading side for all sources: what the explorer shows of its own broker is what is on disk, not what a writer
//     believes, and every fault of the reading side is found twice.
//   - It is a package of its own, because store and groups do not know each other, and main holds no logic.
//   - Look opens strata.db only for the moment of a question: bbolt's shared lock would keep a starting broker out.
//   - The listener is bound before the directory is opened: where it cannot be, nothing has been changed or recovered, and
//     the lock holds the address from its first moment, so that a second process need not guess whether one will come.
//     Connections wait in the system's queue until recovery is over.
//   - The client of an Owner is handed in (Meet), because it is the same as that of any cluster, which is no business of an
//     embedded broker.
//   - Attached looks at the lock twice a second: the system lets it go whenever its holder ends, which no connection tells
//     as surely, and whoever takes it next is found there too.
//   - Configs of topics are asked for once, on the first need: strata.db is locked by the Owner.
package embedded

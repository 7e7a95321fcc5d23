// Package cli is the command line: every screen's content without a screen, for scripts. A command reads its
// arguments, asks a model.Source, and prints; it holds no logic of its own.
//
// stdout is the answer and nothing else; notices and progress go to stderr. With --json each line is one object, its
// fields in the order of this package's to…JSON functions; offsets and sizes are exact integers, an unknown is null.
//
// # Exit codes
//
//	0    done, and all is well
//	1    done, but something is wrong: damage found, a reset refused or with nothing to do, no match
//	2    could not do it: bad arguments, no such topic, no source
//	130  interrupted
//
// # Why
//
//   - Reading the embedded broker's directory takes no lock and starts no broker: a look must not change what it looks
//     at, and it works beside a running strata.
//   - Where another process has the directory open and listens, that one is told what to change, and asked about groups:
//     two terminals on one directory are the usual thing, and no reason to fail.
//   - consume commits what has left stdout and nothing before, so that whatever ends it loses no record. It begins at the
//     log start where a group has committed nothing: who tries it out wants to see something.
//   - Counts are made exact before they are printed. A script cannot see the ≈ of a screen.
//   - cobra, because GNU-style flags, help and completion are not what strata exists for.
package cli

// Package watch turns file events into wake-ups: it says which folders may have changed, never what changed in them.
// Whoever is woken looks for himself, by size and by name.
//
// # How a change travels
//
//	write, rename, …  ─> kernel's queue ─> fsnotify ─> Watcher ──mark──> Feed (a set of folders) ──> C(), a token
//	                                                      ^                                            Take(), the set
//	  slow re-stat of what is watched ────────────────────┤
//	  quick re-stat of what cannot be watched (polling) ──┘
//
// A Watcher owns the one event queue of the process. A Feed is one reader's interest: folders are added to it, what
// happens in them gathers in its set, and its channel of capacity one holds a token while the set waits to be taken.
// What is not taken is merged, never queued. A Feed with a window gives its first token at once after a quiet time and
// then at most one a window; the window begins at the first event, so that a busy folder still shows up on time. A
// Feed without a window wakes at once, for tails.
//
// # What a reader must do
//
//   - Look at a folder after adding it: files made before the watch took hold give no event. Add marks the folder dirty
//     for that reason.
//   - Take every event as "look again": a truncation is a write too, three writes may be one event, and a
//     memory-mapped write (a broker's indexes) is none at all.
//   - On All, look at everything: events were lost, or the set was too long to be told.
//
// # Why
//
//   - Folders, not files: a folder's watch sees its files made, written, renamed and removed, and a partition costs one
//     watch whatever its number of segments.
//   - The set holds folders, not events: at 100,000 events a second the set of 16 folders stays a set of 16.
//   - A re-stat looks at the folder and at its newest .log only: appends go there and everything else that a broker does
//     makes, renames or removes a file, which changes the folder's own time.
//   - A folder that is written to thousands of times a second loses its watch for a second and is looked at every few
//     milliseconds instead: taking 100,000 events a second costs a fifth of a core, and being watched slows the writer.
//   - A watch that fails never fails the reader: the folder is polled, and State says so in words.
//   - A folder that is renamed or removed loses its watch in the kernel; the interest stays, and takes hold again when a
//     folder of that name is back, because a topic may be deleted and made anew.
package watch

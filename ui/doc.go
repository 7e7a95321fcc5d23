// Package ui is the root program: the stack of pages, the frame around them, the overlays and the dispatch of keys. It
// asks the Source that it is handed and knows no engine.
//
//	strata ▸ orders ▸ 2                              ● embedded · 127.0.0.1:9092     breadcrumb and source
//	──────────────────────────────────────────────────────────────────────────────   rule
//	                                                                                  body: the page on top
//	enter open  / filter  ? help                                                      keys line
//	live · UTC                                                     5 of 5 topics      status line
//
// # What is where
//
//	kit        widgets that know nothing of Kafka: lists, tables, forms, safe text, themes
//	page       the contract between the root and its pages: commands, requests, work off the UI goroutine
//	rows       records as lines, and searches for them: what the pages records, record, tail and search have in common
//	offsets    what groups have committed and where that goes: what groups, group, reset and journal have in common
//	pages/*    one package a screen; registry.go says which
//	cli        the commands that need no screen
//	early      what must happen before Bubble Tea is linked in
//	uitest     drives pages in tests; termtest runs programs in a terminal of their own; e2e tests the built program
//
// # Why
//
//   - View returns the last frame unless something was marked dirty: Bubble Tea asks for it after every message.
//   - Each page's commands are wrapped, so that what they bring goes to that page and nowhere else, and goes nowhere
//     when it is closed.
//   - Covered pages are told of changes when they are uncovered, merged: what is not on screen costs nothing.
//   - A key's command gets two milliseconds to bring its request before the next key is looked at: keys typed ahead are
//     meant for the page that the key before opens.
//   - Signals are watched here and not by Bubble Tea, which kills where this quits, and does not know SIGHUP and SIGTSTP.
//   - The last place is offered and not gone to: who starts the program wants to see what there is.
//   - Views keep their stacks, so that looking at the groups does not cost one's place among the topics; other stacks
//     are closed, for they would go on reading unseen.
//   - All lines pass Guard, although pages make all text safe: one page that forgets it must not hurt a terminal.
//   - 120 frames a second: at 60 the frame clock alone makes a key's p99 17 ms.
package ui

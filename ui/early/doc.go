// Package early keeps the terminal library from talking to the terminal before main has begun.
//
// Bubble Tea asks the terminal for its background colour in a package init, even for a command that draws nothing:
// it writes OSC 11 and a cursor query to standard output and waits up to five seconds where nobody answers. It leaves
// that out when TERM is dumb. So this package hides TERM while packages are initialised, and main brings it back:
//
//	func main() {
//		early.Restore()
//		…
//
// # Why
//
//   - This is the one package with an init: nothing else runs before another package's init. Go initialises packages
//     that are ready by sorted import path, so this one, which needs os alone and whose path sorts before that of
//     golang.org/x/sys, is done before the terminal libraries, which need that.
//   - The theme is chosen by flag and by COLORFGBG instead; a wrong guess costs a flag, a query costs five seconds.
package early

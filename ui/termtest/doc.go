// Package termtest runs a program in a terminal of its own, and tells tests what it shows:
//
//	x := termtest.Start(t, exec.Command(os.Args[0]), 80, 24)
//	x.Wait(`orders`)     // until the screen matches
//	x.Type("j\r")
//	code := x.End()
//	x.Restored()         // the terminal is as it was before
//
// # Why
//
//   - The screen is an emulator's, so that a test reads what a person would, and not a stream of differences.
//   - It is a package of its own beside uitest, so that the tests of pages need not be linked with an emulator.
package termtest

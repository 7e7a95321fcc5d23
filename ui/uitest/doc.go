// Package uitest drives pages without a program or a terminal, and compares what they draw as plain text.
//
//	src := uitest.NewSource(now)                      // or &uitest.Source{…}: canned data, all abilities
//	p := topics.New(uitest.Env(t, src), page.Open{})
//	uitest.Drive(p, p.Init())                         // runs commands in line, feeds what they bring
//	requests := uitest.Press(p, "j", "enter")         // []page.Request for the root: page.Open{…}
//	uitest.Golden(t, "list", p.View(80, 24))          // testdata/list.txt; go test -update rewrites
//	uitest.Fits(t, p)                                 // all sizes from 1x1 to 300x100
//	uitest.Keys(t, p)                                 // no key twice, no row without help
//
// A source that lacks abilities: uitest.Plain(src) keeps the methods of model.Source only.
//
// # Why
//
//   - Commands run in line, so that a test is a straight line; what may wait for long (page.Later) and timers
//     (page.TickIn) come back as requests for the test to answer.
//   - Goldens are plain text: colours change with a theme, the words and columns must not.
package uitest

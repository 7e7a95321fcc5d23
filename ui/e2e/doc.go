// Package e2e holds tests of the whole program: the binary's commands, read record by record, and the binary in a
// terminal. There is nothing in it to be imported.
package e2e

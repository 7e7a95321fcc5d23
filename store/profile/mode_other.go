//go:build !unix

package profile

// othersMayRead cannot be told from the mode of a file here.
func othersMayRead(string) bool { return false }

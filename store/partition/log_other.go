//go:build !unix

package partition

// ignoreUnsupported drops every error: a folder cannot be flushed here.
func ignoreUnsupported(error) error { return nil }

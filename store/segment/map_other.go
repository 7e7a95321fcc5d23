//go:build !unix

package segment

import "io"

// mapFileRead maps nothing here: files are read.
func mapFileRead(io.ReaderAt, int64) []byte { return nil }

func unmapFileRead([]byte) {}

func peek([]byte, int64, *peeks) bool { return false }

//go:build !unix

package segment

// mapFile maps nothing here: the indexes are written with WriteAt.
func mapFile(AppendFile, int64) ([]byte, error) { return nil, nil }

func unmapFile([]byte) error { return nil }

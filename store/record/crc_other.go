//go:build !amd64

package record

// foldCRC adds as much of b to a checksum as there is a quicker way for than hash/crc32's, and gives the rest: there is
// none.
func foldCRC(crc uint32, b []byte) (uint32, []byte) { return crc, b }

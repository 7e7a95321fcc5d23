package record

import "golang.org/x/sys/cpu"

// hasFold tells that the processor multiplies without carry 64 bytes at a time. It is never changed after its making.
var hasFold = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPCLMULQDQ && cpu.X86.HasSSE42

// leastFold is from how many bytes on folding is worth its beginning and end.
const leastFold = 512

// foldCRC adds as much of b to a checksum as there is a quicker way for than hash/crc32's, and gives the rest.
func foldCRC(crc uint32, b []byte) (uint32, []byte) {
	if !hasFold || len(b) < leastFold {
		return crc, b
	}
	n := len(b) &^ 63
	return ^foldBlocks(^crc, b[:n]), b[n:]
}

// foldBlocks adds b, of at least 256 bytes and a multiple of 64, to the bare register of a CRC-32C.
//
//go:noescape
func foldBlocks(crc uint32, b []byte) uint32

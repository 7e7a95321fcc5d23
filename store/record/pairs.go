package record

import (
	"encoding/binary"
	"math/bits"
)

// Words of eight equal bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	cases = 0x2020202020202020 // what makes a letter lower case
)

// findPairGo is findPair for processors without a way of their own: eight
// places at a time.
func findPairGo(x, y []byte, a, b, ma, mb uint64) int {
	n := min(len(x), len(y)) &^ 15
	for i := 0; i < n; i += 8 {
		t := (binary.LittleEndian.Uint64(x[i:i+8]) | ma) ^ a
		t |= (binary.LittleEndian.Uint64(y[i:i+8]) | mb) ^ b
		// The lowest high bit left is that of the lowest byte that is 0.
		if t = (t - ones) &^ t & highs; t != 0 {
			return i + bits.TrailingZeros64(t)/8
		}
	}
	return -1
}

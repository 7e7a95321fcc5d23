package record

// Varints are zigzag: 0, -1, 1, -2 are written as 0, 1, 2, 3, seven bits a
// byte with the low bits first.

// varint32 reads a 32-bit varint at b[p:] and gives the place after it; that
// is -1 when bytes are missing, and -2 when it has more than 32 bits.
func varint32(b []byte, p int) (v int32, next int) {
	var u uint32
	for shift := uint(0); ; shift += 7 {
		if uint(p) >= uint(len(b)) {
			return 0, -1
		}
		c := b[p]
		p++
		if shift == 28 && c > 0x0f {
			return 0, -2
		}
		u |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return int32(u>>1) ^ -int32(u&1), p
		}
	}
}

// varint64 is varint32 for 64 bits, 10 bytes at most.
func varint64(b []byte, p int) (v int64, next int) {
	var u uint64
	for shift := uint(0); ; shift += 7 {
		if uint(p) >= uint(len(b)) {
			return 0, -1
		}
		c := b[p]
		p++
		if shift == 63 && c > 0x01 {
			return 0, -2
		}
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), p
		}
	}
}

// appendVarint writes v in as few bytes as it needs. A 32-bit value has the
// same bytes whether it is taken for 32 or for 64 bits.
func appendVarint(dst []byte, v int64) []byte {
	u := uint64(v)<<1 ^ uint64(v>>63)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// varintSize is how many bytes appendVarint would write.
func varintSize(v int64) int {
	n := 1
	for u := uint64(v)<<1 ^ uint64(v>>63); u >= 0x80; u >>= 7 {
		n++
	}
	return n
}

package record

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestCRCIsCastagnolis holds every length up to some blocks, at every place in a word, and long ones, against the
// standard library's.
func TestCRCIsCastagnolis(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	hold := func(from, to int, crc uint32) {
		t.Helper()
		if got, want := UpdateCRC(crc, b[from:to]), crc32.Update(crc, castagnoli, b[from:to]); got != want {
			t.Fatalf("bytes %d to %d behind %08x: %08x, want %08x", from, to, crc, got, want)
		}
	}
	for n := range 2500 {
		hold(n%67, n%67+n, 0)
		hold(n%64, n%64+n, random.Uint32())
	}
	for range 500 {
		from, to := random.IntN(len(b)), random.IntN(len(b))
		hold(min(from, to), max(from, to), random.Uint32())
	}
	if got := CRC([]byte("123456789")); got != 0xe3069283 {
		t.Errorf("the check value is %08x", got)
	}
}

// TestCRCOfOneBit shows a wrong factor by the place where it counts.
func TestCRCOfOneBit(t *testing.T) {
	b := make([]byte, 1024)
	for i := range len(b) * 8 {
		b[i/8] ^= 1 << (i % 8)
		if got, want := CRC(b), crc32.Checksum(b, castagnoli); got != want {
			t.Fatalf("bit %d: %08x, want %08x", i, got, want)
		}
		b[i/8] = 0
	}
}

func FuzzCRC(f *testing.F) {
	f.Add([]byte("strata"), uint32(0))
	f.Add(make([]byte, 700), uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, crc uint32) {
		if got, want := UpdateCRC(crc, b), crc32.Update(crc, castagnoli, b); got != want {
			t.Errorf("%08x, want %08x", got, want)
		}
	})
}

// BenchmarkCRC has hash/crc32 as its limit.
func BenchmarkCRC(b *testing.B) {
	for _, n := range []int{1 << 10, 16 << 10, 256 << 10} {
		block := make([]byte, n)
		b.Run(sizeName(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				sink += int(CRC(block))
			}
		})
		b.Run(sizeName(n)+"/standard", func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				sink += int(crc32.Checksum(block, castagnoli))
			}
		})
	}
}

func sizeName(n int) string {
	return map[int]string{1 << 10: "1KiB", 16 << 10: "16KiB", 256 << 10: "256KiB"}[n]
}

package record

import (
	"bytes"
	"errors"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zstdStream packs as Java does: a stream, whose frame does not say how much it holds.
func zstdStream(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		n := min(len(data), 128<<10)
		if _, err := w.Write(data[:n]); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
	for _, err := range []error{w.Flush(), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var h zstd.Header
	if err := h.Decode(b.Bytes()); err != nil || h.HasFCS {
		t.Fatalf("the frame says its size: %+v, %v", h, err)
	}
	return b.Bytes()
}

// TestUnzstdOfUnknownSize inflates what is packed a hundred times smaller, so that how much room it takes is guessed wrong.
func TestUnzstdOfUnknownSize(t *testing.T) {
	const most = 8 << 20
	var f inflater
	for _, n := range []int{1, 1000, 64 << 10, 64<<10 + 1, 100_000, 128<<10 - 1, 128 << 10, 128<<10 + 1, 200_000, 600_000, 3 << 20, most - 1, most} {
		want := bytes.Repeat([]byte("one and the same line\n"), n/22+1)[:n]
		packed := zstdStream(t, want)
		for name, src := range map[string][]byte{"one frame": packed, "two frames": append(zstdStream(t, want[:n/2]), zstdStream(t, want[n/2:])...)} {
			for _, dst := range [][]byte{nil, make([]byte, 13, 20)} {
				begin := len(dst)
				got, err := f.unzstd(dst, src, most)
				if err != nil || !bytes.Equal(got[begin:], want) {
					t.Errorf("%d bytes in %s behind %d: %d bytes, %v", n, name, begin, len(got), err)
				}
			}
		}
		if _, err := f.unzstd(nil, packed, int64(n)-1); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d bytes where %d are allowed: %v", n, n-1, err)
		}
	}
}

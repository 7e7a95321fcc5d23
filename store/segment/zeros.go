package segment

import (
	"errors"
	"io"
	"os"
)

const (
	// wholeZeros is up to how many bytes a run of zeros is read whole before samples are taken.
	wholeZeros  = 1 << 20
	sampleEvery = 1 << 20
	sampleSize  = 4 << 10
)

// firstData returns the first byte in [pos, end) that is not zero, or end. Holes are not read where the file system
// can name them; long runs of written zeros are looked at in samples, unless o.Thorough.
func firstData(r io.ReaderAt, pos, end int64, o ScanOptions) (int64, error) {
	f, isFile := r.(*os.File)
	buf := make([]byte, 64<<10)
	for pos < end {
		stop := end
		if isFile {
			data, hole, ok := dataExtent(f, pos, end)
			if ok {
				pos, stop = data, hole
			}
		}
		first, err := firstNonZero(r, pos, stop, buf, o)
		if err != nil || first < stop {
			return first, err
		}
		pos = stop
	}
	return end, nil
}

// firstNonZero reads [pos, end).
func firstNonZero(r io.ReaderAt, pos, end int64, buf []byte, o ScanOptions) (int64, error) {
	begin := pos
	for pos < end {
		if o.Stop != nil {
			if err := o.Stop(); err != nil {
				return pos, err
			}
		}
		n := min(int64(len(buf)), end-pos)
		if !o.Thorough && pos-begin >= wholeZeros {
			n = min(n, sampleSize)
		}
		got, err := r.ReadAt(buf[:n], pos)
		if !allZero(buf[:got]) {
			for i, c := range buf[:got] {
				if c != 0 {
					return pos + int64(i), nil
				}
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return pos, err
		}
		if int64(got) < n {
			return end, nil // the file has shrunk
		}
		pos += n
		if !o.Thorough && pos-begin >= wholeZeros && pos < end {
			// The last bytes are looked at in any case.
			pos = max(pos, min(pos+sampleEvery-sampleSize, end-int64(len(buf))))
		}
	}
	return end, nil
}

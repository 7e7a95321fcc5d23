package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// firstGuess is how much room an unknown size gets at first.
const firstGuess = 64 << 10

// inflater owns the decoders; each is made when first needed.
type inflater struct {
	gz  *gzip.Reader
	zs  *zstd.Decoder
	src bytes.Reader
}

// inflaters serves Decompress.
var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// Decompress appends what src decompresses to, max bytes at most: more is
// ErrTooLarge, found before the memory is taken. magic matters to lz4 only:
// old writers' frames have a wrong header checksum, taken in magic 0 and 1.
// On an error dst is given back as it was. It is safe for concurrent use.
func Decompress(dst []byte, c Codec, magic int8, src []byte, max int64) ([]byte, error) {
	f := inflaters.Get().(*inflater)
	out, err := f.inflate(dst, c, magic, src, max)
	inflaters.Put(f)
	if err != nil {
		return dst, fmt.Errorf("decompress %s: %w", c, err)
	}
	return out, nil
}

func (f *inflater) inflate(dst []byte, c Codec, magic int8, src []byte, max int64) ([]byte, error) {
	switch c {
	case None:
		if int64(len(src)) > max {
			return nil, ErrTooLarge
		}
		return append(dst, src...), nil
	case Gzip:
		return f.gunzip(dst, src, max)
	case Snappy:
		return unsnappy(dst, src, max)
	case Lz4:
		return unlz4(dst, src, magic >= 2, max)
	case Zstd:
		return f.unzstd(dst, src, max)
	}
	return nil, ErrCodec
}

// gunzip reads one or more gzip members. Bytes behind the last are ignored,
// as Java does.
func (f *inflater) gunzip(dst, src []byte, max int64) ([]byte, error) {
	f.src.Reset(src)
	defer f.src.Reset(nil) // do not keep the batch alive
	begin := len(dst)
	dst = grow(dst, gunzipGuess(src, max), int64(begin)+max)
	for first := true; first || moreGzip(src, f.src.Len()); first = false {
		var err error
		if f.gz == nil {
			f.gz, err = gzip.NewReader(&f.src)
		} else {
			err = f.gz.Reset(&f.src)
		}
		if err != nil {
			return nil, eof(err)
		}
		f.gz.Multistream(false)
		if dst, err = readAll(f.gz, dst, begin, max); err != nil {
			return nil, eof(err)
		}
	}
	return dst, nil
}

// gunzipGuess takes the size out of the trailer if it is a likely one: deflate
// cannot do better than 1 to 1032.
func gunzipGuess(src []byte, max int64) int {
	guess := int64(firstGuess)
	if n := len(src); n >= 18 {
		if said := int64(binary.LittleEndian.Uint32(src[n-4:])); said < int64(n)*1032 {
			guess = said + 1
		}
	}
	return int(min(guess, max))
}

func moreGzip(src []byte, left int) bool {
	rest := src[len(src)-left:]
	return left >= 2 && rest[0] == 0x1f && rest[1] == 0x8b
}

// readAll appends all of r, to no more than max bytes after dst[:begin].
func readAll(r io.Reader, dst []byte, begin int, max int64) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			room := max - int64(len(dst)-begin)
			if room <= 0 {
				return dst, atEnd(r)
			}
			dst = grow(dst, int(min(room, firstGuess)), int64(begin)+max)
		}
		room := dst[len(dst):cap(dst)]
		if left := max - int64(len(dst)-begin); int64(len(room)) > left {
			if left == 0 {
				return dst, atEnd(r)
			}
			room = room[:left]
		}
		n, err := r.Read(room)
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}

// atEnd reports ErrTooLarge unless r has nothing more.
func atEnd(r io.Reader) error {
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n > 0:
		return ErrTooLarge
	case err == io.EOF:
		return nil
	default:
		return err
	}
}

// eof turns the plain end into an unexpected one.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// zstdBlock is the largest block of a zstd frame: with less room than that the
// decoder takes a sound block for a bad one.
const zstdBlock = 128 << 10

// unzstd decodes all frames. A Java producer's frame does not say how much it
// holds. The room that the last batch took, or four times the bytes, mostly
// does; if not, the frames are measured first: to try again and again with more
// room would take many times the memory of what is allowed.
func (f *inflater) unzstd(dst, src []byte, max int64) ([]byte, error) {
	if f.zs == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		f.zs = d
	}
	begin := len(dst)
	room := min(max, max64(int64(cap(dst)-begin)-zstdBlock, firstGuess, 4*int64(len(src))))
	var head zstd.Header
	if head.Decode(src) == nil && head.HasFCS {
		if head.FrameContentSize > uint64(max) {
			return nil, ErrTooLarge
		}
		room = min(max, max64(room, int64(head.FrameContentSize)))
	}
	dst = grow(dst, int(room+zstdBlock), int64(begin)+max+zstdBlock)
	out, err := f.zs.DecodeAll(src, dst[:begin:begin+int(room+zstdBlock)])
	if err != nil { // which one depends on where the room ended
		if room, err = f.measureZstd(src, max); err != nil {
			return nil, err
		}
		dst = grow(dst, int(room+zstdBlock), int64(begin)+max+zstdBlock)
		out, err = f.zs.DecodeAll(src, dst[:begin:begin+int(room+zstdBlock)])
	}
	if err == nil && int64(len(out)-begin) > max {
		err = ErrTooLarge
	}
	return out, err
}

// measureZstd returns how much all frames hold. It keeps no more of it than
// their window.
func (f *inflater) measureZstd(src []byte, max int64) (int64, error) {
	f.src.Reset(src)
	defer f.src.Reset(nil) // do not keep the batch alive
	if err := f.zs.Reset(&f.src); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(f.zs, max+1))
	// Let go of the window; there is nothing to be read that could fail.
	_ = f.zs.Reset(nil)
	if err == nil && n > max {
		err = ErrTooLarge
	}
	return n, err
}

// grow makes room for n more bytes, doubling as long as that keeps the slice
// within most bytes.
func grow(dst []byte, n int, most int64) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	want := max(len(dst)+n, int(min(2*int64(cap(dst)), most)))
	return append(make([]byte, 0, want), dst...)
}

func max64(a int64, more ...int64) int64 {
	for _, b := range more {
		a = max(a, b)
	}
	return a
}

// Snappy as Java writes it: a magic of 8 bytes, two version fields, then
// blocks, each after its length.
const (
	xerialMagic  = "\x82SNAPPY\x00"
	xerialHeader = 16
)

// unsnappy reads a raw block, or a stream of blocks with Java's header. Every
// block says how much it holds, so all room is taken at once.
func unsnappy(dst, src []byte, max int64) ([]byte, error) {
	var total int64
	err := eachSnappyBlock(src, func(_ []byte, n int) error {
		if total += int64(n); total > max {
			return ErrTooLarge
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dst = grow(dst, int(total), int64(len(dst))+max)
	err = eachSnappyBlock(src, func(block []byte, n int) error {
		end := len(dst) + n
		if _, err := s2.Decode(dst[len(dst):end:end], block); err != nil {
			return err
		}
		dst = dst[:end]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// eachSnappyBlock calls do with every block and its decompressed size. The
// version fields of Java's header are 1 in either byte order.
func eachSnappyBlock(src []byte, do func(block []byte, n int) error) error {
	framed := len(src) >= len(xerialMagic) && string(src[:len(xerialMagic)]) == xerialMagic
	for len(src) > 0 || !framed {
		block := src
		switch {
		case !framed:
			src = nil
		case len(src) >= xerialHeader && string(src[:len(xerialMagic)]) == xerialMagic:
			for p := len(xerialMagic); p < xerialHeader; p += 4 {
				if v := binary.BigEndian.Uint32(src[p:]); v != 1 && v != 1<<24 {
					return fmt.Errorf("stream version %#x is unknown", v)
				}
			}
			src = src[xerialHeader:]
			continue
		case len(src) < 4:
			return fmt.Errorf("block length is cut: %w", io.ErrUnexpectedEOF)
		default:
			n := int32(binary.BigEndian.Uint32(src))
			if n < 0 || int(n) > len(src)-4 {
				return fmt.Errorf("block length %d, but %d bytes are left", n, len(src)-4)
			}
			block, src = src[4:4+n], src[4+n:]
		}
		n, err := s2.DecodedLen(block)
		if err != nil {
			return err
		}
		if err := do(block, n); err != nil {
			return err
		}
		if !framed {
			return nil
		}
	}
	return nil
}

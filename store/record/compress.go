package record

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Blocks as Java's writers make them.
const (
	xerialBlock = 32 << 10
	lz4Block    = 64 << 10
	lz4Fast     = 9 // Kafka's name for the fast compressor; others are HC
)

// Encoders are kept between uses; the pools are the only state there is.
var (
	gzipWriters  [gzip.BestCompression + 1]sync.Pool // by level
	zstdEncoders [zstd.SpeedBestCompression + 1]sync.Pool
	lz4Writers   = sync.Pool{New: func() any { return new(lz4.Compressor) }}
	scratches    = sync.Pool{New: func() any { return new([]byte) }}
)

// CheckLevel tells whether Compress takes the level for the codec. 0 is the
// codec's default; else gzip takes 1 to 9, lz4 1 to 17 (above 9 as 9), zstd
// -131072 to 22, none and snappy any, which they ignore.
func CheckLevel(c Codec, level int) error {
	lo, hi := level, level
	switch c {
	case Gzip:
		lo, hi = 1, 9
	case Lz4:
		lo, hi = 1, 17
	case Zstd:
		lo, hi = -131072, 22
	}
	if level != 0 && (level < lo || level > hi) {
		return fmt.Errorf("%s level %d: must be %d to %d", c, level, lo, hi)
	}
	return nil
}

// Compress appends src compressed as Kafka's Java client frames it: gzip;
// snappy with Java's stream header, in blocks of 32 KiB; an lz4 frame of
// independent 64 KiB blocks without checksums; a zstd frame without checksum.
// It is safe for concurrent use. On an error dst is given back as it was.
func Compress(dst []byte, c Codec, level int, src []byte) ([]byte, error) {
	if err := CheckLevel(c, level); err != nil {
		return dst, err
	}
	switch c {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return appendGzip(dst, level, src)
	case Snappy:
		return appendXerial(dst, src), nil
	case Lz4:
		return appendLz4(dst, level, src)
	case Zstd:
		return appendZstd(dst, level, src)
	}
	return dst, fmt.Errorf("compress with %s: %w", c, ErrCodec)
}

// sliceWriter appends what is written to it.
type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

func appendGzip(dst []byte, level int, src []byte) ([]byte, error) {
	pool, wanted := &gzipWriters[level], level
	if level == 0 {
		wanted = gzip.DefaultCompression
	}
	out := sliceWriter{b: dst}
	w, ok := pool.Get().(*gzip.Writer)
	if ok {
		w.Reset(&out)
	} else {
		var err error
		if w, err = gzip.NewWriterLevel(&out, wanted); err != nil {
			return dst, err
		}
	}
	if _, err := w.Write(src); err != nil {
		return dst, err
	}
	if err := w.Close(); err != nil {
		return dst, err
	}
	w.Reset(nil) // do not keep dst alive
	pool.Put(w)
	return out.b, nil
}

func appendXerial(dst, src []byte) []byte {
	dst = append(dst, xerialMagic...)
	dst = append(dst, 0, 0, 0, 1, 0, 0, 0, 1)
	for len(src) > 0 {
		n := min(len(src), xerialBlock)
		at := len(dst)
		most := snappy.MaxEncodedLen(n)
		dst = slices.Grow(dst, 4+most)
		block := snappy.Encode(dst[at+4:at+4+most], src[:n])
		binary.BigEndian.PutUint32(dst[at:at+4], uint32(len(block)))
		dst = dst[:at+4+len(block)]
		src = src[n:]
	}
	return dst
}

func appendLz4(dst []byte, level int, src []byte) ([]byte, error) {
	begin := dst
	dst = append(dst, 0x04, 0x22, 0x4d, 0x18, lz4FlgVersion|lz4FlgIndependent, 0x40, 0x82)
	c := lz4Writers.Get().(*lz4.Compressor)
	defer lz4Writers.Put(c)
	for len(src) > 0 {
		n := min(len(src), lz4Block)
		at := len(dst)
		most := lz4.CompressBlockBound(n)
		dst = slices.Grow(dst, 4+most)
		room := dst[at+4 : at+4+most]
		var used int
		var err error
		if level == 0 || level == lz4Fast {
			used, err = c.CompressBlock(src[:n], room)
		} else {
			used, err = lz4.CompressBlockHC(src[:n], room, lz4Level(level), nil, nil)
		}
		if err != nil {
			return begin, err
		}
		word := uint32(used)
		if used == 0 || used >= n {
			used = copy(room, src[:n])
			word = uint32(used) | lz4Stored
		}
		binary.LittleEndian.PutUint32(dst[at:at+4], word)
		dst = dst[:at+4+used]
		src = src[n:]
	}
	return append(dst, 0, 0, 0, 0), nil
}

// lz4Level is the library's value for levels 1 to 9.
func lz4Level(level int) lz4.CompressionLevel {
	return lz4.CompressionLevel(1 << (8 + min(level, 9)))
}

func appendZstd(dst []byte, level int, src []byte) ([]byte, error) {
	speed := zstd.SpeedDefault
	if level != 0 {
		speed = zstd.EncoderLevelFromZstd(level)
	}
	pool := &zstdEncoders[speed]
	e, ok := pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
		if err != nil {
			return dst, err
		}
	}
	out := e.EncodeAll(src, dst)
	pool.Put(e)
	return out, nil
}

package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/strata-kafka/strata/store/record"
)

// Kind says what Scanner.Next has found.
type Kind int8

// What there is in a .log file.
const (
	End    Kind = iota // nothing more
	Batch              // a whole batch; its checksum may still be wrong
	Torn               // a batch whose end is not there yet, up to the end of the file
	Zeros              // zeros up to the end of the file: preallocated, not written
	Damage             // bytes that are no batch; the scan goes on behind them
	Failed             // reading failed: see Err
)

const (
	// DefaultBuffer is how much a Scanner reads at once, in bytes.
	DefaultBuffer = 256 << 10
	// DefaultMaxBatch is the largest batch that a Scanner takes into memory, in bytes.
	DefaultMaxBatch = 64 << 20
	// keptBuffer is the largest buffer that is kept after a large batch.
	keptBuffer = 1 << 20
	pageSize   = 4 << 10
	// slack is what a buffer has before what is read at once, for the beginning of a batch.
	slack = 64 << 10
	// smallBatch is the size up to which headers are read by the buffer, not one by one.
	smallBatch = 4 << 10
)

// ScanOptions tunes a Scanner. The zero value reads whole batches without looking at their checksums.
type ScanOptions struct {
	Buffer   int   // bytes a read; 0 means DefaultBuffer
	MaxBatch int64 // a larger batch comes without its Bytes; 0 means DefaultMaxBatch
	// Headers hops from header to header: Bytes is nil, and the records are not read.
	Headers bool
	// Map lets a scan of headers map the file where batches are large. A file that is truncated meanwhile is then read
	// instead. Close must be called.
	Map bool
	// Check computes the checksum of each batch (Sum), and with it tells a wrong length from wrong records.
	Check bool
	// Thorough reads a zero tail whole where the file system does not vouch for it, instead of looking at samples.
	Thorough bool
	// Stop is asked before each read; an error ends the scan as Failed. nil means never.
	Stop func() error
}

// Scanner walks the entries of a .log file in file order through one buffer. It never panics and never trusts a length:
// what is no batch is given as Damage, and the scan goes on at the next batch whose checksum is right, so that damage
// costs only its own place. Positions only ever rise.
//
// The zero value is not ready: call Reset.
//
// Invariants:
//   - pos+length is where the next item begins
//   - buf holds the file's bytes from at on
//   - end never grows, and shrinks only when the file did
type Scanner struct {
	o   ScanOptions
	r   io.ReaderAt
	end int64

	raw []byte
	buf []byte // of raw
	at  int64

	next   int64
	pos    int64
	length int64
	need   int64
	head   record.Header
	batch  []byte
	sum    [2]uint32
	summed bool
	why    string
	err    error

	ahead     look // the header at ahead.pos
	lastSize  int64
	seen      [3]bool // magics met so far
	mapped    []byte  // the file, with ScanOptions.Map
	peeks     *peeks
	unmapped  bool   // mapping was tried, or has ended
	probe     []byte // the search's own buffer
	piece     []byte // that of checksums computed piece by piece
	searched  int64  // up to here a search has found nothing from searchedAt on
	foundNext int64  // a batch that a search found, to go on at; -1 none
}

// look is a header that has been looked at.
type look struct {
	pos  int64 // -1 for none
	head record.Header
	is   headState
	why  string
}

type headState int8

const (
	headGood headState = iota
	headShort
	headZero
	headBad
	headFailed
)

// NewScanner returns a Scanner of the first size bytes of r.
func NewScanner(r io.ReaderAt, size int64, o ScanOptions) *Scanner {
	s := new(Scanner)
	s.Reset(r, size, o)
	return s
}

// Reset begins anew with the first size bytes of r; the buffer is kept.
func (s *Scanner) Reset(r io.ReaderAt, size int64, o ScanOptions) {
	if o.Buffer <= 0 {
		o.Buffer = DefaultBuffer
	}
	if o.MaxBatch <= 0 {
		o.MaxBatch = DefaultMaxBatch
	}
	s.Close()
	if s.peeks != nil {
		s.peeks.n = 0
	}
	*s = Scanner{o: o, r: r, end: max(size, 0), buf: s.buf[:0], probe: s.probe, piece: s.piece, peeks: s.peeks, raw: s.raw, ahead: look{pos: -1}, foundNext: -1}
}

// Goto goes to a byte, where a batch should begin.
func (s *Scanner) Goto(pos int64) {
	s.next, s.ahead.pos, s.foundNext, s.searched = max(pos, 0), -1, -1, 0
	s.batch, s.err = nil, nil
}

// Whole makes a scan of headers one of whole batches, with their checksums, from the next Goto on and up to a byte. What
// has been read is kept.
func (s *Scanner) Whole(end int64) {
	s.o.Headers, s.o.Check = false, true
	s.end = min(s.end, end)
}

// peekHeader reads the header at a byte, where the scan is to go on. It errs where there is none.
func (s *Scanner) peekHeader(pos int64) (record.Header, error) {
	return record.ParseHeader(s.window(pos, record.HeaderSize))
}

// Pos is the byte at which the item begins.
func (s *Scanner) Pos() int64 { return s.pos }

// Len is how many bytes of the file the item takes.
func (s *Scanner) Len() int64 { return s.length }

// Need is how many bytes a Torn batch says that it has, or 0 where even that is missing.
func (s *Scanner) Need() int64 { return s.need }

// Header is that of a Batch.
func (s *Scanner) Header() record.Header { return s.head }

// Bytes is the whole Batch, valid until the next call; nil with ScanOptions.Headers, and where it is larger than
// ScanOptions.MaxBatch.
func (s *Scanner) Bytes() []byte { return s.batch }

// Sum is the checksum that a Batch carries and the one that its bytes have; with ScanOptions.Check only.
func (s *Scanner) Sum() (stored, computed uint32) { return s.sum[0], s.sum[1] }

// Why says what is wrong at a place of Damage.
func (s *Scanner) Why() string { return s.why }

// Follows says what comes of Damage.
func (s *Scanner) Follows() string {
	if to := s.pos + s.length; to < s.end {
		return fmt.Sprintf("%d bytes are lost; the next batch is at byte %d", s.length, to)
	}
	return fmt.Sprintf("%d bytes up to the end of the file are lost", s.length)
}

// Err is why reading failed.
func (s *Scanner) Err() error { return s.err }

// End is where the file ends: its size, or less when it has shrunk.
func (s *Scanner) End() int64 { return s.end }

// Next goes to the next item.
func (s *Scanner) Next() Kind {
	s.batch, s.need, s.why, s.length, s.summed = nil, 0, "", 0, false
	if s.err != nil {
		return Failed
	}
	s.pos = s.next
	if s.pos >= s.end {
		return End
	}
	s.look(s.pos)
	switch s.ahead.is {
	case headFailed:
		return Failed
	case headShort:
		return s.short()
	case headZero:
		return s.zeros()
	case headBad:
		return s.damage(s.pos+1, s.ahead.why)
	}
	s.head = s.ahead.head
	size := s.head.Size()
	if size > s.end-s.pos {
		if f := s.search(s.pos+1, s.end); f >= 0 {
			return s.skip(f, fmt.Sprintf("length %d goes beyond the end of the file", s.head.Length))
		}
		if s.err != nil {
			return Failed
		}
		s.need = size
		return s.rest(Torn)
	}
	return s.whole(size)
}

// whole gives the batch at pos, unless its length turns out to be wrong.
func (s *Scanner) whole(size int64) Kind {
	if !s.load(size) {
		return Failed
	}
	if s.o.Check && !s.checksum(size) {
		return Failed
	}
	if s.suspicious(size) {
		if !s.summed && !s.checksum(size) {
			return Failed
		}
		if s.sum[0] != s.sum[1] {
			// A length that is wrong hides the batches behind it: is there one inside?
			f := s.search(s.pos+1, s.pos+size)
			if s.err != nil {
				return Failed
			}
			if f >= 0 {
				return s.skip(f, fmt.Sprintf("length %d is wrong: a batch with a right checksum begins within it", s.head.Length))
			}
		}
		if !s.load(size) {
			return Failed
		}
	}
	if m := s.head.Magic; m >= 0 && m <= 2 {
		s.seen[m] = true
	}
	s.lastSize = size
	s.length = size
	s.next = s.pos + size
	return Batch
}

// suspicious tells that the length of the batch at pos may be wrong: its checksum is, or what follows it is odd.
func (s *Scanner) suspicious(size int64) bool {
	if s.summed && s.sum[0] != s.sum[1] {
		return true
	}
	to := s.pos + size
	if to >= s.end {
		return false
	}
	if s.batch != nil {
		// Look at it without letting go of the batch.
		s.parse(to, s.buf[to-s.at:min(to-s.at+record.HeaderSize, int64(len(s.buf)))])
	} else {
		s.look(to)
	}
	if s.ahead.is != headGood {
		return true
	}
	h := &s.ahead.head
	return h.Size() > s.end-to || h.BaseOffset < s.head.NextOffset() || h.LastOffsetDelta < 0 ||
		h.Magic == 2 && (h.Count < 0 || int64(h.Count) > int64(h.LastOffsetDelta)+1)
}

// load brings the batch at pos, and the header behind it, into the buffer.
func (s *Scanner) load(size int64) bool {
	s.batch = nil
	if s.o.Headers || size > s.o.MaxBatch {
		return true
	}
	b := s.window(s.pos, int(size)+record.HeaderSize)
	if int64(len(b)) < size {
		if s.err == nil {
			s.err = io.ErrUnexpectedEOF
		}
		return false
	}
	s.batch = b[:size:size]
	return true
}

// checksum computes Sum.
func (s *Scanner) checksum(size int64) bool {
	if s.batch != nil {
		s.sum[0], s.sum[1] = record.Checksum(s.batch)
		s.summed = true
		return true
	}
	c, err := s.sumAt(s.pos, size, s.head.Magic)
	if err != nil {
		s.err = err
		return false
	}
	s.sum, s.summed = [2]uint32{s.head.CRC, c}, true
	return true
}

// short gives what is left of a file that ends within a header.
func (s *Scanner) short() Kind {
	b := s.window(s.pos, int(s.end-s.pos))
	if s.err != nil {
		return Failed
	}
	if allZero(b) {
		return s.rest(Zeros)
	}
	if len(b) >= 12 {
		if n := int32(binary.BigEndian.Uint32(b[8:])); n >= record.MinLength {
			s.need = 12 + int64(n)
		}
	}
	return s.rest(Torn)
}

// zeros gives a zero tail, or the damage that a run of zeros is.
func (s *Scanner) zeros() Kind {
	first, err := firstData(s.r, s.pos, s.end, s.o)
	switch {
	case err != nil:
		s.err = err
		return Failed
	case first >= s.end:
		return s.rest(Zeros)
	}
	// An offset and a length begin with zeros too.
	return s.damage(max(s.pos+1, first-16), fmt.Sprintf("%d zero bytes where a batch should begin", first-s.pos))
}

// damage looks for the next batch from a byte on and gives what lies before it.
func (s *Scanner) damage(from int64, why string) Kind {
	f := s.search(from, s.end)
	if s.err != nil {
		return Failed
	}
	if f < 0 {
		f = s.end
	}
	return s.skip(f, why)
}

func (s *Scanner) skip(to int64, why string) Kind {
	s.batch, s.why = nil, why
	s.length, s.next = to-s.pos, to
	return Damage
}

// rest gives all that is left.
func (s *Scanner) rest(k Kind) Kind {
	s.batch = nil
	s.length, s.next = s.end-s.pos, s.end
	return k
}

// look brings the header at a byte into ahead.
func (s *Scanner) look(pos int64) {
	if s.ahead.pos == pos || s.o.Map && s.lastSize > smallBatch && s.mapHeader(pos) {
		return
	}
	s.parse(pos, s.window(pos, record.HeaderSize))
}

// mapHeader looks at the header at a byte in the mapped file; it is false where that cannot be.
func (s *Scanner) mapHeader(pos int64) bool {
	if s.mapped == nil && !s.unmapped {
		s.unmapped = true
		s.mapped = mapFileRead(s.r, s.end)
	}
	if pos+record.HeaderSize > int64(len(s.mapped)) {
		return false
	}
	if s.peeks == nil {
		s.peeks = new(peeks)
	}
	if p := s.peeks; p.next < p.n && p.pos[p.next] == pos {
		s.ahead.pos, s.ahead.is, s.ahead.head = pos, headGood, p.head[p.next]
		p.next++
		return true
	}
	if s.o.Stop != nil {
		if s.err = s.o.Stop(); s.err != nil {
			s.ahead = look{pos: -1, is: headFailed}
			return true
		}
	}
	if !peek(s.mapped, pos, s.peeks) {
		s.Close() // the file has shrunk: read it
		return false
	}
	if s.peeks.n == 0 {
		return false // what is there must be looked at more closely
	}
	s.peeks.next = 1
	s.ahead.pos, s.ahead.is, s.ahead.head = pos, headGood, s.peeks.head[0]
	return true
}

// peeks are headers that follow one another, read out of a mapped file at once.
type peeks struct {
	n, next int
	pos     [64]int64
	head    [64]record.Header
}

// take reads the headers from pos on, as far as they are good.
func (p *peeks) take(m []byte, pos int64) {
	for p.n, p.next = 0, 0; p.n < len(p.pos) && pos+record.HeaderSize <= int64(len(m)); p.n++ {
		h, err := record.ParseHeader(m[pos : pos+record.HeaderSize])
		if err != nil {
			return
		}
		p.pos[p.n], p.head[p.n] = pos, h
		pos += h.Size()
	}
}

// Close gives up what ScanOptions.Map has mapped. The Scanner may be Reset afterwards.
func (s *Scanner) Close() {
	if s.mapped != nil {
		unmapFileRead(s.mapped)
		s.mapped = nil
	}
	s.unmapped = true
}

// parse judges the header that b begins with, in ahead; b is shorter than one only at the end of the file.
func (s *Scanner) parse(pos int64, b []byte) {
	l := &s.ahead
	l.pos, l.is = pos, headGood
	if s.err != nil {
		l.is = headFailed
		return
	}
	var err error
	if l.head, err = record.ParseHeader(b); err == nil {
		return
	}
	switch {
	case len(b) >= record.PrefixSize && allZero(b):
		l.is = headZero
	case errors.Is(err, record.ErrShort):
		l.is = headShort
	default:
		l.is, l.why = headBad, err.Error()
	}
}

// window returns n bytes at pos, or fewer at the end of the file. They are valid until the next call.
func (s *Scanner) window(pos int64, n int) []byte {
	n = int(min(int64(n), s.end-pos))
	if n <= 0 {
		return nil
	}
	off := pos - s.at
	if off >= 0 && off+int64(n) <= int64(len(s.buf)) {
		return s.buf[off : off+int64(n)]
	}
	if s.o.Stop != nil {
		if s.err = s.o.Stop(); s.err != nil {
			return nil
		}
	}
	if s.append(off, n) {
		return s.buf[off:min(off+int64(n), int64(len(s.buf)))]
	}
	s.fill(pos, n)
	return s.buf[:min(n, len(s.buf))]
}

// append reads just what is missing of n bytes at off of the buffer, where much would have to be moved to the front and
// there is room behind what it holds.
func (s *Scanner) append(off int64, n int) bool {
	have := int64(len(s.buf)) - off
	missing := int64(n) - have
	if off <= 0 || have <= slack || missing <= 0 || int64(cap(s.buf)-len(s.buf)) < missing {
		return false
	}
	old := len(s.buf)
	s.buf = s.buf[:old+int(missing)]
	s.more(old)
	return true
}

// more reads into the buffer from index i on. When less comes, the file has shrunk.
func (s *Scanner) more(i int) {
	n, err := s.r.ReadAt(s.buf[i:], s.at+int64(i))
	short := i+n < len(s.buf)
	s.buf = s.buf[:i+n]
	switch {
	case !short:
	case err != nil && !errors.Is(err, io.EOF):
		s.err = err
	default:
		s.end = s.at + int64(i+n)
	}
}

// fill makes the buffer hold n bytes from pos on, or more where the scan is likely to want them. What it has of them is
// moved to the front and not read again, so that a scan costs one read for each buffer. Bytes lie in memory as they lie
// in the file's pages, and long reads end with a page: copying them out is quickest so.
func (s *Scanner) fill(pos int64, n int) {
	var old []byte
	if off := pos - s.at; off >= 0 && off < int64(len(s.buf)) {
		old = s.buf[off:]
	}
	begin := pos + int64(len(old)) // of what is read
	to := pos + int64(n)
	switch {
	case s.o.Headers && s.lastSize > smallBatch:
	case s.o.Buffer >= DefaultBuffer:
		to = max(to, (begin+int64(s.o.Buffer))&^(pageSize-1))
	default:
		to = max(to, begin+int64(s.o.Buffer))
	}
	to = min(to, s.end)
	front := (len(old) + pageSize - 1) &^ (pageSize - 1)
	if s.o.Buffer >= DefaultBuffer && int64(s.o.Buffer) <= s.end-pos {
		front = max(front, slack) // the same for all fills
	}
	front += int(begin & (pageSize - 1))
	need := front + int(to-begin)
	if len(s.raw) < need || len(s.raw) > keptBuffer && need <= keptBuffer {
		// No more than there is: looks at the end of a log that grows are many, and small.
		room := min(int64(pageSize+min(s.o.Buffer, DefaultBuffer)), s.end-begin)
		s.raw = make([]byte, max(need, front+int(room)))
	}
	s.buf = s.raw[front-len(old) : need]
	copy(s.buf, old)
	s.at = pos
	s.more(len(old))
}

func allZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

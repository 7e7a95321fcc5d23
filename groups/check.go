package groups

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// What a page of a bbolt file begins with, and the kinds of page.
const (
	pageHeader    = 16 // id 8, flags 2, count 2, overflow 4
	elementSize   = 16
	metaSize      = 64
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	bucketElement = 0x01
	noFreelist    = ^uint64(0)
	maxDepth      = 64 // of nested pages and buckets together
)

// errNotBolt says that a file has no valid meta page.
var errNotBolt = errors.New("it is no bbolt file, or both its meta pages are damaged")

// boltMeta is a meta page: the root of one state of the file.
type boltMeta struct {
	PageSize int
	Root     uint64
	Freelist uint64
	Pages    uint64 // pages in use, the high water mark: none lies at or above
	Txid     uint64
	Single   bool // the other meta page is damaged: it may have held a newer state
}

// parseMeta reads a meta page from its first byte on, header included. It checks the mark, the version and the checksum.
func parseMeta(b []byte) (boltMeta, bool) {
	if len(b) < pageHeader+metaSize {
		return boltMeta{}, false
	}
	b = b[pageHeader:]
	ne := binary.NativeEndian
	h := fnv.New64a()
	h.Write(b[:56])
	m := boltMeta{PageSize: int(ne.Uint32(b[8:])), Root: ne.Uint64(b[16:]), Freelist: ne.Uint64(b[32:]), Pages: ne.Uint64(b[40:]), Txid: ne.Uint64(b[48:])}
	ok := ne.Uint32(b) == 0xED0CDAED && ne.Uint32(b[4:]) == 2 && ne.Uint64(b[56:]) == h.Sum64() &&
		m.PageSize >= 1024 && m.PageSize <= 16<<20 && m.PageSize&(m.PageSize-1) == 0
	return m, ok
}

// readMeta finds the newest valid meta page of a file.
func readMeta(f io.ReaderAt, size int64) (boltMeta, error) {
	var buf [pageHeader + metaSize]byte
	at := func(pos int64) (boltMeta, bool) {
		if _, err := f.ReadAt(buf[:], pos); err != nil {
			return boltMeta{}, false
		}
		return parseMeta(buf[:])
	}
	best, ok := at(0)
	if ok {
		other, ok := at(int64(best.PageSize))
		best.Single = !ok
		if ok && other.Txid > best.Txid {
			best = other
		}
		return best, nil
	}
	for pos := int64(1024); pos <= 16<<20 && pos < size; pos *= 2 {
		if m, ok := at(pos); ok && int64(m.PageSize) == pos {
			m.Single = true
			return m, nil
		}
	}
	return boltMeta{}, errNotBolt
}

// checkFile reads every page that the newest state of a bbolt file holds, without bbolt, which panics where it meets
// damage, in part in goroutines of its own. It returns an error when anything that is held is missing or wrong, or in such
// disorder that writing would do damage. short is how many bytes the file lacks at its end that no held page needs; single
// says that only one meta page is sound.
func checkFile(f io.ReaderAt, size int64) (short int64, single bool, err error) {
	m, err := readMeta(f, size)
	if err != nil {
		return 0, false, err
	}
	if m.Pages < 3 || m.Pages > 1<<40 {
		return 0, false, fmt.Errorf("its meta page counts %d pages", m.Pages)
	}
	want := int64(m.Pages) * int64(m.PageSize)
	have := uint64(size) / uint64(m.PageSize)
	c := &checker{f: f, meta: m, have: have, used: make([]uint64, (min(have, m.Pages)+63)/64)}
	if err := c.page(m.Root, keyRange{}, maxDepth); err != nil {
		return 0, false, err
	}
	if m.Freelist != noFreelist {
		if err := c.freelist(); err != nil {
			return 0, false, err
		}
	}
	return max(0, want-size), m.Single, nil
}

// keyRange bounds the keys of a page: from <= key < below; nil is no bound.
type keyRange struct{ from, below []byte }

// checker walks the pages of one state of a file.
type checker struct {
	f    io.ReaderAt
	meta boltMeta
	have uint64   // whole pages in the file
	used []uint64 // a bit a page: held by something
}

// load reads a page with what overflows it, and marks it as held.
func (c *checker) load(id uint64) (flags uint16, count int, b []byte, err error) {
	if id < 2 || id >= c.meta.Pages {
		return 0, 0, nil, fmt.Errorf("page %d lies outside the %d pages in use", id, c.meta.Pages)
	}
	if id >= c.have {
		return 0, 0, nil, fmt.Errorf("page %d is missing: the file was cut after page %d", id, c.have)
	}
	var h [pageHeader]byte
	pos := int64(id) * int64(c.meta.PageSize)
	if _, err := c.f.ReadAt(h[:], pos); err != nil {
		return 0, 0, nil, fmt.Errorf("page %d: %w", id, err)
	}
	ne := binary.NativeEndian
	if got := ne.Uint64(h[:]); got != id {
		return 0, 0, nil, fmt.Errorf("page %d says that it is page %d", id, got)
	}
	n := uint64(ne.Uint32(h[12:])) + 1
	if id+n > c.meta.Pages || id+n > c.have {
		return 0, 0, nil, fmt.Errorf("page %d runs over %d pages, beyond the end at page %d", id, n, min(c.meta.Pages, c.have))
	}
	for p := id; p < id+n; p++ {
		if c.used[p/64]&(1<<(p%64)) != 0 {
			return 0, 0, nil, fmt.Errorf("page %d is held twice", p)
		}
		c.used[p/64] |= 1 << (p % 64)
	}
	b = make([]byte, int64(n)*int64(c.meta.PageSize))
	if _, err := c.f.ReadAt(b, pos); err != nil {
		return 0, 0, nil, fmt.Errorf("page %d: %w", id, err)
	}
	return ne.Uint16(h[8:]), int(ne.Uint16(h[10:])), b, nil
}

// page checks a page and all below it.
func (c *checker) page(id uint64, r keyRange, depth int) error {
	flags, count, b, err := c.load(id)
	if err != nil {
		return err
	}
	if err := c.elements(flags, count, b, r, depth); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements checks what a branch or leaf page holds; b begins with the page's header.
func (c *checker) elements(flags uint16, count int, b []byte, r keyRange, depth int) error {
	if depth == 0 {
		return errors.New("pages are nested too deeply")
	}
	if flags != branchPage && flags != leafPage {
		return fmt.Errorf("its kind is %#x", flags)
	}
	if pageHeader+count*elementSize > len(b) {
		return fmt.Errorf("it counts %d elements, more than it has room for", count)
	}
	if flags == branchPage && count == 0 {
		return errors.New("a branch without elements")
	}
	es := make([]element, count)
	for i := range es {
		e, err := parseElement(b, i, flags == branchPage)
		switch {
		case err != nil:
			return err
		case i > 0 && bytes.Compare(e.key, es[i-1].key) <= 0,
			r.from != nil && bytes.Compare(e.key, r.from) < 0,
			r.below != nil && bytes.Compare(e.key, r.below) >= 0:
			return fmt.Errorf("the key of element %d is out of order", i)
		}
		es[i] = e
	}
	for i, e := range es {
		switch {
		case flags == branchPage:
			below := r.below
			if i+1 < len(es) {
				below = es[i+1].key
			}
			if err := c.page(e.page, keyRange{e.key, below}, depth-1); err != nil {
				return err
			}
		case e.bucket:
			if err := c.bucket(e.value, depth-1); err != nil {
				return fmt.Errorf("bucket %q: %w", e.key, err)
			}
		}
	}
	return nil
}

// element is an element of a branch page (key, page) or of a leaf page (key, value, bucket).
type element struct {
	key, value []byte // within the page
	page       uint64
	bucket     bool
}

// parseElement reads element i of a page, whose table of elements is known to lie within b.
func parseElement(b []byte, i int, branch bool) (element, error) {
	ne := binary.NativeEndian
	at := pageHeader + i*elementSize
	h := b[at : at+elementSize]
	if branch {
		key := uint64(at) + uint64(ne.Uint32(h))
		end := key + uint64(ne.Uint32(h[4:]))
		if end > uint64(len(b)) {
			return element{}, fmt.Errorf("the key of element %d lies outside it", i)
		}
		return element{key: b[key:end], page: ne.Uint64(h[8:])}, nil
	}
	key := uint64(at) + uint64(ne.Uint32(h[4:]))
	val := key + uint64(ne.Uint32(h[8:]))
	end := val + uint64(ne.Uint32(h[12:]))
	if end > uint64(len(b)) {
		return element{}, fmt.Errorf("element %d lies outside it", i)
	}
	return element{key: b[key:val], value: b[val:end], bucket: ne.Uint32(h)&bucketElement != 0}, nil
}

// bucket checks a bucket by its header: the number of its root page, or 0 and the page itself behind it.
func (c *checker) bucket(b []byte, depth int) error {
	if len(b) < 16 {
		return fmt.Errorf("its header has %d of 16 bytes", len(b))
	}
	if root := binary.NativeEndian.Uint64(b); root != 0 {
		return c.page(root, keyRange{}, depth)
	}
	if b = b[16:]; len(b) < pageHeader {
		return errors.New("its inline page is cut")
	}
	return c.elements(binary.NativeEndian.Uint16(b[8:]), int(binary.NativeEndian.Uint16(b[10:])), b, keyRange{}, depth)
}

// freelist checks that the list of free pages holds none that is in use, and none twice.
func (c *checker) freelist() error {
	flags, count, b, err := c.load(c.meta.Freelist)
	if err != nil {
		return fmt.Errorf("list of free pages: %w", err)
	}
	if flags != freelistPage {
		return fmt.Errorf("list of free pages: page %d is of kind %#x", c.meta.Freelist, flags)
	}
	b = b[pageHeader:]
	n := uint64(count)
	if count == 0xFFFF {
		n = binary.NativeEndian.Uint64(b)
		b = b[8:]
	}
	if n > uint64(len(b)/8) {
		return fmt.Errorf("list of free pages: it counts %d, more than it has room for", n)
	}
	prev := uint64(1)
	for i := range n {
		id := binary.NativeEndian.Uint64(b[i*8:])
		if id <= prev || id >= c.meta.Pages {
			return fmt.Errorf("list of free pages: page %d follows page %d", id, prev)
		}
		if id < c.have && c.used[id/64]&(1<<(id%64)) != 0 {
			return fmt.Errorf("page %d is free and in use", id)
		}
		prev = id
	}
	return nil
}

package wire

import (
	"math/bits"
	"sync"
)

const (
	// inBuffer is what a connection that says nothing costs: a read buffer, bytes. Requests that fit it are served where
	// they lie.
	inBuffer = 4 << 10
	// firstFrame is how much of a frame is believed before any of it has come, bytes, of a client that has sent none as
	// large before.
	firstFrame = 64 << 10
	// maxOther bounds a request that carries no records, bytes: a Fetch of ten thousand partitions is a third of it. An
	// array's count is held against the bytes that are left, so that a lie is decoded to up to eighty times of it.
	maxOther = 1 << 20
	// maxHeld bounds the frames that are being read and served, bytes. A connection that needs more is closed.
	maxHeld = 1 << 30
	// coalesce is how many bytes of answers wait for the next request that has come already.
	coalesce = 32 << 10
	// writeStep is what a client has to take within Options.WriteTimeout, bytes.
	writeStep = 64 << 10
)

const (
	minClass = 12 // 4 KiB
	maxClass = 24 // 16 MiB
)

// buffers are byte slices by size class: powers of two. Larger ones are left to the garbage collector.
//
// Invariants:
//   - class i holds slices whose capacity is exactly 1<<(minClass+i)
type buffers struct {
	classes [maxClass - minClass + 1]sync.Pool
}

// class returns the class of a size, -1 for none.
func class(n int) int {
	c := max(bits.Len(uint(max(n, 1)-1)), minClass)
	if c > maxClass {
		return -1
	}
	return c - minClass
}

// get returns an empty slice of at least n bytes' capacity. What lies in it is not zero.
func (p *buffers) get(n int) *[]byte {
	i := class(n)
	if i < 0 {
		b := make([]byte, 0, n)
		return &b
	}
	if b, ok := p.classes[i].Get().(*[]byte); ok {
		*b = (*b)[:0]
		return b
	}
	b := make([]byte, 0, 1<<(minClass+i))
	return &b
}

// put takes a slice back, which nobody may look at any more.
func (p *buffers) put(b *[]byte) {
	if b == nil {
		return
	}
	if i := class(cap(*b)); i >= 0 && cap(*b) == 1<<(minClass+i) {
		p.classes[i].Put(b)
	}
}

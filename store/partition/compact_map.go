package partition

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
)

// slotSize is how many bytes a key takes in an offsetMap.
const slotSize = 24

// offsetMap remembers, by 16 bytes of a hash of the key, the last offset of each key. It has room for so many keys as it
// was made for, and takes its memory once.
//
// The hash must be one that nobody can find two keys for: the older of two keys that share it would be lost.
type offsetMap struct {
	slots  []slot
	room   int // keys that it takes
	n      int
	latest int64 // up to here, inclusive, all offsets were seen; -1 for none
}

type slot struct {
	hash [2]uint64
	next int64 // offset + 1; 0 for an empty slot
}

// newOffsetMap makes a map for keys, or for as many of them as fit memory bytes when load of the slots may be used.
func newOffsetMap(keys, memory int64, load float64) *offsetMap {
	most := max(memory/slotSize, 2)
	slots := most
	if want := float64(keys)/load + 2; want < float64(most) {
		slots = int64(want)
	}
	m := &offsetMap{latest: -1}
	m.make(slots, load)
	return m
}

func (m *offsetMap) make(slots int64, load float64) {
	m.slots = make([]slot, slots)
	m.room = max(1, min(int(float64(slots)*load), int(slots)-1))
}

// grow makes room for twice as many keys.
func (m *offsetMap) grow() {
	old := m.slots
	m.make(int64(len(old))*2, float64(m.room)/float64(len(old)))
	for _, s := range old {
		if s.next != 0 {
			*m.find(s.hash) = s
		}
	}
}

func keyHash(key []byte) (h [2]uint64) {
	sum := sha256.Sum256(key)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}

// find returns the slot of a hash, or the empty one where it goes.
func (m *offsetMap) find(h [2]uint64) *slot {
	i := slotOf(h[0], len(m.slots))
	for {
		s := &m.slots[i]
		if s.next == 0 || s.hash == h {
			return s
		}
		if i++; i == len(m.slots) {
			i = 0
		}
	}
}

// full reports whether the map has no room for another key.
func (m *offsetMap) full() bool { return m.n >= m.room }

// put notes that a key, by its hash, is at an offset, which is above all those given before. The map must not be full.
func (m *offsetMap) put(h [2]uint64, offset int64) {
	s := m.find(h)
	if s.next == 0 {
		m.n++
		s.hash = h
	}
	s.next = offset + 1
}

// get returns the last offset of a key, by its hash, or -1.
func (m *offsetMap) get(h [2]uint64) int64 { return m.find(h).next - 1 }

// seen notes that all up to an offset has been looked at.
func (m *offsetMap) seen(offset int64) { m.latest = max(m.latest, min(offset, math.MaxInt64-1)) }

// slotOf spreads a hash evenly over n slots, without a division.
func slotOf(hash uint64, n int) int {
	hi, _ := bits.Mul64(hash, uint64(n))
	return int(hi)
}

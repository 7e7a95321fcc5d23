package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/strata-kafka/strata/model"
)

// Murmur2 is the hash by which Kafka's Java client, and most others, choose a keyed record's partition.
func Murmur2(b []byte) int32 {
	const m, r = 0x5bd1e995, 24
	h := uint32(0x9747b28c) ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b)
		k *= m
		k ^= k >> r
		k *= m
		h *= m
		h ^= k
	}
	switch len(b) {
	case 3:
		h ^= uint32(b[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(b[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(b[0])
		h *= m
	}
	h ^= h >> 13
	h *= m
	h ^= h >> 15
	return int32(h)
}

// PartitionFor returns the partition, of n, that the Java client gives a record with this key.
func PartitionFor(key []byte, n int) int32 { return (Murmur2(key) & 0x7fffffff) % int32(n) }

// stickyBytes is how much goes to one partition before records without a key go to another.
const stickyBytes = 16384

// sticky remembers, per topic, where records without a key go.
type sticky struct {
	mu sync.Mutex
	at map[string]*stuck
}

type stuck struct {
	partition int32
	bytes     int
	next      uint32 // of round robin
}

func (s *sticky) topic(name string) *stuck {
	if s.at == nil {
		s.at = map[string]*stuck{}
	}
	t := s.at[name]
	if t == nil {
		t = &stuck{partition: -1}
		s.at[name] = t
	}
	return t
}

// choose picks the partition of each record. Errors wrap model.ErrInvalid.
func (s *sticky) choose(r model.ProduceRequest, n int) ([]int32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topic(r.Topic)
	out := make([]int32, len(r.Records))
	for i := range r.Records {
		rec := &r.Records[i]
		switch {
		case rec.Partition >= 0:
			if int(rec.Partition) >= n {
				return nil, fmt.Errorf("%w: %s has %d partitions, no %d", model.ErrNoPartition, r.Topic, n, rec.Partition)
			}
			out[i] = rec.Partition
		case r.Partitioner == "random":
			out[i] = rand.Int32N(int32(n))
		case r.Partitioner == "roundrobin":
			out[i] = int32(t.next % uint32(n))
			t.next++
		case r.Partitioner != "" && r.Partitioner != "default":
			return nil, fmt.Errorf("%w partitioner %q: want default, roundrobin or random", model.ErrInvalid, r.Partitioner)
		case rec.Key != nil:
			out[i] = PartitionFor(rec.Key, n)
		default:
			out[i] = t.stick(len(rec.Value), n)
		}
	}
	return out, nil
}

// stick returns the partition of the moment, and moves on to another once enough went there.
func (t *stuck) stick(bytes, n int) int32 {
	if t.partition < 0 || int(t.partition) >= n || t.bytes >= stickyBytes {
		old := t.partition
		t.partition, t.bytes = rand.Int32N(int32(n)), 0
		if t.partition == old && n > 1 {
			t.partition = (old + 1) % int32(n)
		}
	}
	t.bytes += bytes
	return t.partition
}

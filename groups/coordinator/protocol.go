package coordinator

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// The metadata and assignments of protocol type "consumer" begin with a version of two bytes; what later versions add
// comes behind what is read here.
//
//	subscription  i16 version, i32 count, count × short topic, i32 length and user data, …
//	assignment    i16 version, i32 count, count × (short topic, i32 count, count × i32 partition), i32 length and user data

// parseSubscription returns the topics that a member subscribes to; ok is false where that cannot be read.
func parseSubscription(b []byte) (topics []string, ok bool) {
	r := reader{b: b}
	r.u16()
	n := r.u32()
	for i := uint32(0); i < n && !r.bad; i++ {
		topics = append(topics, r.short())
	}
	return topics, !r.bad
}

// parseAssignment returns the partitions of an assignment, sorted; none where it cannot be read.
func parseAssignment(b []byte) []model.TopicPartition {
	if len(b) == 0 {
		return nil
	}
	r := reader{b: b}
	r.u16()
	var tps []model.TopicPartition
	n := r.u32()
	for i := uint32(0); i < n && !r.bad; i++ {
		topic := r.short()
		parts := r.u32()
		for j := uint32(0); j < parts && !r.bad; j++ {
			tps = append(tps, model.TopicPartition{Topic: topic, Partition: int32(r.u32())})
		}
	}
	if r.bad {
		return nil
	}
	slices.SortFunc(tps, model.TopicPartition.Compare)
	return slices.Compact(tps)
}

// encodeSubscription is version 0 of a subscription, without user data.
func encodeSubscription(topics []string) []byte {
	dst := []byte{0, 0}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(topics)))
	for _, t := range topics {
		dst = putShort(dst, t)
	}
	return append(dst, 0xff, 0xff, 0xff, 0xff)
}

// encodeAssignment is version 0 of an assignment, without user data. tps are sorted.
func encodeAssignment(tps []model.TopicPartition) []byte {
	dst := make([]byte, 6)
	topics := uint32(0)
	for i := 0; i < len(tps); {
		j := i
		for j < len(tps) && tps[j].Topic == tps[i].Topic {
			j++
		}
		dst = putShort(dst, tps[i].Topic)
		dst = binary.BigEndian.AppendUint32(dst, uint32(j-i))
		for ; i < j; i++ {
			dst = binary.BigEndian.AppendUint32(dst, uint32(tps[i].Partition))
		}
		topics++
	}
	binary.BigEndian.PutUint32(dst[2:], topics)
	return append(dst, 0xff, 0xff, 0xff, 0xff)
}

func putShort(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

// hostOf is a host without the slash that Kafka's descriptions put before it.
func hostOf(host string) string { return strings.TrimPrefix(host, "/") }

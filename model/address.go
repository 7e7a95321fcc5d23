package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Address is a place in a source, as the breadcrumb shows it, the palette takes it and the command line gives it:
//
//	orders                                  a topic
//	orders/2                                a partition
//	orders/2@4812339                        a record
//	orders/2/00000000000004640112.log       a segment
//	orders/2/00000000000004640112.log+16482 a batch, by its byte
//	group:billing                           a group
//
// The zero Address is the list of topics.
type Address struct {
	Topic     string
	Partition int32 // -1 for the whole topic
	Offset    int64 // Unknown for none
	Segment   int64 // Unknown for none
	Position  int64 // Unknown for none; only with Segment
	Group     string
}

// TopicAddress returns the address of a topic.
func TopicAddress(topic string) Address {
	return Address{Topic: topic, Partition: -1, Offset: Unknown, Segment: Unknown, Position: Unknown}
}

// PartitionAddress returns the address of a partition.
func PartitionAddress(tp TopicPartition) Address {
	a := TopicAddress(tp.Topic)
	a.Partition = tp.Partition
	return a
}

// TP returns the partition that a names; its number is -1 for a whole topic.
func (a Address) TP() TopicPartition { return TopicPartition{a.Topic, a.Partition} }

// String is the inverse of ParseAddress.
func (a Address) String() string {
	switch {
	case a.Group != "":
		return "group:" + a.Group
	case a.Topic == "":
		return ""
	}
	s := a.Topic
	if a.Partition >= 0 {
		s += "/" + strconv.Itoa(int(a.Partition))
		switch {
		case a.Segment >= 0 && a.Position >= 0:
			s += fmt.Sprintf("/%020d.log+%d", a.Segment, a.Position)
		case a.Segment >= 0:
			s += fmt.Sprintf("/%020d.log", a.Segment)
		case a.Offset >= 0:
			s += "@" + strconv.FormatInt(a.Offset, 10)
		}
	}
	return s
}

// ParseAddress reads an address. It checks the form, not that the place exists; errors wrap ErrInvalid.
func ParseAddress(s string) (Address, error) {
	bad := func(why string) (Address, error) {
		return Address{}, fmt.Errorf("%w address %q: %s (like orders, orders/2, orders/2@4812339 or group:billing)", ErrInvalid, s, why)
	}
	if g, ok := strings.CutPrefix(s, "group:"); ok {
		if g == "" {
			return bad("no group's name")
		}
		return Address{Group: g, Partition: -1, Offset: Unknown, Segment: Unknown, Position: Unknown}, nil
	}
	a := TopicAddress("")
	if s == "" {
		return a, nil
	}
	topic, rest, deeper := strings.Cut(s, "/")
	if topic == "" {
		return bad("no topic's name")
	}
	a.Topic = topic
	if !deeper {
		return a, nil
	}
	rest, seg, hasSeg := strings.Cut(rest, "/")
	part, off, hasOff := strings.Cut(rest, "@")
	n, err := strconv.ParseInt(part, 10, 32)
	if err != nil || n < 0 {
		return bad("the partition is no number")
	}
	a.Partition = int32(n)
	switch {
	case hasOff && hasSeg:
		return bad("an offset and a segment")
	case hasOff:
		if a.Offset, err = strconv.ParseInt(off, 10, 64); err != nil || a.Offset < 0 {
			return bad("the offset is no number")
		}
	case hasSeg:
		name, pos, hasPos := strings.Cut(seg, "+")
		if a.Segment, err = strconv.ParseInt(strings.TrimSuffix(name, ".log"), 10, 64); err != nil || a.Segment < 0 {
			return bad("the segment is no number")
		}
		if hasPos {
			if a.Position, err = strconv.ParseInt(pos, 10, 64); err != nil || a.Position < 0 {
				return bad("the byte is no number")
			}
		}
	}
	return a, nil
}

package wire

import "encoding/binary"

// producePartAnswer is what became of a partition's records.
type producePartAnswer struct {
	code     int16
	base     int64 // offset of the first record; -1 for none
	time     int64 // ms, where the log dates records itself; else -1
	logStart int64 // -1 where the log was not asked
	record   int   // index of the record to blame; -1 for none
	text     string
}

// unanswered is a partition's answer before anything is known.
func unanswered() producePartAnswer {
	return producePartAnswer{base: -1, time: -1, logStart: -1, record: -1}
}

// produceReply is the answer to a produceRequest.
type produceReply struct {
	*produceRequest
	version int16
}

// failed implements failing.
func (r *produceReply) failed() bool {
	for i := range r.parts {
		if r.parts[i].code != 0 {
			return true
		}
	}
	return false
}

// AppendTo implements reply.
func (r *produceReply) AppendTo(dst []byte) []byte {
	flexible := r.version >= produceFlexible
	dst = appendCount(dst, flexible, len(r.topics))
	parts := r.parts
	for i := range r.topics {
		t := &r.topics[i]
		if r.version >= produceByID {
			dst = append(dst, t.id[:]...)
		} else if flexible {
			dst = append(binary.AppendUvarint(dst, uint64(len(t.name))+1), t.name...)
		} else {
			dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(t.name))), t.name...)
		}
		dst = appendCount(dst, flexible, t.count)
		for j := range parts[:t.count] {
			dst = r.appendPart(dst, &parts[j])
		}
		parts = parts[t.count:]
		if flexible {
			dst = append(dst, 0)
		}
	}
	dst = binary.BigEndian.AppendUint32(dst, 0) // throttle
	if flexible {
		dst = append(dst, 0)
	}
	return dst
}

func (r *produceReply) appendPart(dst []byte, p *producePart) []byte {
	flexible := r.version >= produceFlexible
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.number))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.code))
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.base))
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.time))
	if r.version >= 5 {
		dst = binary.BigEndian.AppendUint64(dst, uint64(p.logStart))
	}
	if r.version >= 8 {
		if p.record >= 0 {
			dst = appendCount(dst, flexible, 1)
			dst = binary.BigEndian.AppendUint32(dst, uint32(p.record))
			dst = appendText(dst, flexible, p.text)
			if flexible {
				dst = append(dst, 0)
			}
		} else {
			dst = appendCount(dst, flexible, 0)
		}
		dst = appendText(dst, flexible, p.text)
	}
	if flexible {
		dst = append(dst, 0)
	}
	return dst
}

// appendCount appends the length of an array.
func appendCount(dst []byte, flexible bool, n int) []byte {
	if flexible {
		return binary.AppendUvarint(dst, uint64(n)+1)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

// appendText appends a nullable string, null for "".
func appendText(dst []byte, flexible bool, s string) []byte {
	switch {
	case flexible && s == "":
		return append(dst, 0)
	case flexible:
		return append(binary.AppendUvarint(dst, uint64(len(s))+1), s...)
	case s == "":
		return append(dst, 0xff, 0xff)
	}
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}

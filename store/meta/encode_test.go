package meta

import (
	"encoding/binary"
	"math"

	"github.com/strata-kafka/strata/store/layout"
)

// encode writes a message back, by the schema that it was read with. It is the tests' measure of the decoder: what was
// read must be all that there was.
func encode(s *schema, m Message) []byte {
	e := encoder{version: m.Version, flexible: m.Version >= s.flexible}
	e.fields(s.fields, m.Fields)
	return e.b
}

type encoder struct {
	b        []byte
	version  int16
	flexible bool
}

func (e *encoder) fields(list []field, values Fields) {
	i := 0
	for _, f := range list {
		if f.tag >= 0 || e.version < f.from || e.version > f.to {
			continue
		}
		e.value(&f.shape, values[i].Value)
		i++
	}
	if !e.flexible {
		return
	}
	tags := values[i:]
	e.b = binary.AppendUvarint(e.b, uint64(len(tags)))
	for _, t := range tags {
		inner := encoder{version: e.version, flexible: true}
		if t.alien {
			inner.b = t.Value.([]byte)
		}
		for i := range list {
			f := &list[i]
			if f.tag != t.tag || t.alien || e.version < f.from || e.version > f.to {
				continue
			}
			if f.shape.kind == kindStruct && f.shape.nullable {
				if t.Value == nil {
					inner.b = append(inner.b, 0)
					continue
				}
				inner.b = append(inner.b, 1)
				inner.fields(f.shape.fields, t.Value.(Fields))
				continue
			}
			inner.value(&f.shape, t.Value)
		}
		e.b = binary.AppendUvarint(binary.AppendUvarint(e.b, uint64(t.tag)), uint64(len(inner.b)))
		e.b = append(e.b, inner.b...)
	}
}

func (e *encoder) length(n int, short bool) {
	switch {
	case e.flexible:
		e.b = binary.AppendUvarint(e.b, uint64(n+1))
	case short:
		e.b = binary.BigEndian.AppendUint16(e.b, uint16(n))
	default:
		e.b = binary.BigEndian.AppendUint32(e.b, uint32(n))
	}
}

func (e *encoder) value(s *shape, v any) {
	switch v := v.(type) {
	case nil:
		switch s.kind {
		case kindStruct:
			e.b = append(e.b, 0xff)
		default:
			e.length(-1, s.kind == kindString)
		}
	case bool:
		e.b = append(e.b, 0)
		if v {
			e.b[len(e.b)-1] = 1
		}
	case int64:
		size := map[kind]int{kindI8: 1, kindI16: 2, kindU16: 2, kindI32: 4, kindI64: 8}[s.kind]
		for i := size - 1; i >= 0; i-- {
			e.b = append(e.b, byte(v>>(8*i)))
		}
	case float64:
		e.b = binary.BigEndian.AppendUint64(e.b, math.Float64bits(v))
	case layout.ID:
		e.b = append(e.b, v[:]...)
	case string:
		e.length(len(v), true)
		e.b = append(e.b, v...)
	case []byte:
		e.length(len(v), false)
		e.b = append(e.b, v...)
	case []int32:
		e.length(len(v), false)
		for _, n := range v {
			e.b = binary.BigEndian.AppendUint32(e.b, uint32(n))
		}
	case []any:
		e.length(len(v), false)
		for _, item := range v {
			e.value(s.elem, item)
		}
	case Fields:
		if s.nullable {
			e.b = append(e.b, 1)
		}
		e.fields(s.fields, v)
	}
}

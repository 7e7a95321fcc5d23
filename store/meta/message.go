package meta

import (
	"fmt"
	"math"

	"github.com/strata-kafka/strata/store/layout"
)

// Field is a field of a decoded message.
type Field struct {
	Name string
	// Value is nil (null), bool, int64 (whole numbers of any size), float64, layout.ID, string, []byte, []int32, []any
	// (an array of the others) or Fields.
	Value any
	tag   int // -1 for a field that is always there
	alien bool
}

// Fields are the fields of a message or of a part of it, in the order of the format, tagged ones last. Of unknown tagged
// fields the bytes are kept, under the name "tag N".
type Fields []Field

// Message is a decoded message.
type Message struct {
	Type    int16 // the record's type; of a topic with keys the version of the key
	Name    string
	Version int16
	Fields  Fields
	Rest    int // bytes behind the message, which are not understood
}

// read decodes a message of a version from r, to whose end it need not reach.
func (s *schema) read(r *reader, version int16) (Message, error) {
	m := Message{Type: s.id, Name: s.name, Version: version}
	switch {
	case len(r.b) > maxMessage:
		return m, fmt.Errorf("%s of %d bytes: %w", s.name, len(r.b), ErrLength)
	case version < s.low || version > s.high:
		return m, fmt.Errorf("%s version %d: %w", s.name, version, ErrUnknown)
	}
	d := decoder{r: r, version: version, flexible: version >= s.flexible}
	m.Fields = d.fields(s.fields)
	m.Rest = r.left()
	if r.err != nil {
		return m, fmt.Errorf("%s version %d: %s%w", s.name, version, d.where, r.err)
	}
	return m, nil
}

type decoder struct {
	r        *reader
	version  int16
	flexible bool
	where    string // the field that failed, for the message
}

func (d *decoder) fields(list []field) Fields {
	fields := make(Fields, 0, len(list))
	for i := range list {
		f := &list[i]
		if f.tag >= 0 || d.version < f.from || d.version > f.to {
			continue
		}
		v := d.value(&f.shape)
		if d.r.err != nil {
			if d.where == "" {
				d.where = f.name + ": "
			}
			return fields
		}
		fields = append(fields, Field{Name: f.name, Value: v, tag: -1})
	}
	if d.flexible {
		fields = d.tags(fields, list)
	}
	return fields
}

// tags reads the tagged fields at the end of a struct. Each lies in a window of its own and must fill it.
func (d *decoder) tags(fields Fields, list []field) Fields {
	r := d.r
	n := int64(r.uvarint())
	if n > int64(r.left()) {
		r.fail(ErrShort)
	}
	last := int64(-1)
	for ; n > 0 && r.err == nil; n-- {
		tag := int64(r.uvarint())
		size := int64(r.uvarint())
		if r.err == nil && (tag <= last || tag > math.MaxInt32) {
			r.fail(fmt.Errorf("tag %d behind tag %d: %w", tag, last, ErrLength))
		}
		last = tag
		if size > int64(r.left()) {
			r.fail(ErrShort)
		}
		begin := r.pos
		window := r.take(int(size))
		if r.err != nil {
			return fields
		}
		f := d.tagged(list, tag)
		if f == nil {
			fields = append(fields, Field{Name: fmt.Sprintf("tag %d", tag), Value: window, tag: int(tag), alien: true})
			continue
		}
		inner := reader{b: r.b[:begin+int(size)], pos: begin}
		d.r = &inner
		var v any
		// What may be null begins with a byte of its own: -1 or 1 in its place, but 0 or 1 as a tagged field.
		if f.shape.kind != kindStruct || !f.shape.nullable {
			v = d.value(&f.shape)
		} else if inner.uvarint() > 0 {
			v = d.fields(f.shape.fields)
		}
		d.r = r
		if inner.err == nil && inner.left() > 0 {
			inner.fail(ErrLength)
		}
		if inner.err != nil {
			r.err = inner.err
			if d.where == "" {
				d.where = f.name + ": "
			}
			return fields
		}
		fields = append(fields, Field{Name: f.name, Value: v, tag: int(tag)})
	}
	return fields
}

func (d *decoder) tagged(list []field, tag int64) *field {
	for i := range list {
		if f := &list[i]; int64(f.tag) == tag && d.version >= f.from && d.version <= f.to {
			return f
		}
	}
	return nil
}

func (d *decoder) value(s *shape) any {
	r := d.r
	switch s.kind {
	case kindBool:
		return r.i8() != 0
	case kindI8:
		return int64(r.i8())
	case kindI16:
		return int64(r.i16())
	case kindU16:
		return int64(uint16(r.i16()))
	case kindI32:
		return int64(r.i32())
	case kindI64:
		return r.i64()
	case kindF64:
		return math.Float64frombits(uint64(r.i64()))
	case kindUUID:
		var id layout.ID
		copy(id[:], r.take(len(id)))
		return id
	case kindString:
		if v, null := r.text(d.flexible); !null {
			return v
		}
	case kindBytes:
		if v := r.blob(d.flexible); v != nil {
			return v
		}
	case kindArray:
		return d.array(s)
	case kindStruct:
		if s.nullable && r.i8() < 0 {
			return nil
		}
		return d.fields(s.fields)
	}
	if !s.nullable {
		r.fail(fmt.Errorf("null where there must be a value: %w", ErrLength))
	}
	return nil
}

func (d *decoder) array(s *shape) any {
	r := d.r
	n := r.length(d.flexible, false)
	switch {
	case r.err != nil:
		return nil
	case n < 0:
		if !s.nullable {
			r.fail(fmt.Errorf("null where there must be an array: %w", ErrLength))
		}
		return nil
	case s.elem.kind == kindI32:
		if n > r.left()/4 {
			r.fail(ErrShort)
			return nil
		}
		list := make([]int32, n)
		for i := range list {
			list[i] = r.i32()
		}
		return list
	}
	list := make([]any, 0, min(n, 1024))
	for range n {
		list = append(list, d.value(s.elem))
		if r.err != nil {
			return nil
		}
	}
	return list
}

// get returns the value of a field; nil where it is null or was not written.
func (f Fields) get(name string) any {
	for i := range f {
		if f[i].Name == name && !f[i].alien {
			return f[i].Value
		}
	}
	return nil
}

// number returns a whole number, or def.
func (f Fields) number(name string, def int64) int64 {
	if n, ok := f.get(name).(int64); ok {
		return n
	}
	return def
}

func (f Fields) text(name string) string {
	s, _ := f.get(name).(string)
	return s
}

func (f Fields) id(name string) layout.ID {
	id, _ := f.get(name).(layout.ID)
	return id
}

func (f Fields) flag(name string) bool {
	b, _ := f.get(name).(bool)
	return b
}

func (f Fields) numbers(name string) []int32 {
	list, _ := f.get(name).([]int32)
	return list
}

func (f Fields) bytes(name string) []byte {
	b, _ := f.get(name).([]byte)
	return b
}

// parts returns the structs of an array.
func (f Fields) parts(name string) []Fields {
	list, _ := f.get(name).([]any)
	parts := make([]Fields, 0, len(list))
	for _, v := range list {
		if part, ok := v.(Fields); ok {
			parts = append(parts, part)
		}
	}
	return parts
}

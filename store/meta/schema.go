package meta

import (
	"fmt"
	"strconv"
	"strings"
)

// kind is what a field holds.
type kind uint8

const (
	kindBool kind = iota
	kindI8
	kindI16
	kindU16
	kindI32
	kindI64
	kindF64
	kindUUID
	kindString
	kindBytes
	kindArray
	kindStruct
)

// shape is the type of a field.
type shape struct {
	kind     kind
	nullable bool
	elem     *shape  // of an array
	fields   []field // of a struct
}

// field is a field of a message: always there, or, with a tag, only where it was written.
type field struct {
	name     string
	shape    shape
	from, to int16 // the versions that have it
	tag      int   // -1 for none
}

// schema describes a message.
type schema struct {
	name     string
	id       int16 // the record's type, or its key's version
	low      int16 // the versions that are known
	high     int16
	flexible int16 // the first version in the flexible encoding
	fields   []field
}

const never = 1<<15 - 1 // a version that does not come

// parseSchemas reads descriptions, one a line:
//
//	ID NAME LOW-HIGH FLEXIBLE : FIELD ; FIELD …
//
// FLEXIBLE is the first flexible version, or -. A field is NAME TYPE [FROM+ | FROM-TO] [#TAG]. A type is bool, i8, i16,
// u16, i32, i64, f64, uuid, str, str?, bytes, bytes?, [] or []? before another type, or ( FIELD ; FIELD … ), with )? where
// it may be null.
func parseSchemas(text string) ([]schema, error) {
	var list []schema
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		p := specParser{words: words}
		s := schema{id: p.number(p.next()), name: p.next()}
		s.low, s.high = p.versions(p.next())
		s.flexible = never
		if w := p.next(); w != "-" {
			s.flexible = p.number(w)
		}
		p.expect(":")
		if len(p.words) > 0 {
			s.fields, _ = p.fields("")
		}
		if p.err != nil {
			return nil, fmt.Errorf("schema %s: %w", s.name, p.err)
		}
		list = append(list, s)
	}
	return list, nil
}

type specParser struct {
	words []string
	err   error
}

func (p *specParser) next() string {
	if len(p.words) == 0 {
		p.fail("ends too early")
		return ""
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

func (p *specParser) fail(what string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s before %q", what, strings.Join(p.words, " "))
	}
}

func (p *specParser) expect(w string) {
	if p.next() != w {
		p.fail("no " + w)
	}
}

func (p *specParser) number(w string) int16 {
	n, err := strconv.ParseInt(w, 10, 16)
	if err != nil {
		p.fail("no number")
	}
	return int16(n)
}

func (p *specParser) versions(w string) (from, to int16) {
	if open, ok := strings.CutSuffix(w, "+"); ok {
		return p.number(open), never
	}
	low, high, ok := strings.Cut(w, "-")
	if !ok {
		high = low
	}
	return p.number(low), p.number(high)
}

// fields reads fields up to a word that begins with end, or to the end of the line.
func (p *specParser) fields(end string) (list []field, closing string) {
	for p.err == nil {
		f := field{name: p.next(), to: never, tag: -1}
		f.shape = p.shape(p.next())
		for len(p.words) > 0 {
			w := p.next()
			switch {
			case w == ";":
			case end != "" && strings.HasPrefix(w, end):
				return append(list, f), w
			case w[0] == '#':
				f.tag = int(p.number(w[1:]))
				continue
			default:
				f.from, f.to = p.versions(w)
				continue
			}
			break
		}
		list = append(list, f)
		if len(p.words) == 0 && end == "" {
			return list, ""
		}
	}
	return list, ""
}

func (p *specParser) shape(w string) shape {
	if rest, ok := strings.CutPrefix(w, "[]"); ok {
		rest, null := strings.CutPrefix(rest, "?")
		elem := p.shape(rest)
		return shape{kind: kindArray, nullable: null, elem: &elem}
	}
	if w == "(" {
		fields, closing := p.fields(")")
		return shape{kind: kindStruct, nullable: closing == ")?", fields: fields}
	}
	w, null := strings.CutSuffix(w, "?")
	for k, name := range [...]string{"bool", "i8", "i16", "u16", "i32", "i64", "f64", "uuid", "str", "bytes"} {
		if w == name {
			return shape{kind: kind(k), nullable: null}
		}
	}
	p.fail("no type " + w)
	return shape{}
}

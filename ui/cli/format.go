package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

// format is a -f FORMAT in kcat's words, parsed.
type format []part

// part is a literal, or with verb not 0 a field.
type part struct {
	verb byte
	text string
}

const formatVerbs = "tpokshTSK"

// parseFormat reads %t %p %o %k %s %h %T %S %K, %%, and the escapes \n \t \r \\ \0 \xNN.
func parseFormat(s string) (format, error) {
	var f format
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			f = append(f, part{text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c != '%' && c != '\\':
			lit.WriteByte(c)
		case i+1 == len(s):
			return nil, fmt.Errorf("%w format %q: it ends in %q", model.ErrInvalid, s, string(c))
		case c == '%' && s[i+1] == '%':
			lit.WriteByte('%')
			i++
		case c == '%':
			i++
			if strings.IndexByte(formatVerbs, s[i]) < 0 {
				return nil, fmt.Errorf("%w format %q: unknown %%%c; known are %%t topic, %%p partition, %%o offset, %%k key, %%s value, %%h headers, %%T time, %%K and %%S sizes of key and value",
					model.ErrInvalid, s, s[i])
			}
			flush()
			f = append(f, part{verb: s[i]})
		default:
			n, b, err := unescape(s[i:])
			if err != nil {
				return nil, err
			}
			lit.WriteByte(b)
			i += n - 1
		}
	}
	flush()
	return f, nil
}

// unescape reads an escape at the beginning of s and returns its length and the byte it means.
func unescape(s string) (int, byte, error) {
	switch s[1] {
	case 'n':
		return 2, '\n', nil
	case 't':
		return 2, '\t', nil
	case 'r':
		return 2, '\r', nil
	case '0':
		return 2, 0, nil
	case '\\':
		return 2, '\\', nil
	case 'x':
		if len(s) >= 4 {
			if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
				return 4, byte(n), nil
			}
		}
	}
	return 0, 0, fmt.Errorf("%w escape %q: known are \\n \\t \\r \\0 \\\\ \\xNN", model.ErrInvalid, s[:2])
}

// append appends one record. With escape, what comes from the record is made safe for a terminal.
func (f format) append(b []byte, r *model.Record, escape bool) []byte {
	data := func(v []byte) {
		if escape {
			b = append(b, kit.Safe(string(v), 0)...)
			return
		}
		b = append(b, v...)
	}
	for _, p := range f {
		switch p.verb {
		case 0:
			b = append(b, p.text...)
		case 't':
			b = append(b, r.Topic...)
		case 'p':
			b = strconv.AppendInt(b, int64(r.Partition), 10)
		case 'o':
			b = strconv.AppendInt(b, r.Offset, 10)
		case 'k':
			data(r.Key)
		case 's':
			data(r.Value)
		case 'h':
			data(headerText(r.Headers))
		case 'T':
			b = strconv.AppendInt(b, r.Timestamp, 10)
		case 'S':
			b = appendLen(b, r.Value)
		case 'K':
			b = appendLen(b, r.Key)
		}
	}
	return b
}

// appendLen appends a length, or -1 for null, as kcat does.
func appendLen(b, v []byte) []byte {
	if v == nil {
		return append(b, "-1"...)
	}
	return strconv.AppendInt(b, int64(len(v)), 10)
}

// headerText joins headers as kcat does: name=value,name=NULL.
func headerText(hs []model.Header) []byte {
	var b bytes.Buffer
	for i, h := range hs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(h.Name)
		b.WriteByte('=')
		if h.Value == nil {
			b.WriteString("NULL")
		} else {
			b.Write(h.Value)
		}
	}
	return b.Bytes()
}

// recordLine is one escaped line: where, when, key, value. Null, empty and the text "null" look different.
func (a *app) recordLine(b []byte, r *model.Record) []byte {
	b = append(b, safe(r.Topic)...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(r.Partition), 10)
	b = append(b, '@')
	b = strconv.AppendInt(b, r.Offset, 10)
	b = append(b, '\t')
	b = append(b, a.stamp(r.Timestamp)...)
	b = append(b, '\t')
	if r.Control != "" {
		b = append(b, "── "...)
		b = append(b, safe(r.Control)...)
		if r.ProducerID >= 0 {
			b = append(b, " of producer "...)
			b = strconv.AppendInt(b, r.ProducerID, 10)
		}
		return append(b, '\n')
	}
	b = appendCell(b, r.Key)
	b = append(b, '\t')
	b = appendCell(b, r.Value)
	if len(r.Headers) > 0 {
		b = append(b, '\t')
		b = append(b, kit.Safe(string(headerText(r.Headers)), 0)...)
	}
	switch r.Visibility {
	case model.Aborted:
		b = append(b, "\t(aborted)"...)
	case model.Undecided:
		b = append(b, "\t(transaction open)"...)
	}
	if r.Untrusted {
		b = append(b, "\t(bad checksum)"...)
	}
	return append(b, '\n')
}

func appendCell(b, v []byte) []byte {
	switch {
	case v == nil:
		return append(b, "∅"...)
	case len(v) == 0:
		return append(b, `""`...)
	}
	return append(b, kit.Safe(string(v), 0)...)
}

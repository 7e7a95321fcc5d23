package rows

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/strata-kafka/strata/model"
)

// JSON returns a record as one line of JSON, with the fields of the command line: key, value and headers' values null,
// a string where they are UTF-8, else in base64 beside.
func JSON(r *model.Record) string {
	b := []byte{'{'}
	name := func(n string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = appendQuoted(b, n)
		b = append(b, ':')
	}
	num := func(n string, v int64) {
		name(n)
		b = strconv.AppendInt(b, v, 10)
	}
	maybe := func(n string, v int64) {
		if v < 0 {
			name(n)
			b = append(b, "null"...)
			return
		}
		num(n, v)
	}
	data := func(n, b64 string, v []byte) {
		switch {
		case v == nil:
			name(n)
			b = append(b, "null"...)
		case utf8.Valid(v):
			name(n)
			b = appendQuoted(b, string(v))
		default:
			name(b64)
			b = appendQuoted(b, base64.StdEncoding.EncodeToString(v))
		}
	}
	name("topic")
	b = appendQuoted(b, r.Topic)
	num("partition", int64(r.Partition))
	num("offset", r.Offset)
	maybe("timestamp", r.Timestamp)
	name("timestampType")
	b = appendQuoted(b, r.TimestampType.String())
	data("key", "keyBase64", r.Key)
	data("value", "valueBase64", r.Value)
	name("headers")
	b = append(b, '[')
	for i, h := range r.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = appendQuoted(b, h.Name)
		switch {
		case h.Value == nil:
			b = append(b, `,"value":null`...)
		case utf8.Valid(h.Value):
			b = appendQuoted(append(b, `,"value":`...), string(h.Value))
		default:
			b = appendQuoted(append(b, `,"base64":`...), base64.StdEncoding.EncodeToString(h.Value))
		}
		b = append(b, '}')
	}
	b = append(b, ']')
	maybe("leaderEpoch", int64(r.LeaderEpoch))
	num("batch", r.Batch)
	if r.Control != "" {
		name("control")
		b = appendQuoted(b, r.Control)
	}
	name("transactional")
	b = strconv.AppendBool(b, r.Transactional)
	maybe("producerId", r.ProducerID)
	return string(append(b, '}'))
}

// appendQuoted appends s as a JSON string; nothing is escaped that need not be. What is no UTF-8 becomes U+FFFD.
func appendQuoted(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < 0x20:
			b = append(b, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

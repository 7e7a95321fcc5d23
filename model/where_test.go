package model

import (
	"errors"
	"fmt"
	"testing"
)

func TestParseOffsetRows(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want string // topic/partition=offset …; "" for an error
	}{
		"as Kafka exports it":  {"orders,0,5\norders,1,9223372036854775807\n", "orders-0=5 orders-1=9223372036854775807"},
		"quoted, spaced, CRLF": {"\"orders\" , 0 , 5 \r\n\r\n# a note\r\n", "orders-0=5"},
		"byte order mark":      {"\ufefforders,0,5", "orders-0=5"},
		"nothing":              {"\n#\n", ""},
		"a field too many":     {"g,orders,0,5", ""},
		"a field too few":      {"orders,0", ""},
		"no offset":            {"orders,0,", ""},
		"negative offset":      {"orders,0,-1", ""},
		"negative partition":   {"orders,-1,0", ""},
		"too large":            {"orders,0,9223372036854775808", ""},
		"no topic":             {",0,5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := ParseOffsetRows(tc.text)
			var got string
			for i, r := range rows {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprintf("%s=%d", r.TopicPartition, r.Offset)
			}
			if got != tc.want || tc.want == "" && !errors.Is(err, ErrInvalid) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 70_000) // longer than the reader's buffer
	for name, tc := range map[string]struct {
		in   string
		want []string
		err  error
	}{
		"empty":                 {"", nil, io.EOF},
		"one empty line":        {"\n", []string{""}, io.EOF},
		"no newline at the end": {"a\nb", []string{"a", "b"}, io.EOF},
		"carriage returns stay": {"a\r\n\r", []string{"a\r", "\r"}, io.EOF},
		"any byte":              {"\x00\xff\xfe\n\n", []string{"\x00\xff\xfe", ""}, io.EOF},
		"long":                  {long + "\nb\n", []string{long, "b"}, io.EOF},
		"as long as may be":     {strings.Repeat("x", 100_000) + "\n", []string{strings.Repeat("x", 100_000)}, io.EOF},
		"too long":              {"a\n" + strings.Repeat("x", 100_001), []string{"a"}, model.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReaderSize(strings.NewReader(tc.in), 64<<10)
			var got []string
			for {
				line, err := readLine(r, 100_000)
				if err != nil {
					if !errors.Is(err, tc.err) || fmt.Sprint(got) != fmt.Sprint(tc.want) || len(got) != len(tc.want) {
						t.Errorf("%d lines %.80q, %v", len(got), got, err)
					}
					return
				}
				got = append(got, string(line))
			}
		})
	}
}

package layout

import (
	"fmt"
	"strconv"
)

// FormatError says what is wrong in a small file, and where.
type FormatError struct {
	Line int // from 1; 0 in a file without lines
	Pos  int // byte, in a file without lines
	What string
}

// Error says where and what.
func (e *FormatError) Error() string {
	if e.Line > 0 {
		return "line " + strconv.Itoa(e.Line) + ": " + e.What
	}
	return "byte " + strconv.Itoa(e.Pos) + ": " + e.What
}

func badLine(line int, format string, args ...any) error {
	return &FormatError{Line: line, What: fmt.Sprintf(format, args...)}
}

// short quotes s for a message, cut to a length that fits one.
func short(s string) string {
	if len(s) > 60 {
		return strconv.Quote(s[:60]) + "…"
	}
	return strconv.Quote(s)
}

package page

import (
	"strings"

	"github.com/strata-kafka/strata/ui/kit"
)

// SortText says by which column a table is sorted, to be kept by Remember: "LAG down".
func SortText(t *kit.Table) string {
	s := t.Columns[t.Sorted-1].Name
	if t.Desc {
		s += " down"
	}
	return s
}

// ParseSort is the inverse of SortText: the column, counted from 0, and whether the order is turned. What it does not know
// is the first column.
func ParseSort(text string, cols []kit.Column) (column int, desc bool) {
	name, _, desc := strings.Cut(text, " ")
	for i := range cols {
		if name != "" && cols[i].Name == name {
			return i, desc
		}
	}
	return 0, false
}

// WithFault puts the first error that there is, made safe, before what a page says on the status line.
func WithFault(status string, errs ...error) string {
	for _, err := range errs {
		if err != nil {
			return kit.Safe(err.Error(), 80) + " · " + status
		}
	}
	return status
}

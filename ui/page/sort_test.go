package page

import (
	"errors"
	"testing"

	"github.com/strata-kafka/strata/ui/kit"
)

func TestSortIsReadAsItWasWritten(t *testing.T) {
	table := kit.Table{Columns: []kit.Column{{Name: "TOPIC"}, {}, {Name: "LOG START"}, {Name: "LAG"}}}
	for name, tc := range map[string]struct {
		column int
		desc   bool
	}{
		"first":  {0, false},
		"turned": {0, true},
		"last":   {3, true},
	} {
		t.Run(name, func(t *testing.T) {
			table.Sorted, table.Desc = tc.column+1, tc.desc
			if c, desc := ParseSort(SortText(&table), table.Columns); c != tc.column || desc != tc.desc {
				t.Errorf("%q is read as %d, %v", SortText(&table), c, desc)
			}
		})
	}
	for _, text := range []string{"", "SIZE down", " down"} {
		if c, desc := ParseSort(text, table.Columns); c != 0 || desc {
			t.Errorf("%q is read as %d, %v", text, c, desc)
		}
	}
}

func TestTheFirstFaultIsSaid(t *testing.T) {
	if got := WithFault("3 topics", nil, errors.New("disk\x1b[2J"), errors.New("other")); got != "disk␛[2J · 3 topics" {
		t.Errorf("%q", got)
	}
	if got := WithFault("3 topics", nil); got != "3 topics" {
		t.Errorf("%q", got)
	}
}

package records

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/uitest"
)

func TestArrangeInAnyWindow(t *testing.T) {
	recs := func(offsets ...int64) (out []model.Record) {
		for _, o := range offsets {
			out = append(out, model.Record{Offset: o, Segment: 0, BatchPos: o * 10})
		}
		return out
	}
	fault := func(offset, pos int64) model.Fault {
		return model.Fault{File: "00000000000000000000.log", Offset: offset, Position: pos}
	}
	words := func(items []item, s *span) string {
		var out []string
		for _, it := range items {
			switch it.kind {
			case aRecord:
				out = append(out, fmt.Sprint(s.recs[it.rec].Offset))
			case aHole:
				out = append(out, fmt.Sprintf("hole(%d,%d)", it.from, it.n))
			case aGroup:
				out = append(out, fmt.Sprintf("group(%d)", it.from))
			case aFault:
				out = append(out, "fault")
			}
		}
		return strings.Join(out, " ")
	}
	for name, tc := range map[string]struct {
		s    span
		pegs []int64
		want string
	}{
		"nothing":                 {span{atStart: true, atEnd: true}, nil, ""},
		"empty but groups":        {span{prev: 5, next: 5, start: 5, end: 5, atStart: true, atEnd: true}, []int64{3, 5, 9}, "group(3) group(5) group(9)"},
		"holes at both ends":      {span{recs: recs(3, 5), prev: 0, next: 9, end: 9, atStart: true, atEnd: true}, nil, "hole(0,3) 3 hole(4,1) 5 hole(6,3)"},
		"a window in the middle":  {span{recs: recs(3, 4), prev: 3, next: 5, end: 9}, []int64{1, 4, 8}, "3 group(4) 4"},
		"a group in a hole":       {span{recs: recs(3, 9), prev: 3, next: 10, end: 10, atStart: true, atEnd: true}, []int64{5, 10}, "3 hole(4,5) group(5) 9 group(10)"},
		"damage by offset":        {span{recs: recs(3, 4, 9), prev: 3, next: 10, end: 10, atStart: true, atEnd: true, faults: []model.Fault{fault(5, 50)}}, nil, "3 4 fault hole(5,4) 9"},
		"damage by byte":          {span{recs: recs(3, 4, 9), prev: 3, next: 10, end: 10, atStart: true, atEnd: true, faults: []model.Fault{fault(-1, 50)}}, nil, "3 4 fault hole(5,4) 9"},
		"damage at the end":       {span{recs: recs(3), prev: 3, next: 4, end: 4, atStart: true, atEnd: true, faults: []model.Fault{fault(-1, 900)}}, nil, "3 fault"},
		"damage and nothing else": {span{prev: 0, next: 10, end: 10, atStart: true, atEnd: true, faults: []model.Fault{fault(0, 0)}}, nil, "fault hole(0,10)"},
		"damage outside":          {span{recs: recs(3), prev: 3, next: 4, end: 9, faults: []model.Fault{fault(1, 0), fault(8, 900)}}, nil, "3"},
	} {
		t.Run(name, func(t *testing.T) {
			var pegs []peg
			for _, o := range tc.pegs {
				pegs = append(pegs, peg{group: fmt.Sprint("g", o), at: o})
			}
			if got := words(arrange(&tc.s, pegs, false), &tc.s); got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestALogFullOfHoles(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	src.GroupSet, src.TopicSet[2].Retention.Compact = nil, true
	words := []string{}
	for i := range 40 {
		words = append(words, fmt.Sprint("v", i), "hole")
		if i%4 == 0 {
			words = append(words, "hole")
		}
	}
	log(src, 100, append(words, "last")...)
	p := open(t, src, at(100))
	frame := p.View(120, 40)
	uitest.Contains(t, frame, "  GAP  ")
	if strings.Contains(frame, "compacted away") {
		t.Error("holes have rows of their own")
	}
	uitest.Press(p, "j")
	if !strings.Contains(p.Status(), "4 offsets compacted away before it") {
		t.Error(p.Status())
	}
	uitest.Fits(t, p)
}

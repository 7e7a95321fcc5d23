package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// steps is a tail that has one more of its stats each time it is waited for, and ends with them.
type steps struct {
	model.Tail
	list []model.TailStats
}

func (s *steps) Stats() model.TailStats { return s.list[0] }

func (s *steps) Window(end int64, n int) ([]model.Record, int64) {
	rs := make([]model.Record, n)
	for i := range rs {
		rs[i].Value = []byte("v")
	}
	return rs, end - int64(n)
}

func (s *steps) Release(int64) {}

func (s *steps) Wait(context.Context, int64) error {
	if len(s.list) == 1 {
		return model.ErrClosed
	}
	s.list = s.list[1:]
	return nil
}

// TestFollowTellsWhatGoesWrong prints every record once, and each trouble once, as long as it is the same.
func TestFollowTellsWhatGoesWrong(t *testing.T) {
	cut, damaged := errors.New("t-0 was truncated to 3"), errors.New("t-0 is damaged at byte 9")
	tail := &steps{list: []model.TailStats{{Matched: 2}, {Matched: 2, Err: cut}, {Matched: 3, Err: cut}, {Matched: 5, Err: damaged}}}
	var out, errs bytes.Buffer
	a := &app{io: IO{Err: &errs}, out: bufio.NewWriter(&out)}
	p, err := a.newPrinter(readOptions{format: "%s\\n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.pump(t.Context(), tail, p); !errors.Is(err, model.ErrClosed) {
		t.Errorf("error %v", err)
	}
	if got := strings.Count(out.String(), "v"); got != 5 {
		t.Errorf("%d records, want 5: %q", got, out.String())
	}
	if got, want := errs.String(), "strata: "+cut.Error()+"\nstrata: "+damaged.Error()+"\n"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	if a.code != exitWrong {
		t.Errorf("exit code %d", a.code)
	}
}

package groups

import (
	"testing"

	"github.com/strata-kafka/strata/model"
)

func TestGroupArithmetic(t *testing.T) {
	const start, end = 40, 100
	none, exactly := model.NoCount(), model.Exactly
	var rows []model.GroupOffset
	for i, tc := range []struct {
		committed        int64
		lag              model.Count
		lost, ahead, has int64
	}{
		{100, exactly(0), 0, 0, 100},
		{70, exactly(30), 0, 0, 70},
		{5, exactly(60), 35, 0, 5},
		{130, exactly(0), 0, 30, 130},
		{-1, none, 0, 0, model.Unknown},
		{-2, none, 0, 0, model.Unknown},
	} {
		c := Committed{Commit: offset("t", int32(i), tc.committed), At: 1, Expires: model.NoTime}
		from, to, _ := LagRange(tc.committed, start, end)
		row := OffsetRow(c, start, end, exactly(to-from))
		if row.Lag != tc.lag || row.Lost != tc.lost || row.Ahead != tc.ahead || row.Committed != tc.has {
			t.Errorf("committed %d: lag %v, lost %d, ahead %d, committed %d; want %+v", tc.committed, row.Lag, row.Lost, row.Ahead, row.Committed, tc)
		}
		rows = append(rows, row)
	}
	lag, with, without := TotalLag(rows)
	if lag != exactly(90) || with != 4 || without != 2 {
		t.Errorf("total %v over %d, %d without; want 90 over 4, 2 without", lag, with, without)
	}
}

func TestLagOfUnreadablePartitionIsUnknown(t *testing.T) {
	row := OffsetRow(Committed{Commit: offset("t", 0, 7)}, model.Unknown, model.Unknown, model.Count{})
	if row.Lag.State != model.CountUnknown || row.Lost != 0 || row.Ahead != 0 {
		t.Errorf("lag %v, lost %d, ahead %d", row.Lag, row.Lost, row.Ahead)
	}
	lag, with, _ := TotalLag([]model.GroupOffset{row, {Committed: 5, Lag: model.Exactly(3)}})
	if lag.State != model.CountUnknown || with != 2 {
		t.Errorf("a total with an unknown part is %v", lag)
	}
}

func TestLagRange(t *testing.T) {
	for name, tc := range map[string]struct {
		committed, start, end, from, to int64
		ok                              bool
	}{
		"inside":           {7, 0, 10, 7, 10, true},
		"at the end":       {10, 0, 10, 10, 10, true},
		"below the start":  {1, 5, 10, 5, 10, true},
		"past the end":     {12, 5, 10, 10, 10, true},
		"nothing":          {-1, 5, 10, 0, 0, false},
		"log start hidden": {7, -1, 10, 0, 0, false},
		"emptied log":      {3, 10, 10, 10, 10, true},
	} {
		if from, to, ok := LagRange(tc.committed, tc.start, tc.end); from != tc.from || to != tc.to || ok != tc.ok {
			t.Errorf("%s: %d, %d, %v", name, from, to, ok)
		}
	}
}

package offsets

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/uitest"
)

func TestWhereWords(t *testing.T) {
	for in, want := range map[string]string{
		"earliest":                  "to earliest",
		"1204332":                   "to offset 1204332",
		"-100":                      "by -100",
		"+5":                        "by +5",
		"2h30m0s":                   "to 2h30m ago",
		"168h0m0s":                  "to 168h ago",
		"15m0s":                     "to 15m ago",
		"2026-11-29T23:00:00.000Z":  "to 2026-11-29T23:00:00.000Z",
		"group:audit":               "to where group audit is",
		"file:x.csv":                "to the offsets of x.csv",
		"undo 7":                    "as undo of reset 7",
		"delete group":              "by deletion of the group",
		"latest, but orders-1 to 4": "to latest, but orders-1 to 4",
		"group:a\x1b[2J":            "to where group a\u241b[2J is",
	} {
		if got := WhereWords(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestWhyNoReset(t *testing.T) {
	src := uitest.NewSource(uitest.Now())
	many := model.Group{State: model.GroupStable, Members: make([]model.Member, 9)}
	for i := range many.Members {
		many.Members[i] = model.Member{ID: "m", Host: "/10.0.0.1"}
	}
	for name, tc := range map[string]struct {
		src  model.Source
		g    *model.Group
		want string
	}{
		"read-only":         {uitest.Plain(src), nil, "this source is read-only: offsets cannot be moved"},
		"idle":              {src, &model.Group{State: model.GroupEmpty}, ""},
		"any group":         {src, nil, ""},
		"many members":      {src, &many, "group has live members: m@10.0.0.1, m@10.0.0.1, m@10.0.0.1, m@10.0.0.1, and 5 more"},
		"active, no member": {src, &model.Group{State: model.GroupPreparing}, "group is PreparingRebalance: stop its members first"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := WhyNoReset(tc.src, tc.g); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestPlanWords(t *testing.T) {
	theme := uitest.Env(t, src(t)).Theme
	row := func(from, to int64, change model.Count, out bool) model.PlanRow {
		return model.PlanRow{From: from, To: to, Change: change, Excluded: out}
	}
	for want, rows := range map[string][]model.PlanRow{
		"nothing changes":                     {row(5, 5, model.Exactly(0), false), row(5, 9, model.Exactly(4), true)},
		"1 partition moves: 1 record skipped": {row(5, 9, model.Exactly(1), false)},
		"3 partitions move: \u2248 7 records read again, 12 records skipped, 1 new commit": {row(9, 2, model.About(-7), false), row(0, 12, model.Exactly(12), false), row(-1, 3, model.NoCount(), false)},
		"2 partitions move: an unknown number of records skipped, 1 commit taken away":     {row(9, 2, model.Count{}, false), row(9, -1, model.NoCount(), false)},
	} {
		if got := SumUp(&model.ResetPlan{Rows: rows}).Words(theme); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, r := range map[string]model.PlanRow{
		"\u25c2 7 read again": row(9, 2, model.Exactly(-7), false), "\u25b8 4 skipped": row(5, 9, model.Exactly(4), false),
		"taken out": row(5, 9, model.Exactly(4), true), "\u25b8 new": row(-1, 9, model.NoCount(), false),
		"taken away": row(9, -1, model.NoCount(), false), "?": row(5, 9, model.Count{}, false), "no record in between": row(5, 9, model.Exactly(0), false),
	} {
		c := ChangeCell(theme, &r)
		if got := strings.TrimSpace(c.Text + " " + c.Unit); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func src(testing.TB) model.Source { return uitest.NewSource(uitest.Now()) }

func TestFirstRecordTellsNullFromEmpty(t *testing.T) {
	env := uitest.Env(t, src(t))
	for want, r := range map[string]model.Record{
		`09:12:00.000  ∅  ""`:             {Timestamp: uitest.Now().UnixMilli(), Value: []byte{}},
		`09:12:00.000  k␛  {"a":\x80}`:    {Timestamp: uitest.Now().UnixMilli(), Key: []byte("k\x1b"), Value: []byte("{\"a\":\x80}")},
		`–  ∅  ∅`:                         {Timestamp: model.NoTime},
		`09:12:00.000  ∅  \u{202e}` + "x": {Timestamp: uitest.Now().UnixMilli(), Value: []byte("\u202ex")},
	} {
		got := ""
		for _, s := range FirstSpans(env.Theme, env.Clock, &r, 100) {
			got += s.Text
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOdd(t *testing.T) {
	theme := uitest.Env(t, src(t)).Theme
	for want, o := range map[string]model.GroupOffset{
		"12 lost before the log start": {Lost: 12}, "450 past the end": {Ahead: 450}, "": {},
		`no such topic: ␛`: {Err: errors.New("no such topic: \x1b"), Lost: 3},
	} {
		if got, _ := Odd(theme, &o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

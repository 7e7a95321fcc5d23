package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

var now = time.Date(2026, 11, 30, 9, 12, 0, 0, time.UTC)

func table(t testing.TB) *Table {
	t.Helper()
	theme, err := kit.NewTheme("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	return &Table{Theme: theme, Clock: &kit.Clock{Form: kit.UTCTime, Now: func() time.Time { return now }}}
}

func rec(offset int64, key, value string) model.Record {
	return model.Record{
		TopicPartition: model.TopicPartition{Topic: "orders", Partition: 2}, Offset: offset, Timestamp: now.UnixMilli() - 86_400_000,
		Key: []byte(key), Value: []byte(value), Size: len(key) + len(value) + 7, ProducerID: model.NoProducer,
	}
}

func TestTheValueIsTheWidestColumn(t *testing.T) {
	for name, recs := range map[string][]model.Record{
		"plain":              {rec(12, "k", "v")},
		"wide times, no key": {{Offset: 4_812_339, Timestamp: now.UnixMilli() - 1e11, Value: []byte("v")}},
		"wide keys":          {rec(9_223_372_036_854_775_806, strings.Repeat("key", 40), "v")},
		"wide letters":       {rec(1, strings.Repeat("注文", 40), strings.Repeat("注文", 400))},
	} {
		for _, where := range []bool{false, true} {
			tb := table(t)
			tb.Where, tb.Topics, tb.Gaps = where, where, where
			tb.Measure(recs)
			for _, w := range []int{38, 58, 78, 98, 118, 158, 198, 298} {
				shown := tb.Shown(w)
				for col, n := range shown {
					if col != "VALUE" && n >= shown["VALUE"] {
						t.Errorf("%s at %d: %s has %d cells, the value %d", name, w, col, n, shown["VALUE"])
					}
				}
			}
			if v := tb.Shown(118)["VALUE"]; v < 41 {
				t.Errorf("%s at 120: the value has %d cells", name, v)
			}
		}
	}
}

func TestOneRecordIsOneLineOfOneWidth(t *testing.T) {
	values := []string{
		"", "plain", "a\nb\r\nc\td", "\x1b[2J\x1b]52;c;aGk=\a", "\u202eevil\u202c", "\u009b31m\xff\xfe", "注文を受け付けました", "👩‍👩‍👧‍👦🇯🇵❤️1️⃣",
		"e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", strings.Repeat("\u0301", 50), strings.Repeat("x", 1<<20), strings.Repeat("한", 1<<18), string([]byte{0, 1, 2, 255}),
	}
	var recs []model.Record
	for i, v := range values {
		r := rec(int64(i), v, v)
		r.Topic = v
		r.Visibility = model.Visibility(i % 3)
		r.Untrusted = i%4 == 0
		recs = append(recs, r, model.Record{Offset: int64(i), Timestamp: model.NoTime})
	}
	tb := table(t)
	tb.Where, tb.Topics, tb.Gaps, tb.Find = true, true, true, page.ParseFilter("e")
	tb.Measure(recs)
	for _, w := range []int{1, 2, 5, 18, 38, 58, 78, 118, 198} {
		for i := range recs {
			line := tb.Row(w, &recs[i], int64(i)*1000)
			if n := ansi.StringWidth(line); n > w {
				t.Errorf("record %d at %d takes %d cells: %q", i, w, n, ansi.Strip(line))
			}
			if strings.ContainsAny(ansi.Strip(line), "\n\r\t\a\x1b\x00\u202e\u009b") {
				t.Errorf("record %d at %d holds a control byte: %q", i, w, line)
			}
		}
		for _, m := range []Mark{{Offset: 12, Text: strings.Repeat("注", 99), Ruled: true}, {Offset: -1, Text: "x", Right: strings.Repeat("y", 50)}} {
			if n := ansi.StringWidth(tb.Mark(w, m)); n > w {
				t.Errorf("mark %q at %d takes %d cells", m.Text[:1], w, n)
			}
		}
		if n := ansi.StringWidth(tb.Head(w)); n > w {
			t.Errorf("the head at %d takes %d cells", w, n)
		}
	}
}

func TestNullEmptyAndTextDiffer(t *testing.T) {
	tb := table(t)
	seen := map[string]string{}
	for name, b := range map[string][]byte{
		"null": nil, "empty": {}, "the text null": []byte("null"), "the sign of null": []byte("∅"), "two quotes": []byte(`""`), "tombstone": []byte("∅ tombstone"),
	} {
		look := ""
		for _, s := range Value(tb.Theme, kit.Style{}, b, page.Filter{}, 100) {
			look += s.Text
		}
		if other, twice := seen[look]; twice {
			t.Errorf("%s and %s both look like %s", name, other, look)
		}
		seen[look] = name
	}
	r := rec(1, "k", "")
	r.Value = nil
	if tb.Tombstones = true; !strings.Contains(ansi.Strip(tb.Row(80, &r, 0)), "∅ tombstone") {
		t.Errorf("%q", ansi.Strip(tb.Row(80, &r, 0)))
	}
}

func TestWidthsNeverShrink(t *testing.T) {
	tb := table(t)
	tb.Measure([]model.Record{rec(1_000_000, "a-long-key", "v")})
	wide := tb.Shown(118)
	tb.Measure([]model.Record{rec(1, "k", "v")})
	if got := tb.Shown(118); fmt.Sprint(got) != fmt.Sprint(wide) {
		t.Errorf("%v became %v", wide, got)
	}
}

func TestKeptLinesAreNeverStale(t *testing.T) {
	tb := table(t)
	clock := now
	tb.Clock.Now = func() time.Time { return clock }
	r := rec(12, "k", "value")
	tb.Measure([]model.Record{r, rec(99_999, "a-longer-key", "v")})
	last := tb.Row(118, &r, 0)
	differs := func(what string) {
		t.Helper()
		if got := tb.Row(118, &r, 0); got == last {
			t.Errorf("%s changes nothing", what)
		} else {
			last = got
		}
	}
	r.Visibility = model.Aborted
	differs("an abort")
	r.Untrusted = true
	differs("damage")
	tb.Find = page.ParseFilter("val")
	differs("a search")
	tb.Clock.Form = kit.EpochTime
	differs("another form of times")
	tb.Clock.Form = kit.AgoTime
	differs("times ago")
	clock = clock.Add(49 * time.Hour)
	differs("time")
	tb.Clock.Form = kit.UTCTime
	differs("another form of times")
	light, err := kit.NewTheme("light", false)
	if err != nil {
		t.Fatal(err)
	}
	*tb.Theme = *light
	differs("another theme")
	r.Timestamp++
	differs("another record in its place")
	tb.Measure([]model.Record{rec(1, strings.Repeat("k", 30), "v")})
	differs("a wider column")
	again := tb.Row(118, &r, 0)
	if again != last {
		t.Error("it is not kept")
	}
	for i := range int64(3 * maxDrawn) {
		x := rec(i, "k", "v")
		tb.Row(118, &x, 0)
	}
	if len(tb.drawn) > maxDrawn {
		t.Errorf("%d lines are kept", len(tb.drawn))
	}
}

func TestPattern(t *testing.T) {
	for text, want := range map[string]Pattern{
		"paid":    {Text: "paid", Expr: "paid", Fold: true},
		"Paid":    {Text: "Paid", Expr: "Paid"},
		"/a.b/":   {Text: "/a.b/", Expr: "a.b", Regexp: true},
		"/a.b":    {Text: "/a.b", Expr: "a.b", Regexp: true},
		"注文":      {Text: "注文", Expr: "注文", Fold: true},
		" spaces": {Text: " spaces", Expr: " spaces", Fold: true},
	} {
		if got, err := ParsePattern(text); err != nil || got != want {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "/", "//", "/(/"} {
		if _, err := ParsePattern(bad); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestJSON(t *testing.T) {
	r := rec(7, "k", "\xff")
	r.Headers = []model.Header{{Name: "a", Value: []byte("1")}, {Name: "a", Value: nil}, {Name: "b\n", Value: []byte{0xfe}}}
	r.Control = ""
	var got struct {
		Topic, Key  string
		Offset      int64
		Value       *string
		ValueBase64 string
		Headers     []map[string]any
		ProducerID  *int64
	}
	text := JSON(&r)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got.Topic != "orders" || got.Key != "k" || got.Offset != 7 || got.Value != nil || got.ValueBase64 != "/w==" || got.ProducerID != nil {
		t.Errorf("%+v", got)
	}
	if fmt.Sprint(got.Headers) != `[map[name:a value:1] map[name:a value:<nil>] map[base64:/g== name:b`+"\n]]" {
		t.Errorf("%v", got.Headers)
	}
}

func TestProgress(t *testing.T) {
	tb := table(t)
	e := model.SearchEvent{BytesDone: 512 << 20, BytesAll: 2048 << 20, Records: 1_000_000}
	line := ansi.Strip(Progress(tb.Theme, e, time.Second, "finding x", 120))
	for _, want := range []string{"finding x", "25 %", "1,000,000 records", "512 MiB of 2.0 GiB", "512 MiB/s", "3 s left"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q lacks %q", line, want)
		}
	}
	for w := range 130 {
		if n := ansi.StringWidth(Progress(tb.Theme, e, time.Second, "finding x", w)); n > w {
			t.Errorf("at %d it takes %d cells", w, n)
		}
	}
}

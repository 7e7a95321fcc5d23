package kit

import (
	"math"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for in, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Number(in); got != want {
			t.Errorf("Number(%d) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[float64]string{0: "0", 41: "41", 999: "999", 999.6: "1.0k", 1234: "1.2k", 98_400: "98k", 999_900: "1.0M", 1.2e6: "1.2M", -1500: "-1.5k"} {
		if got := Short(in); got != want {
			t.Errorf("Short(%v) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[int64]string{0: "0 B", 812: "812 B", 1023: "1023 B", 1024: "1.0 KiB", 48 << 20: "48 MiB", 2_040_109_466: "1.9 GiB", math.MaxInt64: "8.0 EiB", -1: "?"} {
		if got := BytesText(in); got != want {
			t.Errorf("BytesText(%d) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[time.Duration]string{
		0: "0", 88 * time.Millisecond: "88 ms", 2500 * time.Millisecond: "2.5 s", 59 * time.Second: "59 s", 4 * time.Minute: "4 min",
		2*time.Hour + 30*time.Minute: "2 h 30 min", 165 * time.Hour: "6 d 21 h", 800 * 24 * time.Hour: "2 y 70 d", -time.Minute: "-1 min", 40 * time.Microsecond: "40 µs",
	} {
		if got := Duration(in); got != want {
			t.Errorf("Duration(%v) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[time.Duration]string{-time.Hour: "ahead", -time.Second: "now", 0: "now", 9 * time.Second: "9 s", 61 * time.Minute: "1 h", 47 * time.Hour: "47 h", 50 * time.Hour: "2 d", 900 * 24 * time.Hour: "2 y"} {
		if got := Age(in); got != want {
			t.Errorf("Age(%v) = %s, want %s", in, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 12, 0, 0, time.UTC)
	berlin := time.FixedZone("CET", 3600)
	c := Clock{Form: UTCTime, Zone: berlin, Now: func() time.Time { return now }}
	ms := time.Date(2026, 11, 30, 6, 40, 1, 305e6, time.UTC).UnixMilli()
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("stamp", c.Stamp(ms), "2026-11-30 06:40:01.305")
	check("today", c.Clock(ms), "06:40:01.305")
	check("another day", c.Clock(ms-48*3600_000), "2026-11-28 06:40:01.305")
	check("yesterday", c.Minute(ms-24*3600_000), "yesterday 06:40")
	check("none", c.Stamp(-1), "–")
	check("name", c.Name(), "UTC")
	c.Turn()
	check("epoch", c.Stamp(ms), "1796020801305")
	c.Turn()
	check("ago", c.Stamp(ms), "2 h")
	c.Turn()
	check("local", c.Stamp(ms), "2026-11-30 07:40:01.305")
	check("local name", c.Name(), "CET")
}

func TestThemes(t *testing.T) {
	for _, name := range Themes() {
		for _, d := range []Depth{TrueColor, Colors256, Colors16} {
			th, err := NewThemeDepth(name, true, d)
			if err != nil {
				t.Fatal(err)
			}
			if th.Glyphs.Cursor == "" || len(th.Glyphs.Spark) < 2 || th.Cursor.On == "" {
				t.Errorf("%s: not whole", name)
			}
			g := th.Glyphs
			for _, s := range append(append(append([]string{g.Cursor, g.Mark, g.Rule, g.Sep, g.Good, g.Bad, g.Null, g.About, g.Bar, g.Peg, g.Folded}, g.Spark...), g.Shade...), g.Spin...) {
				if !plain(s) {
					t.Errorf("ascii glyph %q", s)
				}
			}
		}
	}
	if _, err := NewTheme("pink", false); err == nil {
		t.Error("a theme that does not exist")
	}
	th := theme(t)
	if th.Shade(0) != "█" || th.Shade(100*24*time.Hour) != "░" || th.Age(0) == th.Age(100*24*time.Hour) {
		t.Error("the ramp of ages")
	}
	if got := Sparkline(th, []float64{0, 1, 2, 4}, 6); got != "  ▁▃▅█" {
		t.Errorf("sparkline %q", got)
	}
	for share, want := range map[float64]string{0: "····", 0.5: "██··", 1: "████", 0.01: "▌···", 7: "████"} {
		if got := text(Bar(th, share, 4)); got != want {
			t.Errorf("bar of %v: %q, want %q", share, got, want)
		}
	}
}

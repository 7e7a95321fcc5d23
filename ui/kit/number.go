package kit

import (
	"strconv"
	"time"
)

// Number returns n whole and grouped: 4,812,339.
func Number(n int64) string {
	var buf [32]byte
	raw := strconv.AppendInt(buf[:0], n, 10)
	digits := raw
	out := make([]byte, 0, 32)
	if n < 0 {
		out, digits = append(out, '-'), raw[1:]
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, d)
	}
	return string(out)
}

// Plural returns n and what there are n of: 1 record, 4,812,339 records.
func Plural[N int | int32 | int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return Number(int64(n)) + " " + what
}

// Short returns n in at most three digits and a letter: 812, 1.2k, 98k, 1.2M. Never for offsets.
func Short(n float64) string {
	neg := ""
	if n < 0 {
		neg, n = "-", -n
	}
	unit := 0
	for n >= 999.5 && unit < 5 {
		n, unit = n/1000, unit+1
	}
	letter := [...]string{"", "k", "M", "G", "T", "P"}[unit]
	if unit > 0 && n < 9.95 {
		return neg + strconv.FormatFloat(n, 'f', 1, 64) + letter
	}
	return neg + strconv.FormatFloat(n, 'f', 0, 64) + letter
}

// Bytes returns n as a number of at most four letters, and its unit: 1.9 GiB, 48 MiB, 812 B.
func Bytes(n int64) (num, unit string) {
	if n < 0 {
		return "?", ""
	}
	v, i := float64(n), 0
	for v >= 1023.5 && i < 6 {
		v, i = v/1024, i+1
	}
	unit = [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}[i]
	if i > 0 && v < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64), unit
	}
	return strconv.FormatFloat(v, 'f', 0, 64), unit
}

// BytesText returns n with its unit in one string.
func BytesText(n int64) string {
	num, unit := Bytes(n)
	if unit == "" {
		return num
	}
	return num + " " + unit
}

// BytesCell returns n as a cell with a dim unit of one width, so that the numbers stand below each other; ? for what is
// not known (negative).
func (t *Theme) BytesCell(n int64) Cell {
	switch {
	case n < 0:
		return Cell{Text: t.Glyphs.Unknown, Style: t.Dim}
	case n == 0:
		return Cell{Text: "0", Unit: "B  "}
	}
	num, unit := Bytes(n)
	return Cell{Text: num, Unit: Pad(unit, 3)}
}

// Duration returns d in its two greatest units, as people say it: 6 d 21 h, 4 min, 2.5 s, 88 ms. Negative durations
// get a minus sign.
func Duration(d time.Duration) string {
	if d < 0 {
		return "-" + Duration(-d)
	}
	const day = 24 * time.Hour
	two := func(a, b time.Duration, an, bn string) string {
		s := strconv.FormatInt(int64(d/a), 10) + " " + an
		if rest := d % a / b; rest > 0 {
			s += " " + strconv.FormatInt(int64(rest), 10) + " " + bn
		}
		return s
	}
	switch {
	case d == 0:
		return "0"
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + " µs"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(float64(d/(100*time.Millisecond))/10, 'f', -1, 64) + " s"
	case d < time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	case d < time.Hour:
		return two(time.Minute, time.Second, "min", "s")
	case d < day:
		return two(time.Hour, time.Minute, "h", "min")
	case d < 365*day:
		return two(day, time.Hour, "d", "h")
	}
	return two(365*day, day, "y", "d")
}

// Age returns how long ago something was, in one unit: now, 9 s, 4 min, 3 h, 12 d, 2 y. The future is "ahead".
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	n := func(unit time.Duration, name string) string { return strconv.FormatInt(int64(d/unit), 10) + " " + name }
	switch {
	case d < -time.Minute:
		return "ahead"
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return n(time.Second, "s")
	case d < time.Hour:
		return n(time.Minute, "min")
	case d < 2*day:
		return n(time.Hour, "h")
	case d < 2*365*day:
		return n(day, "d")
	}
	return n(365*day, "y")
}

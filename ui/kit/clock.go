package kit

import (
	"strconv"
	"time"
)

// TimeForm is a way of writing times.
type TimeForm int8

// The ways, in the order in which one key turns through them.
const (
	LocalTime TimeForm = iota
	UTCTime
	EpochTime
	AgoTime
)

// Clock writes all times of the program in one form and one zone, which it names. The root owns it and changes it in
// place. Times are milliseconds since the epoch; a negative one is none.
type Clock struct {
	Form TimeForm
	Zone *time.Location   // of LocalTime; nil means time.Local
	Now  func() time.Time // nil means time.Now
}

// Turn goes to the next form.
func (c *Clock) Turn() { c.Form = (c.Form + 1) % 4 }

// Name returns what the status line says of the form: a zone's name, "epoch ms" or "ago".
func (c *Clock) Name() string {
	switch c.Form {
	case UTCTime:
		return "UTC"
	case EpochTime:
		return "epoch ms"
	case AgoTime:
		return "ago"
	}
	if n := c.zone().String(); n != "Local" {
		return n
	}
	name, _ := c.now().In(time.Local).Zone()
	return name
}

// Location returns the zone in which times are read and written.
func (c *Clock) Location() *time.Location {
	if c.Form == UTCTime {
		return time.UTC
	}
	return c.zone()
}

func (c *Clock) zone() *time.Location {
	if c.Zone == nil {
		return time.Local
	}
	return c.Zone
}

func (c *Clock) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// Stamp writes a time in full: 2026-11-30 06:40:01.305.
func (c *Clock) Stamp(ms int64) string { return c.write(ms, "2006-01-02 15:04:05.000") }

// Clock writes the time of day with milliseconds when ms is today, else the date too: 06:40:01.305.
func (c *Clock) Clock(ms int64) string {
	if c.today(ms) {
		return c.write(ms, "15:04:05.000")
	}
	return c.write(ms, "2006-01-02 15:04:05.000")
}

// Minute writes the time of day when ms is today, "yesterday 23:10", or the date and time: 2026-11-28 23:10.
func (c *Clock) Minute(ms int64) string {
	switch {
	case ms < 0 || c.Form >= EpochTime:
		return c.write(ms, "")
	case c.today(ms):
		return c.write(ms, "15:04")
	case c.today(ms + 24*3600*1000):
		return "yesterday " + c.write(ms, "15:04")
	}
	return c.write(ms, "2006-01-02 15:04")
}

func (c *Clock) today(ms int64) bool {
	loc := c.Location()
	a, b := time.UnixMilli(ms).In(loc), c.now().In(loc)
	return a.YearDay() == b.YearDay() && a.Year() == b.Year()
}

func (c *Clock) write(ms int64, form string) string {
	switch {
	case ms < 0:
		return "–"
	case c.Form == EpochTime:
		return strconv.FormatInt(ms, 10)
	case c.Form == AgoTime:
		return c.Ago(ms)
	}
	return time.UnixMilli(ms).In(c.Location()).Format(form)
}

// Ago writes how long ago ms was: now, 9 s, 4 min.
func (c *Clock) Ago(ms int64) string {
	if ms < 0 {
		return "–"
	}
	return Age(c.Since(ms))
}

// Since returns how long ago ms was.
func (c *Clock) Since(ms int64) time.Duration { return c.now().Sub(time.UnixMilli(ms)) }

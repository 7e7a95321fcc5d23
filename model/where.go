package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ParseWhere reads the WHERE of a reset: earliest, latest, OFFSET, a time, a duration ago (2h30m, 7d), +N, -N,
// group:NAME or file:PATH. The file's rows are left for the caller to read (ParseOffsetRows). Times without a zone are
// taken in loc. Errors wrap ErrInvalid.
func ParseWhere(s string, now time.Time, loc *time.Location) (Where, error) {
	switch {
	case s == "earliest":
		return Where{Kind: ToEarliest}, nil
	case s == "latest":
		return Where{Kind: ToLatest}, nil
	case strings.HasPrefix(s, "group:") && len(s) > 6:
		return Where{Kind: ToGroup, Group: s[6:]}, nil
	case strings.HasPrefix(s, "file:") && len(s) > 5:
		return Where{Kind: ToFile, File: s[5:]}, nil
	case strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-"):
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return Where{}, fmt.Errorf("%w shift %q: want +N or -N", ErrInvalid, s)
		}
		return Where{Kind: ToShift, N: n}, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Where{Kind: ToOffset, N: n}, nil
	}
	if d, ok := parseAgo(s); ok {
		return Where{Kind: ToAgo, N: d.Milliseconds()}, nil
	}
	t, err := ParseTime(s, now, loc)
	if err != nil {
		return Where{}, fmt.Errorf("%w place %q: want earliest, latest, an offset, a time (%s), a duration ago (2h30m, 7d), +N, -N, group:NAME or file:PATH",
			ErrInvalid, s, timeForms)
	}
	return Where{Kind: ToTime, Time: t}, nil
}

// String puts the place into the words that ParseWhere reads.
func (w Where) String() string {
	switch w.Kind {
	case ToEarliest:
		return "earliest"
	case ToLatest:
		return "latest"
	case ToOffset:
		return strconv.FormatInt(w.N, 10)
	case ToTime:
		return time.UnixMilli(w.Time).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	case ToAgo:
		return (time.Duration(w.N) * time.Millisecond).String()
	case ToShift:
		return fmt.Sprintf("%+d", w.N)
	case ToGroup:
		return "group:" + w.Group
	}
	return "file:" + w.File
}

const timeForms = "2026-11-30T09:00:00Z, 2026-11-30 09:00, @1796030400000"

// ParseTime reads a time: RFC 3339, @unix-ms, "2026-11-30 09:00[:05]", a date, or a duration ago. It returns
// milliseconds since the epoch. Errors wrap ErrInvalid.
func ParseTime(s string, now time.Time, loc *time.Location) (int64, error) {
	if ms, ok := strings.CutPrefix(s, "@"); ok {
		n, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%w time %q: @ wants milliseconds since 1970", ErrInvalid, s)
		}
		return n, nil
	}
	if d, ok := parseAgo(s); ok {
		return now.Add(-d).UnixMilli(), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UnixMilli(), nil
	}
	for _, form := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02 15:04:05.000", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05.000", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, s, loc); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("%w time %q: want %s or a duration ago (2h30m, 7d)", ErrInvalid, s, timeForms)
}

var days = regexp.MustCompile(`^(\d+)d`)

// parseAgo reads a positive duration with a unit; days are allowed in front.
func parseAgo(s string) (time.Duration, bool) {
	var d time.Duration
	if m := days.FindStringSubmatch(s); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 32)
		if err != nil || n > 100_000 {
			return 0, false
		}
		d, s = time.Duration(n)*24*time.Hour, s[len(m[0]):]
		if s == "" {
			return d, true
		}
	}
	rest, err := time.ParseDuration(s)
	if err != nil || rest < 0 || s == "0" || d+rest < 0 {
		return 0, false
	}
	return d + rest, true
}

// ParseOffsetRows reads the rows of a reset file: topic,partition,offset a line, as Kafka's own consumer-groups tool
// exports and imports them. Blank lines and lines that begin with # are left out. Errors name the line and wrap
// ErrInvalid.
func ParseOffsetRows(text string) ([]Commit, error) {
	var rows []Commit
	text = strings.TrimPrefix(text, "\ufeff") // as a spreadsheet saves it
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, ",")
		if len(f) != 3 {
			return nil, fmt.Errorf("%w line %d %q: want topic,partition,offset", ErrInvalid, i+1, line)
		}
		p, perr := strconv.ParseInt(strings.TrimSpace(f[1]), 10, 32)
		o, oerr := strconv.ParseInt(strings.TrimSpace(f[2]), 10, 64)
		topic := strings.Trim(strings.TrimSpace(f[0]), `"`)
		if perr != nil || oerr != nil || p < 0 || o < 0 || topic == "" {
			return nil, fmt.Errorf("%w line %d %q: want topic,partition,offset", ErrInvalid, i+1, line)
		}
		rows = append(rows, Commit{TopicPartition: TopicPartition{topic, int32(p)}, Offset: o, LeaderEpoch: -1})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: no row in it", ErrInvalid)
	}
	return rows, nil
}

// ParseSelector reads TOPIC or TOPIC:P,P… as the --topic of a reset. Errors wrap ErrInvalid.
func ParseSelector(s string) (TopicSelector, error) {
	topic, list, some := strings.Cut(s, ":")
	sel := TopicSelector{Topic: topic}
	if topic == "" {
		return sel, fmt.Errorf("%w topic %q: want TOPIC or TOPIC:P,P", ErrInvalid, s)
	}
	if !some {
		return sel, nil
	}
	for p := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil || n < 0 {
			return sel, fmt.Errorf("%w partition %q in %q: want TOPIC:P,P", ErrInvalid, p, s)
		}
		sel.Partitions = append(sel.Partitions, int32(n))
	}
	return sel, nil
}

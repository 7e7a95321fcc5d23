package layout

import (
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// OffsetLine is a line of a checkpoint: a partition and an offset.
type OffsetLine struct {
	TP     model.TopicPartition
	Offset int64
}

// ParseOffsets reads one of the four offset checkpoints of a log directory. No byte at all means no line. With an
// error, which is a *FormatError, come the lines that could be read, but none of an unknown version.
func ParseOffsets(b []byte) ([]OffsetLine, error) {
	var lines []OffsetLine
	err := checkpoint(b, func(n int, line string) error {
		f := strings.Fields(line)
		if len(f) != 3 {
			return badLine(n, "%s: want a topic, a partition and an offset", short(line))
		}
		p, perr := strconv.ParseInt(f[1], 10, 32)
		o, oerr := strconv.ParseInt(f[2], 10, 64)
		switch {
		case perr != nil || p < 0:
			return badLine(n, "%s is no partition", short(f[1]))
		case oerr != nil || o < 0:
			return badLine(n, "%s is no offset", short(f[2]))
		}
		lines = append(lines, OffsetLine{model.TopicPartition{Topic: f[0], Partition: int32(p)}, o})
		return nil
	})
	return lines, err
}

// AppendOffsets appends a checkpoint of the lines, as ParseOffsets reads it.
func AppendOffsets(dst []byte, lines []OffsetLine) []byte {
	dst = checkpointHead(dst, len(lines))
	for _, l := range lines {
		dst = append(append(dst, l.TP.Topic...), ' ')
		dst = append(strconv.AppendInt(dst, int64(l.TP.Partition), 10), ' ')
		dst = append(strconv.AppendInt(dst, l.Offset, 10), '\n')
	}
	return dst
}

// Epoch is a line of a leader-epoch checkpoint: a leader epoch and the first offset written in it.
type Epoch struct {
	Epoch int32
	Start int64
}

// ParseEpochs reads a leader-epoch checkpoint. No byte at all means no line. Both numbers rise from line to line; where
// they do not, that is an error. With an error, which is a *FormatError, come the lines that could be read.
func ParseEpochs(b []byte) ([]Epoch, error) {
	var lines []Epoch
	var order error
	err := checkpoint(b, func(n int, line string) error {
		f := strings.Fields(line)
		if len(f) != 2 {
			return badLine(n, "%s: want an epoch and its start offset", short(line))
		}
		e, eerr := strconv.ParseInt(f[0], 10, 32)
		o, oerr := strconv.ParseInt(f[1], 10, 64)
		switch {
		case eerr != nil || e < 0:
			return badLine(n, "%s is no leader epoch", short(f[0]))
		case oerr != nil || o < 0:
			return badLine(n, "%s is no offset", short(f[1]))
		}
		if k := len(lines); k > 0 && order == nil && (int64(lines[k-1].Epoch) >= e || lines[k-1].Start > o) {
			order = badLine(n, "epoch %d from %d follows epoch %d from %d", e, o, lines[k-1].Epoch, lines[k-1].Start)
		}
		lines = append(lines, Epoch{int32(e), o})
		return nil
	})
	if err == nil {
		err = order
	}
	return lines, err
}

// AppendEpochs appends a leader-epoch checkpoint of the lines, as ParseEpochs reads it.
func AppendEpochs(dst []byte, lines []Epoch) []byte {
	dst = checkpointHead(dst, len(lines))
	for _, l := range lines {
		dst = append(strconv.AppendInt(dst, int64(l.Epoch), 10), ' ')
		dst = append(strconv.AppendInt(dst, l.Start, 10), '\n')
	}
	return dst
}

func checkpointHead(dst []byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, "0\n"...), int64(n), 10), '\n')
}

// checkpoint walks the lines behind a checkpoint's version and count. Lines that entry refuses are left out, and the
// first such error is returned at the end.
func checkpoint(b []byte, entry func(n int, line string) error) error {
	if len(b) == 0 {
		return nil
	}
	rest := string(b)
	next := func() (line string, more bool) {
		if rest == "" {
			return "", false
		}
		line, rest, _ = strings.Cut(rest, "\n")
		return strings.TrimSuffix(line, "\r"), true
	}
	line, _ := next()
	if version, err := strconv.ParseInt(strings.TrimSpace(line), 10, 32); err != nil {
		return badLine(1, "%s is no version", short(line))
	} else if version != 0 {
		return badLine(1, "unknown version %d", version)
	}
	line, more := next()
	want, err := strconv.ParseInt(strings.TrimSpace(line), 10, 32)
	if !more || err != nil || want < 0 {
		return badLine(2, "%s is no number of lines", short(line))
	}
	var first error
	var have int64
	for n := 3; ; n++ {
		line, more := next()
		if !more {
			break
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		have++
		if err := entry(n, line); err != nil && first == nil {
			first = err
		}
	}
	if first == nil && have != want {
		first = badLine(2, "says %d, has %d lines", want, have)
	}
	return first
}

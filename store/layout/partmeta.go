package layout

import (
	"strconv"
	"strings"
)

// ParsePartitionMeta reads partition.metadata: the topic's ID. Errors are *FormatError.
func ParsePartitionMeta(b []byte) (ID, error) {
	var id ID
	var version, topic bool
	for i, line := range strings.Split(string(b), "\n") {
		n := i + 1
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !found || value == "":
			return ID{}, badLine(n, "%s: want version: or topic_id: and a value", short(line))
		case key == "version":
			if v, err := strconv.ParseInt(value, 10, 32); err != nil || v < 0 {
				return ID{}, badLine(n, "%s is no version", short(value))
			}
			version = true
		case key == "topic_id":
			var err error
			if id, err = ParseID(value); err != nil {
				return ID{}, badLine(n, "%v", err)
			}
			if id.IsZero() {
				return ID{}, badLine(n, "the topic id is zero")
			}
			topic = true
		default:
			return ID{}, badLine(n, "unknown key %s", short(key))
		}
	}
	switch {
	case !version:
		return ID{}, badLine(1, "no version")
	case !topic:
		return ID{}, badLine(1, "no topic_id")
	}
	return id, nil
}

// AppendPartitionMeta appends partition.metadata, 43 bytes without a line's end behind the second line.
func AppendPartitionMeta(dst []byte, topic ID) []byte {
	return append(append(dst, "version: 0\ntopic_id: "...), topic.String()...)
}

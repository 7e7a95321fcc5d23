package store

import (
	"fmt"

	"github.com/strata-kafka/strata/store/layout"
)

// Notes is what PreviewAlter notes of a change of configs, for who previews it elsewhere.
func Notes(before, after layout.TopicConfig) []string { return notes(before, after) }

// notes puts into words what a change of configs does beside deleting segments by age and size.
func notes(before, after layout.TopicConfig) []string {
	var list []string
	say := func(format string, a ...any) { list = append(list, fmt.Sprintf(format, a...)) }
	switch {
	case before.Delete && !after.Delete:
		say("nothing is deleted by age or size any more")
	case !before.Delete && after.Delete:
		say("old segments are deleted by age and size from now on")
	}
	switch {
	case before.Compact && !after.Compact:
		say("records are no longer compacted; what compaction removed does not come back")
	case !before.Compact && after.Compact:
		say("records without a key are refused from now on")
	}
	if before.LogAppendTime != after.LogAppendTime {
		if after.LogAppendTime {
			say("records are dated by the broker from the next one on")
		} else {
			say("records keep their producer's date from the next one on")
		}
	}
	if after.SegmentBytes != before.SegmentBytes {
		say("segment.bytes counts from the next append on: %d", after.SegmentBytes)
	}
	if after.MaxMessageBytes < before.MaxMessageBytes {
		say("batches above %d bytes are refused from now on", after.MaxMessageBytes)
	}
	return list
}

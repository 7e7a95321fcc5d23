package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
)

// TargetHint is what ParseTarget understands, for the hint of an input.
const TargetHint = "4812339, 2026-11-30 09:00, @1796030400000, or 2h30m for that long ago"

// ParseTarget reads an offset, which may be grouped (4,812,339), or a time in loc. Errors wrap model.ErrInvalid.
func ParseTarget(text string, now time.Time, loc *time.Location) (model.Target, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64); err == nil && n >= 0 {
		return model.Target{Offset: n}, nil
	}
	ms, err := model.ParseTime(text, now, loc)
	if err != nil {
		return model.Target{}, err
	}
	return model.Target{ByTime: true, Time: ms}, nil
}

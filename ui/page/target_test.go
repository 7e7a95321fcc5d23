package page

import (
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func TestParseTarget(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 12, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		in   string
		want model.Target
		bad  bool
	}{
		"offset":         {"4812339", model.Target{Offset: 4812339}, false},
		"grouped offset": {" 4,812,339 ", model.Target{Offset: 4812339}, false},
		"time":           {"2026-11-30 09:00", model.Target{ByTime: true, Time: now.Add(-12 * time.Minute).UnixMilli()}, false},
		"ago":            {"12m", model.Target{ByTime: true, Time: now.Add(-12 * time.Minute).UnixMilli()}, false},
		"milliseconds":   {"@1000", model.Target{ByTime: true, Time: 1000}, false},
		"negative":       {"-5", model.Target{}, true},
		"word":           {"noon", model.Target{}, true},
		"nothing":        {"", model.Target{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseTarget(tc.in, now, time.UTC)
			if (err != nil) != tc.bad || got != tc.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

package logdir

import (
	"fmt"
	"regexp"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// matcher returns what finds a pattern; nil where there is no pattern, which is found everywhere. Errors wrap
// model.ErrInvalid.
func matcher(pattern string, isRegexp, fold bool) (record.Matcher, error) {
	if pattern == "" {
		return nil, nil
	}
	if !isRegexp {
		return record.NewLiteral([]byte(pattern), fold), nil
	}
	if fold {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w pattern: %w", model.ErrInvalid, err)
	}
	return record.NewRegexp(re), nil
}

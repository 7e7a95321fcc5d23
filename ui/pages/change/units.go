package change

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

var (
	sizeForm = regexp.MustCompile(`^(?i)(\d+(?:\.\d+)?)\s*(k|m|g|t)(i?b)?$`)
	nameForm = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)
)

// maxName is how long the name of a topic may be, bytes.
const maxName = 249

// plainValue turns what was typed for a config into what is stored: durations for .ms (7d, 1h30m), sizes for .bytes
// (512MiB), else the text as it is.
func plainValue(name, text string) string {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasSuffix(name, ".ms"):
		if w, err := model.ParseWhere(text, time.Time{}, time.UTC); err == nil && w.Kind == model.ToAgo {
			return strconv.FormatInt(w.N, 10)
		}
	case strings.HasSuffix(name, ".bytes"):
		m := sizeForm.FindStringSubmatch(text)
		if m == nil {
			break
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			break
		}
		n *= math.Pow(1024, float64(strings.Index("kmgt", strings.ToLower(m[2]))+1))
		if n < math.MaxInt64 {
			return strconv.FormatInt(int64(n), 10)
		}
	}
	return text
}

// said puts a config's value into words beside the number: 604800000 → 7 d; "" where there is nothing to say.
func said(name, value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return ""
	}
	switch {
	case strings.HasSuffix(name, ".ms") && n >= 1<<42:
		return "for ever"
	case strings.HasSuffix(name, ".ms") && n >= 1000:
		return kit.Duration(time.Duration(n) * time.Millisecond)
	case strings.HasSuffix(name, ".bytes") && n >= 1<<62:
		return "no limit"
	case strings.HasSuffix(name, ".bytes") && n >= 1024:
		return kit.BytesText(n)
	case n == -1 && name == "retention.ms":
		return "for ever"
	case n == -1 && name == "retention.bytes":
		return "any size"
	}
	return ""
}

// checkName says what is wrong with the name of a topic by Kafka's rules; nil when it is good.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a topic needs a name")
	case name == "." || name == "..":
		return errors.New("dots alone are no name")
	case len(name) > maxName:
		return fmt.Errorf("%d letters, %d at the most", len(name), maxName)
	case !nameForm.MatchString(name):
		return errors.New("letters, digits, dot, underscore and dash only")
	}
	return nil
}

// collides reports whether Kafka takes two names for the same in its metrics.
func collides(a, b string) bool {
	return a != b && strings.ReplaceAll(a, ".", "_") == strings.ReplaceAll(b, ".", "_")
}

// dangerous reports whether a change of a config can delete records.
func dangerous(name string) bool {
	return strings.HasPrefix(name, "retention.") || strings.HasPrefix(name, "segment.") || name == "cleanup.policy"
}

// parsePairs reads KEY=VALUE words parted by blanks. KEY= takes a config back to its default. Errors wrap
// model.ErrInvalid.
func parsePairs(text string) ([]model.ConfigChange, error) {
	var out []model.ConfigChange
	for word := range strings.FieldsSeq(text) {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%w config %q: want KEY=VALUE", model.ErrInvalid, word)
		}
		out = append(out, model.ConfigChange{Name: name, Value: plainValue(name, value), Unset: value == ""})
	}
	return out, nil
}

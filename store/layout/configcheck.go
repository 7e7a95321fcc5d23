package layout

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// gone are topic configs that brokers once knew, and since which version no more.
func gone(name string) (since string, ok bool) {
	switch name {
	case "message.format.version", "message.downconversion.enable", "message.timestamp.difference.max.ms":
		return "4.0", true
	}
	return "", false
}

// ValidateConfig says why value cannot be the value of a topic config: what is wrong, what is allowed, and for an
// unknown name the nearest known ones. Errors wrap model.ErrInvalid.
func ValidateConfig(name, value string) error {
	d, ok := Config(name)
	if !ok {
		return unknownConfig(name)
	}
	return d.Validate(value)
}

func unknownConfig(name string) error {
	if since, ok := gone(name); ok {
		return fmt.Errorf("%w config %s: there is none of that name since Kafka %s", model.ErrInvalid, name, since)
	}
	defs := table()
	names := make([]string, len(defs))
	for i, d := range defs {
		names[i] = d.Name
		for _, b := range d.Broker {
			if b == name {
				return fmt.Errorf("%w config %s: that is the broker's name; a topic's is %s", model.ErrInvalid, name, d.Name)
			}
		}
	}
	near := model.Nearest(name, names)
	if len(near) == 0 {
		return fmt.Errorf("%w config %q: there is none of that name", model.ErrInvalid, name)
	}
	return fmt.Errorf("%w config %q: there is none of that name; did you mean %s?", model.ErrInvalid, name, strings.Join(near, ", "))
}

// Validate says why value cannot be the config's value. Errors wrap model.ErrInvalid.
func (d ConfigDef) Validate(value string) error {
	value = strings.TrimSpace(value)
	ok := false
	switch d.Type {
	case Boolean:
		ok = strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	case Int, Short, Long:
		n, err := strconv.ParseInt(value, 10, 64)
		ok = err == nil && (d.Min <= n && n <= d.Max || d.HasAlso && n == d.Also)
	case Double:
		f, err := strconv.ParseFloat(value, 64)
		ok = err == nil && float64(d.Min) <= f && f <= float64(d.Max)
	case String:
		ok = slices.Contains(d.Values, value)
	case List:
		ok = d.list(value)
	}
	if ok {
		return nil
	}
	err := fmt.Errorf("%w value %s for %s: want %s", model.ErrInvalid, short(value), d.Name, d.Allowed())
	if near := model.Nearest(value, d.Values); value != "" && len(near) > 0 && !slices.Contains(SplitList(value), near[0]) {
		err = fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return err
}

func (d ConfigDef) list(value string) bool {
	parts := SplitList(value)
	for i, p := range parts {
		switch {
		case p == "" || slices.Contains(parts[:i], p):
			return false
		case d.Values != nil && !slices.Contains(d.Values, p):
			return false
		case d.Values == nil && !throttled(p, len(parts) == 1):
			return false
		}
	}
	return true
}

// throttled checks an element of a list of throttled replicas, partition:broker.
func throttled(s string, alone bool) bool {
	if s == "*" {
		return alone
	}
	p, b, ok := strings.Cut(s, ":")
	return ok && decimal(p) && decimal(b)
}

func decimal(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && n >= 0
}

// SplitList splits the value of a List at its commas. The empty value has no part.
func SplitList(value string) []string {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	parts := strings.Split(value, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// Allowed says in words which values the config takes.
func (d ConfigDef) Allowed() string {
	switch d.Type {
	case Boolean:
		return "true or false"
	case Int, Short, Long, Double:
		return d.bounds()
	case String:
		return "one of " + strings.Join(d.Values, ", ")
	}
	if d.Values != nil {
		return "a list of " + strings.Join(d.Values, ", ")
	}
	return "a list of partition:broker, or *"
}

func (d ConfigDef) bounds() string {
	words := "a whole number"
	if d.Type == Double {
		words = "a number"
	}
	switch {
	case d.Min == math.MinInt64:
	case d.Max == math.MaxInt64:
		words += fmt.Sprintf(" from %d", d.Min)
	default:
		words += fmt.Sprintf(" from %d to %d", d.Min, d.Max)
	}
	if d.HasAlso {
		words += fmt.Sprintf(", or %d", d.Also)
	}
	return words
}

package model

import (
	"fmt"
	"sort"
	"strings"
)

// Nearest returns up to three of names that resemble name, best first.
func Nearest(name string, names []string) []string {
	type scored struct {
		name string
		d    int
	}
	var near []scored
	lower := strings.ToLower(name)
	for _, n := range names {
		l := strings.ToLower(n)
		d := distance(lower, l)
		if strings.Contains(l, lower) && lower != "" || strings.HasPrefix(lower, l) {
			d = min(d, 2)
		}
		if d <= max(2, len(name)/3) {
			near = append(near, scored{n, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].d < near[j].d })
	var out []string
	for _, s := range near[:min(3, len(near))] {
		out = append(out, s.name)
	}
	return out
}

// NotFound wraps a sentinel with the name that was not found and the nearest ones.
func NotFound(sentinel error, name string, names []string) error {
	if near := Nearest(name, names); len(near) > 0 {
		return fmt.Errorf("%w: %q; did you mean %s?", sentinel, name, strings.Join(near, ", "))
	}
	return fmt.Errorf("%w: %q", sentinel, name)
}

// distance is the number of single-byte edits between a and b (Levenshtein), bounded by their lengths.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diag, row[j] = row[j], min(row[j]+1, row[j-1]+1, diag+cost)
		}
	}
	return row[len(b)]
}

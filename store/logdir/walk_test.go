package logdir

import "testing"

func TestBaseOf(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want int64
		ok   bool
	}{
		"zero":            {"00000000000000000000.log", 0, true},
		"some":            {"00000000000004640112.log", 4640112, true},
		"greatest":        {"09223372036854775807.log", 9223372036854775807, true},
		"too great":       {"99999999999999999999.log", 0, false},
		"one digit short": {"0000000000000000000.log", 0, false},
		"no digit":        {"0000000000000000000x.log", 0, false},
		"index":           {"00000000000000000000.index", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := baseOf([]byte(tc.in)); ok != tc.ok || ok && got != tc.want {
				t.Errorf("baseOf(%q) = %d, %v", tc.in, got, ok)
			}
		})
	}
}

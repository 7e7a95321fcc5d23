package early

import "os"

// term is what TERM was; had is false when it was not set.
var term, had = os.LookupEnv("TERM")

func init() { _ = os.Setenv("TERM", "dumb") }

// Restore sets TERM to what it was. It is the first line of main.
func Restore() {
	if !had {
		_ = os.Unsetenv("TERM")
		return
	}
	_ = os.Setenv("TERM", term)
}

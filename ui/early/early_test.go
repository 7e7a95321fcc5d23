package early

import (
	"os"
	"testing"
)

func TestTermIsHiddenUntilRestored(t *testing.T) {
	if got := os.Getenv("TERM"); got != "dumb" {
		t.Fatalf("TERM is %q while packages are initialised, want dumb", got)
	}
	t.Setenv("TERM", "dumb") // put back when the test ends
	term, had = "xterm-256color", true
	Restore()
	if got := os.Getenv("TERM"); got != "xterm-256color" {
		t.Errorf("TERM is %q after Restore", got)
	}
	had = false
	Restore()
	if _, set := os.LookupEnv("TERM"); set {
		t.Error("TERM is set though it was not before")
	}
}

package groups

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// TestStormOfDamage flips a few bits anywhere in a store, again and again, and then uses it in every way: whatever is let
// pass must answer, if need be with an error, and can be closed and opened again.
func TestStormOfDamage(t *testing.T) {
	const turns = 150
	whole := sample(t, 3000)
	rnd := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	opened, aside, broken := 0, 0, 0
	for range turns {
		bad := bytes.Clone(whole)
		for range 1 + rnd.IntN(3) {
			pos := rnd.IntN(len(bad))
			if rnd.IntN(2) == 0 { // the heads of pages hold most of what can go wrong
				pos = min(pos/4096*4096+rnd.IntN(200), len(bad)-1)
			}
			bad[pos] ^= 1 << rnd.IntN(8)
		}
		path := filepath.Join(dir, "strata.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := OpenDB(path, DBOptions{})
		if errors.Is(err, ErrSchema) {
			continue // the schema's own bucket was hit
		}
		if err != nil {
			t.Fatal(err)
		}
		if db.moved {
			aside++
		} else {
			opened++
		}
		s := New(db, &fakeLogs{}, Options{})
		_, _ = s.Groups(t.Context())
		for p := range int32(3) {
			_ = s.Commit(t.Context(), "g", []model.Commit{offset("t", p, 1)})
		}
		_, _ = s.ForgetTopic("orders")
		if db.broken.Load() != nil {
			broken++
		}
		s.Close()
		if err := db.Close(); err != nil && db.broken.Load() == nil {
			t.Error(err)
		}
	}
	t.Logf("%d opened, %d moved aside; %d of the opened broke when used", opened, aside, broken)
	if broken > turns/20 {
		t.Errorf("%d of %d stores broke only when they were used", broken, turns)
	}
}

package groups

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// TestLostConfigsStayLost opens a store in whose place a new one was begun, again and again: until someone makes the
// configs good, it says that they are lost.
func TestLostConfigsStayLost(t *testing.T) {
	for name, begin := range map[string]func(path string) error{
		"moved aside": func(path string) error { return os.WriteFile(path, []byte("damaged"), 0o600) },
		"missing":     func(string) error { return nil },
		"killed before it had a schema": func(path string) error {
			b, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			return b.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "strata.db")
			if err := begin(path); err != nil {
				t.Fatal(err)
			}
			reopen := func(want bool) TopicConfigs {
				db := openAt(t, path, DBOptions{TopicsExist: exist})
				t.Cleanup(func() { _ = db.Close() })
				if db.ConfigsLost() != want {
					t.Fatalf("configs lost: %v", db.ConfigsLost())
				}
				return db.TopicConfigs()
			}
			closed := func(c TopicConfigs) {
				if err := c.db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			closed(reopen(true))
			c := reopen(true)
			if err := c.Save("gone", map[string]string{"retention.ms": "1"}); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"retention.ms": "-1"}
			if err := c.Replace(map[string]map[string]string{"orders": want}); err != nil {
				t.Fatal(err)
			}
			if c.Lost() {
				t.Error("still lost")
			}
			closed(c)
			all, err := reopen(false).Load()
			if err != nil || len(all) != 1 || !maps.Equal(all["orders"], want) {
				t.Errorf("configs %v, %v", all, err)
			}
		})
	}
}

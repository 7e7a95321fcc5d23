package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// TestADirectoryOfKafkaIsNotTaken holds that a broker's directory is never taken for ours, whatever its age.
func TestADirectoryOfKafkaIsNotTaken(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"kraft":      {"meta.properties": "version=1\nnode.id=1\ncluster.id=c\n", "__cluster_metadata-0/00000000000000000000.log": ""},
		"with group": {"meta.properties": "version=1\nnode.id=1\ncluster.id=c\n", "__consumer_offsets-7/00000000000000000000.log": ""},
		"zookeeper":  {"meta.properties": "version=0\nbroker.id=1\n"},
		"a copy":     {"orders-0/00000000000000000000.log": ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Open([]string{dir}, Options{}); !errors.Is(err, model.ErrRefused) {
				t.Errorf("got %v, want it refused", err)
			}
			if _, err := os.Stat(filepath.Join(dir, ".lock")); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a lock was left")
			}
		})
	}
}

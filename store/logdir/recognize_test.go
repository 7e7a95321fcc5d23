package logdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

func TestRecognize(t *testing.T) {
	for name, tc := range map[string]struct {
		files []string // with a / at the end: folders
		want  string   // "" for a log directory
	}{
		"a broker's":        {[]string{"meta.properties"}, ""},
		"a partition":       {[]string{"orders-0/00000000000000000000.log"}, ""},
		"damaged":           {[]string{"orders-0/00000000000000000007.timeindex"}, ""},
		"new":               {[]string{"orders-0/"}, ""},
		"partition's own":   {[]string{"00000000000000000000.log"}, ""},
		"nothing":           {nil, "no log directory"},
		"something else":    {[]string{"dbus-1/system.conf", "fstab"}, "no log directory"},
		"a level above":     {[]string{"data/meta.properties"}, "did you mean"},
		"a level above two": {[]string{"a/x", "b/orders-0/00000000000000000000.log"}, "/b?"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tc.files {
				path := filepath.Join(dir, f)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(f, "/") {
					if err := os.MkdirAll(path, 0o755); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := Recognize(dir)
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" && (!errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

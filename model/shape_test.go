package model_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/strata-kafka/strata"

// allowed says which of our own packages each may import; every one may import model. A pattern ending in /* stands
// for the packages directly below. Change the design first, then this table.
var allowed = map[string][]string{
	"":                      {"ui", "ui/early", "ui/cli", "store", "store/logdir", "store/demo", "store/delivery", "store/embedded", "store/remote", "store/profile", "store/transfer", "groups"},
	"model":                 {},
	"assets":                {},
	"store":                 {"store/partition", "store/layout", "store/record", "store/watch", "store/segment"},
	"store/record":          {},
	"store/layout":          {},
	"store/meta":            {"store/layout"},
	"store/segment":         {"store/record", "store/layout"},
	"store/segment/segtest": {"store/layout", "store/record"},
	"store/partition":       {"store/segment", "store/record", "store/layout"},
	"store/watch":           {},
	"store/logdir":          {"store/partition", "store/segment", "store/record", "store/layout", "store/meta", "store/watch", "groups"},
	"store/demo":            {},
	"store/wire":            {"store", "store/partition", "store/record", "store/layout", "groups", "groups/assign", "groups/coordinator", "groups/txn"},
	"store/remote":          {"store/record", "groups"},
	"store/profile":         {},
	"store/transfer":        {"store/record"},
	"store/delivery":        {},
	"store/embedded":        {"store", "store/partition", "store/logdir", "store/layout", "store/wire", "groups", "groups/assign", "groups/coordinator", "groups/txn"},
	"groups":                {},
	"groups/assign":         {},
	"groups/coordinator":    {"groups", "groups/assign"},
	"groups/txn":            {"groups"},
	"ui":                    {"ui/kit", "ui/page", "ui/pages/*", "assets"},
	"ui/early":              {},
	"ui/cli":                {"ui/kit"},
	"ui/kit":                {},
	"ui/page":               {"ui/kit"},
	"ui/rows":               {"ui/page", "ui/kit"},
	"ui/offsets":            {"ui/page", "ui/kit", "ui/rows"},
	"ui/pages/*":            {"ui/page", "ui/kit", "ui/rows", "ui/offsets"},
	"ui/uitest":             {"ui/page", "ui/kit"},
	"ui/termtest":           {},
	"ui/e2e":                {},
}

// outside says where a dependency may be imported; the rest of the tree must do without it.
var outside = map[string][]string{
	"github.com/charmbracelet/":                 {"ui", "ui/kit", "ui/page", "ui/rows", "ui/offsets", "ui/pages/*", "ui/uitest", "ui/termtest"},
	"go.etcd.io/bbolt":                          {"groups"},
	"github.com/fsnotify/fsnotify":              {"store/watch"},
	"github.com/twmb/franz-go/pkg/kmsg":         {"store/meta", "store/wire", "store/remote", "store/delivery", "store/profile"},
	"github.com/klauspost/compress":             {"store/record"},
	"github.com/pierrec/lz4":                    {"store/record"},
	"github.com/spf13/cobra":                    {"", "ui/cli"},
	"github.com/twmb/franz-go/pkg/sr":           {"store/remote"},
	"github.com/twmb/franz-go/pkg/sasl":         {"store/profile", "store/remote"},
	"github.com/pelletier/go-toml":              {"ui", "ui/cli", "store/profile"},
	"github.com/aymanbagabas/go-osc52":          {"ui", "ui/kit"},
	"github.com/twmb/franz-go/pkg/kerr":         {"store/wire", "store/remote", "store/delivery", "store/profile"},
	"github.com/twmb/franz-go/pkg/kgo":          {"store/remote", "store/delivery", "store/profile"},
	"github.com/twmb/franz-go/pkg/kadm":         {"store/remote"},
	"github.com/charmbracelet/bubbles/table":    {},
	"github.com/charmbracelet/bubbles/list":     {},
	"github.com/charmbracelet/x/exp/teatest":    {},
	"github.com/mattn/go-runewidth":             {},
	"github.com/atotto/clipboard":               {},
	"github.com/charmbracelet/bubbles/viewport": {"ui/kit"},
}

// TestImports reads every file that is no test and holds its imports against the tables. model itself may import the
// standard library only.
func TestImports(t *testing.T) {
	root := ".."
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); strings.HasPrefix(n, ".") && n != ".." || n == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		files++
		checkFile(t, p, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("looked at %d files: the walk went wrong", files)
	}
}

func checkFile(t *testing.T, file, rel string) {
	t.Helper()
	dir := path.Dir(rel)
	if dir == "." {
		dir = ""
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	may, known := match(dir)
	if !known {
		t.Errorf("%s: package %q is not in the table of imports", rel, dir)
		return
	}
	for _, im := range f.Imports {
		p := strings.Trim(im.Path.Value, `"`)
		if own, ours := strings.CutPrefix(p, module+"/"); ours {
			if own != "model" && !listed(own, may) {
				t.Errorf("%s must not import %s", rel, own)
			}
			continue
		}
		if dir == "model" && strings.Contains(p, ".") {
			t.Errorf("%s must not import %s: model has the standard library only", rel, p)
		}
		for dep, where := range outside {
			if strings.HasPrefix(p, dep) && !listed(dir, where) {
				t.Errorf("%s must not import %s", rel, p)
			}
		}
	}
}

func match(dir string) ([]string, bool) {
	if may, ok := allowed[dir]; ok {
		return may, true
	}
	may, ok := allowed[path.Dir(dir)+"/*"]
	return may, ok
}

func listed(dir string, list []string) bool {
	for _, l := range list {
		if l == dir || strings.HasSuffix(l, "/*") && path.Dir(dir) == strings.TrimSuffix(l, "/*") {
			return true
		}
	}
	return false
}

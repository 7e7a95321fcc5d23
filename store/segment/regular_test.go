//go:build unix

package segment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOnlyRegularFilesAreOpened would hang at the FIFO where it is opened as any other file.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(path("file"), []byte("12345"), 0o600),
		syscall.Mkfifo(path("fifo"), 0o600),
		os.Symlink("fifo", path("link to a fifo")),
		os.Symlink("/dev/zero", path("endless")),
		os.Symlink("loop", path("loop")),
		os.Mkdir(path("folder"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"fifo", "link to a fifo", "endless", "folder"} {
		if _, err := OpenRegular(path(name)); !errors.Is(err, errNotRegular) {
			t.Errorf("%s: %v, want that it is no regular file", name, err)
		}
	}
	if _, err := OpenRegular(path("loop")); err == nil {
		t.Error("a link to itself was opened")
	}
	if _, err := ReadRegular(path("none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if b, err := ReadRegular(path("file"), 5); string(b) != "12345" || err != nil {
		t.Errorf("file: %q, %v", b, err)
	}
	if _, err := ReadRegular(path("file"), 4); err == nil {
		t.Error("a file that is too long was read")
	}
}

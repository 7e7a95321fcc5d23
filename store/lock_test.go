package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// A test that needs a second process runs this test binary again with childEnv set to what it shall be.
const childEnv = "STRATA_TEST_CHILD"

func TestMain(m *testing.M) {
	switch job := os.Getenv(childEnv); job {
	case "":
		os.Exit(m.Run())
	case "hold":
		holdChild()
	case "append":
		appendChild()
	case "clean":
		cleanChild()
	case "topics":
		topicsChild()
	default:
		fmt.Fprintln(os.Stderr, "no such child:", job)
		os.Exit(2)
	}
}

// child starts this binary as another process on a directory. The process ends with the test.
func child(t *testing.T, job string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, args...)
	c.Env = append(os.Environ(), childEnv+"="+job)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StdinPipe(); err != nil { // the child ends when it is closed
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c, bufio.NewScanner(out)
}

// holdChild holds a directory until its stdin ends, and then stops cleanly.
func holdChild() {
	e, err := Open(os.Args[1:], Options{Address: "127.0.0.1:9092"})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
	if err := e.Close(); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestLock is refused a directory that another process holds, by name, and gets it once that one is gone, killed.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	if h, held := LockHolder(dir); held {
		t.Errorf("held by %+v before anyone came", h)
	}
	c, out := child(t, "hold", dir)
	if !out.Scan() || out.Text() != "ready" {
		t.Fatalf("the child says %q", out.Text())
	}
	_, err := Open([]string{dir}, Options{})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != c.Process.Pid || locked.Holder.Address != "127.0.0.1:9092" || locked.Holder.Started == 0 {
		t.Fatalf("second Open: %v (%+v)", err, locked)
	}
	if want := fmt.Sprint("process ", c.Process.Pid); !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not name %s", err, want)
	}
	if h, held := LockHolder(dir); !held || h.PID != c.Process.Pid {
		t.Errorf("LockHolder %+v, %v", h, held)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if !exists(filepath.Join(dir, layout.LockFile)) {
		t.Error("a killed process took its lock's file along")
	}
	if h, held := LockHolder(dir); held {
		t.Errorf("held by the dead %+v", h)
	}
	e := open(t, Options{}, dir)
	if h, held := LockHolder(dir); !held || h.PID != os.Getpid() {
		t.Errorf("LockHolder %+v, %v; want this process", h, held)
	}
	if _, err := Open([]string{dir}, Options{}); !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("second Open in this process: %v", err)
	}
	// That attempt must not have let the lock go.
	if _, held := LockHolder(dir); !held {
		t.Error("the lock is lost")
	}
	if err := e.SetAddress("127.0.0.1:1"); err != nil {
		t.Error(err)
	}
	if h, _ := LockHolder(dir); h.Address != "127.0.0.1:1" {
		t.Errorf("LockHolder %+v after SetAddress", h)
	}
}

// TestLockOfMany lets all directories go when one of them is held.
func TestLockOfMany(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	e := open(t, Options{}, b)
	if _, err := Open([]string{a, b}, Options{}); err == nil {
		t.Fatal("opened a directory that is held")
	}
	if h, held := LockHolder(a); held {
		t.Errorf("%s is still held by %+v", a, h)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Options{}, a, b)
}

// TestKafkaDirectory is refused for writing.
func TestKafkaDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "__cluster_metadata-0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open([]string{dir}, Options{}); !errors.Is(err, model.ErrRefused) {
		t.Errorf("error %v", err)
	}
	if names := folders(t, dir); len(names) != 1 || exists(filepath.Join(dir, layout.MetaFile)) || exists(filepath.Join(dir, layout.LockFile)) {
		t.Errorf("it was changed: %v", names)
	}
}

// TestALockOfAnother is not taken away with one's own, where the directory was deleted and made anew.
func TestALockOfAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	old, err := lockDir(mkdir(t, dir), Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	now, err := lockDir(mkdir(t, dir), Holder{PID: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.release(); err != nil {
		t.Error(err)
	}
	if h, held := LockHolder(dir); !held || h.PID != 2 {
		t.Errorf("held by %+v, %v", h, held)
	}
	if err := now.release(); err != nil {
		t.Error(err)
	}
	if exists(filepath.Join(dir, layout.LockFile)) {
		t.Error("it is left behind")
	}
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOneDirectoryTwice names what is wrong, and lets go of what it had taken.
func TestOneDirectoryTwice(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{dir, dir + "/../" + filepath.Base(dir), link} {
		if _, err := Open([]string{dir, again}, Options{}); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", again, err)
		}
	}
	e, err := Open([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

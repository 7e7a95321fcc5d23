package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestHelpIsPlain(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{{"--help"}, {"--version"}, {"read", "--help"}, {"help", "reset"}} {
		r := w.run(0, "", args...)
		if r.out == "" || strings.ContainsRune(r.out+r.err, 0x1b) {
			t.Errorf("%v printed %q", args, r.out+r.err)
		}
	}
}

func TestBatchesOfOneFile(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(kitchenDir(t, nil), "kitchen-0", "00000000000000000000.log")
	got := w.run(0, "", "batches", file, "--json").objects(t)
	for name, want := range map[string]string{
		"position": "0 94 173 251 330 408 488 549 660 739 820",
		"bytes":    "94 79 78 79 78 80 61 111 79 81 73",
		"base":     "0 3 5 6 8 9 11 16 20 30 32",
		"control":  "<nil> <nil> commit <nil> abort <nil> <nil> <nil> <nil> <nil> <nil>",
		"valid":    strings.TrimSpace(strings.Repeat("true ", 11)),
	} {
		if s := strings.Join(field(got, name), " "); s != want {
			t.Errorf("%s: got %s, want %s", name, s, want)
		}
	}
	if crc := got[0]["crc"]; fmt.Sprint(crc) != fmt.Sprint(0x6bc46be7) {
		t.Errorf("crc of the first batch: %v", crc)
	}
}

func TestReadOfOneDirectory(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, nil)
	read := func(args ...string) string {
		return strings.Join(field(w.run(0, "", append([]string{"read", "kitchen", "-s", dir, "--json"}, args...)...).objects(t), "offset"), " ")
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"all":          {nil, "0 1 2 3 4 6 7 9 10 16 17 18 19 23 27 30 31 32"},
		"committed":    {[]string{"--committed"}, "0 1 2 3 4 9 10 16 17 18 19 23 27 30 31 32"},
		"control":      {[]string{"--control", "--from", "5", "--to", "9"}, "5 6 7 8"},
		"limit":        {[]string{"--limit", "2", "--from", "17"}, "17 18"},
		"last three":   {[]string{"--from", "-3"}, "30 31 32"},
		"by time":      {[]string{"--from", "@1700000002501"}, "16 17 18 19 23 27 30 31 32"},
		"to time":      {[]string{"--to", "@1700000000100"}, "0 1 2"},
		"grep":         {[]string{"--grep", "^v[12]$"}, "1 2"},
		"grep, bounds": {[]string{"--grep", "v", "--from", "1", "--to", "2"}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(tc.args...); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	w.run(1, "", "read", "kitchen", "-s", dir, "--grep", "there is no such thing")
}

func TestReadInWords(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, nil)
	got := w.run(0, "", "read", "kitchen/0", "-s", dir, "--from", "16", "--to", "20", "--tz", "UTC").out
	want := "kitchen/0@16\t2023-11-14T22:13:24.000Z\tk0\t∅\n" +
		"kitchen/0@17\t2023-11-14T22:13:24.000Z\t∅\tnokey\n" +
		"kitchen/0@18\t2023-11-14T22:13:24.000Z\tk1\t\"\"\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got = w.run(0, "", "read", "kitchen/0", "-s", dir, "--limit", "1", "-f", `%t %p %o %k=%s %T\n`).out
	if got != "kitchen 0 0 k0=v0 1700000000000\n" {
		t.Errorf("format: %q", got)
	}
}

func TestVerifyFindsAFlippedByte(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, func(b []byte) []byte { b[317] ^= 1; return b })
	got := w.run(1, "", "verify", "-s", dir, "--json").objects(t)
	found := slices.ContainsFunc(got, func(o map[string]any) bool {
		return o["severity"] == "damage" && o["kind"] == "crc" && fmt.Sprint(o["position"]) == "251"
	})
	if !found {
		t.Errorf("no damage at byte 251 in %v", got)
	}
	w.run(0, "", "verify", "-s", kitchenDir(t, nil))
}

func TestLookupByTime(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, nil)
	r := w.run(0, "", "lookup", "kitchen/0", "@1700000002501", "-s", dir, "--json").objects(t)
	if last := r[len(r)-1]; !strings.Contains(fmt.Sprint(last["value"]), "16") {
		t.Errorf("the last step is %v", last)
	}
	w.run(1, "", "lookup", "kitchen/0", "@1700000005011", "-s", dir)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, nil)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no such topic":     {[]string{"read", "kitchn", "-s", dir}, `no such topic: "kitchn"; did you mean kitchen\?`},
		"no such partition": {[]string{"read", "kitchen/7", "-s", dir}, `no such partition: kitchen has no partition 7`},
		"no such source":    {[]string{"topics", "-s", "/no/such/dir"}, `/no/such/dir: no such directory or file; give a Kafka log directory`},
		"no such cluster":   {[]string{"topics", "-s", "127.0.0.1:1"}, `connect to 127.0.0.1:1: .*refused; strata profile test 127.0.0.1:1 says at which step`},
		"no such group":     {[]string{"group", "g", "-s", dir}, `no such group: "g"`},
		"write to a dir":    {[]string{"produce", "kitchen", "-v", "x", "-s", dir}, `only looked at, never changed`},
		"no such command":   {[]string{"topic", "mend", "x"}, `say what to do|unknown command`},
		"no such flag":      {[]string{"read", "kitchen", "--frm", "1"}, `unknown flag: --frm; see strata read --help`},
		"no such zone":      {[]string{"topics", "--tz", "Mars/Base"}, `no such time zone`},
		"no data yet":       {[]string{"topics"}, `no data yet`},
		"no log directory":  {[]string{"topics", "-s", "/usr"}, `/usr: no meta.properties and no partition's folder`},
		"its parent":        {[]string{"topics", "-s", filepath.Dir(dir)}, `did you mean .*/logs\?`},
		"a bad place":       {[]string{"read", "kitchen", "-s", dir, "--from", "yesterday"}, `want an offset, a time`},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.run(2, "", tc.args...)
			if !regexp.MustCompile(tc.want).MatchString(r.err) || r.out != "" {
				t.Errorf("stderr %q does not say %q, or stdout is not empty: %q", r.err, tc.want, r.out)
			}
		})
	}
}

// fingerprint is a hash over names, sizes, times and contents below a directory.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, p, st.Size(), st.ModTime().UnixNano(), st.Mode())
		if d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			h.Write(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestCommandsLeaveADirectoryAlone(t *testing.T) {
	w := newWorld(t)
	dir := kitchenDir(t, func(b []byte) []byte { b[317] ^= 1; return append(b, 0, 0, 1) })
	before := fingerprint(t, dir)
	for _, args := range [][]string{
		{"topics"}, {"partitions"}, {"segments", "kitchen/0"}, {"groups"}, {"lookup", "kitchen/0", "3"},
	} {
		w.run(0, "", append(args, "-s", dir)...)
	}
	for _, args := range [][]string{{"verify"}, {"read", "kitchen"}, {"batches", "kitchen/0"}} {
		w.run(1, "", append(args, "-s", dir)...)
	}
	if fingerprint(t, dir) != before {
		t.Error("a command has changed the directory")
	}
}

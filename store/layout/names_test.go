package layout

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

const hex32 = "0123456789abcdef0123456789abcdef"

func TestParseDirName(t *testing.T) {
	long := strings.Repeat("a", 249)
	for name, tc := range map[string]struct {
		in    string
		topic string
		part  int32
		state model.PartitionState
		id    string
		cut   bool
		ok    bool
	}{
		"live":                 {"t-0", "t", 0, model.Live, "", false, true},
		"dashes":               {"a-b-c-7", "a-b-c", 7, model.Live, "", false, true},
		"dots":                 {"dots.in.name-0", "dots.in.name", 0, model.Live, "", false, true},
		"being deleted":        {"t-0." + hex32 + "-delete", "t", 0, model.Deleting, hex32, false, true},
		"moving":               {"t-1." + hex32 + "-future", "t", 1, model.Future, hex32, false, true},
		"stray":                {"t-12." + hex32 + "-stray", "t", 12, model.Stray, hex32, false, true},
		"dots and a suffix":    {"a.b-c-3." + hex32 + "-delete", "a.b-c", 3, model.Deleting, hex32, false, true},
		"cut":                  {strings.Repeat("a", 213) + "-0." + hex32 + "-delete", strings.Repeat("a", 213), 0, model.Deleting, hex32, true, true},
		"longest":              {long + "-99999", long, 99999, model.Live, "", false, true},
		"topic ends in delete": {"x-delete-4", "x-delete", 4, model.Live, "", false, true},
		"suffix alone":         {"t-0-delete", "", 0, 0, "", false, false},
		"suffix without an id": {"t-0.-delete", "", 0, 0, "", false, false},
		"partition of words":   {"t-x", "", 0, 0, "", false, false},
		"no partition":         {"noversion", "", 0, 0, "", false, false},
		"no topic":             {"-0", "", 0, 0, "", false, false},
		"zeros in front":       {"t-00", "", 0, 0, "", false, false},
		"signed":               {"t-+1", "", 0, 0, "", false, false},
		"a dash too many":      {"t--1", "t-", 1, model.Live, "", false, true},
		"too great":            {"t-2147483648", "", 0, 0, "", false, false},
		"no topic's letter":    {"a b-0", "", 0, 0, "", false, false},
		"letters of UTF-8":     {"naïve-0", "", 0, 0, "", false, false},
		"topic too long":       {long + "a-0", "", 0, 0, "", false, false},
		"folder's own name":    {".-0", "", 0, 0, "", false, false},
		"remote cache":         {RemoteCacheDir, "", 0, 0, "", false, false},
		"empty":                {"", "", 0, 0, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, ok := ParseDirName(tc.in)
			want := Dir{TP: model.TopicPartition{Topic: tc.topic, Partition: tc.part}, State: tc.state, ID: tc.id, Cut: tc.cut}
			if ok != tc.ok || d != want {
				t.Fatalf("%+v %v, want %+v %v", d, ok, want, tc.ok)
			}
			if ok && d.String() != tc.in {
				t.Errorf("written as %q", d)
			}
		})
	}
}

func TestDirNameIsCutWhereItMustBe(t *testing.T) {
	for state, want := range map[model.PartitionState]int{model.Deleting: 255, model.Stray: 255, model.Live: 251, model.Future: 291} {
		d := Dir{TP: model.TopicPartition{Topic: strings.Repeat("a", 249), Partition: 1}, State: state, ID: hex32}
		if n := len(d.String()); n != want {
			t.Errorf("%s: %d letters, want %d", state, n, want)
		}
	}
}

func TestParseFileName(t *testing.T) {
	const zero = "00000000000000000000"
	for name, tc := range map[string]struct {
		in   string
		want File
		ok   bool
	}{
		"log":                {zero + ".log", File{0, -1, KindLog, ""}, true},
		"timeindex":          {"00000000000000000042.timeindex", File{42, -1, KindTimeIndex, ""}, true},
		"txnindex":           {"00000000000000000042.txnindex", File{42, -1, KindTxnIndex, ""}, true},
		"snapshot":           {"00000000000000000325.snapshot", File{325, -1, KindSnapshot, ""}, true},
		"deleted":            {zero + ".log.deleted", File{0, -1, KindLog, SuffixDeleted}, true},
		"swap":               {zero + ".index.swap", File{0, -1, KindIndex, SuffixSwap}, true},
		"cleaned":            {zero + ".log.cleaned", File{0, -1, KindLog, SuffixCleaned}, true},
		"checkpoint":         {zero + "-0000000007.checkpoint", File{0, 7, KindCheckpoint, ""}, true},
		"part":               {zero + "-0000000007.checkpoint.part", File{0, 7, KindCheckpoint, SuffixPart}, true},
		"greatest":           {"09223372036854775807.log", File{1<<63 - 1, -1, KindLog, ""}, true},
		"too great":          {"09223372036854775808.log", File{}, false},
		"too short":          {"42.log", File{}, false},
		"too long":           {"0" + zero + ".log", File{}, false},
		"signed":             {"-0000000000000000001.log", File{}, false},
		"log with epoch":     {zero + "-0000000007.log", File{}, false},
		"checkpoint alone":   {zero + ".checkpoint", File{}, false},
		"epoch too great":    {zero + "-9999999999.checkpoint", File{}, false},
		"unknown kind":       {zero + ".bak", File{}, false},
		"unknown suffix":     {zero + ".log.bak", File{}, false},
		"dot at the end":     {zero + ".log.", File{}, false},
		"epochs":             {EpochsFile, File{}, false},
		"partition's":        {PartitionMetaFile, File{}, false},
		"no kind":            {zero, File{}, false},
		"suffix but no kind": {zero + ".deleted", File{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := ParseFileName(tc.in)
			if ok != tc.ok || f != tc.want {
				t.Fatalf("%+v %v, want %+v %v", f, ok, tc.want, tc.ok)
			}
			if ok && f.String() != tc.in {
				t.Errorf("written as %q", f)
			}
		})
	}
	if got := FileName(640112, KindLog); got != "00000000000000640112.log" {
		t.Error(got)
	}
}

// TestNamesOfBrokers reads every name that stood in real log directories.
func TestNamesOfBrokers(t *testing.T) {
	b, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n++
		switch kind {
		case "dir":
			if d, ok := ParseDirName(name); !ok || d.String() != name {
				t.Errorf("%s: %+v %v", name, d, ok)
			}
		case "file":
			switch name {
			case EpochsFile, PartitionMetaFile, QuorumStateFile:
				continue
			}
			if f, ok := ParseFileName(name); !ok || f.String() != name {
				t.Errorf("%s: %+v %v", name, f, ok)
			}
		}
	}
	if n < 500 {
		t.Errorf("%d names only", n)
	}
}

func TestValidTopic(t *testing.T) {
	for name, ok := range map[string]bool{
		"orders": true, "a.b_c-D9": true, "__consumer_offsets": true, strings.Repeat("x", 249): true, "...": true,
		"": false, ".": false, "..": false, strings.Repeat("x", 250): false, "a b": false, "a/b": false, "ä": false, "a\x00": false, "a:b": false,
	} {
		if err := ValidTopic(name); (err == nil) != ok || err != nil && !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if !Collides("a.b", "a_b") || Collides("a.b", "a.b") || Collides("ab", "a.b") {
		t.Error("Collides")
	}
	if !Internal("__consumer_offsets") || !Internal("__cluster_metadata") || Internal("orders") {
		t.Error("Internal")
	}
}

func FuzzDirName(f *testing.F) {
	for _, s := range []string{"t-0", "a-b-c-7", "t-0." + hex32 + "-delete", "t-1." + hex32 + "-future", "t-0-delete", "-0", "t-0.x.y-stray"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		d, ok := ParseDirName(name)
		if ok && d.String() != name {
			t.Errorf("%q is written as %q", name, d)
		}
		if again, _ := ParseDirName(d.String()); ok && again != d {
			t.Errorf("%q: %+v, then %+v", name, d, again)
		}
	})
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"00000000000000000000.log", "00000000000000000042.timeindex.deleted", "00000000000000000000-0000000000.checkpoint.part"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := ParseFileName(name); ok && n.String() != name {
			t.Errorf("%q is written as %q", name, n)
		}
	})
}

package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func real(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var dirs = [...]string{"clean", "killed", "older", "two-dirs"}

// TestFilesOfBrokersComeBack writes real brokers' files again, byte for byte.
func TestFilesOfBrokersComeBack(t *testing.T) {
	lines := 0
	for _, dir := range dirs {
		for _, name := range []string{RecoveryPointFile, LogStartFile, HighWatermarkFile, CleanerFile} {
			b := real(t, dir, name)
			list, err := ParseOffsets(b)
			if got := AppendOffsets(nil, list); err != nil || len(b) > 0 && !bytes.Equal(got, b) {
				t.Errorf("%s/%s: %v, written as %q", dir, name, err, got)
			}
			lines += len(list)
		}
		b := real(t, dir, MetaFile)
		m, err := ParseMeta(b)
		date, _, _ := strings.Cut(strings.TrimPrefix(string(b), "#\n#"), "\n")
		at, derr := time.Parse("Mon Jan 02 15:04:05 MST 2006", date)
		if got := AppendMeta(nil, m, at); err != nil || derr != nil || !bytes.Equal(got, b) {
			t.Errorf("%s/%s: %v, %v, written as %q", dir, MetaFile, err, derr, got)
		}
		if m.Version != 1 || m.NodeID != 1 || m.ClusterID == "" {
			t.Errorf("%s: %+v", dir, m)
		}
		if id, err := ParseID(m.DirectoryID); err != nil || id.String() != m.DirectoryID {
			t.Errorf("%s: directory %s, %v", dir, m.DirectoryID, err)
		}
	}
	if lines < 250 {
		t.Errorf("%d lines only", lines)
	}
	for _, dir := range []string{"clean", "older"} {
		b := real(t, dir, "kafka_cleanshutdown")
		c, err := ParseCleanShutdown(b)
		if got := AppendCleanShutdown(nil, c); err != nil || !bytes.Equal(got, b) || c.BrokerEpoch <= 0 {
			t.Errorf("%s: %+v, %v, written as %q", dir, c, err, got)
		}
	}
	for _, name := range []string{EpochsFile, "trimmed." + EpochsFile} {
		b := real(t, "clean", name)
		list, err := ParseEpochs(b)
		if got := AppendEpochs(nil, list); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s: %v, written as %q", name, err, got)
		}
	}
	b := real(t, "clean", PartitionMetaFile)
	id, err := ParsePartitionMeta(b)
	if got := AppendPartitionMeta(nil, id); err != nil || !bytes.Equal(got, b) {
		t.Errorf("%v, written as %q", err, got)
	}
	q, err := ParseQuorum(real(t, "clean", QuorumStateFile))
	if err != nil || q.Version != 1 || q.LeaderID != 1 || q.VotedID != -1 || q.LeaderEpoch < 1 {
		t.Errorf("%+v, %v", q, err)
	}
	for _, name := range []string{"00000000000000000016.snapshot", "00000000000000000325.snapshot", "00000000000000000450.snapshot"} {
		b := real(t, "clean", name)
		list, err := ParseSnapshot(b)
		if got := AppendSnapshot(nil, list); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s: %v, written as %x", name, err, got)
		}
	}
}

// What Kafka's dump tool says of the same file.
func TestSnapshotOfBroker(t *testing.T) {
	list, err := ParseSnapshot(real(t, "clean", "00000000000000000325.snapshot"))
	want := []ProducerEntry{
		{ProducerID: 2007, Epoch: 21, LastSequence: -1, LastOffset: -1, Timestamp: 1796015940185, CoordinatorEpoch: 4, TxnFirst: -1},
		{ProducerID: 2008, Epoch: 20, LastSequence: 2, LastOffset: 319, OffsetDelta: 2, Timestamp: 1700005000004, CoordinatorEpoch: 4, TxnFirst: 317},
	}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestBrokenSnapshots(t *testing.T) {
	whole := real(t, "clean", "00000000000000000325.snapshot")
	change := func(pos int, v byte) []byte {
		b := bytes.Clone(whole)
		b[pos] = v
		return b
	}
	for name, tc := range map[string]struct {
		in   []byte
		n    int
		want string
	}{
		"empty":          {nil, 0, "byte 0: ends within its head: has 0 of 10 bytes"},
		"head cut":       {whole[:9], 0, "byte 9: ends within its head: has 9 of 10 bytes"},
		"version":        {change(1, 2), 0, "byte 0: unknown version 2"},
		"a flipped bit":  {change(60, 0xff), 2, "byte 2: checksum is "},
		"an entry cut":   {whole[:90], 1, "byte 6: says 2 producers, has room for 1 and 34 bytes"},
		"huge count":     {change(6, 0x7f), 2, "byte 6: says 2130706434 producers, has room for 2 and 0 bytes"},
		"negative count": {change(6, 0xff), 0, "byte 6: says -16777214 producers"},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := ParseSnapshot(tc.in)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || len(list) != tc.n {
				t.Errorf("%d entries, %v, want %d, %s", len(list), err, tc.n, tc.want)
			}
		})
	}
}

func TestEpochs(t *testing.T) {
	three := []Epoch{{0, 0}, {2, 30}, {4, 33}}
	for name, tc := range map[string]struct {
		in   string
		want []Epoch
		err  string
	}{
		"three":             {"0\n3\n0 0\n2 30\n4 33\n", three, ""},
		"CRLF":              {"0\r\n3\r\n0 0\r\n2 30\r\n4 33\r\n", three, ""},
		"no end of line":    {"0\n3\n0 0\n2 30\n4 33", three, ""},
		"wrong count":       {"0\n9\n0 0\n2 30\n4 33\n", three, "line 2: says 9, has 3 lines"},
		"empty":             {"", nil, ""},
		"none":              {"0\n0\n", nil, ""},
		"other version":     {"1\n3\n0 0\n2 30\n4 33\n", nil, "line 1: unknown version 1"},
		"no version":        {"x\n", nil, `line 1: "x" is no version`},
		"no count":          {"0\n", nil, `line 2: "" is no number of lines`},
		"negative count":    {"0\n-1\n", nil, `line 2: "-1" is no number of lines`},
		"a word":            {"0\n2\n0 0\n2 x\n", []Epoch{{0, 0}}, `line 4: "x" is no offset`},
		"an epoch below 0":  {"0\n1\n-1 0\n", nil, `line 3: "-1" is no leader epoch`},
		"three words":       {"0\n1\n0 0 0\n", nil, `line 3: "0 0 0": want an epoch and its start offset`},
		"going back":        {"0\n2\n4 0\n2 30\n", []Epoch{{4, 0}, {2, 30}}, "line 4: epoch 2 from 30 follows epoch 4 from 0"},
		"offset going back": {"0\n2\n0 40\n2 30\n", []Epoch{{0, 40}, {2, 30}}, "line 4: epoch 2 from 30 follows epoch 0 from 40"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseEpochs([]byte(tc.in))
			if !reflect.DeepEqual(got, tc.want) || message(err) != tc.err {
				t.Errorf("%v, %v, want %v, %s", got, err, tc.want, tc.err)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOffsets(t *testing.T) {
	orders := OffsetLine{model.TopicPartition{Topic: "orders", Partition: 0}, 131}
	for name, tc := range map[string]struct {
		in   string
		want []OffsetLine
		err  string
	}{
		"one":           {"0\n1\norders 0 131\n", []OffsetLine{orders}, ""},
		"blanks":        {"0\n1\norders\t 0   131\n", []OffsetLine{orders}, ""},
		"zero bytes":    {"\x00\x00\x00\x00", nil, `line 1: "\x00\x00\x00\x00" is no version`},
		"a bad line":    {"0\n2\norders 0\norders 0 131\n", []OffsetLine{orders}, `line 3: "orders 0": want a topic, a partition and an offset`},
		"cut":           {"0\n2\norders 0 131\nord", []OffsetLine{orders}, `line 4: "ord": want a topic, a partition and an offset`},
		"bad partition": {"0\n1\norders x 131\n", nil, `line 3: "x" is no partition`},
		"bad offset":    {"0\n1\norders 0 9223372036854775808\n", nil, `line 3: "9223372036854775808" is no offset`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseOffsets([]byte(tc.in))
			if !reflect.DeepEqual(got, tc.want) || message(err) != tc.err {
				t.Errorf("%v, %v, want %v, %s", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestPartitionMeta(t *testing.T) {
	id := ID{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}
	const good = "version: 0\ntopic_id: ASNFZ4mrze8AESIzRFVmdw"
	if got := AppendPartitionMeta(nil, id); string(got) != good || len(got) != 43 {
		t.Errorf("%q", got)
	}
	for name, tc := range map[string]struct {
		in  string
		err string
	}{
		"good":       {good, ""},
		"ends well":  {good + "\r\n", ""},
		"empty":      {"", "line 1: no version"},
		"cut":        {good[:20], `line 2: "topic_id:": want version: or topic_id: and a value`},
		"short id":   {good[:40], `line 2: invalid id "ASNFZ4mrze8AESIzRFV": want 22 letters of base64url`},
		"zero":       {"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "line 2: the topic id is zero"},
		"no letters": {"version: 0\ntopic_id: !!!!!!!!!!!!!!!!!!!!!!", `line 2: invalid id "!!!!!!!!!!!!!!!!!!!!!!": want 22 letters of base64url`},
		"no id":      {"version: 0\n", "line 1: no topic_id"},
		"version":    {"version: -1\ntopic_id: x", `line 1: "-1" is no version`},
		"other key":  {"version: 0\nname: x", `line 2: unknown key "name"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePartitionMeta([]byte(tc.in))
			if message(err) != tc.err || err == nil && got != id {
				t.Errorf("%v, %v, want %s", got, err, tc.err)
			}
		})
	}
}

func TestNewID(t *testing.T) {
	seen := map[ID]bool{}
	for range 500 {
		id := NewID()
		s := id.String()
		again, err := ParseID(s)
		if err != nil || again != id || len(s) != 22 || s[0] == '-' || seen[id] || id.IsZero() {
			t.Fatalf("%s: %v", s, err)
		}
		seen[id] = true
	}
}

// meta.properties in three ages, and broken.
func TestMeta(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want Meta
		err  string
	}{
		"first age":   {"version=0\nbroker.id=0\n", Meta{0, 0, "", ""}, ""},
		"second age":  {"#\n#Thu Jan 02 03:04:05 UTC 2020\ncluster.id=abc\nversion=0\nbroker.id=7\n", Meta{0, 7, "abc", ""}, ""},
		"third age":   {"#\r\n#Mon Nov 30 05:15:34 UTC 2026\r\nnode.id=1\r\ndirectory.id=d\r\nversion=1\r\ncluster.id=c\r\n", Meta{1, 1, "c", "d"}, ""},
		"no version":  {"broker.id=3", Meta{0, 3, "", ""}, ""},
		"no node":     {"version=1\ncluster.id=c\n", Meta{1, -1, "c", ""}, "line 1: no node.id"},
		"no cluster":  {"version=1\nnode.id=1\n", Meta{1, 1, "", ""}, "line 1: no cluster.id"},
		"future":      {"version=2\nnode.id=1\ncluster.id=c\n", Meta{2, 1, "c", ""}, "line 1: unknown version 2"},
		"bad node":    {"version=1\nnode.id=x\ncluster.id=c\n", Meta{1, -1, "c", ""}, `line 2: node.id "x" is no number`},
		"bad version": {"version=x\nbroker.id=1\n", Meta{0, 1, "", ""}, `line 1: version "x" is no number`},
		"empty":       {"", Meta{0, -1, "", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMeta([]byte(tc.in))
			if got != tc.want || message(err) != tc.err {
				t.Errorf("%+v, %v, want %+v, %s", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestCleanShutdown(t *testing.T) {
	for name, tc := range map[string]struct {
		in    string
		epoch int64
		ok    bool
	}{
		"older": {"", -1, true}, "newer": {`{"version":0,"brokerEpoch":914}`, 914, true},
		"no epoch": {`{"version":0}`, -1, true}, "cut": {`{"version":0,"brok`, -1, false}, "zeros": {"\x00\x00", -1, false},
	} {
		if c, err := ParseCleanShutdown([]byte(tc.in)); c.BrokerEpoch != tc.epoch || (err == nil) != tc.ok {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	q, err := ParseQuorum([]byte(`{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}`))
	if err != nil || q.Version != 0 || q.LeaderID != 1 || len(q.Voters) != 2 || q.Voters[1] != 2 {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := ParseQuorum([]byte("{")); err == nil || q.LeaderID != -1 {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestProperties(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []Property
		err  string
	}{
		"plain":         {"a=1\nb = 2\nc:3\nd 4\n", []Property{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {"d", "4", 4}}, ""},
		"comments":      {"# x\n ! y\n\n  a=1", []Property{{"a", "1", 4}}, ""},
		"continued":     {"a=1,\\\n   2\nb=3", []Property{{"a", "1,2", 1}, {"b", "3", 3}}, ""},
		"not continued": {"a=1\\\\\nb=3", []Property{{"a", `1\`, 1}, {"b", "3", 2}}, ""},
		"ends open":     {"a=1\\", []Property{{"a", "1", 1}}, ""},
		"escapes":       {`a\=b\:c\ d=\t\n\u00e4\\x`, []Property{{"a=b:c d", "\t\nä\\x", 1}}, ""},
		"two halves":    {`a=\ud83d\ude00`, []Property{{"a", "😀", 1}}, ""},
		"a half":        {`a=\ud83dx`, []Property{{"a", "\ufffdx", 1}}, ""},
		"bad escape":    {"a=\\u12\nb=1", []Property{{"b", "1", 2}}, `line 1: "\\u12": \u wants four hex digits`},
		"no value":      {"a\nb=", []Property{{"a", "", 1}, {"b", "", 2}}, ""},
		"equals inside": {"a=b=c", []Property{{"a", "b=c", 1}}, ""},
		"twice":         {"a=1\na=2", []Property{{"a", "1", 1}, {"a", "2", 2}}, ""},
		"CR":            {"a=1\rb=2\r\nc=3", []Property{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}}, ""},
		"Latin-1":       {"a=\xe4", []Property{{"a", "ä", 1}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseProperties([]byte(tc.in))
			if !reflect.DeepEqual(got, tc.want) || message(err) != tc.err {
				t.Errorf("%+v, %v, want %+v, %s", got, err, tc.want, tc.err)
			}
		})
	}
}

package record

import (
	"fmt"
	"strings"
	"testing"
)

// sheetOf writes fields one a line.
func sheetOf(fields []Field) string {
	var s strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&s, "%d+%d %s=%s", f.Pos, f.Len, f.Name, f.Value)
		if f.Note != "" {
			fmt.Fprintf(&s, " (%s)", f.Note)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

func TestFieldsOfABatch(t *testing.T) {
	want := `0+8 base offset=131
8+4 length=58 (70 bytes in all)
12+4 leader epoch=-1 (none)
16+1 magic=2
17+4 crc=d1f75de2 (good)
21+2 attributes=0 (none, CreateTime)
23+4 last offset delta=0 (last offset 131)
27+8 base timestamp=1700000000000 (2023-11-14T22:13:20.000Z)
35+8 max timestamp=1700000000000 (2023-11-14T22:13:20.000Z)
43+8 producer id=-1 (none)
51+2 producer epoch=-1 (none)
53+4 base sequence=-1 (none)
57+4 record count=1
61+1 record 0 length=8
62+1 record 0 attributes=0
63+1 record 0 timestamp delta=0 (2023-11-14T22:13:20.000Z)
64+1 record 0 offset delta=0 (offset 131)
65+1 record 0 key length=1
66+1 record 0 key=1 bytes
67+1 record 0 value length=1
68+1 record 0 value=1 bytes
69+1 record 0 header count=0
`
	if got := sheetOf(Fields(unhex(t, goldenOne))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFieldsOfALegacyWrapper(t *testing.T) {
	want := `0+8 offset=52
8+4 length=101 (113 bytes in all)
12+4 crc=4a2aaf7c (good)
16+1 magic=1
17+1 attributes=1 (gzip, CreateTime)
18+8 timestamp=1700000000005 (2023-11-14T22:13:20.005Z)
26+4 key length=-1 (null)
30+4 value length=79
34+79 value=79 bytes (message set in gzip)
`
	if got := sheetOf(Fields(unhex(t, goldenGzipV1))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFieldsCoverEveryByte holds for whole batches: fields follow one another
// without gap or overlap up to the end.
func TestFieldsCoverEveryByte(t *testing.T) {
	all := map[string][]byte{"magic 0": unhex(t, goldenV0), "magic 1": unhex(t, goldenV1), "headers": unhex(t, goldenThree)}
	for i, b := range split(t, kitchen(t)) {
		all[fmt.Sprint("kitchen ", i)] = b
	}
	for _, b := range brokerBatches(t) {
		all[b.name] = b.bytes
	}
	for name, b := range all {
		pos := 0
		for _, f := range Fields(b) {
			if f.Pos != pos || f.Len <= 0 || f.Value == "damaged" {
				t.Errorf("%s: %s at %d+%d, want it at %d: %s", name, f.Name, f.Pos, f.Len, pos, f.Note)
			}
			pos = f.Pos + f.Len
		}
		if pos != len(b) {
			t.Errorf("%s: ends at %d of %d", name, pos, len(b))
		}
	}
}

func TestFieldsOfADecompressedSection(t *testing.T) {
	var r Reader
	if err := r.Reset(unhex(t, goldenSnappy)); err != nil {
		t.Fatal(err)
	}
	fields, pos := RecordFields(r.Section(), r.Header()), 0
	for _, f := range fields {
		if f.Pos != pos {
			t.Errorf("%s at %d, want %d", f.Name, f.Pos, pos)
		}
		pos = f.Pos + f.Len
	}
	if got := sheetOf(fields); pos != len(r.Section()) || !strings.Contains(got, "record 2 offset delta=2 (offset 108)") {
		t.Errorf("ends at %d of %d:\n%s", pos, len(r.Section()), got)
	}
}

func TestFieldsOfDamage(t *testing.T) {
	seg := kitchen(t)
	bad := seg[251:330:330]
	bad[66] ^= 1
	cut := seg[0:40]
	for name, tc := range map[string]struct {
		batch []byte
		want  string
	}{
		"bad CRC":   {bad, "crc=d2473122 (bad: computed "},
		"torn":      {cut, "crc=6bc46be7 (not checked: bytes are missing)"},
		"no bytes":  {nil, ""},
		"zero tail": {make([]byte, 100), "length=0"},
		"overrun":   {withSection(None, 1, []byte{99, 0, 0, 0, 1, 1, 0}), "record 0 length=damaged"},
		"bad key":   {withSection(None, 1, []byte{12, 0, 0, 0, 3, 1, 0}), "record 0 key length=damaged (-2)"},
		"trailing":  {withSection(None, 1, []byte{12, 0, 0, 0, 1, 1, 0, 9}), "rest=damaged (bytes behind the last record)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sheetOf(Fields(tc.batch)); !strings.Contains(got, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, got)
			}
		})
	}
	many := plainBatch(t, Spec{}, make([]Input, 2000)...)
	if got := len(Fields(many)); got != MaxFields {
		t.Errorf("%d fields of 2000 records, want %d", got, MaxFields)
	}
}

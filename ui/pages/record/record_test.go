package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

var orders2 = model.TopicPartition{Topic: "orders", Partition: 2}

func addr(offset int64) model.Address {
	a := model.PartitionAddress(orders2)
	a.Offset = offset
	return a
}

func open(t testing.TB, src model.Source, offset int64) *record {
	p := New(uitest.Env(t, src), page.Open{Addr: addr(offset)}).(*record)
	uitest.Drive(p, p.Init())
	return p
}

// source holds one record for each value, from offset 100 on.
func source(values ...string) *uitest.Source {
	src := uitest.NewSource(uitest.Now())
	src.Recs[orders2] = nil
	for i, v := range values {
		src.Recs[orders2] = append(src.Recs[orders2], model.Record{
			TopicPartition: orders2, Offset: 100 + int64(i), Timestamp: uitest.Now().UnixMilli() - 60_000, Key: []byte("user-42"), Value: []byte(v),
			Headers: []model.Header{{Name: "trace", Value: []byte("a1")}, {Name: "trace", Value: []byte("a2")}, {Name: "none"}, {Name: "empty", Value: []byte{}}},
			Batch:   98, BatchPos: 16_560, Segment: 96, Size: 312, LeaderEpoch: 3, ProducerID: 1000, Sequence: 4012, Transactional: true,
		})
	}
	return src
}

const paid = `{"z":1,"type":"paid","amount":188.50,"id":9223372036854775807,"a":null,"lines":[{"sku":"S-1","name":"字典"},{}],"note":"x\u202ey\u001b"}`

func TestView(t *testing.T) {
	p := open(t, source(paid), 100)
	uitest.Golden(t, "80x24", p.View(80, 24))
	uitest.Golden(t, "120x40", p.View(120, 40))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
	for _, form := range []string{"text", "hex"} {
		uitest.Press(p, "v")
		uitest.Golden(t, form+"-80x24", p.View(80, 24))
		uitest.Fits(t, p)
	}
	uitest.Press(p, "tab", "tab")
	uitest.Golden(t, "headers-80x24", p.View(80, 24))
	uitest.Fits(t, p)
	uitest.Keys(t, p)
}

func TestJSONIsAsItWasWritten(t *testing.T) {
	p := open(t, source(paid), 100)
	frame := uitest.Plainly(p.View(80, 40))
	at := -1
	for _, want := range []string{`"z": 1`, `"type": "paid"`, `"amount": 188.50`, `"id": 9223372036854775807`, `"a": null`, `"name": "字典"`, `{}`} {
		i := strings.Index(frame, want)
		if i <= at {
			t.Errorf("%s is at %d, what stands before it at %d:\n%s", want, i, at, frame)
		}
		at = i
	}
	uitest.Press(p, "a")
	uitest.Contains(t, p.View(80, 40), `"lines": [ 2 ]`)
	if got := uitest.Press(p, "v", "space"); fmt.Sprint(got[len(got)-1]) != fmt.Sprint(page.Notice{Text: "only JSON folds", Level: page.Warn}) {
		t.Errorf("%v", got)
	}
}

func TestForms(t *testing.T) {
	for name, tc := range map[string]struct {
		value, form, has string
	}{
		"object":           {`{"a":1}`, "json", `"a": 1`},
		"list":             {`[1,2]`, "json", "1,"},
		"a bare number":    {`9223372036854775807`, "text", "9223372036854775807"},
		"the word null":    {`null`, "text", "null"},
		"text":             {"two\nlines", "text", "lines"},
		"bytes":            {"\x00\x01\x02\x03\xff\xfe", "hex", "00 01 02 03 ff fe"},
		"nested too deep":  {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "text", "[[[["},
		"cut JSON":         {`{"a":`, "text", `{"a":`},
		"escapes in text":  {"\x1b[2J", "text", "␛[2J"},
		"long JSON":        {"[" + strings.Repeat("1,", 100_000) + "2]", "json", "1,"},
		"long, not JSON":   {"[" + strings.Repeat("1,", 100_000) + "]", "text", "[1,1,"},
		"a mebibyte":       {strings.Repeat("x", 1<<20), "text", "xxxx"},
		"half a character": {"日本\xe8\xaa", "text", `日本\xe8\xaa`},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, source(tc.value), 100)
			if p.form().String() != tc.form {
				t.Errorf("shown as %s", p.form())
			}
			uitest.Contains(t, p.View(80, 24), tc.has)
			if len(tc.value) < 1<<16 {
				uitest.Fits(t, p)
			}
		})
	}
}

func TestNullEmptyAndTheWordNull(t *testing.T) {
	src := source("", "null", "x")
	src.Recs[orders2][2].Value, src.Recs[orders2][2].Key = nil, nil
	p := open(t, src, 100)
	uitest.Contains(t, p.View(80, 24), `"" empty: value of 0 bytes`, "value 0 B")
	uitest.Press(p, "]")
	uitest.Contains(t, p.View(80, 24), "  null", "value 4 B")
	uitest.Press(p, "]")
	uitest.Contains(t, p.View(80, 24), "∅ null: there is no value", "value ∅", "key ∅", "tombstone")
	if got := uitest.Press(p, "y"); !said(got, "is null") {
		t.Errorf("%v", got)
	}
	if got := uitest.Press(p, "s"); !said(got, "nothing to save") {
		t.Errorf("%v", got)
	}
}

func said(reqs []page.Request, text string) bool {
	for _, r := range reqs {
		if n, ok := r.(page.Notice); ok && strings.Contains(n.Text, text) {
			return true
		}
	}
	return false
}

func TestStepsFasterThanReads(t *testing.T) {
	p := open(t, source("a", "b", "c", "d"), 100)
	cmds := []tea.Cmd{p.step(after)(), p.step(after)(), p.step(after)(), p.step(before)()}
	uitest.Drive(p, cmds...)
	if p.offset != 102 {
		t.Errorf("] three times and [ once went from 100 to %d, not 102", p.offset)
	}
	// Steps behind the last record are not kept for later.
	cmds = []tea.Cmd{p.step(after)(), p.step(after)(), p.step(after)(), p.step(after)()}
	uitest.Drive(p, cmds...)
	uitest.Press(p, "[")
	if p.offset != 102 {
		t.Errorf("[ after ] beyond the end went to %d, not 102", p.offset)
	}
}

func TestNextAndBefore(t *testing.T) {
	src := source("a", "b", "c")
	src.Recs[orders2][1].Offset, src.Recs[orders2][2].Offset = 105, 106
	p := open(t, src, 100)
	uitest.Press(p, "]")
	if p.offset != 105 || p.Address().Offset != 105 {
		t.Errorf("] went to %d", p.offset)
	}
	uitest.Press(p, "]")
	if got := uitest.Press(p, "]"); p.offset != 106 || !said(got, "last record") {
		t.Errorf("at %d: %v", p.offset, got)
	}
	uitest.Press(p, "[", "[")
	if p.offset != 100 {
		t.Errorf("[ went to %d", p.offset)
	}
	if got := uitest.Press(p, "["); !said(got, "first record") {
		t.Errorf("%v", got)
	}
	// The form that was chosen stays.
	uitest.Press(p, "v", "]")
	if p.form() != hexForm {
		t.Errorf("shown as %s", p.form())
	}
}

func TestWhereItIsNot(t *testing.T) {
	src := source("a", "b")
	src.Recs[orders2][1].Offset = 105
	uitest.Contains(t, open(t, src, 102).View(100, 24), "offset 102 holds no record", "this is the next one")
	uitest.Contains(t, open(t, src, 5).View(100, 24), "offset 5 is below the log start, 100")
	beyond := open(t, src, 500)
	uitest.Contains(t, beyond.View(100, 24), "offset out of range", "orders-2@500", "100 to 105")
	uitest.Press(beyond, "[")
	if beyond.offset != 105 {
		t.Errorf("[ went to %d", beyond.offset)
	}
	src.Fail = func(m string) error {
		return errors.New("read: input/output error")
	}
	p := open(t, src, 100)
	uitest.Contains(t, p.View(100, 24), "✗ read: input/output error")
	uitest.Fits(t, p)
}

func TestMarks(t *testing.T) {
	src := source("a", "b", "c", "d")
	recs := src.Recs[orders2]
	recs[0].Untrusted = true
	recs[1].Visibility = model.Aborted
	recs[2].Visibility = model.Undecided
	recs[3].Control = "commit"
	for i, want := range []string{"fails its checksum", "aborted: no read_committed consumer", "undecided: its transaction is open", "control record: commit"} {
		uitest.Contains(t, open(t, src, 100+int64(i)).View(100, 24), want)
	}
	// An undecided record is looked at again when something has happened.
	p := open(t, src, 102)
	recs[2].Visibility = model.Visible
	uitest.Send(p, model.Change{Partitions: []model.TopicPartition{orders2}})
	uitest.Contains(t, p.View(100, 24), "committed transaction")
}

func TestCopyAndGo(t *testing.T) {
	p := open(t, source(paid), 100)
	for key, want := range map[string]page.Request{
		"y": page.Copy{Text: paid, What: "value of orders/2@100"},
		"K": page.Copy{Text: "user-42", What: "key of orders/2@100"},
		"r": page.Open{Kind: page.Records, Addr: addr(100)},
		"x": page.Open{Kind: page.Lookup, Addr: addr(100)},
	} {
		if got := uitest.Press(p, key); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
			t.Errorf("%s: %v", key, got)
		}
	}
	for _, key := range []string{"enter", "b"} {
		o := uitest.Press(p, key)[0].(page.Open)
		if o.Kind != page.Batches || o.Addr.Segment != 96 || o.Addr.Position != 16_560 {
			t.Errorf("%s opened %v", key, o)
		}
	}
	if c := uitest.Press(p, "J")[0].(page.Copy); !strings.Contains(c.Text, `"headers":[{"name":"trace","value":"a1"},{"name":"trace","value":"a2"},{"name":"none","value":null}`) {
		t.Errorf("%s", c.Text)
	}
	if o := uitest.Press(p, "p")[0].(page.Open); o.Kind != page.Produce || o.Args.Record == nil || o.Args.Record.Offset != 100 {
		t.Errorf("%v", o)
	}
	if g := uitest.Press(p, "|")[0].(page.Pager); !strings.Contains(g.Text, "\n  \"amount\": 188.50,\n") {
		t.Errorf("%q", g.Text)
	}
	e := uitest.Press(p, "e")[0].(page.Edit)
	if e.Ext != ".json" {
		t.Errorf("%v", e)
	}
	if got := uitest.Send(p, page.Edited{ID: e.ID, Text: e.Text}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := uitest.Send(p, page.Edited{ID: e.ID, Text: "other"}); !said(got, "the record in the log is as it was") {
		t.Errorf("%v", got)
	}
	uitest.Press(p, "tab", "tab", "j")
	if got := uitest.Press(p, "y"); got[0] != (page.Copy{Text: "a2", What: "header of orders/2@100"}) {
		t.Errorf("%v", got)
	}
	bare := open(t, uitest.Plain(source(paid)), 100)
	for key, why := range map[string]string{"b": "shows no files", "x": "shows no files", "p": "read-only"} {
		if got := uitest.Press(bare, key); !said(got, why) {
			t.Errorf("%s: %v", key, got)
		}
	}
}

func TestShownAtOnceWhenHandedOver(t *testing.T) {
	src := source("a")
	rec := src.Recs[orders2][0]
	p := New(uitest.Env(t, src), page.Open{Addr: addr(100), Args: page.Args{Record: &rec}}).(*record)
	if p.Init() != nil {
		t.Error("it is read again")
	}
	uitest.Contains(t, p.View(80, 24), "value 1 B")
}

func TestSave(t *testing.T) {
	raw := "\x00\xff raw\r\n"
	p := open(t, source(raw), 100)
	dir := t.TempDir()
	file := filepath.Join(dir, "v.bin")
	ask := uitest.Press(p, "s")[0].(page.Ask)
	if ask.Initial != "orders-2-100.txt" && ask.Initial != "orders-2-100.bin" {
		t.Errorf("proposes %s", ask.Initial)
	}
	holds := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(file); err != nil || string(b) != want {
			t.Errorf("the file holds %q, %v", b, err)
		}
	}
	got := uitest.Send(p, page.Answered{ID: askSave, Text: file, OK: true})
	if !said(got, "saved") {
		t.Errorf("%v", got)
	}
	holds(raw)

	if err := errors.Join(os.WriteFile(file, []byte("precious"), 0o600), os.Chmod(file, 0o640)); err != nil {
		t.Fatal(err)
	}
	got = uitest.Send(p, page.Answered{ID: askSave, Text: file, OK: true})
	c, ok := got[0].(page.Confirm)
	if !ok || c.ID != askOver || !strings.Contains(strings.Join(c.Body, " "), "8 B") {
		t.Fatalf("%v", got)
	}
	holds("precious")
	uitest.Send(p, page.Confirmed{ID: askOver})
	holds("precious")
	uitest.Send(p, page.Answered{ID: askSave, Text: file, OK: true})
	got = uitest.Send(p, page.Confirmed{ID: askOver, OK: true})
	if !said(got, "saved") {
		t.Errorf("%v", got)
	}
	holds(raw)
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	for name, tc := range map[string]struct{ path, says string }{
		"a directory":        {dir, "no file"},
		"no such directory":  {filepath.Join(dir, "no", "v"), "no such file"},
		"below a file":       {filepath.Join(file, "v"), "not a directory"},
		"nothing to save to": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := uitest.Send(p, page.Answered{ID: askSave, Text: tc.path, OK: true})
			if tc.says != "" && !said(got, tc.says) || tc.says == "" && len(got) != 0 {
				t.Errorf("%v", got)
			}
		})
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	uitest.Send(p, page.Answered{ID: askSave, Text: "~/v", OK: true})
	if b, err := os.ReadFile(filepath.Join(home, "v")); err != nil || string(b) != raw {
		t.Errorf("~ holds %q, %v", b, err)
	}
}

func TestHostileRecord(t *testing.T) {
	src := source("\x1b]52;c;x\a\u202e")
	r := &src.Recs[orders2][0]
	r.Key = []byte("\x1b[2J\u009b")
	r.Headers = []model.Header{{Name: "\x1b]0;x\a", Value: []byte("\x9b")}, {Name: strings.Repeat("\u0301", 500), Value: []byte(strings.Repeat("注", 1<<12))}}
	for i := range 300 {
		r.Headers = append(r.Headers, model.Header{Name: fmt.Sprint("h", i)})
	}
	p := open(t, src, 100)
	for range 3 {
		uitest.Fits(t, p)
		uitest.Press(p, "tab")
	}
	uitest.Contains(t, p.View(80, 24), "␛]52;c;x␇", `\u{202e}`, "␛[2J", "more headers: tab shows them")
}

func BenchmarkView(b *testing.B) {
	p := open(b, source(`{"lines":[`+strings.Repeat(`{"sku":"S-9401","name":"fern","qty":3,"price":70.28},`, 2000)+`{}]}`), 100)
	for b.Loop() {
		p.View(200, 60)
	}
}

func BenchmarkShowMebibyte(b *testing.B) {
	p := open(b, source("["+strings.Repeat(`{"sku":"S-9401","name":"fern","qty":3,"price":70.28},`, 19_000)+"{}]"), 100)
	for b.Loop() {
		p.show()
		p.View(200, 60)
	}
}

// teller shows no files, and tells of batches as a cluster does.
type teller struct{ model.Source }

func (teller) ListBatches(context.Context, model.TopicPartition, int64, int) (model.BatchRun, error) {
	return model.BatchRun{}, nil
}

func TestTheBatchOfARecordOfACluster(t *testing.T) {
	src := source(paid)
	for _, recs := range src.Recs {
		for i := range recs {
			recs[i].Segment, recs[i].BatchPos = model.Unknown, model.Unknown
		}
	}
	p := open(t, teller{uitest.Plain(src)}, 100)
	want := page.Open{Kind: page.Batches, Addr: addr(100)}
	for _, key := range []string{"enter", "b"} {
		if got := uitest.Press(p, key); fmt.Sprint(got) != fmt.Sprint([]page.Request{want}) {
			t.Errorf("%s opened %v, want %v", key, got, want)
		}
	}
}

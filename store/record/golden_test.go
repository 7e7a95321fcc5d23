package record

import (
	"bytes"
	"fmt"
	"testing"
)

// Bytes made by Kafka's own classes.
const (
	goldenOne    = "00000000000000830000003affffffff02d1f75de20000000000000000018bcfe568000000018bcfe56800ffffffffffffffffffffffffffff00000001100000000261026200"
	goldenThree  = "000000000000006400000095000000070213888da10000000000020000018bcfe568000000018bcfe5680000000000000010920003000000000000000366000000086b302d303c76616c75652d302d302d787878787878787878787878787878787878787804046831047631066e756c0148000d02013c76616c75652d302d312d78787878787878787878787878787878787878780014001b04086b302d320100"
	goldenSnappy = "000000000000006a000000850000000702ec13e04e0002000000020000018bcfe56fd00000018bcfe56fd000000000000010920003000000060000000382534e4150505900000000010000000100000040645066000000086b322d303c76616c75652d322d302d784a01004004046831047631066e756c0148000d0201153000315230002c0014001b04086b322d320100"
	goldenLz4    = "000000000000006d00000081000000070231018f4d0003000000020000018bcfe573b80000018bcfe573b800000000000010920003000000090000000304224d1860408241000000ff0666000000086b332d303c76616c75652d332d302d78010000f50204046831047631066e756c0148000d020130001f31300002c00014001b04086b332d32010000000000"
	goldenAbort  = "00000000000000820000004200000007026a4584570030000000000000018bcfe5b6200000018bcfe5b62000000000000010920003ffffffff000000012000000008000000000c00000000000b00"
	goldenRaw    = "3d3078000000026b6a68656c6c6f20ba06000000"
	goldenV0     = "000000000000003200000011615054270000000000016b000000027631"
	goldenV1     = "0000000000000032000000193e73167401000000018bcfe56800000000016b000000027631"
	goldenGzipV1 = "0000000000000034000000654a2aaf7c01010000018bcfe56805ffffffff0000004f1f8b08000000000000ff6360800349bb62b112462083b1fbfcd30c9008633690602a33842a00c9493471ff65862b62fd0f0460354650354c402c9ea3fdeb075c0d98910d520800e9b6758d6c000000"
)

const goldenTime = 1700000000000

// show writes a record in one line, with null as nil.
func show(t testing.TB, r *Record) string {
	t.Helper()
	headers, err := r.Headers(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := fmt.Sprintf("%d %d %s=%s", r.Offset, r.Timestamp, text(r.Key), text(r.Value))
	for _, h := range headers {
		s += fmt.Sprintf(" %s:%s", h.Name, text(h.Value))
	}
	return s
}

func text(b []byte) string {
	if b == nil {
		return "nil"
	}
	return fmt.Sprintf("%q", b)
}

// walk shows all records of a batch and what ended them.
func walk(t testing.TB, batch []byte) (lines []string, err error) {
	t.Helper()
	var r Reader
	if err := r.Reset(batch); err != nil {
		return nil, err
	}
	for r.Next() {
		lines = append(lines, show(t, r.Record()))
	}
	return lines, r.Err()
}

func TestGoldenBatchesDecode(t *testing.T) {
	three := func(offset, ts int64, n int) []string {
		xs := func(i int) string { return fmt.Sprintf("\"value-%d-%d-xxxxxxxxxxxxxxxxxxxx\"", n, i) }
		return []string{
			fmt.Sprintf("%d %d \"k%d-0\"=%s h1:\"v1\" nul:nil", offset, ts, n, xs(0)),
			fmt.Sprintf("%d %d nil=%s", offset+1, ts-7, xs(1)),
			fmt.Sprintf("%d %d \"k%d-2\"=nil", offset+2, ts-14, n),
		}
	}
	for name, tc := range map[string]struct {
		hex  string
		want []string
	}{
		"one record": {goldenOne, []string{`131 1700000000000 "a"="b"`}},
		"three":      {goldenThree, three(100, goldenTime, 0)},
		"snappy":     {goldenSnappy, three(106, goldenTime+2000, 2)},
		"lz4":        {goldenLz4, three(109, goldenTime+3000, 3)},
		"magic 0":    {goldenV0, []string{`50 -1 "k"="v1"`}},
		"magic 1":    {goldenV1, []string{`50 1700000000000 "k"="v1"`}},
	} {
		t.Run(name, func(t *testing.T) {
			batch := unhex(t, tc.hex)
			if stored, computed := Checksum(batch); stored != computed {
				t.Errorf("CRC %08x, computed %08x", stored, computed)
			}
			got, err := walk(t, batch)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestGoldenBatchesAreWrittenAlike(t *testing.T) {
	producer := Spec{BaseOffset: 100, LeaderEpoch: 7, HasProducer: true, ProducerID: 4242, ProducerEpoch: 3}
	inputs := func(ts int64, n int) []Input {
		value := func(i int) []byte { return fmt.Appendf(nil, "value-%d-%d-xxxxxxxxxxxxxxxxxxxx", n, i) }
		return []Input{
			{Timestamp: ts, Key: fmt.Appendf(nil, "k%d-0", n), Value: value(0),
				Headers: []RecordHeader{{Name: "h1", Value: []byte("v1")}, {Name: "nul"}}},
			{Timestamp: ts - 7, Value: value(1)},
			{Timestamp: ts - 14, Key: fmt.Appendf(nil, "k%d-2", n)},
		}
	}
	snappy := producer
	snappy.BaseOffset, snappy.Codec, snappy.BaseSequence = 106, Snappy, 6
	for name, tc := range map[string]struct {
		spec Spec
		recs []Input
		want string
	}{
		"one record": {Spec{BaseOffset: 131, LeaderEpoch: -1},
			[]Input{{Timestamp: goldenTime, Key: []byte("a"), Value: []byte("b")}}, goldenOne},
		"three": {producer, inputs(goldenTime, 0), goldenThree},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := AppendBatch([]byte("before"), tc.spec, tc.recs)
			if err != nil {
				t.Fatal(err)
			}
			if want := append([]byte("before"), unhex(t, tc.want)...); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
	// Compressors differ; framing and content must not.
	got, err := AppendBatch(nil, snappy, inputs(goldenTime+2000, 2))
	if err != nil {
		t.Fatal(err)
	}
	if frame := unhex(t, goldenSnappy)[HeaderSize : HeaderSize+16]; !bytes.Equal(got[HeaderSize:HeaderSize+16], frame) {
		t.Errorf("snappy stream begins %x, want %x", got[HeaderSize:HeaderSize+16], frame)
	}
	have, _ := walk(t, got)
	want, _ := walk(t, unhex(t, goldenSnappy))
	if fmt.Sprint(have) != fmt.Sprint(want) {
		t.Errorf("got %q\nwant %q", have, want)
	}
}

func TestAbortMarker(t *testing.T) {
	want := unhex(t, goldenAbort)
	got := AppendMarker(nil, Marker{Offset: 130, LeaderEpoch: 7, Timestamp: goldenTime + 20000,
		ProducerID: 4242, ProducerEpoch: 3, CoordinatorEpoch: 11})
	if !bytes.Equal(got, want) || len(got) != MarkerSize {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	var r Reader
	if err := r.Reset(want); err != nil {
		t.Fatal(err)
	}
	if !r.Next() {
		t.Fatal(r.Err())
	}
	c, err := ParseControl(r.Record().Key, r.Record().Value)
	if err != nil || c != (Control{Type: Abort, CoordinatorEpoch: 11}) {
		t.Errorf("control %+v, %v", c, err)
	}
	if h := r.Header(); !h.Control() || !h.Transactional() || h.LastSequence() != NoSequence {
		t.Errorf("header %+v", h)
	}
}

func TestRawSnappyOfLibrdkafka(t *testing.T) {
	section, err := Decompress(nil, Snappy, 2, unhex(t, goldenRaw), 1000)
	if err != nil {
		t.Fatal(err)
	}
	h := Header{Magic: 2, Length: int32(minLengthV2 + len(section)), Count: 1}
	got, err := walk(t, append(AppendHeader(nil, h), section...))
	if err != nil || len(got) != 1 || got[0] != `0 0 "k"="hello hello hello hello hello hello hello hello hello"` {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestParseControl(t *testing.T) {
	marker := []byte{0, 0, 0, 0, 0, 9}
	for name, tc := range map[string]struct {
		key, value []byte
		want       string
		err        bool
	}{
		"commit":         {[]byte{0, 0, 0, 1}, marker, "COMMIT 9", false},
		"abort":          {[]byte{0, 0, 0, 0}, marker, "ABORT 9", false},
		"longer":         {[]byte{0, 7, 0, 1, 5}, append(marker, 1, 2), "COMMIT 9", false},
		"leader change":  {[]byte{0, 0, 0, 2}, []byte{0, 1}, "LEADER_CHANGE -1", false},
		"snapshot head":  {[]byte{0, 0, 0, 3}, nil, "SNAPSHOT_HEADER -1", false},
		"snapshot foot":  {[]byte{0, 0, 0, 4}, nil, "SNAPSHOT_FOOTER -1", false},
		"kraft version":  {[]byte{0, 0, 0, 5}, nil, "KRAFT_VERSION -1", false},
		"kraft voters":   {[]byte{0, 0, 0, 6}, nil, "KRAFT_VOTERS -1", false},
		"unknown":        {[]byte{0, 0, 1, 0}, nil, "UNKNOWN -1", false},
		"negative":       {[]byte{0, 0, 255, 255}, nil, "UNKNOWN -1", false},
		"null key":       {nil, marker, "ABORT -1", true},
		"short marker":   {[]byte{0, 0, 0, 1}, marker[:5], "COMMIT -1", true},
		"marker no body": {[]byte{0, 0, 0, 1}, nil, "COMMIT -1", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseControl(tc.key, tc.value)
			if got := fmt.Sprint(c.Type, c.CoordinatorEpoch); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if (err != nil) != tc.err {
				t.Errorf("error %v", err)
			}
		})
	}
}

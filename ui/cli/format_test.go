package cli

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

func testRecord() model.Record {
	return model.Record{
		TopicPartition: model.TopicPartition{Topic: "orders", Partition: 2}, Offset: 9223372036854775807, Timestamp: 1700000000000,
		Key: []byte("k\x1b[2J"), Value: []byte{0xff, 0xfe}, LeaderEpoch: 3, Batch: 40, ProducerID: model.NoProducer,
		Headers: []model.Header{{Name: "h", Value: nil}, {Name: "h", Value: []byte{}}, {Name: "bin", Value: []byte{0, 0xff}}},
	}
}

func TestFormat(t *testing.T) {
	for name, tc := range map[string]struct {
		format string
		escape bool
		want   string
	}{
		"everything": {`%t/%p@%o %K %S %T %h\n`, false, "orders/2@9223372036854775807 5 2 1700000000000 h=NULL,h=,bin=\x00\xff\n"},
		"raw bytes":  {"%k|%s", false, "k\x1b[2J|\xff\xfe"},
		"terminal":   {"%k|%s", true, `k␛[2J|\xff\xfe`},
		"escapes":    {`100%%\t\x41\\`, false, "100%\tA\\"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parseFormat(tc.format)
			if err != nil {
				t.Fatal(err)
			}
			r := testRecord()
			if got := string(f.append(nil, &r, tc.escape)); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestFormatNullIsNotEmpty(t *testing.T) {
	f, err := parseFormat("%K %S")
	if err != nil {
		t.Fatal(err)
	}
	r := model.Record{Key: nil, Value: []byte{}}
	if got := string(f.append(nil, &r, false)); got != "-1 0" {
		t.Errorf("got %q, want -1 for null and 0 for empty", got)
	}
}

func TestFormatErrors(t *testing.T) {
	for _, s := range []string{"%", `\`, "%z", `\q`, `\x4`} {
		if _, err := parseFormat(s); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%q: got %v, want ErrInvalid", s, err)
		}
	}
}

func TestRecordJSON(t *testing.T) {
	r := testRecord()
	var o object
	got := string(recordJSON(&o, &r))
	want := `{"topic":"orders","partition":2,"offset":9223372036854775807,"timestamp":1700000000000,"timestampType":"CreateTime",` +
		`"key":"k\u001b[2J","valueBase64":"//4=","headers":[{"name":"h","value":null},{"name":"h","value":""},{"name":"bin","base64":"AP8="}],` +
		`"leaderEpoch":3,"batch":40,"transactional":false,"producerId":null}` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"b\\", "\x00\x1f\x7f\u009b", "日本語👩‍👩‍👧", "\u202e\u2028", "\U000e0001", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := appendString(nil, s)
		var back string
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if want := string([]rune(s)); back != want {
			t.Errorf("got %q back, want %q", back, want)
		}
		for _, r := range string(b) {
			if r < 0x20 || r >= 0x7f && hidden(r) {
				t.Errorf("%q holds %U raw", b, r)
			}
		}
	})
}

func TestStamp(t *testing.T) {
	a := &app{zone: time.UTC}
	for ms, want := range map[int64]string{
		0:                   "1970-01-01T00:00:00.000Z",
		1700000000123:       "2023-11-14T22:13:20.123Z",
		model.NoTime:        "–",
		9223372036854775807: "@9223372036854775807",
		253402300800000:     "@253402300800000",
	} {
		if got := a.stamp(ms); got != want {
			t.Errorf("%d: got %s, want %s", ms, got, want)
		}
	}
}

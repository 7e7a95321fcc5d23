package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// changed is a batch with one field of its header set, and a right CRC.
func changed(batch []byte, pos int, value ...byte) []byte {
	b := bytes.Clone(batch)
	copy(b[pos:], value)
	sum(b)
	return b
}

func plainBatch(t testing.TB, s Spec, recs ...Input) []byte {
	t.Helper()
	if len(recs) == 0 {
		recs = []Input{{Timestamp: 10, Key: []byte("a"), Value: []byte("1")}, {Timestamp: 30}, {Timestamp: 30}, {Timestamp: 20}}
	}
	b, err := AppendBatch(nil, s, recs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestValidateRefuses(t *testing.T) {
	good := plainBatch(t, Spec{})
	flipped := bytes.Clone(good)
	flipped[70] ^= 1
	longer := bytes.Clone(good)
	binary.BigEndian.PutUint32(longer[posLength:], uint32(len(good)))
	deltas := func(c Codec, ds ...int32) []byte {
		var recs []Input
		for _, d := range ds {
			recs = append(recs, Input{OffsetDelta: d})
		}
		return plainBatch(t, Spec{Codec: c, Sparse: true, LastOffsetDelta: int32(len(ds) - 1)}, recs...)
	}
	for name, tc := range map[string]struct {
		batch  []byte
		lim    Limits
		reason Reason
		record int
	}{
		"8 bytes":                      {good[:8], Limits{}, Invalid, -1},
		"cut short":                    {good[:len(good)-1], Limits{}, Invalid, -1},
		"length too high":              {longer, Limits{}, Invalid, -1},
		"length too low":               {changed(good, posLength, 0, 0, 0, 48), Limits{}, Corrupt, -1},
		"100 zero bytes":               {make([]byte, 100), Limits{}, Corrupt, -1},
		"magic 3":                      {changed(good, posMagic, 3), Limits{}, Corrupt, -1},
		"magic 1":                      {appendMessage(nil, five(1, 0)[0]), Limits{}, Invalid, -1},
		"wrong CRC":                    {flipped, Limits{}, Corrupt, -1},
		"no records":                   {withSection(None, 0, nil), Limits{}, Invalid, -1},
		"count one more":               {changed(good, posCount, 0, 0, 0, 5), Limits{}, Invalid, -1},
		"count and last delta":         {changed(changed(good, posCount, 0, 0, 0, 5), posLastDelta, 0, 0, 0, 4), Limits{}, Invalid, -1},
		"count and last delta less":    {changed(changed(good, posCount, 0, 0, 0, 3), posLastDelta, 0, 0, 0, 2), Limits{}, Invalid, -1},
		"last delta 2^31-1":            {changed(good, posLastDelta, 0x7f, 255, 255, 255), Limits{}, Invalid, -1},
		"base offset 5":                {plainBatch(t, Spec{BaseOffset: 5}), Limits{}, Invalid, -1},
		"base offset -1":               {plainBatch(t, Spec{BaseOffset: -1}), Limits{}, Invalid, -1},
		"control batch":                {plainBatch(t, Spec{Control: true}), Limits{}, Invalid, -1},
		"producer without sequence":    {plainBatch(t, Spec{HasProducer: true, BaseSequence: -1}), Limits{}, Invalid, -1},
		"codec 5":                      {withSection(5, 2, twoRecords()), Limits{}, BadCodec, -1},
		"garbage in zstd":              {withSection(Zstd, 2, twoRecords()), Limits{}, BadCodec, -1},
		"too large":                    {good, Limits{MaxBytes: len(good) - 1}, TooLarge, -1},
		"offset deltas 0,0":            {deltas(None, 0, 0), Limits{}, Invalid, 1},
		"offset deltas 0,-5":           {deltas(None, 0, -5), Limits{}, Invalid, 1},
		"offset deltas 0,0 compressed": {deltas(Gzip, 0, 0), Limits{}, BadCodec, 1},
		"null key, compacted":          {good, Limits{NeedKeys: true}, Invalid, 1},
		"time too late":                {good, Limits{MaxTimestamp: 29}, BadTimestamp, 1},
		"time too early":               {good, Limits{MinTimestamp: 11}, BadTimestamp, 0},
		"client sets append time":      {plainBatch(t, Spec{LogAppendTime: true}), Limits{LogAppendTime: true}, BadTimestamp, -1},
	} {
		t.Run(name, func(t *testing.T) {
			var r Reader
			_, err := Validate(&r, tc.batch, tc.lim)
			var refused *RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			if refused.Reason != tc.reason || refused.Record != tc.record {
				t.Errorf("%v of record %d, want %v of %d: %v", refused.Reason, refused.Record, tc.reason, tc.record, err)
			}
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	good := plainBatch(t, Spec{})
	for name, tc := range map[string]struct {
		batch []byte
		lim   Limits
		want  Verdict
	}{
		"plain":             {good, Limits{}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"wrong max time":    {changed(good, posMaxTime, 0, 0, 0, 0, 0, 0, 0, 99), Limits{}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"header only":       {good, Limits{SkipRecords: true}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 3}},
		"bytes behind":      {append(bytes.Clone(good), 1, 2, 3, 4, 5), Limits{}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"at the limit":      {good, Limits{MaxBytes: len(good), MinTimestamp: 10, MaxTimestamp: 30}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"append time topic": {good, Limits{LogAppendTime: true, MaxTimestamp: 1}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"append time bit on a CreateTime topic": {plainBatch(t, Spec{LogAppendTime: true, AppendTime: 77}), Limits{},
			Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"no time":         {plainBatch(t, Spec{}, Input{Timestamp: -1}), Limits{MinTimestamp: 5}, Verdict{MaxTimestamp: -1}},
		"time before -1":  {plainBatch(t, Spec{}, Input{Timestamp: -5}), Limits{}, Verdict{MaxTimestamp: -5}},
		"producer 0":      {plainBatch(t, Spec{HasProducer: true}), Limits{}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"own marker":      {unhex(t, goldenAbort), Limits{Internal: true}, Verdict{MaxTimestamp: goldenTime + 20000}},
		"empty key":       {plainBatch(t, Spec{}, Input{Key: []byte{}}), Limits{NeedKeys: true}, Verdict{}},
		"zstd":            {plainBatch(t, Spec{Codec: Zstd}), Limits{}, Verdict{MaxTimestamp: 30, MaxTimestampDelta: 1}},
		"record attrs 1":  {withSection(None, 1, AppendRecord(nil, &Record{Attributes: 1})), Limits{}, Verdict{}},
		"snappy raw":      {withSection(Snappy, 1, []byte{7, 6 << 2, 12, 0, 0, 0, 1, 1, 0}), Limits{}, Verdict{}},
		"unlimited bytes": {plainBatch(t, Spec{}, Input{Value: make([]byte, 2<<20)}), Limits{MaxBytes: -1}, Verdict{}},
	} {
		t.Run(name, func(t *testing.T) {
			var r Reader
			got, err := Validate(&r, tc.batch, tc.lim)
			if err != nil {
				t.Fatal(err)
			}
			if got.MaxTimestamp != tc.want.MaxTimestamp || got.MaxTimestampDelta != tc.want.MaxTimestampDelta {
				t.Errorf("max timestamp %d at %d, want %d at %d", got.MaxTimestamp, got.MaxTimestampDelta,
					tc.want.MaxTimestamp, tc.want.MaxTimestampDelta)
			}
			if h, err := ParseHeader(tc.batch); err != nil || h != got.Header {
				t.Errorf("header %+v, %v", got.Header, err)
			}
		})
	}
}

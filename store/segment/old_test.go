package segment_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/segment"
	"github.com/strata-kafka/strata/store/segment/segtest"
)

// Messages that Kafka's own classes wrote: magic 0 at offset 49, and a gzip wrapper of magic 1 with offsets 50 to 52.
const (
	oldMessage = "000000000000003100000011615054270000000000016b000000027631"
	oldWrapper = "0000000000000034000000654a2aaf7c01010000018bcfe56805ffffffff0000004f1f8b08000000000000ff6360800349bb62b112462083b1fb" +
		"fcd30c9008633690602a33842a00c9493471ff65862b62fd0f0460354650354c402c9ea3fdeb075c0d98910d520800e9b6758d6c000000"
)

func TestOldBrokersIndexes(t *testing.T) {
	for name, tc := range map[string]struct {
		log          string
		index, times []segtest.Pair
		noTimes      bool
		want         []string
	}{
		"no time index beside magic 0": {oldMessage, nil, nil, true,
			[]string{"info .timeindex+-1 timeindex: missing, as brokers before 0.10 leave it"}},
		"no time index beside nothing": {"", nil, nil, true,
			[]string{"info .timeindex+-1 timeindex: missing: a broker makes it anew"}},
		"no time index beside magic 1": {oldMessage + oldWrapper, []segtest.Pair{{52, 29}}, nil, true,
			[]string{"warning .timeindex+-1 timeindex: missing: a broker makes it anew"}},
		"a wrapper's first offset": {oldMessage + oldWrapper, []segtest.Pair{{50, 29}}, []segtest.Pair{{segtest.T + 5, 52}}, false, nil},
		"a wrapper's middle offset": {oldMessage + oldWrapper, []segtest.Pair{{51, 29}}, []segtest.Pair{{segtest.T + 5, 52}}, false,
			[]string{"warning .index+0 index: index says 51, batch at 29 ends at 52"}},
		"the time of an append": {oldMessage + oldWrapper, []segtest.Pair{{50, 29}},
			[]segtest.Pair{{segtest.T - 5, 49}, {segtest.T + 5, 52}}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := hex.DecodeString(tc.log)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			segtest.Write(t, dir, 0, layout.KindLog, log)
			segtest.Write(t, dir, 0, layout.KindIndex, segtest.OffsetIndex(0, tc.index))
			if !tc.noTimes {
				segtest.Write(t, dir, 0, layout.KindTimeIndex, segtest.TimeIndex(0, tc.times))
			}
			f := open(t, dir)
			if got := verify(t, f, segment.VerifyOptions{}); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if len(tc.index) == 0 {
				return
			}
			p, err := f.SeekOffset(52, nil)
			wrong := tc.index[0][0] == 51
			if err != nil || !p.Found || p.Pos != 29 || (len(p.Faults) > 0) != wrong {
				t.Errorf("52 leads to %+v, %v", p, err)
			}
		})
	}
}

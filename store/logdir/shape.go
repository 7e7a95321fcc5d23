package logdir

import (
	"github.com/strata-kafka/strata/groups"
	"github.com/strata-kafka/strata/model"
)

// A Dir has all the abilities of reading.
var (
	_ model.Source        = (*Dir)(nil)
	_ model.SegmentReader = (*Dir)(nil)
	_ model.Verifier      = (*Dir)(nil)
	_ model.Counter       = (*Dir)(nil)
	_ model.Searcher      = (*Dir)(nil)
	_ model.Tailer        = (*Dir)(nil)
	_ model.GroupReader   = (*Dir)(nil)
	_ model.ConfigReader  = (*Dir)(nil)
	_ model.Focuser       = (*Dir)(nil)
	_ model.Inspector     = (*Dir)(nil)
	_ model.Decoder       = (*Dir)(nil)
	_ groups.Logs         = (*Dir)(nil)
)

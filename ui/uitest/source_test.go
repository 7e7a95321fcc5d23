package uitest_test

import (
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/uitest"
)

// all lists every ability, so that a new one makes the fake fail to compile.
type all interface {
	model.Source
	model.SegmentReader
	model.Verifier
	model.Counter
	model.Searcher
	model.Tailer
	model.GroupReader
	model.Resetter
	model.Producer
	model.TopicAdmin
	model.RecordDeleter
	model.Focuser
	model.Inspector
	model.Decoder
	model.Traffic
}

func TestSourceHasEveryAbility(t *testing.T) {
	var src all = uitest.NewSource(uitest.Now())
	page, err := src.Records(t.Context(), model.RecordQuery{TP: model.TopicPartition{Topic: "orders", Partition: 1}, From: model.FromEnd, Backward: true, Max: 10})
	if err != nil || len(page.Records) != 10 || !page.AtEnd || page.End != 4_812_339 {
		t.Fatalf("last ten records: %d, end %d, %v", len(page.Records), page.End, err)
	}
	if _, ok := uitest.Plain(src).(model.Producer); ok {
		t.Error("Plain leaves abilities in sight")
	}
}

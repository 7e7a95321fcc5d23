package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
)

// TestPreview says what a change would delete, and the change then deletes just that.
func TestPreview(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	e := open(t, Options{Now: c.now, RetentionEvery: time.Hour}, dir)
	ctx := t.Context()
	create(t, e, "t", 1, "segment.bytes=100", "retention.ms=1000000")
	for range 5 {
		produce(t, e, tp("t", 0), "0123456789")
		c.move(10 * time.Second)
	}
	p, err := e.PreviewAlter(ctx, "t", []model.ConfigChange{{Name: "retention.ms", Value: "25000"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Now) != 3 || p.Now[2].Base != 2 || p.Records != model.Exactly(3) || len(p.Later) != 2 || p.Later[0].Base != 3 || p.Later[0].Leaves != 1700000000000+30_000+25_001 || p.Bytes == 0 {
		t.Errorf("preview %+v", p)
	}
	if p, err := e.PreviewAlter(ctx, "t", []model.ConfigChange{{Name: "retention.ms", Value: "-1"}}); err != nil || len(p.Now)+len(p.Later) != 0 {
		t.Errorf("preview of keeping all %+v, %v", p, err)
	}
	if p, err := e.PreviewAlter(ctx, "t", []model.ConfigChange{{Name: "cleanup.policy", Value: "compact"}}); err != nil || len(p.Notes) != 2 {
		t.Errorf("preview of compacting %+v, %v", p, err)
	}
	if err := e.AlterTopic(ctx, "t", []model.ConfigChange{{Name: "retention.ms", Value: "25000"}}); err != nil {
		t.Fatal(err)
	}
	if err := e.Retain(ctx); err != nil {
		t.Fatal(err)
	}
	l, err := e.Log(tp("t", 0))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := l.Bounds(); err != nil || b.Start != 3 || b.End != 5 {
		t.Errorf("bounds %+v, %v", b, err)
	}
	d, err := e.PreviewDelete(ctx, tp("t", 0), model.FromEnd)
	if err != nil || len(d.Now) != 1 || d.Now[0].Base != 3 || !strings.Contains(d.Notes[0], "from 3 to 5") {
		t.Errorf("preview of deleting all %+v, %v", d, err)
	}
	start, err := e.DeleteRecords(ctx, tp("t", 0), model.FromEnd)
	if err != nil || start != 5 {
		t.Errorf("DeleteRecords %d, %v", start, err)
	}
	if got := file(t, dir, layout.LogStartFile); got != "0\n1\nt 0 5\n" {
		t.Errorf("log starts %q", got)
	}
	if _, err := e.DeleteRecords(ctx, tp("t", 0), 6); !errors.Is(err, model.ErrOutOfRange) {
		t.Errorf("beyond the end: %v", err)
	}
}

// TestAlterDeletesSoon does not wait for the regular look of the retention, five minutes away.
func TestAlterDeletesSoon(t *testing.T) {
	dir := t.TempDir()
	e := open(t, Options{}, dir)
	create(t, e, "t", 1, "segment.bytes=100")
	for range 3 {
		produce(t, e, tp("t", 0), "0123456789")
	}
	if err := e.AlterTopic(t.Context(), "t", []model.ConfigChange{{Name: "retention.bytes", Value: "0"}}); err != nil {
		t.Fatal(err)
	}
	l, err := e.Log(tp("t", 0))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, func() bool {
		b, err := l.Bounds()
		return err == nil && b.Start == 3
	})
}

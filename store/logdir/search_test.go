package logdir

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// hits searches and returns the places that were told.
func hits(t *testing.T, d *Dir, q model.SearchQuery) ([]string, model.SearchEnd) {
	t.Helper()
	var found []string
	done := int64(0)
	end, err := d.Search(t.Context(), q, func(e model.SearchEvent) bool {
		if e.Hit != nil {
			found = append(found, fmt.Sprintf("%s@%d", e.Hit.TopicPartition, e.Hit.Offset))
		}
		if e.BytesDone < done || e.BytesDone > e.BytesAll {
			t.Errorf("%d bytes of %d done, after %d", e.BytesDone, e.BytesAll, done)
		}
		done = e.BytesDone
		return true
	})
	must(t, err)
	if int(end.Hits) != len(found) {
		t.Errorf("%d hits told, %d counted", len(found), end.Hits)
	}
	return found, end
}

// TestSearchFindsWhatTheTruthHolds searches all partitions of an archive and holds the hits against a look at every
// record that Kafka's own consumer got.
func TestSearchFindsWhatTheTruthHolds(t *testing.T) {
	a := unpack(t, "older")
	d := openArchive(t, a, Options{})
	parts := map[model.TopicPartition]bool{}
	var truth []model.Record
	lines(t, filepath.Join(a.truth, "records.ndjson.gz"), func(r trueRecord) {
		if !strings.HasPrefix(r.Topic, "__") {
			parts[r.tp()] = true
		}
	})
	var all []model.TopicPartition
	for tp := range parts {
		all = append(all, tp)
	}
	slices.SortFunc(all, model.TopicPartition.Compare)
	for _, tp := range all {
		truth = append(truth, readAll(t, d, model.RecordQuery{TP: tp})...) // held against the truth elsewhere
	}
	for name, tc := range map[string]struct {
		q     model.SearchQuery
		match func(r *model.Record) bool
	}{
		"a word":   {model.SearchQuery{Pattern: "order"}, func(r *model.Record) bool { return contains(r, "order") }},
		"in keys":  {model.SearchQuery{Pattern: "1", Keys: true}, func(r *model.Record) bool { return bytes.Contains(r.Key, []byte("1")) }},
		"any case": {model.SearchQuery{Pattern: "ORDER", Fold: true}, func(r *model.Record) bool { return contains(r, "order") }},
		"an expression": {model.SearchQuery{Pattern: `"?amount"?.*7`, Regexp: true, Values: true}, func(r *model.Record) bool {
			i := bytes.Index(r.Value, []byte("amount"))
			return i >= 0 && bytes.Contains(r.Value[i:], []byte("7")) && !bytes.Contains(r.Value, []byte("\n"))
		}},
		"nowhere":    {model.SearchQuery{Pattern: "no such word"}, func(*model.Record) bool { return false }},
		"everything": {model.SearchQuery{}, func(*model.Record) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for i := range truth {
				if tc.match(&truth[i]) {
					want = append(want, fmt.Sprintf("%s@%d", truth[i].TopicPartition, truth[i].Offset))
				}
			}
			q := tc.q
			q.Partitions, q.MaxHits = all, 1<<20
			got, end := hits(t, d, q)
			if !slices.Equal(got, want) {
				t.Errorf("%d hits, want %d", len(got), len(want))
			}
			if !end.Whole || end.Reason != "end of log" {
				t.Errorf("end %+v", end)
			}
			q.Backward = true
			got, end = hits(t, d, q)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || end.Reason != "start of log" {
				t.Errorf("backward %d hits, want %d; end %+v", len(got), len(want), end)
			}
			if len(want) < 3 {
				return
			}
			q.Backward, q.MaxHits = false, 2
			if got, end = hits(t, d, q); len(got) != 2 || end.Reason != "limit reached" || end.Whole {
				t.Errorf("with a limit: %v, %+v", got, end)
			}
		})
	}
}

func contains(r *model.Record, word string) bool {
	if bytes.Contains(r.Key, []byte(word)) || bytes.Contains(r.Value, []byte(word)) {
		return true
	}
	return slices.ContainsFunc(r.Headers, func(h model.Header) bool {
		return strings.Contains(h.Name, word) || bytes.Contains(h.Value, []byte(word))
	})
}

func TestSearchEnds(t *testing.T) {
	d := openArchive(t, unpack(t, "older"), Options{})
	all := []model.TopicPartition{{Topic: "orders"}, {Topic: "orders", Partition: 1}, {Topic: "orders", Partition: 2}}
	t.Run("told to stop", func(t *testing.T) {
		n := 0
		end, err := d.Search(t.Context(), model.SearchQuery{Partitions: all, Pattern: "o", MaxHits: 100}, func(e model.SearchEvent) bool {
			n++
			return false
		})
		if err != nil || n != 1 || end.Reason != "cancelled" || end.Whole {
			t.Errorf("%d events, %+v, %v", n, end, err)
		}
	})
	t.Run("its context ended", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		end, err := d.Search(ctx, model.SearchQuery{Partitions: all, Pattern: "o", MaxHits: 1 << 20}, func(model.SearchEvent) bool {
			stop()
			return true
		})
		if err != nil || end.Reason != "cancelled" || end.Whole {
			t.Errorf("%+v, %v", end, err)
		}
	})
	t.Run("from an offset", func(t *testing.T) {
		got, _ := hits(t, d, model.SearchQuery{Partitions: all[:1], From: []int64{100}, Pattern: "o", MaxHits: 1})
		back, _ := hits(t, d, model.SearchQuery{Partitions: all[:1], From: []int64{100}, Pattern: "o", MaxHits: 1, Backward: true})
		if len(got) != 1 || len(back) != 1 || cmp.Compare(got[0], "orders-0@100") != 0 || back[0] != "orders-0@99" {
			t.Errorf("forward %v, backward %v", got, back)
		}
	})
	t.Run("a bad pattern", func(t *testing.T) {
		_, err := d.Search(t.Context(), model.SearchQuery{Partitions: all, Pattern: "(", Regexp: true}, func(model.SearchEvent) bool { return true })
		if !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%v", err)
		}
	})
}

package ui

import (
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
	"github.com/strata-kafka/strata/ui/uitest"
)

// remoteSource is a cluster: brokers, and no files.
type remoteSource struct {
	model.Source
	model.BrokerReader
}

// TestFilesOnACluster holds every page and key that needs files to saying of a cluster, in one line, that it shows none
// and what is near.
func TestFilesOnACluster(t *testing.T) {
	full := uitest.NewSource(uitest.Now())
	src := remoteSource{uitest.Plain(full), full}
	r, err := newRoot(t.Context(), Options{Source: src, Environ: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, kind := range []page.Kind{page.Segments, page.Batches, page.Index, page.Lookup, page.Check, page.Overview} {
		p := r.pages[kind](uitest.Env(t, src), placeOf(kind))
		uitest.Drive(p, p.Init())
		if text := strings.Join(strings.Fields(uitest.Plainly(p.View(100, 20))), " "); !strings.Contains(text, "a cluster shows no files: ") {
			t.Errorf("%s says %q", kind, text)
		}
		uitest.Fits(t, p)
		p.Close()
	}
	why := map[string]string{}
	for _, v := range r.views() {
		if v.off != nil {
			why[v.key] = v.off()
		}
	}
	for key, want := range map[string]string{"5": "a cluster shows no files", "7": "a cluster shows no files", "8": "", "B": "", "W": "no cluster"} {
		if got := why[key]; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s is off because %q, want %q", key, got, want)
		}
	}
}

// TestBrokersAreGreyWithoutACluster: files, and the broker of our own, have no brokers page.
func TestBrokersAreGreyWithoutACluster(t *testing.T) {
	r, err := newRoot(t.Context(), Options{Source: uitest.Plain(uitest.NewSource(uitest.Now())), Environ: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, v := range r.views() {
		if (v.key == "B" || v.key == "W") && !strings.Contains(v.off(), "no cluster") {
			t.Errorf("%s: %q", v.key, v.off())
		}
	}
}

package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// teller is a cluster that tells of batches, two at a time.
type teller struct {
	*nodes
	log []model.Batch
}

func (s *teller) Partitions(_ context.Context, topic string) ([]model.Partition, error) {
	if topic != "orders" {
		return nil, fmt.Errorf("%w %q", model.ErrNoTopic, topic)
	}
	return []model.Partition{{TopicPartition: model.TopicPartition{Topic: topic}}}, nil
}

func (s *teller) ListBatches(_ context.Context, _ model.TopicPartition, from int64, _ int) (model.BatchRun, error) {
	run := model.BatchRun{Next: from, End: s.log[len(s.log)-1].Last + 1}
	for _, b := range s.log {
		if b.Last >= from && len(run.Batches) < 2 {
			run.Batches, run.Next = append(run.Batches, b), b.Last+1
		}
	}
	return run, nil
}

func TestBatchesOfACluster(t *testing.T) {
	b := func(base, last int64) model.Batch {
		return model.Batch{Position: model.Unknown, Base: base, Last: last, Count: int32(last - base + 1), Bytes: 100, Codec: "lz4", Magic: 2,
			MaxTimestamp: 1_700_000_000_000, FirstTimestamp: 1_700_000_000_000, ProducerID: 7, BaseSequence: 3, CRC: 0xabcd, CRCComputed: 0xabcd, Valid: true}
	}
	marker, bad := b(8, 8), b(20, 21)
	marker.Control, marker.Transactional, marker.Codec = "abort", true, "none"
	bad.Valid, bad.CRCComputed = false, 1
	whole := &teller{threeBrokers(), []model.Batch{b(0, 4), b(5, 7), marker, b(12, 13)}}
	damaged := &teller{threeBrokers(), []model.Batch{bad}}
	for name, tc := range map[string]struct {
		src  model.Source
		args []string
		out  []string // in each line
		code int
	}{
		"all":         {whole, []string{"orders/0"}, []string{"BASE  LAST", "0     4", "5     7", "none   ABORT", "12    13"}, exitOK},
		"from within": {whole, []string{"orders/0", "--from", "6"}, []string{"BASE", "5     7", "ABORT", "12"}, exitOK},
		"in a hole":   {whole, []string{"orders/0", "--from", "10"}, []string{"BASE", "12"}, exitOK},
		"behind":      {whole, []string{"orders/0", "--from", "99"}, []string{"BASE"}, exitOK},
		"JSON": {whole, []string{"orders/0", "--from", "8", "--json"}, []string{`{"position":null,"base":8,"last":8,"count":1,"bytes":100,"codec":"none"`,
			`"producerId":7,"producerEpoch":0,"baseSequence":3,"leaderEpoch":0,"transactional":false,"control":null,"crc":43981,"crcComputed":43981,"valid":true`}, exitOK},
		"damage":    {damaged, []string{"orders/0"}, []string{"BASE", "bad: 0000abcd, computed 00000001"}, exitWrong},
		"a segment": {whole, []string{"orders/0/00000000000000000000.log"}, nil, exitCannot},
		"below 0":   {whole, []string{"orders/0", "--from", "-1"}, nil, exitCannot},
		"no topic":  {whole, []string{"ordres/0"}, nil, exitCannot},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := runOn(t, tc.src, append([]string{"batches"}, tc.args...)...)
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if code != tc.code || out != "" && len(lines) != len(tc.out) || strings.Contains(out, "POSITION") {
				t.Fatalf("exit %d, %q\n%s", code, errs, out)
			}
			for i, want := range tc.out {
				for _, w := range strings.Fields(want) {
					if !strings.Contains(lines[i], w) {
						t.Errorf("line %q, want %q", lines[i], want)
					}
				}
			}
		})
	}
}

package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strata-kafka/strata/model"
)

// entry is what is kept of the copy of a topic until it is done. It is no list of what was copied, which the other side
// knows best, but says as whom it is written to.
type entry struct {
	From, To, Topic string // in words, for whoever finds the file
	ID              string // of the topic
	Producer        producer
}

// identifier is the ability to say a topic's id, which no other topic has, in whatever cluster.
type identifier interface {
	TopicID(ctx context.Context, topic string) (string, error)
}

// producer returns the producer of a topic's copy: that of an earlier one that is resumed, so that what it may have on its
// way still is known again when it comes, or a new one.
func (j *job) producer(ctx context.Context, t *model.CopyTopic) (*producer, error) {
	id := ""
	if i, ok := j.w.(identifier); ok && j.o.Journal != "" {
		var err error
		if id, err = i.TopicID(ctx, t.To); err != nil {
			return nil, err
		}
	}
	path := ""
	if id != "" {
		sum := sha256.Sum256([]byte(id))
		path = filepath.Join(j.o.Journal, "copy-"+hex.EncodeToString(sum[:8])+".json")
		j.journals = append(j.journals, path)
	}
	if j.plan.Query.Resume && path != "" {
		if p := recall(path, id, t); p != nil {
			return p, nil
		}
	}
	p := &producer{Starts: map[int32]int64{}}
	for _, cp := range t.Partitions {
		p.Starts[cp.Partition] = cp.End
	}
	var err error
	if p.ID, p.Epoch, err = j.w.NewProducer(ctx); err != nil {
		return nil, err
	}
	if path == "" {
		return p, nil
	}
	b, err := json.Marshal(entry{From: j.Copy.from.Name, To: j.Copy.to.Name, Topic: t.To, ID: id, Producer: *p})
	if err != nil {
		return nil, err
	}
	if err := replace(path, b); err != nil {
		return nil, fmt.Errorf("keep the copy's journal: %w", err)
	}
	return p, nil
}

// recall reads the producer of an earlier copy; nil where there is none that fits.
func recall(path, id string, t *model.CopyTopic) *producer {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var e entry
	if json.Unmarshal(b, &e) != nil || e.ID != id {
		return nil
	}
	for _, cp := range t.Partitions {
		if start, ok := e.Producer.Starts[cp.Partition]; !ok || start > cp.End {
			return nil
		}
	}
	return &e.Producer
}

// forget removes what was kept: the copy is done. A file that stays does no harm.
func (j *job) forget() {
	for _, path := range j.journals {
		_ = os.Remove(path)
	}
}

// replace writes a small file in one step, and so that it is there after a power loss.
func replace(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "copy-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

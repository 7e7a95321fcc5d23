package logdir

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/meta"
	"github.com/strata-kafka/strata/store/partition"
	"github.com/strata-kafka/strata/store/record"
	"github.com/strata-kafka/strata/store/segment"
)

// image is what the records of __cluster_metadata come to. It is immutable once it is handed out.
type image struct {
	topics   map[string]*topicMeta
	names    map[layout.ID]string
	brokers  map[int32]map[string]string // configs of a broker; -1 for those of all brokers
	features map[string]int16
	next     int64  // the log was read up to here, exclusive
	err      string // why it is not whole
}

// topicMeta is a topic of an image. It is replaced, never changed, once the image was handed out.
type topicMeta struct {
	id      layout.ID
	configs map[string]string
	parts   map[int32]partMeta
}

type partMeta struct {
	replicas, isr []int32
	leader, epoch int32
}

// replicas returns the most replicas that a partition has.
func (t *topicMeta) replicas() int {
	n := 0
	for _, p := range t.parts {
		n = max(n, len(p.replicas))
	}
	return n
}

func newImage() *image {
	return &image{
		topics: map[string]*topicMeta{}, names: map[layout.ID]string{}, brokers: map[int32]map[string]string{},
		features: map[string]int16{},
	}
}

// copy returns an image that may be changed, topics by replacing them.
func (m *image) copy() *image {
	return &image{
		topics: maps.Clone(m.topics), names: maps.Clone(m.names), brokers: maps.Clone(m.brokers),
		features: maps.Clone(m.features), next: m.next, err: m.err,
	}
}

// metadata keeps the image up to date.
type metadata struct {
	busy gate
	part *part                 // where img was read
	img  atomic.Pointer[image] // nil: not read yet; written with busy held
	once sync.Once             // the first reading was begun
}

// image returns what the cluster's metadata says; it is empty where the directory has none.
func (d *Dir) image(ctx context.Context) *image {
	m := d.meta
	p, err := d.find(model.TopicPartition{Topic: layout.MetadataTopic})
	if err != nil || m.busy.lock(ctx) != nil {
		return m.known()
	}
	defer m.busy.unlock()
	v, err := d.look(ctx, p)
	if err != nil {
		return m.known()
	}
	row, img := v.Partition(), m.img.Load()
	if img == nil || m.part != p || row.LogStart > img.next || row.LogEnd < img.next {
		img, m.part = d.snapshot(p), p
	}
	if row.LogEnd > img.next {
		img = img.replay(ctx, v, row)
	}
	if ctx.Err() == nil || m.img.Load() != nil {
		m.img.Store(img)
	}
	return img
}

// known returns what was read last.
func (m *metadata) known() *image {
	if img := m.img.Load(); img != nil {
		return img
	}
	return newImage()
}

// imageSoon returns what is known of the cluster's metadata without waiting for long. What is read after that is told.
func (d *Dir) imageSoon(ctx context.Context) *image {
	m := d.meta
	if d.o.Still || m.img.Load() != nil {
		return d.image(ctx)
	}
	m.once.Do(func() {
		ready := make(chan struct{})
		ok := d.spawn(func() {
			d.image(d.ctx)
			close(ready)
			d.out.tell(&pending{topics: true, info: true})
		})
		if !ok {
			return
		}
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-ready:
		case <-timer.C:
		case <-ctx.Done():
		}
	})
	return m.known()
}

// snapshot returns the image that the newest snapshot in the metadata's folder holds, or an empty one.
func (d *Dir) snapshot(p *part) *image {
	img := newImage()
	newest := layout.File{Base: -1}
	err := readNames(p.dir, func(name string, _ kind) {
		f, ok := layout.ParseFileName(name)
		if ok && f.Kind == layout.KindCheckpoint && f.Suffix == "" && (f.Base > newest.Base || f.Base == newest.Base && f.Epoch > newest.Epoch) {
			newest = f
		}
	})
	if err != nil || newest.Base < 0 {
		return img
	}
	if err := img.readFile(filepath.Join(p.dir, newest.String())); err != nil {
		img = newImage()
		img.err = err.Error()
		return img
	}
	img.next = newest.Base
	return img
}

// readFile applies all records of a KRaft snapshot, which is a segment's .log by another name.
func (m *image) readFile(path string) error {
	f, err := segment.OpenRegular(path)
	if err != nil {
		return fmt.Errorf("metadata snapshot: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("metadata snapshot: %w", err)
	}
	var r record.Reader
	for s := segment.NewScanner(f, info.Size(), segment.ScanOptions{}); ; {
		switch s.Next() {
		case segment.Batch:
			m.batch(&r, s.Header(), s.Bytes())
		case segment.End, segment.Zeros:
			return nil
		case segment.Failed:
			return fmt.Errorf("metadata snapshot: %w", s.Err())
		default:
			m.err = fmt.Sprintf("%s is damaged at byte %d", filepath.Base(path), s.Pos())
		}
		if s.Len() == 0 {
			return nil
		}
	}
}

// replay returns the image with the log's records behind it applied.
func (m *image) replay(ctx context.Context, v *partition.View, row model.Partition) *image {
	next := m.copy()
	var r record.Reader
	err := v.Scan(ctx, max(m.next, row.LogStart), row.LogEnd, func(h record.Header, _, _ int64, batch []byte) error {
		next.batch(&r, h, batch)
		next.next = h.NextOffset()
		return nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return m // asked again, it will be read again
		}
		next.err = err.Error()
	}
	next.next = row.LogEnd
	return next
}

// batch applies the data records of a batch.
func (m *image) batch(r *record.Reader, h record.Header, batch []byte) {
	if h.Control() || r.Reset(batch) != nil {
		return
	}
	for r.Next() {
		rec, err := meta.ParseMetadataRecord(r.Record().Value)
		if err == nil && rec.Body != nil {
			m.apply(rec.Body)
		}
	}
}

// change returns a topic that may be changed.
func (m *image) change(id layout.ID) *topicMeta {
	name, ok := m.names[id]
	if !ok {
		return nil
	}
	return m.own(name)
}

func (m *image) own(name string) *topicMeta {
	t := &topicMeta{}
	if was := m.topics[name]; was != nil {
		*t = *was
	}
	t.configs, t.parts = maps.Clone(t.configs), maps.Clone(t.parts)
	if t.configs == nil {
		t.configs = map[string]string{}
	}
	if t.parts == nil {
		t.parts = map[int32]partMeta{}
	}
	m.topics[name] = t
	return t
}

// apply applies a record.
func (m *image) apply(body any) {
	switch b := body.(type) {
	case meta.TopicRecord:
		m.names[b.ID] = b.Name
		m.own(b.Name).id = b.ID
	case meta.RemoveTopicRecord:
		if name, ok := m.names[b.ID]; ok {
			delete(m.names, b.ID)
			delete(m.topics, name)
		}
	case meta.PartitionRecord:
		if t := m.change(b.Topic); t != nil {
			t.parts[b.Partition] = partMeta{replicas: b.Replicas, isr: b.ISR, leader: b.Leader, epoch: b.LeaderEpoch}
		}
	case meta.PartitionChangeRecord:
		if t := m.change(b.Topic); t != nil {
			t.parts[b.Partition] = t.parts[b.Partition].changed(b)
		}
	case meta.ConfigRecord:
		m.config(b)
	case meta.FeatureLevelRecord:
		m.features[b.Name] = b.Level
	}
}

func (p partMeta) changed(b meta.PartitionChangeRecord) partMeta {
	if b.ISR != nil {
		p.isr = b.ISR
	}
	if b.Replicas != nil {
		p.replicas = b.Replicas
	}
	if b.HasLeader {
		p.leader = b.Leader
		p.epoch++
	}
	return p
}

func (m *image) config(b meta.ConfigRecord) {
	var of map[string]string
	switch b.Resource {
	case meta.ResourceTopic:
		of = m.own(b.Of).configs
	case meta.ResourceBroker:
		node := int64(-1)
		if b.Of != "" {
			n, err := strconv.ParseInt(b.Of, 10, 32)
			if err != nil {
				return
			}
			node = n
		}
		of = maps.Clone(m.brokers[int32(node)])
		if of == nil {
			of = map[string]string{}
		}
		m.brokers[int32(node)] = of
	default:
		return
	}
	if b.Deleted {
		delete(of, b.Name)
	} else {
		of[b.Name] = b.Value
	}
}

// fill adds what the metadata says of a partition to its row.
func (m *image) fill(r *model.Partition) {
	t := m.topics[r.Topic]
	if t == nil {
		return
	}
	if p, ok := t.parts[r.Partition]; ok {
		r.Leader = p.leader
		if r.LeaderEpoch < 0 { // else the log knows: a stop raises the epoch in the metadata before anybody leads
			r.LeaderEpoch = p.epoch
		}
		r.Replicas, r.ISR = slices.Clone(p.replicas), slices.Clone(p.isr)
	}
}

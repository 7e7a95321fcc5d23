package logdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/meta"
)

// newestMeta is how many records of __cluster_metadata an overview shows.
const newestMeta = 50

// maxOdd is how many odd names an overview lists one by one.
const maxOdd = 100

// Overview implements model.Inspector.
func (d *Dir) Overview(ctx context.Context) ([]model.DirOverview, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	var out []model.DirOverview
	for _, r := range d.roots {
		o := model.DirOverview{Path: r.path}
		d.metaFacts(r, &o)
		d.stopFacts(r, &o)
		d.countFacts(r, &o)
		for _, name := range checkpoints() {
			d.checkpointFact(r, name, &o)
		}
		if err := d.metadataFacts(ctx, r, &o); err != nil && ctx.Err() != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// node returns the broker's id, -1 where no directory says it. It is asked for with every topic's configs, and stays what
// it is, so it is read once.
func (d *Dir) node() int32 {
	if id := d.nodeID.Load(); id > 0 {
		return id - 1
	}
	for _, r := range d.roots {
		if b, err := readSmall(filepath.Join(r.path, layout.MetaFile)); err == nil {
			if m, err := layout.ParseMeta(b); err == nil && m.NodeID >= 0 && m.NodeID < math.MaxInt32 {
				d.nodeID.Store(m.NodeID + 1)
				return m.NodeID
			}
		}
	}
	return -1
}

func fact(o *model.DirOverview, name, value, note string) {
	o.Facts = append(o.Facts, model.Fact{Name: name, Value: value, Note: note})
}

func fault(o *model.DirOverview, file, kind string, err error) {
	f := model.Fault{File: file, Position: model.Unknown, Offset: model.Unknown, Kind: kind, What: err.Error(), Severity: model.SevWarning}
	o.Faults = append(o.Faults, f)
}

// metaFacts says whose directory it is.
func (d *Dir) metaFacts(r *root, o *model.DirOverview) {
	b, err := readSmall(filepath.Join(r.path, layout.MetaFile))
	if err != nil {
		if !gone(err) {
			fault(o, layout.MetaFile, "meta", err)
		}
		fact(o, "written by", "unknown", "there is no "+layout.MetaFile)
		return
	}
	m, err := layout.ParseMeta(b)
	if err != nil {
		fault(o, layout.MetaFile, "meta", err)
	}
	mode := "KRaft"
	id := "node id"
	if m.Version == 0 {
		mode, id = "ZooKeeper", "broker id"
	}
	fact(o, "mode", mode, fmt.Sprintf("%s version %d", layout.MetaFile, m.Version))
	fact(o, id, orNone(m.NodeID >= 0, strconv.Itoa(int(m.NodeID))), "")
	fact(o, "cluster id", orNone(m.ClusterID != "", m.ClusterID), "")
	fact(o, "directory id", orNone(m.DirectoryID != "", m.DirectoryID), "")
}

func orNone(ok bool, s string) string {
	if ok {
		return s
	}
	return "none"
}

// stopFacts says how the last stop was, and whether a process holds the directory now.
func (d *Dir) stopFacts(r *root, o *model.DirOverview) {
	held, pid := false, 0
	lock := filepath.Join(r.path, layout.LockFile)
	own := d.o.Embedded && !d.o.Guest
	if !own {
		pid, held = lockHolder(lock)
	}
	_, lockErr := os.Stat(lock)
	b, err := readSmall(filepath.Join(r.path, layout.CleanShutdownFile))
	switch {
	case own:
		fact(o, "lock", "held by this process", "")
	case held && pid > 0:
		fact(o, "lock", "held by process "+strconv.Itoa(pid), "a broker is running on it")
	case held:
		fact(o, "lock", "held by another process", "a broker is running on it")
	case lockErr == nil && err == nil:
		fact(o, "lock", "left behind", "nobody holds it: old brokers leave it when they stop")
	case lockErr == nil:
		fact(o, "lock", "left behind", "nobody holds it: the broker was killed")
	default:
		fact(o, "lock", "none", "")
	}
	switch {
	case err == nil:
		note := ""
		if c, err := layout.ParseCleanShutdown(b); err != nil {
			fault(o, layout.CleanShutdownFile, "shutdown", err)
		} else if c.BrokerEpoch >= 0 {
			note = fmt.Sprintf("broker epoch %d", c.BrokerEpoch)
		}
		fact(o, "last stop", "clean", note)
	case !errors.Is(err, fs.ErrNotExist):
		fault(o, layout.CleanShutdownFile, "shutdown", err)
	case held || own:
		fact(o, "last stop", "running", "")
	default:
		fact(o, "last stop", "not clean", "a broker that starts on it will recover what lies past the recovery point")
	}
}

// countFacts says what lies in the directory, and what lies there that should not.
func (d *Dir) countFacts(r *root, o *model.DirOverview) {
	d.mu.Lock()
	defer d.mu.Unlock()
	topics := map[string]bool{}
	live, segments, bytes := 0, 0, int64(0)
	for _, p := range d.parts {
		if p.root != r {
			continue
		}
		if p.state == model.Live {
			topics[p.tp.Topic] = true
			live++
			segments += p.sums.segments
			bytes += p.sums.bytes
			if p.sums.err != nil {
				fault(o, p.name, "folder", p.sums.err)
			}
			if p.row.Err != nil {
				fault(o, p.name, "partition", p.row.Err)
			}
			continue
		}
		what := map[model.PartitionState]string{
			model.Future: "moving in from another log directory", model.Deleting: "deleted, to be removed soon",
			model.Stray: "not in the metadata any more",
		}[p.state]
		o.Odd = append(o.Odd, model.Fact{Name: p.name, Value: p.state.String(), Note: what})
	}
	fact(o, "topics", strconv.Itoa(len(topics)), "")
	fact(o, "partitions", strconv.Itoa(live), plural(segments, "segment"))
	fact(o, "size", sizeText(bytes), fmt.Sprintf("%d bytes of .log files", bytes))
	sort.Slice(o.Odd, func(i, j int) bool { return o.Odd[i].Name < o.Odd[j].Name })
	odd := slices.Clone(r.odd)
	slices.Sort(odd)
	for i, name := range odd {
		if i == maxOdd {
			o.Odd = append(o.Odd, model.Fact{Name: fmt.Sprintf("and %d more", len(odd)-i), Value: "ignored"})
			break
		}
		o.Odd = append(o.Odd, model.Fact{Name: name, Value: "ignored", Note: "neither a partition's folder nor a file that a broker keeps here"})
	}
	if len(odd) > 0 {
		fact(o, "ignored", strconv.Itoa(len(odd)), "names that are not understood")
	}
}

// sizeText writes bytes with a unit: 512 B, 828.2 KiB.
func sizeText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, units := float64(n)/1024, []string{"KiB", "MiB", "GiB", "TiB"}
	for f >= 1024 && len(units) > 1 {
		f, units = f/1024, units[1:]
	}
	return fmt.Sprintf("%.1f %s", f, units[0])
}

// ageText writes an age in its two greatest units.
func ageText(age time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case age < time.Minute:
		return fmt.Sprintf("%d s", age/time.Second)
	case age < time.Hour:
		return fmt.Sprintf("%d min %d s", age/time.Minute, age%time.Minute/time.Second)
	case age < day:
		return fmt.Sprintf("%d h %d min", age/time.Hour, age%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h", age/day, age%day/time.Hour)
}

// checkpointFact says what a checkpoint holds and how old it is.
func (d *Dir) checkpointFact(r *root, name string, o *model.DirOverview) {
	path := filepath.Join(r.path, name)
	info, err := os.Stat(path)
	if err != nil {
		if !gone(err) {
			fault(o, name, "checkpoint", err)
		}
		fact(o, name, "none", "")
		return
	}
	b, err := readSmall(path)
	if err != nil {
		fault(o, name, "checkpoint", err)
		return
	}
	lines, err := layout.ParseOffsets(b)
	if err != nil {
		fault(o, name, "checkpoint", err)
	}
	notes := []string{"written " + ageText(d.o.Now().Sub(info.ModTime())) + " ago"}
	if n := d.behind(r, name, lines); n > 0 {
		notes = append(notes, plural(n, "partition")+" with newer data")
	}
	fact(o, name, plural(len(lines), "partition"), strings.Join(notes, ", "))
}

// behind counts the partitions whose data has gone past a checkpoint, as far as they were looked at.
func (d *Dir) behind(r *root, name string, lines []layout.OffsetLine) int {
	if name != layout.HighWatermarkFile && name != layout.RecoveryPointFile {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, l := range lines {
		if t := d.topics[l.TP.Topic]; t != nil {
			if p := t.live[l.TP.Partition]; p != nil && p.root == r && p.loaded && p.row.LogEnd > l.Offset {
				n++
			}
		}
	}
	return n
}

// metadataFacts says what the cluster's metadata tells, in the directory that holds it.
func (d *Dir) metadataFacts(ctx context.Context, r *root, o *model.DirOverview) error {
	p, err := d.find(model.TopicPartition{Topic: layout.MetadataTopic})
	if err != nil || p.root != r {
		return nil
	}
	img := d.image(ctx)
	if level, ok := img.features["metadata.version"]; ok {
		fact(o, "metadata.version", strconv.Itoa(int(level)), "")
	}
	for _, name := range slices.Sorted(maps.Keys(img.features)) {
		if name != "metadata.version" {
			fact(o, name, strconv.Itoa(int(img.features[name])), "a feature's level")
		}
	}
	if n := d.oddGroups(ctx); n > 0 {
		fault(o, layout.OffsetsTopic, "groups", fmt.Errorf("%s could not be understood", plural(n, "record")))
	}
	fact(o, "topics in the metadata", strconv.Itoa(len(img.topics)), "")
	if img.err != "" {
		fault(o, layout.DirName(p.tp), "metadata", errors.New(img.err))
	}
	if b, err := readSmall(filepath.Join(p.dir, layout.QuorumStateFile)); err == nil {
		if q, err := layout.ParseQuorum(b); err != nil {
			fault(o, layout.QuorumStateFile, "quorum", err)
		} else {
			fact(o, "quorum", "leader "+strconv.Itoa(int(q.LeaderID)), fmt.Sprintf("epoch %d", q.LeaderEpoch))
		}
	}
	o.Records, err = d.newestMetadata(ctx, p)
	return err
}

func (d *Dir) newestMetadata(ctx context.Context, p *part) ([]model.MetaRecord, error) {
	v, err := d.look(ctx, p)
	if err != nil {
		return nil, err
	}
	page, err := v.Records(ctx, model.RecordQuery{TP: p.tp, From: model.FromEnd, Max: newestMeta, Backward: true, Control: true})
	var out []model.MetaRecord
	for _, r := range page.Records {
		m := model.MetaRecord{Offset: r.Offset, Type: r.Control}
		m.Text, _ = d.Decode(r)
		if r.Control == "" {
			rec, err := meta.ParseMetadataRecord(r.Value)
			m.Type = rec.Name
			if err == nil {
				m.Text = rec.Fields.String()
			}
		}
		out = append(out, m)
	}
	return out, err
}

// Decode implements model.Decoder.
func (d *Dir) Decode(r model.Record) (string, bool) {
	if r.Control != "" {
		if !layout.Internal(r.Topic) {
			return "", false
		}
		return meta.ControlText(r.Key, r.Value), true
	}
	return meta.Text(r.Topic, r.Key, r.Value)
}

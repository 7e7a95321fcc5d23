package layout

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// Names of the files directly in a log directory.
const (
	LockFile          = ".lock"
	MetaFile          = "meta.properties"
	CleanShutdownFile = ".kafka_cleanshutdown"
	RecoveryPointFile = "recovery-point-offset-checkpoint"
	LogStartFile      = "log-start-offset-checkpoint"
	HighWatermarkFile = "replication-offset-checkpoint"
	CleanerFile       = "cleaner-offset-checkpoint"
	BootstrapFile     = "bootstrap.checkpoint"   // KRaft records that a 4.0 broker was formatted with
	RemoteCacheDir    = "remote-log-index-cache" // a folder that is no partition
)

// Names of the files in a partition's folder that are not named by an offset.
const (
	EpochsFile        = "leader-epoch-checkpoint"
	PartitionMetaFile = "partition.metadata"
	QuorumStateFile   = "quorum-state" // of MetadataTopic only
)

// Names of Kafka's own topics.
const (
	OffsetsTopic      = "__consumer_offsets"
	TransactionsTopic = "__transaction_state"
	ShareTopic        = "__share_group_state"
	MetadataTopic     = "__cluster_metadata" // KRaft's log: folder __cluster_metadata-0, listed by no client
)

// Internal reports whether a topic is Kafka's own.
func Internal(topic string) bool {
	switch topic {
	case OffsetsTopic, TransactionsTopic, ShareTopic, MetadataTopic:
		return true
	}
	return false
}

const (
	maxTopic = 249 // letters of a topic's name
	maxName  = 255 // bytes of a folder's name
)

// ValidTopic says why name cannot be a topic's name: 1 to 249 letters of a–z, A–Z, 0–9, dot, underscore and dash, and
// neither "." nor "..". Errors wrap model.ErrInvalid.
func ValidTopic(name string) error {
	bad := func(why string) error {
		return fmt.Errorf("%w topic name %q: %s", model.ErrInvalid, name, why)
	}
	switch {
	case name == "":
		return bad("it is empty")
	case name == "." || name == "..":
		return bad("it names a folder")
	case len(name) > maxTopic:
		return bad(fmt.Sprintf("%d letters, at most %d are allowed", len(name), maxTopic))
	}
	for i := range len(name) {
		if !topicByte(name[i]) {
			return bad("only letters, digits, dot, underscore and dash are allowed")
		}
	}
	return nil
}

// MayCollide reports whether a topic's name can collide with another one at all.
func MayCollide(name string) bool { return strings.ContainsAny(name, "._") }

// Collides reports whether Kafka takes two topics for the same in its metric names, where a dot is written as an
// underscore, and so lets only one of them be created.
func Collides(a, b string) bool {
	return a != b && strings.ReplaceAll(a, ".", "_") == strings.ReplaceAll(b, ".", "_")
}

func topicByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// Dir is what the name of a partition's folder says.
type Dir struct {
	TP    model.TopicPartition
	State model.PartitionState
	// ID is what makes the name unique: 32 hex digits; "" for a live folder.
	ID string
	// Cut says that the name is as long as names may be, so that the end of TP.Topic may be missing. Only of Deleting
	// and Stray.
	Cut bool
}

// ParseDirName reads the name of a partition's folder; ok is false for any other name. What ParseDirName reads,
// Dir.String writes.
func ParseDirName(name string) (d Dir, ok bool) {
	rest := name
	for state := model.Future; state <= model.Stray; state++ {
		if head, found := strings.CutSuffix(name, "-"+state.String()); found {
			if dot := strings.LastIndexByte(head, '.'); dot > 0 && plain(head[dot+1:]) {
				d.State, d.ID, rest = state, head[dot+1:], head[:dot]
			}
			break
		}
	}
	dash := strings.LastIndexByte(rest, '-')
	if dash <= 0 || len(name) > maxName {
		return Dir{}, false
	}
	n, err := strconv.ParseInt(rest[dash+1:], 10, 32)
	if err != nil || n < 0 || strconv.Itoa(int(n)) != rest[dash+1:] || ValidTopic(rest[:dash]) != nil {
		return Dir{}, false
	}
	d.TP = model.TopicPartition{Topic: rest[:dash], Partition: int32(n)}
	d.Cut = (d.State == model.Deleting || d.State == model.Stray) && len(name) == maxName
	return d, true
}

// plain reports whether s can stand between the dot and the suffix of a folder's name.
func plain(s string) bool {
	for i := range len(s) {
		if !topicByte(s[i]) || s[i] == '.' {
			return false
		}
	}
	return s != ""
}

// DirName returns the name of a live partition's folder.
func DirName(tp model.TopicPartition) string { return tp.String() }

// String returns the folder's name. A topic's name that leaves no room for the suffix is cut, but in a Future one's.
func (d Dir) String() string {
	if d.State == model.Live {
		return DirName(d.TP)
	}
	tail := "-" + strconv.Itoa(int(d.TP.Partition)) + "." + d.ID + "-" + d.State.String()
	topic := d.TP.Topic
	if room := max(0, maxName-len(tail)); len(topic) > room && d.State != model.Future {
		topic = topic[:room]
	}
	return topic + tail
}

// Kinds of the files that are named by an offset.
const (
	KindLog        = "log"
	KindIndex      = "index"
	KindTimeIndex  = "timeindex"
	KindTxnIndex   = "txnindex"
	KindSnapshot   = "snapshot"
	KindCheckpoint = "checkpoint" // KRaft's snapshot of the metadata, %020d-%010d.checkpoint
)

// Suffixes behind a kind.
const (
	SuffixDeleted = "deleted" // removed soon
	SuffixCleaned = "cleaned" // a compaction's unfinished output
	SuffixSwap    = "swap"    // a compaction's whole output, about to replace others
	SuffixPart    = "part"    // a KRaft snapshot being written
	SuffixTmp     = "tmp"     // about to be renamed over another
)

// File is what the name of a file in a partition's folder says.
type File struct {
	Base   int64  // base offset of its segment; of a snapshot and a checkpoint the offset it reaches to, exclusive
	Epoch  int32  // of a checkpoint; else -1
	Kind   string // one of the Kind constants
	Suffix string // "", or one of the Suffix constants
}

// ParseFileName reads the name of a file that is named by an offset; ok is false for any other name. What
// ParseFileName reads, File.String writes.
func ParseFileName(name string) (f File, ok bool) {
	f.Epoch = -1
	number, rest, _ := strings.Cut(name, ".")
	kind, suffix, more := strings.Cut(rest, ".")
	switch kind {
	case KindLog, KindIndex, KindTimeIndex, KindTxnIndex, KindSnapshot:
	case KindCheckpoint:
		n, epoch, _ := strings.Cut(number, "-")
		e, good := digits(epoch, 10)
		if !good || e > 1<<31-1 {
			return File{}, false
		}
		number, f.Epoch = n, int32(e)
	default:
		return File{}, false
	}
	if f.Base, ok = digits(number, 20); !ok {
		return File{}, false
	}
	if more {
		switch suffix {
		case SuffixDeleted, SuffixCleaned, SuffixSwap, SuffixPart, SuffixTmp:
		default:
			return File{}, false
		}
	}
	f.Kind, f.Suffix = kind, suffix
	return f, true
}

// digits reads exactly n decimal digits that fit an int64.
func digits(s string, n int) (int64, bool) {
	if len(s) != n {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil
}

// FileName returns the name of a segment's file of a kind: its base offset in 20 digits, a dot, the kind.
func FileName(base int64, kind string) string {
	return File{Base: base, Epoch: -1, Kind: kind}.String()
}

// String returns the file's name.
func (f File) String() string {
	b := make([]byte, 0, 48)
	b = appendDigits(b, f.Base, 20)
	if f.Kind == KindCheckpoint {
		b = appendDigits(append(b, '-'), int64(f.Epoch), 10)
	}
	b = append(append(b, '.'), f.Kind...)
	if f.Suffix != "" {
		b = append(append(b, '.'), f.Suffix...)
	}
	return string(b)
}

// appendDigits appends v, which is not negative, with zeros in front to n digits.
func appendDigits(b []byte, v int64, n int) []byte {
	var digits [20]byte
	s := strconv.AppendInt(digits[:0], max(v, 0), 10)
	for range n - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}

package model

// RecordQuery asks for a window of a partition's records.
type RecordQuery struct {
	TP TopicPartition
	// From is the first offset wanted, or with Backward the offset before which to read. FromStart and FromEnd stand
	// for the log start and the log end.
	From int64
	// Max is how many records at the most; 0 means 500.
	Max int
	// MaxBytes bounds the keys and values returned, approximately; 0 means 32 MiB. At least one record comes.
	MaxBytes  int
	Backward  bool // the last Max records before From, still in ascending order
	Committed bool // leave aborted and undecided records out
	Control   bool // give control records too
	// ValueLimit cuts keys and values to so many bytes (Record.Size still tells the whole); 0 means whole.
	ValueLimit int
}

// The offsets that a RecordQuery.From may name instead of a number.
const (
	FromStart int64 = -2
	FromEnd   int64 = -1
)

// RecordPage is the answer to a RecordQuery.
type RecordPage struct {
	Records []Record
	Next    int64 // the offset to ask from for what follows
	Prev    int64 // the offset to ask Backward from for what lies before
	// Start and End are the log start and the bound of the view (high watermark, or last stable offset when Committed)
	// at the time of the read.
	Start, End int64
	AtEnd      bool // Next is the end of the log
	AtStart    bool
	Faults     []Fault // damage met on the way; what is readable around it is in Records
}

// BatchQuery asks for a window of a segment's batches, by number.
type BatchQuery struct {
	TP    TopicPartition
	Base  int64 // the segment
	First int64 // number of the first batch wanted, from 0
	Max   int   // 0 means 200
	// AtOffset, when Seek is set, replaces First by the batch that holds this offset; AtPosition likewise for a byte.
	Seek       SeekKind
	AtOffset   int64
	AtPosition int64
	Check      bool // compute checksums and inflated sizes of the batches returned
}

// SeekKind says what a BatchQuery begins at.
type SeekKind int8

// The kinds of seek.
const (
	SeekNumber SeekKind = iota
	SeekOffset
	SeekPosition
)

// BatchPage is the answer to a BatchQuery.
type BatchPage struct {
	Batches []Batch
	First   int64 // number of Batches[0]
	Total   int64 // batches known so far
	Whole   bool  // Total is final: the segment was walked to its end
	Faults  []Fault
}

// Target is what a lookup searches for.
type Target struct {
	ByTime bool
	Offset int64 // when !ByTime
	Time   int64 // ms, when ByTime
}

// LookupStep is one step of a lookup, in order.
type LookupStep struct {
	Step  string // "segments", "index", "scan", …
	What  string // what was looked at, in words
	Value string // what came of it
}

// LookupResult is a lookup with its steps.
type LookupResult struct {
	Steps    []LookupStep
	Found    bool
	Offset   int64 // the first record at or after the target, control records included
	Time     int64 // its timestamp
	Segment  int64
	Position int64 // of its batch
	Scanned  int64 // bytes read after the index
	Faults   []Fault
}

// SearchQuery says what to find and where.
type SearchQuery struct {
	Partitions []TopicPartition
	// From holds, partition by partition, the offset at which to begin (with Backward: before which). nil means the log
	// start, with Backward the log end.
	From []int64
	// To holds, partition by partition, the offset at which to stop, not looked at (with Backward: the last one that is).
	// nil means the log end, with Backward the log start.
	To        []int64
	Pattern   string
	Regexp    bool // Pattern is a Go regular expression; else a substring
	Fold      bool // ignore case
	Keys      bool // where to look; all false means everywhere
	Values    bool
	Headers   bool
	Backward  bool
	Committed bool
	Control   bool
	MaxHits   int // 0 means one
	// Since and Until bound the records' time, ms; 0 means unbounded. Segments and batches outside are not read.
	Since, Until int64
}

// SearchEvent is told while a search runs: a hit, or how far it has come.
type SearchEvent struct {
	Hit       *Record // nil for progress alone
	BytesDone int64
	BytesAll  int64
	Records   int64 // looked at so far; 0 is possible where batches were skipped whole
	At        TopicPartition
	Offset    int64 // where At has come to
}

// The reasons of a SearchEnd that say whether there is more to be found.
const (
	ReasonEnd       = "end of log"
	ReasonLimit     = "limit reached"
	ReasonCancelled = "cancelled"
)

// SearchEnd says why a search ended.
type SearchEnd struct {
	Reason string // ReasonEnd, "start of log", ReasonLimit, ReasonCancelled, "error at orders-3@812: …"
	Whole  bool   // everything asked for was looked at
	Hits   int64
	Bytes  int64
	Faults []Fault // the first 1,000 met
}

// TailQuery says what to tail.
type TailQuery struct {
	Topics     []string
	Partitions []TopicPartition // beside Topics; either may be empty
	// From is the offset to begin at in each of Partitions; nil means the log end.
	From      []int64
	Backlog   int // so many records before the log end come first; 0 means none
	Pattern   string
	Regexp    bool
	Fold      bool
	Committed bool
	// Keep is how many records the tail keeps; 0 means 10,000. Keys, values and headers kept are bounded to 10 MiB besides.
	Keep int
	// Block makes the tail wait for Release instead of dropping what does not fit.
	Block bool
}

// TailStats are a tail's counters.
type TailStats struct {
	Seen    int64 // records read
	Matched int64 // records that passed the filter: the next sequence number
	First   int64 // sequence number of the oldest record kept
	Dropped int64 // records passed over unread, because the reader fell behind
	Bytes   int64
	Behind  int64 // records between the reader and the log ends
	Err     error // the last thing that went wrong; the tail goes on where it can
}

// VerifyQuery says what to check.
type VerifyQuery struct {
	Topic     string // "" means everything
	Partition int32  // -1 means all of the topic's
	Segment   int64  // Unknown means all of the partition's
}

// VerifyEvent is told while a check runs.
type VerifyEvent struct {
	Fault     *Fault
	BytesDone int64
	BytesAll  int64
	At        string // the file being read
}

// VerifySummary is what a check found in all.
type VerifySummary struct {
	Files, Batches, Records, Bytes int64
	Damage, Warnings, Infos        int64
}

// Severity says how bad a fault is.
type Severity string

// The severities.
const (
	SevDamage  Severity = "damage"  // data is lost or cannot be trusted
	SevWarning Severity = "warning" // odd, or to be rebuilt; no data lost
	SevInfo    Severity = "info"    // as a broker leaves it after a crash, a preallocation, a running write
)

// Fault is something found wrong, and where.
type Fault struct {
	TP       TopicPartition
	File     string // base name, or path relative to the log dir
	Position int64  // byte, or Unknown
	Offset   int64  // or Unknown
	Kind     string // a short stable word: crc, torn, length, count, index, timeindex, txnindex, snapshot, epochs, order, codec, zeros, …
	What     string // the sentence
	Follows  string // what comes of it: "499 records after it are still readable"
	Severity Severity
}

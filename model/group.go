package model

// GroupState is the state of a consumer group, named as Kafka's tools print it.
type GroupState string

// The states of a group.
const (
	GroupEmpty       GroupState = "Empty"
	GroupStable      GroupState = "Stable"
	GroupPreparing   GroupState = "PreparingRebalance"
	GroupCompleting  GroupState = "CompletingRebalance"
	GroupAssigning   GroupState = "Assigning"
	GroupReconciling GroupState = "Reconciling"
	GroupDead        GroupState = "Dead"
	GroupUnknown     GroupState = "Unknown"
)

// Group is a consumer group with its members and committed offsets.
type Group struct {
	ID       string
	State    GroupState
	Type     string // Classic, Consumer, Share
	Protocol string // the assignor chosen: range, uniform, …; "" for none
	// ProtocolType is what Kafka's tools list as the protocol: consumer, connect, share, …; "" of a group that only commits.
	ProtocolType string
	Members      []Member
	Offsets      []GroupOffset // by topic and partition; filled by Group and by Groups alike
	Lag          Count         // the sum over partitions with a commit
	Note         string        // what is odd
}

// Active reports whether the group has members, so that its offsets are not to be touched.
func (g *Group) Active() bool {
	return len(g.Members) > 0 || g.State != GroupEmpty && g.State != GroupDead
}

// Member is one member of a group.
type Member struct {
	ID         string
	Instance   string // group.instance.id, or ""
	Client     string // client.id
	Host       string
	Assignment []TopicPartition
}

// GroupOffset is one partition's row of a group.
type GroupOffset struct {
	TopicPartition
	Committed   int64 // Unknown: nothing committed
	LeaderEpoch int32 // -1 for none
	Metadata    string
	CommittedAt int64 // ms
	ExpiresAt   int64 // ms, or NoTime
	LogStart    int64 // Unknown where the partition cannot be read
	LogEnd      int64
	Lag         Count // records still to be read; CountNone without a commit
	Lost        int64 // offsets between Committed and LogStart
	Ahead       int64 // offsets that Committed lies past LogEnd
	Member      string
	Err         error
}

// Commit is an offset to be committed.
type Commit struct {
	TopicPartition
	Offset      int64
	LeaderEpoch int32 // -1 for none
	Metadata    string
}

// WhereKind is a way of saying where a group shall be put.
type WhereKind int8

// The ways.
const (
	ToEarliest WhereKind = iota
	ToLatest
	ToOffset
	ToTime
	ToAgo
	ToShift
	ToGroup
	ToFile
)

// Where says where a reset shall put a group.
type Where struct {
	Kind  WhereKind
	N     int64    // ToOffset: the offset; ToShift: the signed number; ToAgo: ms
	Time  int64    // ToTime: ms
	Group string   // ToGroup
	File  string   // ToFile: its name, for messages
	Rows  []Commit // ToFile: what it holds; only TopicPartition and Offset count
}

// TopicSelector picks a topic, or with Partitions some of its partitions.
type TopicSelector struct {
	Topic      string
	Partitions []int32 // nil means all
}

// ResetRequest asks for a plan.
type ResetRequest struct {
	Group string
	// Topics is what to reset; nil means all that the group has committed.
	Topics []TopicSelector
	Where  Where
}

// PlanRow is what a reset would do to one partition.
type PlanRow struct {
	TopicPartition
	From        int64 // what is committed now; Unknown: nothing
	To          int64 // what will be; Unknown: the commit is taken away (undo of a new one)
	Change      Count // records to be read again (negative) or skipped (positive); CountNone for a new commit
	Note        string
	First       *Record // the first record that will be read; nil at the log end
	LeaderEpoch int32   // stored with To
	Metadata    string  // stored with To
	// FromEpoch, FromMetadata are kept for undo.
	FromEpoch    int32
	FromMetadata string
	Excluded     bool // taken out by hand: not applied
}

// ResetPlan is a computed reset. It is a value: what is applied is exactly this.
type ResetPlan struct {
	Group string
	Where string // in words, for the journal
	Made  int64  // ms
	Rows  []PlanRow
	// Refused says why the plan cannot be applied now; "" means that it can.
	Refused string
	// UndoOf is the journal entry that this plan takes back; 0 for none.
	UndoOf uint64
}

// Changes returns how many rows would change something.
func (p *ResetPlan) Changes() int {
	n := 0
	for i := range p.Rows {
		if r := &p.Rows[i]; !r.Excluded && r.From != r.To {
			n++
		}
	}
	return n
}

// ResetResult is what an applied plan left in the store, read back.
type ResetResult struct {
	Journal uint64 // number of the journal entry
	Rows    []ResetRow
}

// ResetRow is one partition read back after a reset.
type ResetRow struct {
	TopicPartition
	Stored int64 // Unknown: no commit
	OK     bool  // as planned
}

// JournalEntry is a reset that was made.
type JournalEntry struct {
	ID     uint64
	Group  string
	At     int64  // ms
	Who    string // user@host
	Where  string
	Rows   []PlanRow
	UndoOf uint64 // the entry that this one took back; 0 for none
	Undone uint64 // the entry that took this one back; 0 for none
}

package page

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
)

// Page is one screen. Every method runs on the UI goroutine.
type Page interface {
	// Title is the page's name within the breadcrumb, one or two words: "topics", "lookup". It must be safe.
	Title() string
	Init() tea.Cmd
	// Update takes results, changes and, while text is typed, keys. It never waits.
	Update(msg tea.Msg) tea.Cmd
	View(w, h int) string // at most h lines of at most w cells; changes nothing
	Commands() []Command  // keys, help and actions in one table
	Close()               // stops all that the page started
}

// Env is what the root hands to each page.
type Env struct {
	Ctx      context.Context // ends after the page's Close
	Src      model.Source    // its abilities are found by assertion
	Theme    *kit.Theme      // changed in place by the root; keep the pointer
	Clock    *kit.Clock      // likewise
	Now      func() time.Time
	Settings *Settings
	// Recall returns what an earlier Remember of this kind of page stored; "" for nothing. It may be nil.
	Recall func(key string) string
}

// Remembered is Recall that may be absent.
func (e Env) Remembered(key string) string {
	if e.Recall == nil {
		return ""
	}
	return e.Recall(key)
}

// Settings are the switches of the whole program. The root owns them; pages read them.
type Settings struct {
	Internal bool // show internal topics and groups
}

// Kind names a screen.
type Kind string

// The screens.
const (
	Topics       Kind = "topics"
	Partitions   Kind = "partitions"   // Addr.Topic
	Segments     Kind = "segments"     // Addr: a partition
	Batches      Kind = "batches"      // Addr: a segment, or with Offset or Position the batch to begin at
	Index        Kind = "index"        // Addr: a segment; Args.Index
	Lookup       Kind = "lookup"       // Addr: a partition; with Offset or Args.Time what to look up
	Check        Kind = "check"        // Addr: what to check; the zero address is everything
	Overview     Kind = "overview"     // what a log directory is
	Disk         Kind = "disk"         // who takes the space
	Records      Kind = "records"      // Addr: a topic or a partition; with Offset or Args.Time where to begin
	Record       Kind = "record"       // Addr: a record
	Tail         Kind = "tail"         // Addr.Topic or a partition, or Args.Topics
	Search       Kind = "search"       // Addr: a topic or a partition, or Args.Topics; Args.Pattern
	Groups       Kind = "groups"       // with Addr.Topic only the groups that read it
	Group        Kind = "group"        // Addr.Group
	Reset        Kind = "reset"        // Addr.Group, with Addr.Topic only this topic; or Args.Undo
	Journal      Kind = "journal"      // with Addr.Group only its entries
	Clients      Kind = "clients"      // who is connected
	Transactions Kind = "transactions" // open and ended ones; with Addr.Topic only those that touch it
	Delivery     Kind = "delivery"     // what at most once, at least once and exactly once mean
	Brokers      Kind = "brokers"      // the nodes of a cluster
	Access       Kind = "access"       // who may do what, and how much
	Subjects     Kind = "subjects"     // of a schema registry
	Produce      Kind = "produce"      // Addr: a topic or a partition; Args.Record to begin with
	Create       Kind = "create"       // a new topic
	Alter        Kind = "alter"        // Addr.Topic: its configs and its number of partitions
	Delete       Kind = "delete"       // Addr.Topic: deletion of a topic
	Truncate     Kind = "truncate"     // Addr: a partition, with Offset the first record to stay
)

// Args are what a screen may be told beside its address. The zero Args say nothing.
type Args struct {
	Topics     []string
	Partitions []model.TopicPartition
	Index      model.IndexKind
	Pattern    string // as it is typed: text, or an expression between slashes
	Time       int64  // ms; 0 for none
	Undo       uint64 // the journal entry to be taken back
	Record     *model.Record
}

// Constructor makes a page. The registry of the root holds one for each Kind.
type Constructor func(env Env, o Open) Page

// The abilities of pages, found by assertion.
type (
	// Filterer is narrowed by what is typed after /. The root holds the input and calls SetFilter as it is typed; an
	// empty filter shows all.
	Filterer interface {
		Filter() string
		SetFilter(text string) tea.Cmd
	}
	// Addressed has an address, which the breadcrumb shows, the state file keeps and y on the breadcrumb copies.
	Addressed interface{ Address() model.Address }
	// Stater has something to say at the right of the status line: "live · 7 segments", "5 of 5 topics".
	Stater interface{ Status() string }
	// Busier is waiting for an answer; the root shows a spinner when that takes longer than 150 ms.
	Busier interface{ Busy() bool }
	// Mouser takes mouse events; without it the wheel moves by the page's own up and down keys.
	Mouser interface{ Mouse(m Mouse) tea.Cmd }
	// Typer has an input focused: letters go to Update, not to Commands. Keys that type nothing (enter, esc, tab, ctrl-s,
	// up, down) still go through Commands first.
	Typer interface{ TakesText() bool }
	// Focused names the topics on screen, which the source watches more closely. Nil means the list of all.
	Focused interface{ Focus() []string }
)

// Able reports whether a source has an ability: Able[model.Tailer](p.Src).
func Able[T any](src model.Source) bool {
	_, ok := src.(T)
	return ok
}

// ShowsBatches reports whether a source shows batches, those of its files or those that brokers tell of.
func ShowsBatches(src model.Source) bool {
	return Able[model.SegmentReader](src) || Able[model.BatchLister](src)
}

// NoFiles returns why a source shows no files: why, and of a cluster, which never does, what is near instead.
func NoFiles(src model.Source, why, near string) string {
	if Able[model.BrokerReader](src) {
		return "a cluster shows no files: " + near
	}
	return why
}

// MouseKind is what a mouse did.
type MouseKind int8

// The kinds of mouse events.
const (
	Click MouseKind = iota
	DoubleClick
	WheelUp
	WheelDown
)

// Mouse is an event at a cell of the page's View, counted from 0.
type Mouse struct {
	Kind MouseKind
	X, Y int
}

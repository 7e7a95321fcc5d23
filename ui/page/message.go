package page

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
)

// Request is a message from a page to the root. No page's Update sees one.
type Request interface{ request() }

// Open asks for another page on top of this one.
type Open struct {
	Kind Kind
	Addr model.Address // model.TopicAddress(""), or the zero value, for none
	Args Args
	// Replace puts the page in this one's place instead of on top of it.
	Replace bool
}

// Back asks for the page below.
type Back struct{}

// Level is the weight of a notice.
type Level int8

// The levels. Bad stays until a key is pressed.
const (
	Info Level = iota
	Good
	Warn
	Bad
)

// Notice is a word on the status line. The root makes Text safe.
type Notice struct {
	Text  string
	Level Level
}

// Confirm asks a question. The answer comes to the page as Confirmed with the same ID.
type Confirm struct {
	ID    string
	Title string   // the question: "delete topic orders?"
	Body  []string // what will happen, one line each
	// Typed, when not empty, must be typed in full; else y or n answers. Deletion always wants a typed name.
	Typed string
}

// Confirmed answers a Confirm.
type Confirmed struct {
	ID string
	OK bool
}

// Ask asks for one line. The answer comes as Answered with the same ID; a page that cannot use it asks again with Err.
type Ask struct {
	ID      string
	Prompt  string   // "offset or time"
	Initial string   // what stands in the line
	Hint    string   // the forms that are understood
	Err     string   // why the last answer would not do
	Choices []string // completed with tab
}

// Answered answers an Ask.
type Answered struct {
	ID   string
	Text string
	OK   bool // false: left with esc
}

// Pager shows text in $PAGER.
type Pager struct{ Text string }

// Edit lets text be changed in $EDITOR. The answer comes as Edited with the same ID.
type Edit struct {
	ID   string
	Text string
	Ext  string // of the temporary file: ".json"
}

// Edited answers an Edit.
type Edited struct {
	ID   string
	Text string
	Err  error
}

// Copy puts text as it is on the terminal's clipboard (OSC 52). What says what it is: "value of orders/2@17".
type Copy struct{ Text, What string }

// Remember keeps a word for the next page of the same kind and the next start of the program; Env.Recall returns it.
type Remember struct{ Key, Value string }

// Switch changes the settings of the whole program.
type Switch struct{ Internal bool }

// TickIn asks the root for a Tick. The page gives ID to know its own.
type TickIn struct {
	After time.Duration
	ID    string
}

// Tick answers a TickIn. It comes to the page that asked, also while it is covered; it does not come after Close.
type Tick struct{ ID string }

// Later asks the root to run a command that may wait for long, as for the next record of a tail. Tests of pages hold
// it back. Its message comes to the page.
type Later struct{ Cmd tea.Cmd }

// Redraw asks for a new frame; it carries nothing.
type Redraw struct{}

// Changed tells pages that the theme, the clock's form or the settings are others.
type Changed struct{}

// Shown tells a page that it is on top again; a model.Change with all that it missed follows when there was any.
type Shown struct{}

func (Open) request()     {}
func (Back) request()     {}
func (Notice) request()   {}
func (Confirm) request()  {}
func (Ask) request()      {}
func (Pager) request()    {}
func (Edit) request()     {}
func (Copy) request()     {}
func (Remember) request() {}
func (Switch) request()   {}
func (TickIn) request()   {}
func (Later) request()    {}
func (Redraw) request()   {}

// Send returns a command that sends one message: Send(page.Back{}).
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Say returns a command that sends a notice.
func Say(level Level, text string) tea.Cmd { return Send(Notice{Text: text, Level: level}) }

// Goto returns a command that opens a page.
func Goto(kind Kind, addr model.Address) tea.Cmd { return Send(Open{Kind: kind, Addr: addr}) }

// Package page is the contract between the root program and its pages: what a page is (Page), what its keys are
// (Command), how it asks and is answered off the UI goroutine (Slot, Stream), and what it may want of the root (Request).
//
// # How to write a page
//
// One package below ui/pages, which imports model, ui/page and ui/kit and no other page. Its type is not exported; New
// is, with the signature of Constructor:
//
//	// Package journal lists the resets that were made.
//	package journal
//
//	// lister is what this page needs of a source.
//	type lister interface {
//		Journal(ctx context.Context) ([]model.JournalEntry, error)
//	}
//
//	type journal struct {
//		page.Env
//		src   lister // nil: the source cannot do it
//		load  page.Slot[[]model.JournalEntry]
//		table kit.Table
//		rows  []model.JournalEntry
//		err   error
//	}
//
//	// New makes the page.
//	func New(env page.Env, o page.Open) page.Page {
//		p := &journal{Env: env}
//		p.src, _ = env.Src.(lister)
//		p.table = kit.Table{Columns: []kit.Column{{Name: "TIME"}, {Name: "GROUP", Grow: true, Min: 8}, {Name: "WHO", Drop: 1}}}
//		p.table.Theme = env.Theme
//		p.table.KeyOf = func(i int64) string { return strconv.FormatUint(p.rows[i].ID, 10) }
//		return p
//	}
//
//	func (p *journal) Title() string { return "journal" }
//	func (p *journal) Init() tea.Cmd { return p.reload() }
//	func (p *journal) Close()        { p.load.Cancel() }
//	func (p *journal) Busy() bool    { return p.load.Slow() }
//
//	func (p *journal) reload() tea.Cmd {
//		if p.src == nil {
//			return nil
//		}
//		return p.load.Start(p.Ctx, p.src.Journal)
//	}
//
//	func (p *journal) Update(msg tea.Msg) tea.Cmd {
//		switch msg := msg.(type) {
//		case page.Result[[]model.JournalEntry]:
//			if p.load.Owns(msg) {
//				p.rows, p.err = msg.Val, msg.Err
//				p.table.SetLen(int64(len(p.rows))) // the cursor stays on its entry
//			}
//		case model.Change:
//			if msg.Groups || msg.All {
//				return p.reload()
//			}
//		}
//		return nil
//	}
//
//	func (p *journal) Commands() []page.Command {
//		return append([]page.Command{
//			{Key: page.Bind("enter l right", "undo"), Off: p.whyNoUndo, Run: p.undo},
//		}, page.ListCommands(&p.table.VList, nil)...)
//	}
//
//	func (p *journal) View(w, h int) string {
//		switch {
//		case p.err != nil:
//			return kit.Problem(p.Theme, w, h, p.err.Error(), "r reads it again")
//		case len(p.rows) == 0:
//			return kit.Empty(p.Theme, w, h, "no reset was made yet", "R on a group's page plans one")
//		}
//		return p.table.View(w, h, func(i int64) kit.Row {
//			e := &p.rows[i]
//			return kit.Row{Cells: []kit.Cell{
//				{Text: p.Clock.Stamp(e.At)},
//				{Spans: p.Theme.SafeSpans(kit.Style{}, e.Group, 128)}, // from outside: always made safe
//				{Text: kit.Safe(e.Who, 64), Style: p.Theme.Dim},
//			}}
//		})
//	}
//
// Then add a line for it to the table in ui/registry.go:
//
//	page.Journal: journal.New,
//
// Go to other pages with page.Goto(page.Group, addr) or page.Send(page.Open{…}); the root knows who that is.
//
// # Rules
//
//   - The func that a Slot or a Stream runs is on a goroutine of its own: copy what it needs of the page into variables
//     before (tp := p.tp), and hand it nothing that the page changes later.
//   - A late error must not replace what is on screen: keep the rows, and say the error in Status (WithFault) or in a line.
//   - A filter makes the rows anew through the list's Rearrange, an order is kept by SortText: so all lists answer alike.
//   - The root owns the keys esc h (back), q, ?, :, /, 1…9, ., z, m, ctrl-c, ctrl-z, ctrl-l. A page's own row goes first,
//     so it may take / or . or h where they mean something better there; it must leave q, ?, :, ctrl-c and ctrl-z alone.
//   - / works by itself where the page is a Filterer.
//   - The first six or so rows that are not Quiet make the keys line: put what matters first.
//   - Deleting and moving offsets: a plan, shown, then page.Confirm (deletion: with Typed), then that same plan.
//   - Forms are Typers while an input has the focus; letters come to Update then, and ctrl-s, enter, tab, esc through
//     Commands.
//   - A model.Change comes at most twenty times a second and only while the page is on top; what happened under a cover
//     comes merged when it is uncovered.
//   - What waits without an end (Tail.Wait) is started as page.Send(page.Later{Cmd: slot.Start(…)}).
//
// # Tests
//
// See ui/uitest: Drive runs commands in line and returns the requests to the root, Press presses keys by name, Golden
// compares with testdata, Fits draws all sizes, Keys checks the table.
//
// # Why
//
//   - Commands are data, so that keys line, overlay, README and dispatcher cannot disagree.
//   - Requests carry an ID instead of a func, so that messages are values that tests can compare.
//   - Timers are asked of the root (TickIn), so that tests send ticks and never sleep.
//   - A Stream gathers for 40 ms, because each message costs a frame.
package page

package reset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/page"
)

// maxFile is how large a file of offsets may be, bytes.
const maxFile = 16 << 20

// place is a way of saying where to.
type place struct {
	word  string
	kind  model.WhereKind
	needs bool   // a text
	noun  string // what is typed
	hint  string // of the text, or what the place means
}

// likeGroup is the number of the place that is completed with groups.
const likeGroup = 6

// places are the ways, in the order of model.WhereKind.
var places = [...]place{
	{"earliest", model.ToEarliest, false, "", "the log start of each partition: all that is still there is read again"},
	{"latest", model.ToLatest, false, "", "the log end of each partition: only what is written from now on is read"},
	{"offset", model.ToOffset, true, "an offset", "an offset, the same in each partition: 1204332"},
	{"time", model.ToTime, true, "a time", "2026-11-30 09:00, 2026-11-30T09:00:00Z, @1796030400000"},
	{"ago", model.ToAgo, true, "a duration", "for how long to read again: 15m, 2h30m, 7d"},
	{"shift", model.ToShift, true, "by how many", "by how many offsets: -100 to go back, +100 to skip"},
	{"like group", model.ToGroup, true, "the name of a group", "the group whose offsets shall be taken over (tab completes)"},
	{"file", model.ToFile, true, "the name of a file", "a file of topic,partition,offset lines, as kafka-consumer-groups --export writes them"},
}

var errEmpty = errors.New("nothing typed yet")

// place returns what is chosen.
func (p *reset) place() place { return places[p.where.Chosen] }

// chosen reads what is chosen and typed. The rows of a file are not read yet. Errors are for the line below the choice;
// errEmpty is none that needs saying.
func (p *reset) chosen() (model.Where, error) {
	pl := p.place()
	if !pl.needs {
		return model.Where{Kind: pl.kind}, nil
	}
	text := strings.TrimSpace(p.inputs[p.where.Chosen].Value())
	if text == "" {
		return model.Where{}, errEmpty
	}
	switch pl.kind {
	case model.ToOffset:
		n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
		if err != nil || n < 0 {
			return model.Where{}, errors.New("an offset is a whole number from 0 on, like 1204332")
		}
		return model.Where{Kind: pl.kind, N: n}, nil
	case model.ToTime:
		ms, err := model.ParseTime(text, p.Now(), p.Clock.Location())
		return model.Where{Kind: pl.kind, Time: ms}, err
	case model.ToAgo:
		w, err := model.ParseWhere(text, p.Now(), p.Clock.Location())
		if err != nil || w.Kind != model.ToAgo {
			return w, errors.New("a duration has units: 90s, 15m, 2h30m, 7d")
		}
		return w, nil
	case model.ToShift:
		n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
		if err != nil {
			return model.Where{}, errors.New("a shift is a whole number: -100 goes back, +100 skips")
		}
		return model.Where{Kind: pl.kind, N: n}, nil
	case model.ToGroup:
		return model.Where{Kind: pl.kind, Group: text}, nil
	}
	return model.Where{Kind: model.ToFile, File: text}, nil
}

// readRows fills in the rows of a file.
func readRows(w model.Where) (model.Where, error) {
	if w.Kind != model.ToFile {
		return w, nil
	}
	name := w.File
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return w, fmt.Errorf("find the home directory: %w", err)
		}
		name = filepath.Join(home, rest)
	}
	f, err := os.Open(name)
	if err != nil {
		return w, err
	}
	defer func() { _ = f.Close() }() // only read
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return w, fmt.Errorf("%s is no file", w.File)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return w, err
	case len(b) > maxFile:
		return w, fmt.Errorf("%s is larger than %d bytes", w.File, maxFile)
	}
	if w.Rows, err = model.ParseOffsetRows(string(b)); err != nil {
		return w, fmt.Errorf("%s: %w", w.File, err)
	}
	return w, nil
}

// choose goes to another place and plans for it.
func (p *reset) choose(i int) tea.Cmd {
	if i == p.where.Chosen {
		return nil
	}
	p.where.Chosen = i
	p.typing = false
	p.changed()
	p.edits = map[model.TopicPartition]model.Where{}
	return p.replan()
}

// changed says that the plan on screen is not what is chosen any more.
func (p *reset) changed() {
	p.stale, p.refused, p.wrong, p.moved = true, "", "", nil
	p.seq++
	p.planning.Cancel()
}

func (p *reset) settleID() string { return settle + strconv.Itoa(p.seq) }

// typed takes a key of the text and plans a moment later.
func (p *reset) typed(k tea.KeyMsg) tea.Cmd {
	if !p.typing {
		return nil
	}
	in := &p.inputs[p.where.Chosen]
	was := in.Value()
	if !in.Update(k) || in.Value() == was {
		return nil
	}
	return p.retyped()
}

func (p *reset) retyped() tea.Cmd {
	p.changed()
	if _, err := p.chosen(); err != nil && !errors.Is(err, errEmpty) {
		p.wrong = err.Error()
	}
	return page.Send(page.TickIn{After: typingPause, ID: p.settleID()})
}

// readNames asks for the names that inputs are completed with.
func (p *reset) readNames() tea.Cmd {
	return p.naming.Start(p.Ctx, func(ctx context.Context) (names, error) {
		var n names
		groups, err := p.Src.Groups(ctx)
		if err != nil {
			return n, err
		}
		for i := range groups {
			if groups[i].ID != p.group {
				n.groups = append(n.groups, groups[i].ID)
			}
		}
		all, err := p.Src.Topics(ctx)
		for i := range all {
			if !all[i].Internal {
				n.topics = append(n.topics, all[i].Name)
			}
		}
		return n, err
	})
}

// editWhere reads the target of one row: all that a place may be but a file.
func editWhere(text string, now time.Time, loc *time.Location) (model.Where, error) {
	w, err := model.ParseWhere(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), now, loc)
	if err == nil && w.Kind == model.ToFile {
		return w, fmt.Errorf("%w: a file is for all rows", model.ErrInvalid)
	}
	return w, err
}

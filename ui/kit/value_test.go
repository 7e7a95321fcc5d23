package kit

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

func text(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func TestJSONShowsWhatWasWritten(t *testing.T) {
	x := JSON{}
	x.Theme = theme(t)
	in := `{"z":9223372036854775807,"a":188.50,"e":1E400,"s":"q\"\u202e` + "\u202e\x7f" + `","l":[true,null,{}],"z":[],"o":{"k":"v"}}`
	if !x.SetJSON([]byte(in)) {
		t.Fatal("not taken for JSON")
	}
	want := `
▌ ▾ {
      "z": 9223372036854775807,
      "a": 188.50,
      "e": 1E400,
      "s": "q\"\u202e\u{202e}␡",
    ▾ "l": [
        true,
        null,
        {}
      ],
      "z": [],
    ▾ "o": {
        "k": "v"
      }
    }`
	if got := text(x.View(60, 20)); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
	x.SetCursor(6) // true, within "l"
	x.Fold()
	want = `
  ▾ {
      "z": 9223372036854775807,
      "a": 188.50,
      "e": 1E400,
      "s": "q\"\u202e\u{202e}␡",
▌   ▸ "l": [ 3 ],
      "z": [],
    ▾ "o": {
        "k": "v"
      }
    }`
	if got := text(x.View(60, 20)); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("folded: got\n%s\nwant%s", got, want)
	}
	x.FoldAll()
	if got := text(x.View(60, 20)); !strings.Contains(got, "null") {
		t.Errorf("everything unfolded: %s", got)
	}
}

func TestJSONRefusesWhatItCannotShow(t *testing.T) {
	for name, in := range map[string]string{
		"empty": "", "text": "hello", "a number": "12", "a string": `"x"`, "broken": `{"a":`, "two": `{} {}`, "blanks": "  ",
		"deep": strings.Repeat("[", 500) + strings.Repeat("]", 500), "invalid UTF-8 outside": "{\xff}",
	} {
		x := JSON{}
		x.Theme = theme(t)
		if x.SetJSON([]byte(in)) {
			t.Errorf("%s: taken", name)
		}
		_ = x.View(20, 5)
		x.Fold()
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}],"c":"\u001b\\"}`, `[[[]],{}]`, ` [ 1 , 2 ] `, "{\"\xff\":\"\xff\"}", `{"a":{"a":{"a":1}}}`} {
		f.Add([]byte(s), uint8(0))
	}
	th, _ := NewTheme("dark", false)
	f.Fuzz(func(t *testing.T, b []byte, at uint8) {
		x := JSON{}
		x.Theme = th
		if !x.SetJSON(b) {
			return
		}
		for _, w := range []int{1, 9, 40} {
			for _, do := range []func(){func() {}, func() { x.SetCursor(int64(at)) }, x.Fold, x.FoldAll, x.Fold} {
				do()
				for l := range strings.SplitSeq(x.View(w, 8), "\n") {
					if ansi.StringWidth(l) != w {
						t.Fatalf("%q at %d: a line of %d cells: %q", b, w, ansi.StringWidth(l), ansi.Strip(l))
					}
				}
			}
		}
	})
}

func TestHex(t *testing.T) {
	x := Hex{Theme: theme(t)}
	x.SetData([]byte("\x00\x01hello, \x1b[31m注文\xff the end of it"), 16_482)
	x.Light(2, 5)
	want := `
00004062  00 01 68 65 6c 6c 6f 2c  20 1b 5b 33 31 6d e6 b3   ··hello,  ·[31m··
00004072  a8 e6 96 87 ff 20 74 68  65 20 65 6e 64 20 6f 66   ····· th e end of
00004082  20 69 74                                            it`
	if got := text(x.View(80, 4)); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
	if got := strings.Count(x.View(80, 4), x.Theme.Lit.On); got != 5+4+5 {
		t.Errorf("%d lit pieces, want the 5 bytes, the 4 gaps, the 5 letters", got)
	}
	for _, w := range []int{1, 10, 20, 30, 45, 77, 78, 120} {
		for l := range strings.SplitSeq(x.View(w, 3), "\n") {
			if ansi.StringWidth(l) != w {
				t.Errorf("at %d: a line of %d cells", w, ansi.StringWidth(l))
			}
		}
	}
	x.SetData(make([]byte, 10_000), 0)
	x.Light(9000, 4)
	x.View(80, 10)
	if row := int64(9000 / x.perRow); x.Top() > row || x.Top()+10 <= row {
		t.Errorf("lit bytes in row %d, screen from row %d", row, x.Top())
	}
}

func TestTextWrapsAndEscapes(t *testing.T) {
	x := Text{Theme: theme(t)}
	x.SetText("first\r\n\tsecond \x1b[2J\n注文注文注文" + strings.Repeat("x", 20))
	want := "first\n    second\n ␛[2J\n注文注文注\n文xxxxxxxx\nxxxxxxxxxx\nxx"
	if got := text(x.View(10, 10)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	x.SetText(strings.Repeat("y\n", maxText))
	x.End()
	x.View(20, 5)
	x.End()
	if got := text(x.View(40, 5)); !strings.Contains(got, "MiB more") {
		t.Errorf("the cut is not said: %s", got)
	}
}

func key(name string) tea.KeyMsg {
	switch name {
	case "left":
		return tea.KeyMsg{Type: tea.KeyLeft}
	case "home":
		return tea.KeyMsg{Type: tea.KeyHome}
	case "backspace":
		return tea.KeyMsg{Type: tea.KeyBackspace}
	case "ctrl+w":
		return tea.KeyMsg{Type: tea.KeyCtrlW}
	case "ctrl+k":
		return tea.KeyMsg{Type: tea.KeyCtrlK}
	case "ctrl+n":
		return tea.KeyMsg{Type: tea.KeyCtrlN}
	case "enter":
		return tea.KeyMsg{Type: tea.KeyEnter}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func TestInput(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"typed":            {[]string{"注", "文", "x"}, "注文x"},
		"in the middle":    {[]string{"a", "c", "left", "b"}, "abc"},
		"backspace":        {[]string{"a", "b", "backspace"}, "a"},
		"nothing to erase": {[]string{"backspace", "a"}, "a"},
		"word":             {[]string{"one two ", "ctrl+w"}, "one "},
		"rest":             {[]string{"abc", "home", "ctrl+k", "z"}, "z"},
		"paste of lines":   {[]string{"first\nsecond"}, "first"},
	} {
		t.Run(name, func(t *testing.T) {
			var in Input
			for _, k := range tc.keys {
				in.Update(key(k))
			}
			if in.Value() != tc.want {
				t.Errorf("%q, want %q", in.Value(), tc.want)
			}
			for w := range 12 {
				if got := ansi.StringWidth(in.View(theme(t), w, true)); got != w {
					t.Errorf("view at %d takes %d cells", w, got)
				}
			}
		})
	}
	in := NewInput("la")
	in.Choices = []string{"earliest", "latest", "last"}
	if in.Complete(); in.Value() != "latest" {
		t.Errorf("completed to %q", in.Value())
	}
	if in.Update(key("enter")) {
		t.Error("an input takes enter")
	}
	evil := NewInput("\x1b[2J\u202e")
	if got := text(evil.View(theme(t), 30, true)); got != `␛[2J\u{202e}` {
		t.Errorf("drawn as %q", got)
	}
}

func TestForm(t *testing.T) {
	f := Form{Theme: theme(t), Fields: []Field{
		{Label: "name", Input: NewInput("orders")},
		{Label: "hidden", Hidden: true},
		{Label: "acks", Choice: &Choice{Options: []string{"0", "1", "all"}, Chosen: 2}, Hint: "what to wait for"},
		{Label: "value", Nullable: true, Null: true},
	}}
	if f.Next(1); f.Focus != 2 {
		t.Fatalf("focus %d", f.Focus)
	}
	f.Update(key("left"))
	f.Field("name").Err = "it exists already"
	want := "  name    orders\n          ✗ it exists already\n▌ acks    │ 0 │ 1 │ all │\n          what to wait for\n  value   ∅ null"
	if got := text(f.View(40, 8)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if i, ok := f.FieldAt(4); !ok || i != 3 {
		t.Errorf("line 4 is field %d", i)
	}
	f.Next(1)
	f.Update(key("x"))
	if v := f.Field("value"); v.Null || v.Value() != "x" {
		t.Errorf("value is %+v", v)
	}
	f.Update(key("ctrl+n"))
	if !f.Field("value").Null {
		t.Error("ctrl-n does not turn null")
	}
	for w := range 50 {
		for l := range strings.SplitSeq(f.View(w, 3), "\n") {
			if ansi.StringWidth(l) != w {
				t.Fatalf("at %d: a line of %d cells", w, ansi.StringWidth(l))
			}
		}
	}
}

func TestChoiceShowsTheChosenWhereNotAllFit(t *testing.T) {
	c := Choice{Options: []string{"earliest", "latest", "offset", "time", "ago", "shift", "like group", "file"}}
	for i := range c.Options {
		c.Chosen = i
		for _, w := range []int{14, 30, 60, 100} {
			v := text(c.View(theme(t), w, true))
			if !strings.Contains(v, c.Options[i]) || ansi.StringWidth(v) > w {
				t.Errorf("%s at %d: %q", c.Options[i], w, v)
			}
		}
	}
	if i, ok := c.OptionAt(2, 100); !ok || i != 0 {
		t.Errorf("click on the first: %d %v", i, ok)
	}
}

func TestValuesTakeTheColoursOfAnotherTheme(t *testing.T) {
	theme, err := NewTheme("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	var j JSON
	j.Theme = theme
	if !j.SetJSON([]byte(`{"a":[1,2]}`)) {
		t.Fatal("no JSON")
	}
	x := Text{Theme: theme}
	x.SetText("a\x1bb")
	light, err := NewTheme("light", false)
	if err != nil {
		t.Fatal(err)
	}
	for name, view := range map[string]func() string{
		"JSON": func() string { return j.View(40, 5) },
		"text": func() string { return x.View(40, 5) },
	} {
		*theme = *rgbTheme("dark", darkPalette(), TrueColor)
		theme.Glyphs = unicodeGlyphs()
		was := view()
		*theme = *light // in place, as the root does it
		if view() == was {
			t.Errorf("%s keeps the colours of the theme before", name)
		}
	}
}

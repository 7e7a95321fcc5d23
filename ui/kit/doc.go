// Package kit holds the widgets of the screens. It knows nothing of Kafka and does no I/O; all of it runs on the UI
// goroutine.
//
//	Safe           any bytes from outside → text that a terminal cannot be hurt by
//	Width Cut Pad  cells, by the one width function
//	Style Theme    colours as pairs of SGR constants, made once; Glyphs beside them
//	Line           builds one line of known width out of styled pieces
//	VList          a cursor and a window over Len rows that need not be in memory
//	Table          a VList with columns: widen but never shrink, drop in a stated order
//	Hex JSON Text  views of a value's bytes
//	Input Form     what is typed
//	Number Bytes   figures; Clock: times in the one zone and form that the whole program shows
//
// # Styles
//
// A Style's Off undoes what its On did and nothing else, so that a row's background runs through under all its cells:
//
//	[bg on] [fg on]orders[fg off]  [fg on]12[fg off] GiB [bg off]
//
// # Order of work for one cell
//
//	bound (bytes) → Safe → Cut (cells) → Pad → Style
//
// # Why
//
//   - No lipgloss for cells: forty rows of five cells cost 0.7 ms with it, 0.02 ms with constants.
//   - Escape, do not strip: the operator must see that a record holds ESC.
//   - One width function (x/ansi): the renderer and the emulator in the tests count by it as well.
//   - A list keeps the thing under its cursor by key, because rows move while data streams in.
//   - Widths remembered from frame to frame are the only thing that a View changes; they decide looks alone.
package kit

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// readOptions are the flags of read and tail.
type readOptions struct {
	from, to  string
	limit     int64
	follow    bool
	committed bool
	control   bool
	grep      string
	format    string
}

func (o *readOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.committed, "committed", false, "leave aborted and undecided records out")
	f.BoolVar(&o.control, "control", false, "print control records too")
	f.StringVar(&o.grep, "grep", "", "only records whose key, value or a header matches this regular expression")
	f.StringVarP(&o.format, "format", "f", "", "print by a format: %t %p %o %k %s %h %T %S %K, \\n \\t")
	f.Int64Var(&o.limit, "limit", 0, "stop after so many records (0: no limit)")
}

func (a *app) readCmd() *cobra.Command {
	var o readOptions
	c := &cobra.Command{
		Use:   "read TOPIC[/P]",
		Short: "records of a topic or partition",
		Long: `Records of a topic, one partition after the other, or of one partition.

--from and --to take an offset, a time (RFC 3339, @unix-ms, "2026-11-30 09:00", or a duration ago like 2h30m),
earliest or latest; --from also takes -N, the last N of each partition, and TOPIC/P@OFFSET says the same as --from OFFSET.
--to is not included.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			word, arg := a.fileOr(args[0])
			return a.withSource(c, word, Look, DirOptions{Still: !o.follow}, func(ctx context.Context, src model.Source) error { return a.read(ctx, src, arg, o) })
		},
	}
	o.flags(c)
	c.Flags().StringVar(&o.from, "from", "earliest", "where to begin")
	c.Flags().StringVar(&o.to, "to", "latest", "where to end")
	c.Flags().BoolVar(&o.follow, "follow", false, "go on with what is appended")
	return c
}

func (a *app) tailCmd() *cobra.Command {
	o := readOptions{from: "latest", to: "latest", follow: true}
	c := &cobra.Command{
		Use:   "tail TOPIC…",
		Short: "read --follow --from latest, of one or more topics",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withSource(c, a.opts.source, Look, DirOptions{}, func(ctx context.Context, src model.Source) error {
				var spans []span
				for _, arg := range args {
					s, err := a.spans(ctx, src, arg, o)
					if err != nil {
						return err
					}
					spans = append(spans, s...)
				}
				out, err := a.newPrinter(o)
				if err != nil {
					return err
				}
				return out.done(a.follow(ctx, src, out, topics(args), spans, o))
			})
		},
	}
	o.flags(c)
	return c
}

// topics returns the arguments that name whole topics, whose later partitions are followed too.
func topics(args []string) []string {
	var ts []string
	for _, arg := range args {
		if !strings.Contains(arg, "/") {
			ts = append(ts, arg)
		}
	}
	return ts
}

// span is a range of offsets in a partition; to is not included.
type span struct {
	tp       model.TopicPartition
	from, to int64
}

// errLimit ends a read whose limit is reached.
var errLimit = errors.New("limit reached")

func (a *app) read(ctx context.Context, src model.Source, arg string, o readOptions) error {
	if arg == "" {
		var err error
		if arg, err = theFile(src); err != nil {
			return err
		}
	}
	spans, err := a.spans(ctx, src, arg, o)
	if err != nil {
		return err
	}
	out, err := a.newPrinter(o)
	if err != nil {
		return err
	}
	err = a.readSpans(ctx, src, out, spans, o)
	if err == nil && o.follow {
		err = a.follow(ctx, src, out, topics([]string{arg}), spans, o)
	}
	err = out.done(err)
	if err == nil && o.grep != "" && out.n == 0 {
		a.code = exitWrong
	}
	return err
}

func (a *app) readSpans(ctx context.Context, src model.Source, out *printer, spans []span, o readOptions) error {
	if searcher, ok := src.(model.Searcher); ok && o.grep != "" {
		return a.grep(ctx, searcher, out, spans, o)
	}
	for _, s := range spans {
		if err := a.readSpan(ctx, src, out, s, o); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) readSpan(ctx context.Context, src model.Source, out *printer, s span, o readOptions) error {
	for from := s.from; from < s.to; {
		page, err := src.Records(ctx, model.RecordQuery{TP: s.tp, From: from, Max: 2000, MaxBytes: 8 << 20, Committed: o.committed, Control: o.control})
		if err != nil && !a.unreadable(ctx, err) {
			return err
		}
		a.faults(page.Faults)
		for i := range page.Records {
			if page.Records[i].Offset >= s.to {
				return nil
			}
			if err := out.print(&page.Records[i]); err != nil {
				return err
			}
		}
		if err != nil {
			// What lies before the file has been printed; go on behind it.
			if from = behind(ctx, src, s.tp, max(from, page.Next)); from < 0 {
				return err
			}
			a.trouble(err)
			continue
		}
		if page.AtEnd || page.Next <= from {
			return nil
		}
		from = page.Next
	}
	return nil
}

// behind returns the base offset of the first segment that begins behind an offset, or model.Unknown.
func behind(ctx context.Context, src model.Source, tp model.TopicPartition, offset int64) int64 {
	next := model.Unknown
	reader, ok := src.(model.SegmentReader)
	if !ok {
		return next
	}
	segs, err := reader.Segments(ctx, tp)
	if err != nil {
		return next
	}
	for i := range segs {
		if b := segs[i].Base; b > offset && (next < 0 || b < next) {
			next = b
		}
	}
	return next
}

// faults tells of damage met while reading, and of what is sound but was not read; what is around it has been read.
func (a *app) faults(fs []model.Fault) {
	for _, f := range fs {
		if f.Severity == model.SevDamage || f.Severity == model.SevWarning && f.Kind == "length" {
			a.code = exitWrong
			a.warn(faultText(&f))
		}
	}
}

func (a *app) grep(ctx context.Context, searcher model.Searcher, out *printer, spans []span, o readOptions) error {
	q := model.SearchQuery{Pattern: o.grep, Regexp: true, Committed: o.committed, Control: o.control, MaxHits: math.MaxInt}
	for _, s := range spans {
		q.Partitions, q.From, q.To = append(q.Partitions, s.tp), append(q.From, s.from), append(q.To, s.to)
	}
	var perr error
	end, err := searcher.Search(ctx, q, func(e model.SearchEvent) bool {
		if e.Hit != nil {
			perr = out.print(e.Hit)
		}
		return perr == nil
	})
	a.faults(end.Faults)
	if perr != nil {
		return perr
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// follow goes on where the spans end.
func (a *app) follow(ctx context.Context, src model.Source, out *printer, whole []string, spans []span, o readOptions) error {
	tailer, err := ability[model.Tailer](src, "follow a topic")
	if err != nil {
		return err
	}
	q := model.TailQuery{Topics: whole, Pattern: o.grep, Regexp: o.grep != "", Committed: o.committed, Block: true}
	for _, s := range spans {
		q.Partitions, q.From = append(q.Partitions, s.tp), append(q.From, s.to)
	}
	tail, err := tailer.Tail(ctx, q)
	if err != nil {
		return err
	}
	err = a.pump(ctx, tail, out)
	if cerr := tail.Close(); cerr != nil {
		return cerr
	}
	return err
}

// pump prints a tail's records, each once and in order, and tells what goes wrong, until ctx ends, the limit is reached,
// or the tail is closed: it never returns nil.
func (a *app) pump(ctx context.Context, tail model.Tail, out *printer) error {
	told := ""
	for next := int64(0); ; {
		st := tail.Stats()
		if st.Err != nil && st.Err.Error() != told {
			told = st.Err.Error()
			a.trouble(st.Err)
		}
		for next < st.Matched {
			n := min(st.Matched-next, 1000)
			rs, first := tail.Window(next+n, int(n))
			if len(rs) == 0 {
				break
			}
			for i := range rs {
				if first+int64(i) < next {
					continue
				}
				if err := out.print(&rs[i]); err != nil {
					return err
				}
			}
			next = first + int64(len(rs))
			tail.Release(next)
		}
		if err := out.w.Flush(); err != nil {
			return err
		}
		if err := tail.Wait(ctx, st.Matched); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// printer prints records in the form asked for.
type printer struct {
	a      *app
	w      *bufio.Writer
	format format
	grep   *regexp.Regexp
	limit  int64
	n      int64
	o      object
	b      []byte
}

func (a *app) newPrinter(o readOptions) (*printer, error) {
	p := &printer{a: a, w: a.out, limit: o.limit}
	var err error
	if o.format != "" {
		if p.format, err = parseFormat(o.format); err != nil {
			return nil, err
		}
	}
	if o.grep != "" {
		if p.grep, err = regexp.Compile(o.grep); err != nil {
			return nil, fmt.Errorf("--grep: %w", err)
		}
	}
	return p, nil
}

// print prints a record, or returns errLimit when the limit is reached. A record that the pattern does not match is
// passed over: not every source searches by itself.
func (p *printer) print(r *model.Record) error {
	if p.grep != nil && !matches(p.grep, r) {
		return nil
	}
	var err error
	switch {
	case p.a.opts.json:
		_, err = p.w.Write(recordJSON(&p.o, r))
	case p.format != nil:
		p.b = p.format.append(p.b[:0], r, p.a.io.OutTTY)
		_, err = p.w.Write(p.b)
	default:
		p.b = p.a.recordLine(p.b[:0], r)
		_, err = p.w.Write(p.b)
	}
	if err != nil {
		return err
	}
	if p.n++; p.limit > 0 && p.n >= p.limit {
		return errLimit
	}
	return nil
}

func (p *printer) done(err error) error {
	if errors.Is(err, errLimit) {
		err = nil
	}
	if ferr := p.w.Flush(); err == nil {
		err = ferr
	}
	return err
}

func matches(re *regexp.Regexp, r *model.Record) bool {
	if re.Match(r.Key) || re.Match(r.Value) {
		return true
	}
	for _, h := range r.Headers {
		if re.MatchString(h.Name) || re.Match(h.Value) {
			return true
		}
	}
	return false
}

// spans turns an argument and --from, --to into ranges, one a partition.
func (a *app) spans(ctx context.Context, src model.Source, arg string, o readOptions) ([]span, error) {
	at, tps, err := resolveAt(ctx, src, arg)
	if err != nil {
		return nil, err
	}
	ps, err := src.Partitions(ctx, at.Topic)
	if err != nil {
		return nil, err
	}
	if at.Offset >= 0 {
		o.from = number(at.Offset)
	}
	within, err := segmentSpan(ctx, src, at)
	if err != nil {
		return nil, err
	}
	spans := make([]span, 0, len(tps))
	for _, tp := range tps {
		p, err := findPartition(ps, tp)
		if err != nil {
			return nil, err
		}
		if p.Err != nil {
			a.code = exitWrong
			a.warn(fmt.Sprintf("%s: %v", tp, p.Err))
		}
		s, err := a.span(ctx, src, p, within, o)
		if err != nil {
			return nil, err
		}
		spans = append(spans, s)
	}
	return spans, nil
}

// segmentSpan returns the offsets of the segment that an address names, or all where it names none.
func segmentSpan(ctx context.Context, src model.Source, at model.Address) (span, error) {
	all := span{to: math.MaxInt64}
	if at.Segment < 0 {
		return all, nil
	}
	reader, err := ability[model.SegmentReader](src, "see segments")
	if err != nil {
		return all, err
	}
	segs, err := reader.Segments(ctx, at.TP())
	if err != nil {
		return all, err
	}
	i := slices.IndexFunc(segs, func(s model.Segment) bool { return s.Base == at.Segment })
	if i < 0 {
		return all, fmt.Errorf("%w: %020d.log in %s", model.ErrNoSegment, at.Segment, at.TP())
	}
	return span{from: at.Segment, to: max(segs[i].Last, at.Segment-1) + 1}, nil
}

// span turns --from and --to into a range of a partition that lies in another.
func (a *app) span(ctx context.Context, src model.Source, p *model.Partition, within span, o readOptions) (span, error) {
	end := p.LogEnd
	if o.committed {
		end = p.LastStable
	}
	end = min(end, within.to)
	s := span{tp: p.TopicPartition, to: end}
	var err error
	if o.to != "latest" {
		if s.to, err = a.place(ctx, src, p, o.to, end); err != nil {
			return s, fmt.Errorf("--to: %w", err)
		}
		s.to = min(s.to, end)
	}
	if n, ok := lastN(o.from); ok {
		page, err := src.Records(ctx, model.RecordQuery{TP: s.tp, From: s.to, Max: n, Backward: true, Committed: o.committed, Control: o.control, ValueLimit: 1})
		if err != nil {
			return s, err
		}
		s.from = s.to
		if len(page.Records) > 0 {
			s.from = max(page.Records[0].Offset, within.from)
		}
		return s, nil
	}
	if s.from, err = a.place(ctx, src, p, o.from, end); err != nil {
		return s, fmt.Errorf("--from: %w", err)
	}
	s.from = max(s.from, p.LogStart, within.from)
	return s, nil
}

// lastN reads -N.
func lastN(s string) (int, bool) {
	if !strings.HasPrefix(s, "-") {
		return 0, false
	}
	n, err := strconv.Atoi(s[1:])
	return n, err == nil && n > 0
}

// place turns an offset, a time, earliest or latest into an offset of a partition.
func (a *app) place(ctx context.Context, src model.Source, p *model.Partition, word string, end int64) (int64, error) {
	switch word {
	case "earliest", "beginning":
		return p.LogStart, nil
	case "latest", "end":
		return end, nil
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	ms, err := model.ParseTime(word, a.now(), a.zone)
	if err != nil {
		return 0, fmt.Errorf("%w place %q: want an offset, a time, earliest, latest or a duration ago like 2h30m", model.ErrInvalid, word)
	}
	reader, err := ability[model.SegmentReader](src, "look a time up")
	if err != nil {
		return 0, err
	}
	res, err := reader.Lookup(ctx, p.TopicPartition, model.Target{ByTime: true, Time: ms})
	if err != nil {
		return 0, err
	}
	if !res.Found {
		return end, nil
	}
	return res.Offset, nil
}

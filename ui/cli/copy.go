package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// CopierOptions says how to copy.
type CopierOptions struct {
	From, To string // the sources, in words
	Journal  string // directory for what a resumed copy must know
}

// copyFlags are the flags of copy.
type copyFlags struct {
	apply, resume, allGroups, noConfigs, noVerify bool
	groups                                        []string
	rename                                        []string
}

func (a *app) copyCmd() *cobra.Command {
	var f copyFlags
	c := &cobra.Command{
		Use:   "copy FROM TO TOPIC…",
		Short: "records, configs and group offsets from one source to another, the same partitions and times",
		Long: `A plan to copy topics from one source to another: what a consumer of committed records is given, with its partitions, times,
keys and headers, and the topics' configs. Batches stay compressed as they are. It writes nothing without --apply.

FROM and TO are in the words of SOURCE: a log directory (FROM only), a cluster's HOST:PORT, a profile's name; and local, or a
single dot, for the embedded broker.

Offsets on the other side may be others, where the source has holes: those of groups (--groups, --all-groups) are translated.

What was copied is read back and compared. Where a copy is cut short, --resume goes on with it: no record is copied twice.`,
		Args: cobra.MinimumNArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			q, err := f.query(args[2:])
			if err != nil {
				return err
			}
			return a.copy(c.Context(), args[0], args[1], q, f.apply)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.apply, "apply", false, "apply the plan")
	fl.BoolVar(&f.resume, "resume", false, "go on with a copy that was cut short")
	fl.StringSliceVar(&f.groups, "groups", nil, "groups whose offsets are copied too, with commas")
	fl.BoolVar(&f.allGroups, "all-groups", false, "copy the offsets of all groups that have committed in these topics")
	fl.StringArrayVar(&f.rename, "rename", nil, "TOPIC=NAME: give a topic another name on the other side; again for more")
	fl.BoolVar(&f.noConfigs, "no-configs", false, "leave the topics' configs to the other side")
	fl.BoolVar(&f.noVerify, "no-verify", false, "do not read back and compare what was copied")
	return c
}

// query puts flags and topics together.
func (f *copyFlags) query(topics []string) (model.CopyQuery, error) {
	q := model.CopyQuery{Topics: topics, Configs: !f.noConfigs, Groups: f.groups, AllGroups: f.allGroups, Resume: f.resume, Unverified: f.noVerify,
		Rename: map[string]string{}}
	for _, r := range f.rename {
		from, to, ok := strings.Cut(r, "=")
		if !ok || from == "" || to == "" {
			return q, fmt.Errorf("%w: --rename %q: want TOPIC=NAME", model.ErrInvalid, r)
		}
		q.Rename[from] = to
	}
	for from := range q.Rename {
		if !contains(topics, from) {
			return q, fmt.Errorf("%w: --rename %s=%s: %s is not copied", model.ErrInvalid, from, q.Rename[from], from)
		}
	}
	return q, nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// side returns the word of a source that may be the embedded broker.
func side(word string) string {
	if word == "local" || word == "." {
		return ""
	}
	return word
}

// copy plans a copy and, if asked to, makes it.
func (a *app) copy(ctx context.Context, from, to string, q model.CopyQuery, apply bool) error {
	access := Look
	if apply {
		access = Write
		if side(to) == "" {
			access = Member
		}
	}
	o := DirOptions{Still: true}
	if q.AllGroups && side(from) == side(to) && len(q.Rename) == 0 {
		a.warn("FROM and TO are the same source")
	}
	return a.withPlain(ctx, side(from), Look, o, func(ctx context.Context, src model.Source) error {
		do := func(ctx context.Context, dst model.Source) error {
			c, err := a.eng.Copier(ctx, src, dst, CopierOptions{From: from, To: to, Journal: filepath.Join(xdg("XDG_STATE_HOME", ".local/state"), "strata")})
			if err != nil {
				return err
			}
			return errors.Join(a.copyWith(ctx, c, q, apply), c.Close())
		}
		if _, err := os.Stat(a.opts.data); side(to) == "" && !apply && errors.Is(err, os.ErrNotExist) {
			return do(ctx, nil) // there is nothing yet
		}
		return a.withPlain(ctx, side(to), access, o, do)
	})
}

// ClosingCopier is a Copier that has opened something of its own.
type ClosingCopier interface {
	model.Copier
	Close() error
}

func (a *app) copyWith(ctx context.Context, c model.Copier, q model.CopyQuery, apply bool) error {
	p, err := c.Plan(ctx, q)
	if err != nil {
		return err
	}
	if !apply || p.Refuse != "" {
		if err := a.printCopyPlan(&p); err != nil {
			return err
		}
	}
	if p.Refuse != "" {
		a.warn("refused: " + p.Refuse)
		a.code = exitWrong
		return nil
	}
	if !apply {
		a.warn("this is a plan; nothing was written. Add --apply to apply it")
		return nil
	}
	for i := range p.Topics {
		if n := p.Topics[i].Note; n != "" {
			a.warn(p.Topics[i].From + ": " + n)
		}
	}
	began := a.now()
	m := a.copyMeter()
	res, err := c.Apply(ctx, p, m.show)
	m.clear()
	took := a.now().Sub(began)
	if err != nil && len(res.Partitions) > 0 {
		a.warn(fmt.Sprintf("%d records are copied; the same with --resume goes on. Topics that were made have no retention until then", res.Before+res.Records))
	}
	if err == nil {
		err = a.printCopied(&res)
	}
	if err != nil {
		return err
	}
	a.copySaid(&res, q, took)
	return nil
}

// copySaid says on stderr what has come of a copy.
func (a *app) copySaid(res *model.CopyResult, q model.CopyQuery, took time.Duration) {
	for _, f := range res.Faults {
		a.warn("left out: " + faultText(&f))
	}
	for _, n := range res.Notes {
		a.warn(n)
	}
	differ := 0
	for i := range res.Partitions {
		if d := res.Partitions[i].Differ; d != "" {
			differ++
			a.warn(fmt.Sprintf("%s is not the same: %s", res.Partitions[i].To, d))
		}
	}
	for i := range res.Groups {
		if err := res.Groups[i].Err; err != nil {
			a.warn(fmt.Sprintf("group %q: %v", res.Groups[i].Group, err))
		}
	}
	if res.Bad() {
		a.code = exitWrong
	}
	s := fmt.Sprintf("%d records copied, %s in %s", res.Records, size(res.Bytes), took.Round(time.Millisecond))
	if res.Before > 0 {
		s += fmt.Sprintf("; %d were there", res.Before)
	}
	switch {
	case differ > 0:
		s += fmt.Sprintf("; %d partitions are not the same on both sides", differ)
	case q.Unverified:
		s += "; not read back"
	default:
		s += "; read back, and the same"
	}
	a.warn(s)
}

func (a *app) printCopyPlan(p *model.CopyPlan) error {
	if a.opts.json {
		var o object
		for i := range p.Topics {
			if _, err := a.out.Write(copyTopicJSON(&o, &p.Topics[i])); err != nil {
				return err
			}
		}
		for i := range p.Groups {
			g := &p.Groups[i]
			o.reset()
			o.str("group", g.Group)
			o.num("offsets", int64(g.Rows))
			o.num("replaced", int64(g.Over))
			o.maybeStr("note", g.Note)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "TOPIC", "TO", ">PARTITIONS", ">RECORDS", ">BYTES", "THERE", "CONFIGS", "NOTE")
	for i := range p.Topics {
		r := &p.Topics[i]
		there := "is there"
		if r.Create {
			there = "is made"
		}
		if n := copiedBefore(r); n > 0 {
			there = number(n) + " records"
		}
		var configs []string
		for _, ch := range r.Configs {
			configs = append(configs, ch.Name+"="+ch.Value)
		}
		if err := t.row(r.From, r.To, strconv.Itoa(len(r.Partitions)), count(r.Records), offset(r.Bytes), there, strings.Join(configs, " "), r.Note); err != nil {
			return err
		}
	}
	if err := t.flush(); err != nil || len(p.Groups) == 0 {
		return err
	}
	t = newTable(a.out, "GROUP", ">OFFSETS", ">REPLACED", "NOTE")
	for i := range p.Groups {
		g := &p.Groups[i]
		if err := t.row(g.Group, strconv.Itoa(g.Rows), strconv.Itoa(g.Over), g.Note); err != nil {
			return err
		}
	}
	return t.flush()
}

// copiedBefore counts the offsets that are taken there.
func copiedBefore(t *model.CopyTopic) (n int64) {
	for _, p := range t.Partitions {
		n += p.End - p.Start
	}
	return n
}

func copyTopicJSON(o *object, t *model.CopyTopic) []byte {
	o.reset()
	o.str("topic", t.From)
	o.str("to", t.To)
	o.num("partitions", int64(len(t.Partitions)))
	o.count("records", t.Records)
	o.maybe("bytes", t.Bytes)
	o.boolean("create", t.Create)
	o.num("there", copiedBefore(t))
	var configs []string
	for _, ch := range t.Configs {
		configs = append(configs, ch.Name+"="+ch.Value)
	}
	o.list("configs", configs)
	o.maybeStr("note", t.Note)
	return o.line()
}

// printCopied prints one line a partition, and one an offset of a group.
func (a *app) printCopied(res *model.CopyResult) error {
	var o object
	t := newTable(a.out, "PARTITION", ">RECORDS", "CHECKSUM", "STATE", "FROM")
	for i := range res.Partitions {
		p := &res.Partitions[i]
		sum, state := "", "copied"
		switch {
		case p.Differ != "":
			state = "differs"
		case p.Verified:
			sum, state = fmt.Sprintf("%016x", p.Checksum), "verified"
		}
		if a.opts.json {
			o.reset()
			o.str("topic", p.To.Topic)
			o.num("partition", int64(p.To.Partition))
			o.str("from", p.From.Topic)
			o.num("records", p.Records)
			o.num("recoded", p.Recoded)
			o.boolean("verified", p.Verified)
			o.maybeStr("checksum", sum)
			o.maybeStr("differs", p.Differ)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
			continue
		}
		if err := t.row(p.To.String(), number(p.Records), sum, state, p.From.String()); err != nil {
			return err
		}
	}
	if !a.opts.json {
		if err := t.flush(); err != nil {
			return err
		}
	}
	return a.printCopiedGroups(res, &o)
}

func (a *app) printCopiedGroups(res *model.CopyResult, o *object) error {
	if len(res.Groups) == 0 {
		return nil
	}
	t := newTable(a.out, "GROUP", "PARTITION", ">COMMITTED", ">BECAME", "NOTE")
	for i := range res.Groups {
		g := &res.Groups[i]
		for _, r := range g.Rows {
			if !a.opts.json {
				if err := t.row(g.Group, r.TopicPartition.String(), number(r.From), number(r.To), r.Note); err != nil {
					return err
				}
				continue
			}
			o.reset()
			o.str("group", g.Group)
			o.str("topic", r.Topic)
			o.num("partition", int64(r.Partition))
			o.num("from", r.From)
			o.num("to", r.To)
			o.maybeStr("note", r.Note)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
		}
	}
	if a.opts.json {
		return nil
	}
	return t.flush()
}

// copyMeter shows how far a copy has come, on a terminal.
type copyMeter struct {
	meter
	phase model.CopyPhase
	began time.Time
}

func (a *app) copyMeter() *copyMeter { return &copyMeter{meter: meter{a: a, last: a.now()}} }

func (m *copyMeter) show(e model.CopyEvent) {
	now := m.a.now()
	if e.Phase != m.phase {
		m.phase, m.began = e.Phase, now
	}
	if !m.a.io.ErrTTY || now.Sub(m.last) < 100*time.Millisecond {
		return
	}
	m.last, m.on = now, true
	fmt.Fprintf(m.a.io.Err, "\r%s\x1b[K", copyLine(e, now.Sub(m.began)))
}

// copyLine says how far a phase has come in a time.
func copyLine(e model.CopyEvent, took time.Duration) string {
	percent := int64(100)
	if e.All > 0 {
		percent = min(100, e.Done*100/e.All)
	}
	s := fmt.Sprintf("%3d %% %s: %d records, %s", percent, e.Phase, e.Records, size(e.Bytes))
	if sec := took.Seconds(); sec >= 0.5 {
		s += fmt.Sprintf(", %s/s", size(int64(float64(e.Bytes)/sec)))
		if e.Done > 0 && e.Done < e.All {
			s += ", " + time.Duration(sec*float64(e.All-e.Done)/float64(e.Done)*float64(time.Second)).Round(time.Second).String() + " left"
		}
	}
	return s
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

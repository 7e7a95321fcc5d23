package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// topicOptions are the flags of the topic commands.
type topicOptions struct {
	partitions int32
	configs    []string
	yes        bool
}

func (a *app) topicCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "topic create|grow|alter|delete NAME",
		Short: "make and change topics of the embedded broker",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("%w: say what to do: create, grow, alter, delete or configs", model.ErrInvalid)
		},
	}
	var o topicOptions
	sub := func(name, short string, partitions, configs, yes bool, do func(context.Context, model.Source, string, *topicOptions) error) {
		s := &cobra.Command{
			Use:   name + " NAME",
			Short: short,
			Args:  cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				return a.with(c, Write, func(ctx context.Context, src model.Source) error { return do(ctx, src, args[0], &o) })
			},
		}
		if partitions {
			s.Flags().Int32VarP(&o.partitions, "partitions", "p", -1, "how many partitions (default: num.partitions)")
		}
		if configs {
			s.Flags().StringArrayVarP(&o.configs, "config", "c", nil, "KEY=VALUE, or KEY= for the default; again for more")
		}
		if yes {
			s.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
		}
		c.AddCommand(s)
	}
	sub("create", "make a topic", true, true, false, a.createTopic)
	sub("grow", "add partitions, up to -p of them", true, false, false, a.growTopic)
	sub("alter", "change configs", false, true, true, a.alterTopic)
	sub("delete", "delete a topic with all its records", false, false, true, a.deleteTopic)
	c.AddCommand(&cobra.Command{
		Use:   "configs NAME",
		Short: "the topic's configs, and where each comes from",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error { return a.configs(ctx, src, args[0]) })
		},
	})
	return c
}

func parseConfigs(words []string) ([]model.ConfigChange, error) {
	var cs []model.ConfigChange
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%w config %q: want KEY=VALUE", model.ErrInvalid, w)
		}
		cs = append(cs, model.ConfigChange{Name: name, Value: value, Unset: value == ""})
	}
	return cs, nil
}

func (a *app) createTopic(ctx context.Context, src model.Source, name string, o *topicOptions) error {
	admin, err := ability[model.TopicAdmin](src, "make topics")
	if err != nil {
		return err
	}
	if o.partitions == 0 || o.partitions < -1 {
		return fmt.Errorf("%w -p %d: want 1 or more", model.ErrInvalid, o.partitions)
	}
	cs, err := parseConfigs(o.configs)
	if err != nil {
		return err
	}
	return admin.CreateTopic(ctx, model.TopicSpec{Name: name, Partitions: max(o.partitions, 0), Configs: cs})
}

func (a *app) growTopic(ctx context.Context, src model.Source, name string, o *topicOptions) error {
	admin, err := ability[model.TopicAdmin](src, "grow topics")
	if err != nil {
		return err
	}
	if o.partitions <= 0 {
		return fmt.Errorf("%w: -p N is needed, the number of partitions to grow to", model.ErrInvalid)
	}
	return admin.GrowTopic(ctx, name, o.partitions)
}

func (a *app) alterTopic(ctx context.Context, src model.Source, name string, o *topicOptions) error {
	admin, err := ability[model.TopicAdmin](src, "change topics")
	if err != nil {
		return err
	}
	cs, err := parseConfigs(o.configs)
	if err != nil {
		return err
	}
	if len(cs) == 0 {
		return fmt.Errorf("%w: -c KEY=VALUE is needed", model.ErrInvalid)
	}
	p, err := admin.PreviewAlter(ctx, name, cs)
	if err != nil {
		return err
	}
	if len(p.Now) > 0 && !o.yes {
		if err := a.confirm(a.previewText(&p), "yes"); err != nil {
			return err
		}
	}
	return admin.AlterTopic(ctx, name, cs)
}

func (a *app) deleteTopic(ctx context.Context, src model.Source, name string, o *topicOptions) error {
	admin, err := ability[model.TopicAdmin](src, "delete topics")
	if err != nil {
		return err
	}
	ps, err := src.Partitions(ctx, name)
	if err != nil {
		return err
	}
	if !o.yes {
		var bytes int64
		for i := range ps {
			bytes += ps[i].Bytes
		}
		if err := a.confirm(fmt.Sprintf("%s has %d partitions and %d bytes; all of it will be deleted.", safe(name), len(ps), bytes), name); err != nil {
			return err
		}
	}
	return admin.DeleteTopic(ctx, name)
}

func (a *app) configs(ctx context.Context, src model.Source, name string) error {
	reader, err := ability[model.ConfigReader](src, "read configs")
	if err != nil {
		return err
	}
	es, err := reader.TopicConfig(ctx, name)
	if err != nil {
		return err
	}
	var o object
	t := newTable(a.out, "CONFIG", "VALUE", "SOURCE", "DEFAULT")
	for _, e := range es {
		if a.opts.json {
			o.reset()
			o.str("name", e.Name)
			o.str("value", e.Value)
			o.str("source", e.Source)
			o.str("default", e.Default)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
			continue
		}
		if err := t.row(e.Name, e.Value, e.Source, e.Default); err != nil {
			return err
		}
	}
	if a.opts.json {
		return nil
	}
	return t.flush()
}

func (a *app) deleteRecordsCmd() *cobra.Command {
	var before string
	var yes bool
	c := &cobra.Command{
		Use:   "delete-records TOPIC/P --before OFFSET",
		Short: "move a partition's log start forward; whole segments below it are deleted",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			off := model.FromEnd
			if before != "latest" {
				n, err := strconv.ParseInt(before, 10, 64)
				if err != nil || n < 0 {
					return fmt.Errorf("%w --before %q: want an offset, or latest for all", model.ErrInvalid, before)
				}
				off = n
			}
			return a.with(c, Write, func(ctx context.Context, src model.Source) error { return a.deleteRecords(ctx, src, args[0], off, yes) })
		},
	}
	c.Flags().StringVar(&before, "before", "", "the first offset to be kept, or latest (needed)")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (a *app) deleteRecords(ctx context.Context, src model.Source, place string, before int64, yes bool) error {
	d, err := ability[model.RecordDeleter](src, "delete records")
	if err != nil {
		return err
	}
	tp, err := one(ctx, src, place)
	if err != nil {
		return err
	}
	if !yes {
		p, err := d.PreviewDelete(ctx, tp, before)
		if err != nil {
			return err
		}
		if err := a.confirm(a.previewText(&p), "yes"); err != nil {
			return err
		}
	}
	start, err := d.DeleteRecords(ctx, tp, before)
	if err != nil {
		return err
	}
	if a.opts.json {
		var o object
		o.reset()
		o.str("topic", tp.Topic)
		o.num("partition", int64(tp.Partition))
		o.num("logStart", start)
		_, err = a.out.Write(o.line())
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s starts at %d\n", safe(tp.String()), start)
	return err
}

// previewText says what a change would delete.
func (a *app) previewText(p *model.Preview) string {
	var b strings.Builder
	if p.Runs {
		fmt.Fprintf(&b, "%s records will be deleted.", count(p.Records))
		for i := range p.Now {
			s := &p.Now[i]
			fmt.Fprintf(&b, "\n  %s  offsets %d to %d", safe(s.TopicPartition.String()), s.Base, s.Last)
		}
		for _, n := range p.Notes {
			b.WriteString("\n" + safe(n))
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%d segments (%d bytes, %s records) will be deleted at once.", len(p.Now), p.Bytes, count(p.Records))
	for i := range p.Now {
		s := &p.Now[i]
		fmt.Fprintf(&b, "\n  %s  %020d.log  %d bytes", safe(s.TopicPartition.String()), s.Base, s.Bytes)
	}
	for i := range p.Later {
		s := &p.Later[i]
		fmt.Fprintf(&b, "\n  %s  %020d.log  %d bytes, at %s", safe(s.TopicPartition.String()), s.Base, s.Bytes, a.stamp(s.Leaves))
	}
	for _, n := range p.Notes {
		b.WriteString("\n" + safe(n))
	}
	return b.String()
}

// confirm asks on stderr for a word to be typed. Without --yes, a stdin that ends means no.
func (a *app) confirm(what, word string) error {
	a.flush()
	fmt.Fprintf(a.io.Err, "%s\nType %s to go on: ", what, safe(word))
	line, err := bufio.NewReader(a.io.In).ReadString('\n')
	if strings.TrimSpace(line) == word {
		return nil
	}
	if err != nil {
		fmt.Fprintln(a.io.Err)
	}
	return fmt.Errorf("%w: not confirmed, nothing was changed (--yes goes on without asking)", model.ErrRefused)
}

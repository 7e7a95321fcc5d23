package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// maxAsks bounds how often brokers are asked for until each has answered or is given up; the source itself waits a
// moment each time.
const maxAsks = 40

func (a *app) brokersCmd() *cobra.Command {
	var configs int32
	c := &cobra.Command{
		Use:   "brokers",
		Short: "a cluster's brokers: state, rack, version, partitions led and held, log directories, bytes",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error {
				r, err := clusterAbility[model.BrokerReader](src, "list brokers")
				if err != nil {
					return err
				}
				if c.Flags().Changed("configs") {
					return a.brokerConfigs(ctx, r, configs)
				}
				return a.brokers(ctx, r)
			})
		},
	}
	c.Flags().Int32Var(&configs, "configs", 0, "print the configs of this broker instead")
	return c
}

// clusterAbility is ability for what only a cluster can.
func clusterAbility[T any](src model.Source, what string) (T, error) {
	t, ok := src.(T)
	if !ok {
		return t, fmt.Errorf("cannot %s here: this source is no cluster; give one with --source HOST:PORT", what)
	}
	return t, nil
}

// everyBroker asks until each broker has answered, or is known not to.
func everyBroker(ctx context.Context, r model.BrokerReader) ([]model.Broker, error) {
	for asks := 1; ; asks++ {
		list, err := r.Brokers(ctx)
		if err != nil {
			return nil, err
		}
		late := false
		for i := range list {
			late = late || list[i].Err == nil && (!list[i].Alive || len(list[i].Dirs) == 0)
		}
		if !late || asks == maxAsks || ctx.Err() != nil {
			return list, ctx.Err()
		}
	}
}

func (a *app) brokers(ctx context.Context, r model.BrokerReader) error {
	list, err := everyBroker(ctx, r)
	if err != nil {
		return err
	}
	for i := range list {
		if !list[i].Alive {
			a.code = exitWrong
		}
	}
	if a.opts.json {
		var o object
		for i := range list {
			if _, err := a.out.Write(brokerJSON(&o, &list[i])); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, ">ID", "ADDRESS", "RACK", "STATE", "VERSION", ">LED", ">REPLICAS", ">OUT OF SYNC", ">BYTES", "NOTE")
	for i := range list {
		b := &list[i]
		if err := t.row(strconv.Itoa(int(b.ID)), dash(b.Address), dash(b.Rack), brokerState(b), dash(b.Version), strconv.Itoa(b.Led),
			strconv.Itoa(b.Hosted), strconv.Itoa(b.Lagging), offset(b.Bytes), brokerNote(b)); err != nil {
			return err
		}
	}
	return t.flush()
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func brokerState(b *model.Broker) string {
	switch {
	case b.Err != nil:
		return "not there"
	case !b.Alive:
		return "?"
	case b.Controller:
		return "controller"
	}
	return "alive"
}

func brokerNote(b *model.Broker) string {
	var notes []string
	if b.Err != nil {
		notes = append(notes, b.Err.Error())
	}
	for i := range b.Dirs {
		if d := &b.Dirs[i]; d.Err != nil {
			notes = append(notes, strings.TrimSpace(d.Path+" "+d.Err.Error()))
		}
	}
	return strings.Join(notes, "; ")
}

func brokerJSON(o *object, b *model.Broker) []byte {
	o.reset()
	o.num("id", int64(b.ID))
	o.maybeStr("address", b.Address)
	o.maybeStr("rack", b.Rack)
	o.boolean("alive", b.Alive)
	o.boolean("controller", b.Controller)
	o.maybeStr("version", b.Version)
	o.num("led", int64(b.Led))
	o.num("replicas", int64(b.Hosted))
	o.num("outOfSync", int64(b.Lagging))
	o.maybe("bytes", b.Bytes)
	o.name("logDirs")
	o.b = append(o.b, '[')
	for i := range b.Dirs {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		var in object
		o.b = append(o.b, logDirJSON(&in, &b.Dirs[i])...)
	}
	o.b = append(o.b, ']')
	o.failure(b.Err)
	return o.line()
}

// logDirJSON returns an object without its newline.
func logDirJSON(o *object, d *model.LogDirUse) []byte {
	o.reset()
	o.maybeStr("path", d.Path)
	o.num("partitions", int64(d.Partitions))
	o.maybe("bytes", d.Bytes)
	o.maybe("total", d.Total)
	o.maybe("free", d.Free)
	o.failure(d.Err)
	line := o.line()
	return line[:len(line)-1]
}

func (a *app) brokerConfigs(ctx context.Context, r model.BrokerReader, id int32) error {
	list, err := r.BrokerConfig(ctx, id)
	if err != nil {
		return err
	}
	if a.opts.json {
		var o object
		for i := range list {
			c := &list[i]
			o.reset()
			o.str("name", c.Name)
			o.str("value", c.Value)
			o.str("default", c.Default)
			o.str("source", c.Source)
			o.maybeStr("note", c.Doc)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "CONFIG", "VALUE", "DEFAULT", "FROM", "NOTE")
	for i := range list {
		c := &list[i]
		if err := t.row(c.Name, c.Value, c.Default, c.Source, c.Doc); err != nil {
			return err
		}
	}
	return t.flush()
}

func (a *app) aclsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "acls",
		Short: "who may do what on a cluster",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error {
				r, err := clusterAbility[model.AccessReader](src, "list access rules")
				if err != nil {
					return err
				}
				return a.acls(ctx, r)
			})
		},
	}
}

func (a *app) acls(ctx context.Context, r model.AccessReader) error {
	list, err := r.ACLs(ctx)
	if err != nil {
		return err
	}
	permission := func(x *model.ACL) string {
		if x.Allow {
			return "allow"
		}
		return "deny"
	}
	if a.opts.json {
		var o object
		for i := range list {
			x := &list[i]
			o.reset()
			o.str("principal", x.Principal)
			o.str("permission", permission(x))
			o.str("operation", x.Operation)
			o.str("resource", x.Resource)
			o.str("pattern", x.Pattern)
			o.str("name", x.Name)
			o.str("host", x.Host)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "PRINCIPAL", "MAY", "OPERATION", "RESOURCE", "PATTERN", "NAME", "FROM")
	for i := range list {
		x := &list[i]
		if err := t.row(x.Principal, permission(x), x.Operation, x.Resource, x.Pattern, x.Name, x.Host); err != nil {
			return err
		}
	}
	return t.flush()
}

func (a *app) quotasCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "quotas",
		Short: "how much clients of a cluster may use",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error {
				r, err := clusterAbility[model.AccessReader](src, "list quotas")
				if err != nil {
					return err
				}
				return a.quotas(ctx, r)
			})
		},
	}
}

func (a *app) quotas(ctx context.Context, r model.AccessReader) error {
	list, err := r.Quotas(ctx)
	if err != nil {
		return err
	}
	if a.opts.json {
		var o object
		for i := range list {
			o.reset()
			o.str("entity", list[i].Entity)
			o.str("key", list[i].Key)
			o.name("value")
			o.b = strconv.AppendFloat(o.b, list[i].Value, 'f', -1, 64)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(a.out, "ENTITY", "KEY", ">VALUE")
	for i := range list {
		if err := t.row(list[i].Entity, list[i].Key, strconv.FormatFloat(list[i].Value, 'f', -1, 64)); err != nil {
			return err
		}
	}
	return t.flush()
}

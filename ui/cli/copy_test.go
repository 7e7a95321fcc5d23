package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

// copier is a Copier that answers what a test says.
type copier struct {
	plan  model.CopyPlan
	res   model.CopyResult
	err   error
	query model.CopyQuery
	made  bool
}

func (c *copier) Plan(_ context.Context, q model.CopyQuery) (model.CopyPlan, error) {
	c.query = q
	return c.plan, nil
}

func (c *copier) Apply(_ context.Context, _ model.CopyPlan, tell func(model.CopyEvent)) (model.CopyResult, error) {
	c.made = true
	tell(model.CopyEvent{Phase: model.CopyCopies, Records: 1, Done: 1, All: 2})
	return c.res, c.err
}

func (c *copier) Close() error { return nil }

// blank is a source that says nothing.
type blank struct{ model.Source }

func (blank) Info(context.Context) (model.Info, error) { return model.Info{}, nil }
func (blank) Close() error                             { return nil }

func TestCopy(t *testing.T) {
	plan := model.CopyPlan{Topics: []model.CopyTopic{{From: "orders", To: "sales", Partitions: make([]model.CopyPartition, 2), Create: true, Records: model.Exactly(7), Bytes: 300,
		Configs: []model.ConfigChange{{Name: "cleanup.policy", Value: "compact"}}}}, Groups: []model.CopyGroup{{Group: "g", Rows: 2}}}
	tp := model.TopicPartition{Topic: "sales", Partition: 1}
	done := model.CopyResult{Records: 7, Bytes: 300, Partitions: []model.CopiedPartition{{From: model.TopicPartition{Topic: "orders", Partition: 1}, To: tp, Records: 7, Verified: true, Checksum: 0xab}},
		Groups: []model.CopiedGroup{{Group: "g", Rows: []model.CopiedOffset{{TopicPartition: tp, From: 9, To: 7}}}}}
	differs := done
	differs.Partitions = []model.CopiedPartition{{To: tp, Differ: "another key"}}
	refused := plan
	refused.Refuse = "sales holds 3 records there already"
	for name, tc := range map[string]struct {
		args      []string
		c         copier
		code      int
		made      bool
		out, errs string
	}{
		"a plan":           {args: nil, c: copier{plan: plan}, out: "orders  sales           2        7    300  is made  cleanup.policy=compact", errs: "nothing was written. Add --apply"},
		"a plan as JSON":   {args: []string{"--json"}, c: copier{plan: plan}, out: `{"topic":"orders","to":"sales","partitions":2,"records":7,"bytes":300,"create":true,"there":0,"configs":["cleanup.policy=compact"]`},
		"refused":          {args: []string{"--apply"}, c: copier{plan: refused}, code: exitWrong, errs: "refused: sales holds 3 records"},
		"made":             {args: []string{"--apply"}, c: copier{plan: plan, res: done}, made: true, out: "sales-1          7  00000000000000ab  verified  orders-1", errs: "7 records copied, 300 bytes in"},
		"made, as JSON":    {args: []string{"--apply", "--json"}, c: copier{plan: plan, res: done}, made: true, out: `{"group":"g","topic":"sales","partition":1,"from":9,"to":7`},
		"not the same":     {args: []string{"--apply"}, c: copier{plan: plan, res: differs}, made: true, code: exitWrong, errs: "sales-1 is not the same: another key"},
		"cut short":        {args: []string{"--apply"}, c: copier{plan: plan, res: done, err: errors.New("the network is gone")}, made: true, code: exitCannot, errs: "--resume goes on"},
		"a wrong --rename": {args: []string{"--rename", "other=x"}, c: copier{plan: plan}, code: exitCannot, errs: "other is not copied"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			open := func(context.Context, []string, ClusterOptions) (model.Source, error) { return blank{}, nil }
			eng := Engines{OpenCluster: open, Copier: func(context.Context, model.Source, model.Source, CopierOptions) (ClosingCopier, error) {
				return &tc.c, nil
			}}
			args := append([]string{"copy", "127.0.0.1:1", "127.0.0.1:2", "orders", "--config", "/dev/null"}, tc.args...)
			code := Run(t.Context(), args, "test", IO{Out: &out, Err: &errs}, eng)
			if code != tc.code || tc.c.made != tc.made {
				t.Errorf("code %d, made %v: %s", code, tc.c.made, errs.String())
			}
			if !strings.Contains(out.String(), tc.out) {
				t.Errorf("it prints\n%s\nwant %q", out.String(), tc.out)
			}
			if !strings.Contains(errs.String(), tc.errs) {
				t.Errorf("it says\n%s\nwant %q", errs.String(), tc.errs)
			}
		})
	}
}

func TestCopyLine(t *testing.T) {
	for want, e := range map[string]model.CopyEvent{
		" 50 % copied: 10 records, 20 MiB, 10 MiB/s, 2s left": {Phase: model.CopyCopies, Records: 10, Bytes: 20 << 20, Done: 5, All: 10},
		"100 % verified: 0 records, 0 bytes, 0 bytes/s":       {Phase: model.CopyVerifies},
	} {
		if got := copyLine(e, 2*time.Second); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

func (a *app) subjectsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "subjects",
		Short: "the subjects of the schema registry that a profile names",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c, Look, func(ctx context.Context, src model.Source) error {
				l, ok := src.(model.SubjectLister)
				if !ok {
					return fmt.Errorf("%w: this source has no schema registry; give a profile with [profile.NAME.registry] by --source NAME", model.ErrInvalid)
				}
				return a.subjects(ctx, l)
			})
		},
	}
}

func (a *app) subjects(ctx context.Context, l model.SubjectLister) error {
	names, err := l.Subjects(ctx)
	if err != nil {
		return err
	}
	var o object
	for _, n := range names {
		line := []byte(safe(n) + "\n")
		if a.opts.json {
			o.reset()
			o.str("subject", n)
			line = o.line()
		}
		if _, err := a.out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// addressed is the ability of a source to say where it serves Kafka clients.
type addressed interface{ Address() string }

func (a *app) serveCmd() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "serve",
		Short: "the embedded broker without a screen; prints ready HOST:PORT once it answers; SIGTERM stops cleanly",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			src, err := a.eng.OpenData(ctx, DataOptions{Dir: a.opts.data, Properties: a.opts.properties, Access: Write, Listen: listen})
			if err != nil {
				return err
			}
			info, err := src.Info(ctx)
			if err != nil {
				return errors.Join(err, src.Close())
			}
			for _, n := range info.Notices {
				a.warn(n)
			}
			if s, ok := src.(addressed); ok {
				fmt.Fprintf(a.out, "ready %s\n", s.Address())
				a.flush()
			}
			<-ctx.Done()
			return src.Close()
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9092", "where Kafka clients are served")
	return c
}

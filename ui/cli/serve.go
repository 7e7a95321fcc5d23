package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// listenFlags are the flags of commands whose broker serves Kafka clients.
func (a *app) listenFlags(c *cobra.Command) {
	c.Flags().StringVar(&a.opts.listen, "listen", "", "HOST:PORT where Kafka clients are served, port 0 for a free one\n(default: listeners of --properties, else 127.0.0.1:9092)")
	c.Flags().BoolVar(&a.opts.noListen, "no-listen", false, "serve no Kafka clients")
	c.Flags().BoolVar(&a.opts.security.SASL, "sasl", false, "clients have to say who they are; see strata user")
	c.Flags().StringVar(&a.opts.security.Cert, "tls-cert", "", "PEM file with the certificate by which clients know the broker")
	c.Flags().StringVar(&a.opts.security.Key, "tls-key", "", "PEM file with its key (default: in the file of --tls-cert)")
	c.Flags().StringVar(&a.opts.security.ClientCA, "tls-client-ca", "", "PEM file with what has to have signed the clients' certificates")
}

// listen returns where Kafka clients shall be served.
func (a *app) listen() (string, error) {
	switch {
	case a.opts.noListen && a.opts.listen != "":
		return "", fmt.Errorf("%w: --listen and --no-listen at once", model.ErrInvalid)
	case a.opts.noListen:
		return "", nil
	case a.opts.listen != "":
		return a.opts.listen, nil
	case a.opts.listens != "":
		return a.opts.listens, nil
	}
	return DefaultListen, nil
}

// openToExplore opens what the explorer shows. The embedded broker serves Kafka clients meanwhile.
func (a *app) openToExplore(ctx context.Context, word string) (model.Source, error) {
	if word != "" {
		if a.opts.noListen || a.opts.listen != "" {
			return nil, fmt.Errorf("%w: --listen and --no-listen are for the embedded broker, and %s is another source", model.ErrInvalid, word)
		}
		return a.open(ctx, word, Prefer, DirOptions{})
	}
	listen, err := a.listen()
	if err != nil {
		return nil, err
	}
	return a.eng.OpenData(ctx, DataOptions{Dir: a.opts.data, Properties: a.opts.properties, Access: Prefer, Listen: listen, Security: a.opts.security})
}

func (a *app) serveCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "the embedded broker without a screen; prints ready HOST:PORT once it answers; SIGTERM stops cleanly",
		Long: `The embedded broker without a screen: any Kafka client can use it. It prints "ready HOST:PORT" once it answers, and
serves until SIGTERM or Ctrl-C, which stop it cleanly; a second one ends it at once. Its data can be looked at, and
changed, by other strata commands meanwhile.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			listen, err := a.listen()
			if err != nil {
				return err
			}
			if listen == "" {
				return fmt.Errorf("%w: --no-listen leaves strata serve nothing to do", model.ErrInvalid)
			}
			return a.serve(c.Context(), listen)
		},
	}
	a.listenFlags(c)
	return c
}

// serve serves until ctx ends.
func (a *app) serve(ctx context.Context, listen string) error {
	// Whoever asks twice is not to wait for a clean stop.
	stop := context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) })
	defer stop()
	src, err := a.eng.OpenData(ctx, DataOptions{
		DirOptions: DirOptions{Still: true}, Dir: a.opts.data, Properties: a.opts.properties, Access: Own, Listen: listen, Security: a.opts.security,
	})
	if err != nil {
		return err
	}
	info, err := src.Info(ctx)
	if err != nil {
		return errors.Join(err, src.Close())
	}
	told := a.tell(nil, info.Notices)
	_, err = fmt.Fprintf(a.out, "ready %s\n", info.Address)
	if err = errors.Join(err, a.out.Flush()); err != nil {
		return errors.Join(err, src.Close())
	}
	news := time.NewTicker(noticesEvery)
	defer news.Stop()
	for {
		select {
		case <-ctx.Done():
			return src.Close()
		case <-news.C:
			if info, err := src.Info(ctx); err == nil {
				told = a.tell(told, info.Notices)
			}
		}
	}
}

// noticesEvery is how often strata serve looks for what there is to be said, as of a disk that is full.
const noticesEvery = 2 * time.Second

// tell prints the notices that were not told yet, and returns all of them.
func (a *app) tell(told, notices []string) []string {
	for _, n := range notices {
		if !slices.Contains(told, n) {
			a.warn(n)
		}
	}
	return notices
}

package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/strata-kafka/strata/model"
)

// produceOptions are the flags of produce.
type produceOptions struct {
	value     string
	hasValue  bool
	key       string
	hasKey    bool
	sep       string
	headers   []string
	null      bool
	partition int32
	codec     string
	acks      string
}

func (a *app) produceCmd() *cobra.Command {
	var o produceOptions
	c := &cobra.Command{
		Use:   "produce TOPIC",
		Short: "append records from lines of stdin, or one with -v",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.hasValue, o.hasKey = c.Flags().Changed("value"), c.Flags().Changed("key")
			req, err := o.request(args[0])
			if err != nil {
				return err
			}
			return a.with(c, Write, func(ctx context.Context, src model.Source) error { return a.produce(ctx, src, req, o) })
		},
	}
	f := c.Flags()
	f.StringVarP(&o.value, "value", "v", "", "the value; else each line of stdin is one")
	f.StringVarP(&o.key, "key", "k", "", "the key")
	f.StringVarP(&o.sep, "key-separator", "K", "", "what stands between key and value in a line")
	f.StringArrayVarP(&o.headers, "header", "H", nil, "name=value, or name for a null value; again for more")
	f.BoolVar(&o.null, "null", false, "an empty value is null")
	f.Int32Var(&o.partition, "partition", -1, "which partition (default: by the key's hash, else in turn)")
	f.StringVar(&o.codec, "codec", "none", "none, gzip, snappy, lz4 or zstd")
	f.StringVar(&o.acks, "acks", "all", "0, 1 or all")
	return c
}

func (o *produceOptions) request(topic string) (model.ProduceRequest, error) {
	req := model.ProduceRequest{Topic: topic, Codec: o.codec}
	if o.partition < -1 {
		return req, fmt.Errorf("%w --partition %d: want a partition's number", model.ErrInvalid, o.partition)
	}
	switch o.acks {
	case "0":
	case "1":
		req.Acks = 1
	case "all", "-1":
		req.Acks = -1
	default:
		return req, fmt.Errorf("%w --acks %q: want 0, 1 or all", model.ErrInvalid, o.acks)
	}
	switch o.codec {
	case "none", "gzip", "snappy", "lz4", "zstd":
	default:
		return req, fmt.Errorf("%w --codec %q: want none, gzip, snappy, lz4 or zstd", model.ErrInvalid, o.codec)
	}
	return req, nil
}

func (o *produceOptions) record(line []byte) model.ProduceRecord {
	r := model.ProduceRecord{Partition: o.partition, Value: line}
	if o.hasKey {
		r.Key = []byte(o.key)
	}
	if o.sep != "" {
		if k, v, ok := bytes.Cut(line, []byte(o.sep)); ok {
			r.Key, r.Value = k, v
		}
	}
	if o.null && len(r.Value) == 0 {
		r.Value = nil
	}
	for _, h := range o.headers {
		name, value, has := strings.Cut(h, "=")
		header := model.Header{Name: name}
		if has {
			header.Value = []byte(value)
		}
		r.Headers = append(r.Headers, header)
	}
	return r
}

// What is read from stdin is appended when so many records or bytes have come, or when a line is late.
const (
	produceMax   = 1000
	produceBytes = 512 << 10
	produceWait  = 20 * time.Millisecond
	lineMax      = 100 << 20
)

func (a *app) produce(ctx context.Context, src model.Source, req model.ProduceRequest, o produceOptions) error {
	producer, err := ability[model.Producer](src, "append records")
	if err != nil {
		return err
	}
	if o.hasValue || o.null && a.io.In == nil {
		value := []byte(o.value)
		req.Records = []model.ProduceRecord{o.record(value)}
		return a.send(ctx, producer, req)
	}
	lines, failed := readLines(ctx, a.io.In)
	late := time.NewTimer(produceWait)
	defer late.Stop()
	size, n := 0, int64(0)
	flush := func() error {
		if len(req.Records) == 0 {
			return nil
		}
		// What was read is appended also when the user has interrupted.
		if err := a.send(context.WithoutCancel(ctx), producer, req); err != nil {
			return fmt.Errorf("after %d records: %w", n, err)
		}
		n += int64(len(req.Records))
		req.Records, size = req.Records[:0], 0
		return nil
	}
	for {
		select {
		case line, more := <-lines:
			if !more {
				return errors.Join(flush(), <-failed)
			}
			if size+len(line) > produceBytes { // a line that is refused for its size takes no other with it
				if err := flush(); err != nil {
					return err
				}
			}
			if len(req.Records) == 0 {
				late.Reset(produceWait)
			}
			req.Records = append(req.Records, o.record(line))
			size += len(line)
			if len(req.Records) >= produceMax || size >= produceBytes {
				if err := flush(); err != nil {
					return err
				}
			}
		case <-late.C:
			if err := flush(); err != nil {
				return err
			}
		case <-ctx.Done():
			return errors.Join(flush(), ctx.Err())
		}
	}
}

// readLines sends each line of r, without its \n; when lines is closed, failed holds why, or nil. The goroutine ends with
// r or ctx.
func readLines(ctx context.Context, r io.Reader) (lines <-chan []byte, failed <-chan error) {
	out, why := make(chan []byte, 256), make(chan error, 1)
	go func() {
		defer close(out)
		in := bufio.NewReaderSize(r, 64<<10)
		for n := 1; ; n++ {
			line, err := readLine(in, lineMax)
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				} else {
					err = fmt.Errorf("line %d of stdin: %w", n, err)
				}
				why <- err
				return
			}
			select {
			case out <- line:
			case <-ctx.Done():
				why <- nil
				return
			}
		}
	}()
	return out, why
}

// readLine reads up to \n or the end. Every other byte is the record's, \r as well. io.EOF says that there is no more.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		b, err := r.ReadSlice('\n')
		if n := len(line) + len(bytes.TrimSuffix(b, []byte{'\n'})); n > most {
			return nil, fmt.Errorf("%w: it is longer than %d bytes", model.ErrInvalid, most)
		}
		line = append(line, b...)
		switch {
		case err == nil:
			return line[: len(line)-1 : len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return nil, err
		}
	}
}

func (a *app) send(ctx context.Context, p model.Producer, req model.ProduceRequest) error {
	where, err := p.Produce(ctx, req)
	if errors.Is(err, model.ErrRefused) { // nothing was done: not what exit code 1 says
		return errors.New(err.Error())
	}
	if err != nil {
		return err
	}
	if req.Acks == 0 {
		return nil
	}
	defer a.flush()
	var o object
	for _, w := range where {
		if a.opts.json {
			o.reset()
			o.str("topic", req.Topic)
			o.num("partition", int64(w.Partition))
			o.maybe("offset", w.Offset)
			o.maybe("timestamp", w.Timestamp)
			if _, err := a.out.Write(o.line()); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(a.out, "%s/%d@%s\n", safe(req.Topic), w.Partition, offset(w.Offset)); err != nil {
			return err
		}
	}
	return nil
}

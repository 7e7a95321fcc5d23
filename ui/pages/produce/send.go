package produce

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/ui/kit"
	"github.com/strata-kafka/strata/ui/page"
)

const (
	batchRecords = 500      // records written at once, at the most
	batchBytes   = 1 << 20  // likewise, bytes of keys and values
	lineMax      = 16 << 20 // longest line of a file, bytes
	paceEvery    = 50 * time.Millisecond
	tellPlaces   = 100 // places told of one batch, its last ones
)

// job is what is to be sent. It is a value: the form may change while it runs.
type job struct {
	request model.ProduceRequest
	record  model.ProduceRecord
	times   int64 // -1: as many as the file has lines
	rate    float64
	file    string
	sep     []byte
}

// sent is what one batch came to.
type sent struct {
	n      int64
	places []model.Produced // of its last records
}

// makeJob reads the form.
func (p *produce) makeJob() (job, error) {
	if err := p.wrong(); err != nil {
		return job{}, err
	}
	j := job{times: 1, record: model.ProduceRecord{Partition: -1, Key: p.bytesOf(labelKey), Value: p.bytesOf(labelValue), Headers: p.headers()}}
	j.request = model.ProduceRequest{Topic: p.topic, Codec: p.form.Field(labelCodec).Value(), Acks: -1}
	switch p.form.Field(labelAcks).Value() {
	case "0":
		j.request.Acks = 0
	case "1":
		j.request.Acks = 1
	}
	var err error
	switch p.form.Field(labelTo).Value() {
	case toRound:
		j.request.Partitioner = "roundrobin"
	case toRandom:
		j.request.Partitioner = "random"
	case toPartition:
		var n int64
		if n, err = number(p.form.Field(labelPartition).Value()); err != nil {
			return j, err
		}
		j.record.Partition = int32(n)
	}
	if text := strings.TrimSpace(p.form.Field(labelRate).Value()); text != "" {
		if j.rate, err = strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64); err != nil {
			return j, err
		}
	}
	if j.file = strings.TrimSpace(p.form.Field(labelFile).Value()); j.file != "" {
		j.times = -1
		j.sep = []byte(strings.NewReplacer(`\t`, "\t", `\\`, `\`).Replace(p.form.Field(labelSep).Value()))
		return j, nil
	}
	j.times, err = number(p.form.Field(labelTimes).Value())
	return j, err
}

// send starts to send what the form says.
func (p *produce) send() tea.Cmd {
	j, err := p.makeJob()
	if err != nil {
		return page.Say(page.Warn, err.Error())
	}
	halt, cancel := context.WithCancel(p.Ctx)
	p.halt = cancel
	p.job, p.count, p.began, p.ended, p.err = j, 0, p.Now().UnixMilli(), false, nil
	src := p.src
	return tea.Batch(p.remember(), p.stream.Start(p.Ctx, func(ctx context.Context, emit func(sent) bool) error {
		return j.run(ctx, halt, src, emit)
	}))
}

// stop lets the batch under way finish and sends no more.
func (p *produce) stop() tea.Cmd {
	if p.halt != nil {
		p.halt()
	}
	return nil
}

var errStopped = errors.New("stopped")

// run sends batch by batch until all is sent, halt ends, or something fails.
func (j *job) run(ctx, halt context.Context, src model.Producer, emit func(sent) bool) error {
	next, done, err := j.source()
	if err != nil {
		return err
	}
	defer done()
	pace := newPace(j.rate)
	for n := int64(0); ; {
		if err := pace.wait(halt); err != nil {
			return errStopped
		}
		batch, more, err := j.batch(next, n, pace.due(n))
		if len(batch) > 0 {
			req := j.request
			req.Records = batch
			where, perr := src.Produce(ctx, req)
			written := where[:0:0]
			for i := range where {
				if where[i].Offset >= 0 || req.Acks == 0 && perr == nil {
					written = append(written, where[i])
				}
			}
			n += int64(len(written))
			if !emit(sent{int64(len(written)), written[max(0, len(written)-tellPlaces):]}) {
				return errStopped
			}
			if perr != nil {
				return fmt.Errorf("after %d records: %w", n, perr)
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("after %d records: %w", n, err)
		case !more:
			return nil
		}
	}
}

// source returns what gives one value after the other, until io.EOF.
func (j *job) source() (next func() ([]byte, error), done func(), err error) {
	if j.file == "" {
		return func() ([]byte, error) { return j.record.Value, nil }, func() {}, nil
	}
	name := j.file
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, nil, fmt.Errorf("find the home directory: %w", err)
		}
		name = filepath.Join(home, rest)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		_ = f.Close() // only read
		return nil, nil, fmt.Errorf("%s is a directory", j.file)
	}
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 64<<10), lineMax)
	next = func() ([]byte, error) {
		if sc.Scan() {
			return bytes.Clone(sc.Bytes()), nil
		}
		if err := sc.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", j.file, err)
		}
		return nil, io.EOF
	}
	return next, func() { _ = f.Close() }, nil
}

// batch gathers at most limit records, of which n were sent before; more is false when these were the last.
func (j *job) batch(next func() ([]byte, error), n int64, limit int) (out []model.ProduceRecord, more bool, err error) {
	size := 0
	for len(out) < min(limit, batchRecords) && size < batchBytes {
		at := n + int64(len(out))
		if j.times >= 0 && at >= j.times {
			return out, false, nil
		}
		value, err := next()
		if errors.Is(err, io.EOF) {
			return out, false, nil
		}
		if err != nil {
			return out, false, err
		}
		r := j.record
		r.Value = value
		if j.file != "" {
			if k, v, ok := bytes.Cut(value, j.sep); ok && len(j.sep) > 0 {
				r.Key, r.Value = k, v
			}
		} else {
			now := time.Now().UnixMilli()
			r.Key, r.Value = fill(r.Key, at+1, now), fill(r.Value, at+1, now)
		}
		size += len(r.Key) + len(r.Value) + 64
		out = append(out, r)
	}
	return out, j.times < 0 || n+int64(len(out)) < j.times, nil
}

// fill puts the number and the time into a key or a value.
func fill(b []byte, n, now int64) []byte {
	if !bytes.Contains(b, []byte("{{")) {
		return b
	}
	b = bytes.ReplaceAll(b, []byte("{{n}}"), strconv.AppendInt(nil, n, 10))
	return bytes.ReplaceAll(b, []byte("{{now}}"), strconv.AppendInt(nil, now, 10))
}

// pace tells how many records are due at a rate.
type pace struct {
	rate  float64 // records a second; 0: as fast as it goes
	start time.Time
	timer *time.Timer
}

func newPace(rate float64) *pace { return &pace{rate: rate, start: time.Now()} }

// wait waits for the next moment to send; it returns the context's error when that ends first.
func (p *pace) wait(ctx context.Context) error {
	if p.rate <= 0 {
		return ctx.Err()
	}
	if p.timer == nil { // the first goes at once
		p.timer = time.NewTimer(0)
	} else {
		p.timer.Reset(paceEvery)
	}
	select {
	case <-p.timer.C:
		return ctx.Err()
	case <-ctx.Done():
		p.timer.Stop()
		return ctx.Err()
	}
}

// due returns how many records are to be sent now, when n were.
func (p *pace) due(n int64) int {
	if p.rate <= 0 {
		return batchRecords
	}
	due := int64(time.Since(p.start).Seconds()*p.rate) + 1 - n
	return int(max(0, min(due, batchRecords)))
}

// took puts what was sent on screen.
func (p *produce) took(it page.Items[sent]) tea.Cmd {
	for _, s := range it.Vals {
		p.count += s.n
		fresh := make([]place, 0, len(s.places)+len(p.places))
		for i := len(s.places) - 1; i >= 0; i-- {
			p.seq++
			fresh = append(fresh, place{p.seq, s.places[i]})
		}
		p.places = append(fresh, p.places...)
		p.places = p.places[:min(len(p.places), keepSent)]
	}
	p.table.SetLen(int64(len(p.places)))
	if !p.below {
		p.table.Home()
	}
	if !it.Done {
		return p.stream.Next()
	}
	p.ended, p.err = true, it.Err
	if p.halt != nil {
		p.halt()
	}
	switch {
	case errors.Is(it.Err, errStopped):
		p.err = nil
		return page.Say(page.Warn, "stopped after "+records(p.count))
	case it.Err != nil:
		return page.Say(page.Bad, it.Err.Error())
	}
	p.below = len(p.places) > 0
	if p.count == 1 && len(p.places) > 0 && p.places[0].Offset >= 0 {
		return page.Say(page.Good, "written to "+p.where(&p.places[0])+"; enter opens it")
	}
	return page.Say(page.Good, "wrote "+records(p.count))
}

// where writes a place as an address.
func (p *produce) where(at *place) string {
	a := model.PartitionAddress(model.TopicPartition{Topic: p.topic, Partition: at.Partition})
	a.Offset = at.Offset
	return kit.Safe(a.String(), 300)
}

func records(n int64) string {
	if n == 1 {
		return "1 record"
	}
	return kit.Number(n) + " records"
}

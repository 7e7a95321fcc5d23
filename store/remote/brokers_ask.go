package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/strata-kafka/strata/model"
)

const (
	// pingWithin is how long a broker has to say that it lives.
	pingWithin = 2 * time.Second
	// answerWithin is how long a broker has for an answer that takes it work: its log directories, its configs.
	answerWithin = 5 * time.Second
	// settle is how long a listing of brokers waits for those that are being asked.
	settle = 250 * time.Millisecond
)

// nodes holds what the brokers have said of themselves. The zero nodes is ready; its methods may be called from any
// goroutine.
type nodes struct {
	mu     sync.Mutex
	by     map[int32]*node
	last   []model.Broker   // as the cluster told of them last
	racks  map[int32]string // of all that were ever seen: of one that has gone the metadata tells no more
	closed bool
	wg     sync.WaitGroup
}

// node is what is known of a broker by asking it.
type node struct {
	said
	asking chan struct{} // closed when the one who asks is done; nil when nobody does
}

// said is a broker's last answer, or why there is none.
type said struct {
	alive   bool
	version string
	bytes   int64
	dirs    []model.LogDirUse
	err     error
}

// begin asks brokers of which nobody asks already, and returns what is closed when each is done.
func (n *nodes) begin(c *Client, ids []int32) (waits []chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by == nil {
		n.by = map[int32]*node{}
	}
	for _, id := range ids {
		x := n.by[id]
		if x == nil {
			x = &node{said: said{bytes: model.Unknown}}
			n.by[id] = x
		}
		if x.asking == nil && !n.closed {
			over := make(chan struct{})
			x.asking = over
			n.wg.Go(func() { // ends within pingWithin and answerWithin, or with the Client
				defer close(over)
				n.learn(c, id, x)
			})
		}
		if x.asking != nil {
			waits = append(waits, x.asking)
		}
	}
	return waits
}

// ask asks brokers, waits a moment, and returns what is known of each then. What is late is known the next time.
func (n *nodes) ask(c *Client, ids []int32) map[int32]said {
	short, done := context.WithTimeout(c.ctx, settle)
	defer done()
	for _, w := range n.begin(c, ids) {
		select {
		case <-w:
		case <-short.Done():
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[int32]said, len(ids))
	for _, id := range ids {
		out[id] = n.by[id].said
	}
	return out
}

// list keeps the brokers of a listing, without what they say themselves.
func (n *nodes) list(brokers []model.Broker) {
	for i := range brokers {
		n.seen(brokers[i].ID, brokers[i].Rack)
	}
	n.mu.Lock()
	n.last = slices.Clone(brokers)
	n.mu.Unlock()
}

// listed returns the brokers of the last listing.
func (n *nodes) listed() []model.Broker {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.last)
}

// learn asks one broker whether it lives, and then for its log directories.
func (n *nodes) learn(c *Client, id int32, x *node) {
	defer func() {
		n.mu.Lock()
		x.asking = nil
		n.mu.Unlock()
	}()
	version, err := c.ping(id)
	n.mu.Lock()
	if x.alive, x.err = err == nil, err; err == nil {
		x.version = version
	}
	n.mu.Unlock()
	if err != nil {
		return
	}
	dirs := c.logDirs(id)
	n.mu.Lock()
	x.dirs, x.bytes = dirs, total(dirs)
	n.mu.Unlock()
}

// seen notes a broker's rack.
func (n *nodes) seen(id int32, rack string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.racks == nil {
		n.racks = map[int32]string{}
	}
	if rack != "" {
		n.racks[id] = rack
	}
}

// live returns the brokers that have answered lately, by id.
func (n *nodes) live() (ids []int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, x := range n.by {
		if x.alive {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// fault returns why a broker does not answer; nil where it does, or was not asked.
func (n *nodes) fault(id int32) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if x := n.by[id]; x != nil {
		return x.err
	}
	return nil
}

// close returns when nobody is being asked any more; the Client's context has ended before.
func (n *nodes) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.wg.Wait()
}

// ping asks a broker which requests it knows, and guesses its version by them.
func (c *Client) ping(id int32) (version string, err error) {
	most := min(c.o.Timeout, pingWithin)
	ctx, done := c.within(c.ctx, most)
	defer done()
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "strata", softwareVersion(c.o.Version) // brokers refuse it without
	resp, err := c.kgo.Broker(int(id)).Request(ctx, req)
	if err != nil {
		if late(ctx, err) {
			return "", fmt.Errorf("hangs: no answer within %v: %w", most, context.DeadlineExceeded)
		}
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return "", fmt.Errorf("does not answer: %w", dial.Err)
		}
		return "", c.why(ctx, err)
	}
	r, ok := resp.(*kmsg.ApiVersionsResponse)
	if !ok {
		return "", fmt.Errorf("answered by %T", resp)
	}
	return guess(r), nil
}

// late reports whether it is the time that has ended a request.
func late(ctx context.Context, err error) bool {
	var ne net.Error
	return err != nil && (errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout())
}

// guess puts into words which version of Kafka knows just these requests: "4.0", "at least 3.6"; "" for none.
func guess(r *kmsg.ApiVersionsResponse) string {
	if len(r.ApiKeys) == 0 {
		return ""
	}
	g := kversion.FromApiVersionsResponse(r).VersionGuess()
	switch {
	case strings.HasPrefix(g, "unknown custom version at least "):
		g = "like " + strings.TrimPrefix(g, "unknown custom version at least ")
	case strings.HasPrefix(g, "unknown"), strings.HasPrefix(g, "between"), strings.HasPrefix(g, "not even"):
		return "" // what is no Kafka knows some requests of one version and some of another
	}
	words := strings.Fields(g)
	for i, w := range words {
		if len(w) > 1 && w[0] == 'v' && w[1] >= '0' && w[1] <= '9' {
			words[i] = w[1:]
		}
	}
	return strings.Join(words, " ")
}

// logDirs asks a broker for its log directories. Where it does not say, there is one without a path, whose Err says why.
func (c *Client) logDirs(id int32) []model.LogDirUse {
	most := min(c.o.Timeout, answerWithin)
	ctx, done := c.within(c.ctx, most)
	defer done()
	resp, err := c.kgo.Broker(int(id)).Request(ctx, kmsg.NewPtrDescribeLogDirsRequest()) // no topics: all
	r, ok := resp.(*kmsg.DescribeLogDirsResponse)
	switch {
	case late(ctx, err):
		err = fmt.Errorf("no answer within %v: %w", most, context.DeadlineExceeded)
	case err != nil:
		err = c.why(ctx, err)
	case !ok:
		err = fmt.Errorf("answered by %T", resp)
	default:
		err = answer(kerr.ErrorForCode(r.ErrorCode), "")
	}
	if err != nil {
		return []model.LogDirUse{{Bytes: model.Unknown, Total: model.Unknown, Free: model.Unknown, Err: err}}
	}
	out := make([]model.LogDirUse, 0, len(r.Dirs))
	for i := range r.Dirs {
		d := &r.Dirs[i]
		use := model.LogDirUse{Path: d.Dir, Total: model.Unknown, Free: model.Unknown, Err: answer(kerr.ErrorForCode(d.ErrorCode), "")}
		if use.Err != nil {
			use.Bytes = model.Unknown
		}
		if d.TotalBytes >= 0 {
			use.Total = d.TotalBytes
		}
		if d.UsableBytes >= 0 {
			use.Free = d.UsableBytes
		}
		for j := range d.Topics {
			for k := range d.Topics[j].Partitions {
				use.Partitions++
				use.Bytes += d.Topics[j].Partitions[k].Size
			}
		}
		out = append(out, use)
	}
	return out
}

// total adds up what the directories hold; Unknown where one of them does not say.
func total(dirs []model.LogDirUse) int64 {
	var sum int64
	for i := range dirs {
		if dirs[i].Bytes < 0 {
			return model.Unknown
		}
		sum += dirs[i].Bytes
	}
	return sum
}

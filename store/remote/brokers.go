package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// The keys of requests of which not every broker knows.
const (
	keyDescribeQuorum  = 55
	keyDescribeCluster = 60
)

// How long one broker has for an answer that any of them can give, before another is asked too: for a short answer, and
// for all of a cluster's metadata.
const (
	hedgeAfter    = 700 * time.Millisecond
	hedgeMetadata = 2 * time.Second
)

// Brokers implements model.BrokerReader. It waits a moment for each broker's own answer, and gives for the late ones what
// was known before: one that was never heard has neither Alive nor Err. Brokers that hold replicas and have left the
// cluster are among them, with an Err that says so. Where none of them answers, those that were listed last are listed with
// why.
func (c *Client) Brokers(ctx context.Context) ([]model.Broker, error) {
	ctx, done := c.bound(ctx)
	defer done()
	last := c.nodes.listed()
	out := last
	s, err := c.shapeUnlessGone(ctx, ids(last))
	switch {
	case err == nil:
		out = s.brokers()
		c.nodes.list(out)
	case len(last) == 0 || errors.Is(ctx.Err(), context.Canceled):
		return nil, fmt.Errorf("brokers: %w", c.why(ctx, err))
	default:
		for i := range out {
			out[i].Controller = false // nobody tells
		}
	}
	for id, n := range c.nodes.ask(c, ids(out)) {
		if i, ok := slices.BinarySearchFunc(out, id, func(b model.Broker, id int32) int { return cmp.Compare(b.ID, id) }); ok {
			b := &out[i]
			b.Alive, b.Version, b.Bytes, b.Dirs, b.Err = n.alive, n.version, n.bytes, n.dirs, n.err
		}
	}
	return out, nil
}

// shapeUnlessGone is shape, given up soon where none of the brokers that are known answers. They are asked besides.
func (c *Client) shapeUnlessGone(ctx context.Context, known []int32) (shape, error) {
	if len(known) == 0 {
		return c.shape(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	waits := c.nodes.begin(c, known)
	go func() { // ends with ctx
		grace := time.NewTimer(pingWithin)
		defer grace.Stop()
		for _, w := range waits {
			select {
			case <-w:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-grace.C: // others may have come in their place, which the cluster has the time to tell
		case <-ctx.Done():
			return
		}
		if len(c.nodes.live()) == 0 {
			stop()
		}
	}()
	return c.shape(ctx)
}

// ids returns the ids of the brokers that can be asked.
func ids(list []model.Broker) []int32 {
	var out []int32
	for i := range list {
		if list[i].Err == nil {
			out = append(out, list[i].ID)
		}
	}
	return out
}

// shape is what the cluster says of its brokers and partitions.
type shape struct {
	meta       *kmsg.MetadataResponse
	fenced     map[int32]kmsg.DescribeClusterResponseBroker
	controller int32 // -1 where not known
}

// shape asks for the cluster's shape, all parts of it at a time.
func (c *Client) shape(ctx context.Context) (shape, error) {
	s := shape{controller: -1, fenced: map[int32]kmsg.DescribeClusterResponseBroker{}}
	apis, err := c.apis(ctx)
	if err != nil {
		return s, err
	}
	_, quorum := apis[keyDescribeQuorum]
	var wg sync.WaitGroup
	if apis[keyDescribeCluster] >= 2 {
		wg.Go(func() { c.fenced(ctx, s.fenced) })
	}
	if quorum {
		wg.Go(func() {
			if p, err := c.quorum(ctx); err == nil { // else it stays unknown: what metadata says then is any broker
				s.controller = p.LeaderID
			}
		})
	}
	resp, err := c.anyone(ctx, hedgeMetadata, func() kmsg.Request { return kmsg.NewPtrMetadataRequest() }) // no topics: all
	wg.Wait()
	if err != nil {
		return s, err
	}
	m, ok := resp.(*kmsg.MetadataResponse)
	if !ok {
		return s, fmt.Errorf("metadata: answered by %T", resp)
	}
	if s.meta = m; !quorum {
		s.controller = m.ControllerID
	}
	return s, nil
}

// fenced finds the brokers that are known to the controller and have lost touch with it.
func (c *Client) fenced(ctx context.Context, into map[int32]kmsg.DescribeClusterResponseBroker) {
	resp, err := c.anyone(ctx, hedgeAfter, func() kmsg.Request {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeFencedBrokers = true
		return req
	})
	if err != nil {
		return // they are found by their replicas then
	}
	if r, ok := resp.(*kmsg.DescribeClusterResponse); ok && r.ErrorCode == 0 {
		for _, b := range r.Brokers {
			if b.IsFenced {
				into[b.NodeID] = b
			}
		}
	}
}

// brokers returns the brokers by id, with what the partitions say of them.
func (s *shape) brokers() []model.Broker {
	by := map[int32]*model.Broker{}
	add := func(id int32, address string, rack *string, err error) *model.Broker {
		b := &model.Broker{ID: id, Address: address, Bytes: model.Unknown, Controller: id == s.controller, Err: err}
		if rack != nil {
			b.Rack = *rack
		}
		by[id] = b
		return b
	}
	for _, b := range s.meta.Brokers {
		add(b.NodeID, hostPort(b.Host, b.Port), b.Rack, nil)
	}
	for id, b := range s.fenced {
		if by[id] == nil {
			add(id, hostPort(b.Host, b.Port), b.Rack, errors.New("fenced: the controller does not hear from it"))
		}
	}
	at := func(id int32) *model.Broker {
		if b := by[id]; b != nil {
			return b
		}
		return add(id, "", nil, errors.New("not in the cluster, though partitions have replicas on it"))
	}
	for i := range s.meta.Topics {
		for j := range s.meta.Topics[i].Partitions {
			p := &s.meta.Topics[i].Partitions[j]
			if p.Leader >= 0 {
				at(p.Leader).Led++
			}
			for _, r := range p.Replicas {
				b := at(r)
				b.Hosted++
				if !slices.Contains(p.ISR, r) {
					b.Lagging++
				}
			}
		}
	}
	out := make([]model.Broker, 0, len(by))
	for _, b := range by {
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b model.Broker) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func hostPort(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }

// anyone asks a broker, and when it is slow another after a while, and another: one that hangs must not hide the rest. Each
// is asked with a request of its own, because the client writes into it.
func (c *Client) anyone(ctx context.Context, after time.Duration, request func() kmsg.Request) (kmsg.Response, error) {
	type answered struct {
		resp kmsg.Response
		err  error
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	const most = 3
	got := make(chan answered, most)
	asked, failed := 0, 0
	ask := func() {
		n := asked
		asked++
		go func() { // ends with ctx
			resp, err := c.nth(ctx, n, request())
			got <- answered{resp, err}
		}()
	}
	late := time.NewTicker(min(after, c.o.Timeout/4))
	defer late.Stop()
	for ask(); ; {
		select {
		case a := <-got:
			if a.err == nil {
				return a.resp, nil
			}
			if failed++; failed == asked {
				if asked == most {
					return nil, a.err
				}
				ask()
			}
		case <-late.C:
			if asked < most {
				ask()
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// nth asks the nth of the brokers that are known to live, or where that is not known of any, of all. The client itself
// chooses for Metadata, by which it learns of brokers, and while it knows of none; what it takes for a request to the
// controller it would send to one broker again and again, whatever state that is in.
func (c *Client) nth(ctx context.Context, n int, req kmsg.Request) (kmsg.Response, error) {
	known := c.kgo.DiscoveredBrokers()
	if _, meta := req.(*kmsg.MetadataRequest); meta || len(known) == 0 {
		return c.kgo.Request(ctx, req)
	}
	if v, ok := req.(*kmsg.ApiVersionsRequest); ok {
		v.ClientSoftwareName, v.ClientSoftwareVersion = "strata", softwareVersion(c.o.Version) // brokers refuse it without
	}
	if live := c.nodes.live(); len(live) > 0 {
		return c.kgo.Broker(int(live[n%len(live)])).Request(ctx, req)
	}
	return known[n%len(known)].Request(ctx, req)
}

// apis returns the highest version of each request that a broker knows, by key.
func (c *Client) apis(ctx context.Context) (map[int16]int16, error) {
	resp, err := c.anyone(ctx, hedgeAfter, func() kmsg.Request { return kmsg.NewPtrApiVersionsRequest() })
	if err != nil {
		return nil, err
	}
	out := map[int16]int16{}
	if r, ok := resp.(*kmsg.ApiVersionsResponse); ok {
		for _, k := range r.ApiKeys {
			out[k.ApiKey] = k.MaxVersion
		}
	}
	return out, nil
}

// BrokerConfig implements model.BrokerReader. A config whose value the broker keeps to itself has a Doc that says so.
func (c *Client) BrokerConfig(ctx context.Context, id int32) ([]model.ConfigEntry, error) {
	most := min(c.o.Timeout, answerWithin)
	ctx, done := c.within(ctx, most)
	defer done()
	if err := c.nodes.fault(id); err != nil {
		return nil, fmt.Errorf("configs of broker %d: it does not answer: %w", id, err)
	}
	rs, err := c.admin.DescribeBrokerConfigs(ctx, id)
	var out []model.ConfigEntry
	message := ""
	for i := range rs {
		err, message = errors.Join(err, rs[i].Err), rs[i].ErrMessage
		for j := range rs[i].Configs {
			e := entry(&rs[i].Configs[j])
			if rs[i].Configs[j].Sensitive {
				e.Doc = "a secret, not told"
			}
			out = append(out, e)
		}
	}
	if err != nil {
		if late(ctx, err) {
			return nil, fmt.Errorf("configs of broker %d: no answer within %v: %w", id, most, context.DeadlineExceeded)
		}
		return nil, fmt.Errorf("configs of broker %d: %w", id, c.told(ctx, err, message))
	}
	slices.SortFunc(out, func(a, b model.ConfigEntry) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Racks implements model.RackReader, by the metadata; also of brokers that have gone, where they were seen before.
func (c *Cluster) Racks() map[int32]string {
	for id, b := range c.current().brokers {
		c.nodes.seen(id, b.rack)
	}
	c.nodes.mu.Lock()
	defer c.nodes.mu.Unlock()
	return maps.Clone(c.nodes.racks)
}

// Quorum implements model.BrokerReader.
func (c *Client) Quorum(ctx context.Context) ([]model.QuorumNode, error) {
	ctx, done := c.bound(ctx)
	defer done()
	apis, err := c.apis(ctx)
	if err != nil {
		return nil, fmt.Errorf("quorum: %w", c.why(ctx, err))
	}
	if _, ok := apis[keyDescribeQuorum]; !ok {
		return nil, nil
	}
	p, err := c.quorum(ctx)
	if err != nil {
		return nil, fmt.Errorf("quorum: %w", c.why(ctx, err))
	}
	return quorumNodes(p), nil
}

// quorum asks for the state of the metadata log.
func (c *Client) quorum(ctx context.Context) (*kmsg.DescribeQuorumResponseTopicPartition, error) {
	resp, err := c.anyone(ctx, hedgeAfter, func() kmsg.Request {
		req := kmsg.NewPtrDescribeQuorumRequest()
		t := kmsg.NewDescribeQuorumRequestTopic()
		t.Topic = "__cluster_metadata"
		t.Partitions = append(t.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
		req.Topics = append(req.Topics, t)
		return req
	})
	if err != nil {
		return nil, err
	}
	r, ok := resp.(*kmsg.DescribeQuorumResponse)
	if !ok {
		return nil, fmt.Errorf("answered by %T", resp)
	}
	if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
		return nil, err
	}
	for i := range r.Topics {
		for j := range r.Topics[i].Partitions {
			p := &r.Topics[i].Partitions[j]
			return p, kerr.ErrorForCode(p.ErrorCode)
		}
	}
	return nil, errors.New("answered without the metadata log")
}

// quorumNodes returns the voters, then the observers, each by id.
func quorumNodes(p *kmsg.DescribeQuorumResponseTopicPartition) []model.QuorumNode {
	end := model.Unknown
	for _, v := range p.CurrentVoters {
		if v.ReplicaID == p.LeaderID {
			end = v.LogEndOffset
		}
	}
	var out []model.QuorumNode
	add := func(rs []kmsg.DescribeQuorumResponseTopicPartitionReplicaState, voter bool) {
		from := len(out)
		for _, r := range rs {
			n := model.QuorumNode{ID: r.ReplicaID, Leader: r.ReplicaID == p.LeaderID, Voter: voter,
				LogEnd: model.Unknown, Lag: model.Unknown, CaughtUp: model.NoTime}
			if r.LogEndOffset >= 0 {
				n.LogEnd = r.LogEndOffset
				if end >= 0 {
					n.Lag = max(0, end-r.LogEndOffset)
				}
			}
			if r.LastCaughtUpTimestamp >= 0 {
				n.CaughtUp = r.LastCaughtUpTimestamp
			}
			out = append(out, n)
		}
		slices.SortFunc(out[from:], func(a, b model.QuorumNode) int { return cmp.Compare(a.ID, b.ID) })
	}
	add(p.CurrentVoters, true)
	add(p.Observers, false)
	return out
}

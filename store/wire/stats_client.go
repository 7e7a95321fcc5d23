package wire

import (
	"math"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// facts is what is known of a client. The counters are added to without a lock; the rest is guarded by mu and changes
// seldom.
type facts struct {
	since                 int64
	address               string
	lastAt                atomic.Int64 // ms; 0 before the first request
	lastKey               atomic.Int32
	requests, errors      atomic.Int64
	in, out               atomic.Int64
	acks                  atomic.Int32 // of the last Produce; noAcks before
	idempotent            atomic.Bool
	reqRate, inRate, outR rate // guarded by Server.mu

	mu                    sync.Mutex
	id, software, version string
	user, transactional   string
	tls                   bool
	groups                []string
	seenClient, seenTxn   string // the connection's own copies, to know a change without the lock
}

const noAcks = math.MinInt32

func (f *facts) begin(nc net.Conn) {
	f.since, f.address = time.Now().UnixMilli(), nc.RemoteAddr().String()
	f.acks.Store(noAcks)
}

// request notes a request that begins to be served.
func (f *facts) request(c *call, now time.Time, size int) {
	f.lastAt.Store(now.UnixMilli())
	f.lastKey.Store(int32(c.key))
	f.requests.Add(1)
	f.in.Add(int64(size))
	if c.client != f.seenClient {
		f.seenClient = c.client
		f.mu.Lock()
		f.id = c.client
		f.mu.Unlock()
	}
}

// produced notes what a Produce shows of the client's delivery settings.
func (f *facts) produced(acks int16, idempotent bool, transactional []byte) {
	if f.acks.Load() != int32(acks) {
		f.acks.Store(int32(acks))
	}
	if idempotent && !f.idempotent.Load() {
		f.idempotent.Store(true)
	}
	if string(transactional) != f.seenTxn {
		f.seenTxn = string(transactional)
		f.mu.Lock()
		f.transactional = f.seenTxn
		f.mu.Unlock()
	}
}

// named notes how the client names its software.
func (f *facts) named(software, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.software, f.version = software, version
}

// belongs notes of which group the client is a member, where a request says so.
func (c *call) belongs() {
	switch r := c.req.(type) {
	case *kmsg.JoinGroupRequest:
		c.member(r.Group)
	case *kmsg.ConsumerGroupHeartbeatRequest:
		if r.MemberEpoch == 0 {
			c.member(r.Group)
		}
	}
}

// maxGroups bounds the groups that are remembered of a connection.
const maxGroups = 16

// member notes that the client has been a member of a group.
func (c *call) member(group string) {
	f := &c.conn.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	if i, ok := slices.BinarySearch(f.groups, group); !ok && len(f.groups) < maxGroups {
		f.groups = slices.Insert(f.groups, i, group)
	}
}

// client puts together what is told of a connection. Server.mu is held.
func (f *facts) client() model.Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := model.Client{
		ID: f.id, Software: f.software, Version: f.version, Address: f.address, User: f.user, TLS: f.tls,
		Since: f.since, LastAt: model.NoTime, Requests: f.requests.Load(), Errors: f.errors.Load(),
		In: f.in.Load(), Out: f.out.Load(),
		RequestRate: f.reqRate.perSec, InRate: f.inRate.perSec, OutRate: f.outR.perSec,
		Idempotent: f.idempotent.Load(), Transactional: f.transactional, Groups: slices.Clone(f.groups),
	}
	if ms := f.lastAt.Load(); ms != 0 {
		c.LastAt, c.LastAPI = ms, kmsg.Key(f.lastKey.Load()).Name()
	}
	switch f.acks.Load() {
	case 0:
		c.Acks = "0"
	case 1:
		c.Acks = "1"
	case -1:
		c.Acks = "all"
	}
	return c
}

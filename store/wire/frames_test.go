package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// rawFrame is a request with an old header and a body as given.
func rawFrame(key, version int16, body ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(9+2+len(body)))
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = append(b, 0, 0, 0, 1, 0, 1, 'p')
	return append(b, body...)
}

func metadataFrame(version int16) []byte {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	return frameOf(req, version, 1)
}

// TestFrames sends what no client should, and holds what becomes of the connection. After each the broker answers others.
func TestFrames(t *testing.T) {
	c := startCore(t, Options{}, set("t", 1))
	const closes, answers, waits = "closes", "answers", "waits"
	flexible := metadataFrame(9)
	tagged := func(tags ...byte) []byte { // a v9 Metadata whose header has these tags
		f := flexible[4:]
		at := 10 + len("tester")
		b := append(append(bytes.Clone(f[:at]), tags...), f[at+1:]...)
		return append(be32(int32(len(b))), b...)
	}
	for name, tc := range map[string]struct {
		send []byte
		want string
	}{
		"unknown key":                    {rawFrame(999, 0), closes},
		"negative key":                   {rawFrame(-1, 0), closes},
		"a key of old brokers":           {rawFrame(4, 0), closes},
		"a version too high":             {rawFrame(3, 14), closes},
		"a version below 0":              {rawFrame(3, -1), closes},
		"size -1":                        {append(be32(-1), make([]byte, 20)...), closes},
		"size -2^31":                     {append(be32(-1<<31), make([]byte, 20)...), closes},
		"size 0":                         {append(be32(0), make([]byte, 20)...), closes},
		"size 3":                         {append(be32(3), make([]byte, 20)...), closes},
		"size 8":                         {append(be32(8), make([]byte, 20)...), closes},
		"size 2^31-1":                    {append(be32(1<<31-1), make([]byte, 20)...), closes},
		"size 100 MiB and 1":             {append(be32(100<<20+1), make([]byte, 20)...), closes},
		"size 100 MiB":                   {be32(100 << 20), waits},
		"half a frame":                   {flexible[:len(flexible)/2], waits},
		"Metadata of 1 MiB and 1":        {append(be32(1<<20+1), rawFrame(3, 1)[4:]...), closes},
		"Metadata of 1 MiB, begun":       {append(be32(1<<20), rawFrame(3, 1)[4:]...), waits},
		"Produce of 3 MiB, begun":        {append(be32(3<<20), rawFrame(0, 9)[4:]...), waits},
		"HTTP":                           {[]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), closes},
		"TLS":                            {[]byte{0x16, 3, 1, 0, 0xc8, 1, 0, 0, 0xc4, 3, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, closes},
		"Metadata cut short":             {rawFrame(3, 1, 0, 0, 0, 1, 1, 44, 'a'), closes},
		"Metadata of 2^31-1 topics":      {rawFrame(3, 1, 0x7f, 255, 255, 255), closes},
		"Metadata of -2 topics":          {rawFrame(3, 1, 255, 255, 255, 254), answers},
		"bytes behind the body":          {rawFrame(3, 1, 0, 0, 0, 0, 1, 2, 3), answers},
		"v9 with the old header":         {rawFrame(3, 9, 1, 1), closes},
		"v9 with a tag in the header":    {tagged(1, 99, 2, 'a', 'b'), answers},
		"v9 with a tag beyond the frame": {tagged(1, 99, 200, 1, 'a'), closes},
		"v9 with 2^32 tags":              {tagged(255, 255, 255, 255, 15), closes},
		"client id of -2 bytes":          {append(be32(14), 0, 3, 0, 1, 0, 0, 0, 1, 255, 254, 0, 0, 0, 0), closes},
		"client id null":                 {append(be32(14), 0, 3, 0, 1, 0, 0, 0, 1, 255, 255, 0, 0, 0, 0), answers},
		"client id beyond the frame":     {append(be32(14), 0, 3, 0, 1, 0, 0, 0, 1, 0, 99, 0, 0, 0, 0), closes},
		"Produce of 2^31-1 topics":       {rawFrame(0, 3, 255, 255, 0, 1, 0, 0, 0, 0, 0x7f, 255, 255, 255), closes},
		"Produce with records beyond it": {rawFrame(0, 3, 255, 255, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 0, 0x7f, 255, 255, 255), closes},
	} {
		t.Run(name, func(t *testing.T) {
			cl := c.dial()
			cl.send(tc.send)
			switch tc.want {
			case closes:
				if !cl.closed() {
					t.Error("it stays open, or answers")
				}
			case answers:
				if _, err := cl.receive(); err != nil {
					t.Errorf("no answer: %v", err)
				}
			case waits:
				if err := cl.nc.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
					t.Fatal(err)
				}
				if b, err := cl.receive(); err == nil || cl.closed() {
					t.Errorf("got %x, %v", b, err)
				}
			}
			c.dial().ask(kmsg.NewPtrMetadataRequest(), 9)
		})
	}
}

// TestLyingCounts holds what a count costs that is as large as the bytes behind it allow, in a request as large as may be.
func TestLyingCounts(t *testing.T) {
	c := startCore(t, Options{})
	for name, frame := range map[string][]byte{
		"Metadata":     rawFrame(3, 1, append(be32(maxOther-30), make([]byte, maxOther-16)...)...),
		"CreateTopics": rawFrame(19, 4, append(be32(maxOther-30), make([]byte, maxOther-16)...)...),
	} {
		var before, after runtime.MemStats
		cl := c.dial()
		runtime.ReadMemStats(&before)
		cl.send(frame)
		if !cl.closed() {
			t.Errorf("%s: it stays open, or answers", name)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 96<<20 {
			t.Errorf("%s of %d bytes took %d MiB", name, len(frame), took>>20)
		}
	}
}

// TestApiVersions holds what is advertised, and the answers to versions and names that are not served.
func TestApiVersions(t *testing.T) {
	c := startCore(t, Options{})
	cluster, node := c.engine.ClusterID(), c.engine.NodeID()
	for name, tc := range map[string]struct {
		version int16
		change  func(*kmsg.ApiVersionsRequest)
		code    int16
	}{
		"v0":                      {version: 0},
		"v2":                      {version: 2},
		"v3":                      {version: 3},
		"v4":                      {version: 4},
		"v5":                      {version: 5},
		"no name":                 {3, func(r *kmsg.ApiVersionsRequest) { r.ClientSoftwareName = "" }, 42},
		"a name with a blank":     {3, func(r *kmsg.ApiVersionsRequest) { r.ClientSoftwareName = "a b" }, 42},
		"a name that ends in a .": {3, func(r *kmsg.ApiVersionsRequest) { r.ClientSoftwareName = "a." }, 42},
		"a version with a slash":  {3, func(r *kmsg.ApiVersionsRequest) { r.ClientSoftwareVersion = "1/2" }, 42},
		"our cluster and node":    {5, func(r *kmsg.ApiVersionsRequest) { r.ClusterID, r.NodeID = &cluster, node }, 0},
		"cluster alone":           {5, func(r *kmsg.ApiVersionsRequest) { r.ClusterID = &cluster }, 42},
		"node alone":              {5, func(r *kmsg.ApiVersionsRequest) { r.NodeID = node }, 42},
		"another node":            {5, func(r *kmsg.ApiVersionsRequest) { r.ClusterID, r.NodeID = &cluster, node+1 }, 129},
		"another cluster":         {5, func(r *kmsg.ApiVersionsRequest) { r.ClusterID, r.NodeID = kmsg.StringPtr("other"), node }, 129},
	} {
		t.Run(name, func(t *testing.T) {
			req := kmsg.NewPtrApiVersionsRequest()
			req.ClientSoftwareName, req.ClientSoftwareVersion = "tester", "1.0"
			if tc.change != nil {
				tc.change(req)
			}
			r := c.dial().ask(req, tc.version).(*kmsg.ApiVersionsResponse)
			if r.ErrorCode != tc.code || (len(r.ApiKeys) == 0) != (tc.code != 0) {
				t.Fatalf("error %d and %d keys, want error %d", r.ErrorCode, len(r.ApiKeys), tc.code)
			}
			if tc.code != 0 {
				return
			}
			for _, k := range r.ApiKeys {
				if a, ok := c.apis[kmsg.Key(k.ApiKey)]; !ok || a.min != k.MinVersion || a.max != k.MaxVersion {
					t.Errorf("advertises key %d from %d to %d, serves %+v", k.ApiKey, k.MinVersion, k.MaxVersion, a)
				}
			}
			for _, f := range r.SupportedFeatures {
				if f.MinVersion == 0 && tc.version < 4 {
					t.Errorf("version %d lists feature %s from 0", tc.version, f.Name)
				}
			}
			if tc.version >= 3 && len(r.FinalizedFeatures) != 3 {
				t.Errorf("finalized features %+v", r.FinalizedFeatures)
			}
		})
	}
	for _, v := range []int16{-1, 6, 99} {
		cl := c.dial()
		cl.send(rawFrame(18, v, 9, 9, 9))
		b, err := cl.receive()
		if want := "00000001" + "0023" + "00000001" + "001200000005"; err != nil || fmt.Sprintf("%x", b) != want {
			t.Errorf("v%d: got %x, %v, want %s", v, b, err, want)
		}
	}
}

// TestPipeline holds that requests sent at once are answered in order, and that one that comes a byte at a time is.
func TestPipeline(t *testing.T) {
	c := startCore(t, Options{}, set("t", 3))
	cl := c.dial()
	var all []byte
	var reqs []kmsg.Request
	large := batchOf(t, record.Spec{}, strings.Repeat("x", 300_000))
	for i := range int32(60) {
		var req kmsg.Request = kmsg.NewPtrMetadataRequest()
		switch i % 3 {
		case 1:
			req = produceOf("t", -1, map[int32][]byte{i % 2: batchOf(t, record.Spec{}, "v"), 2: large})
		case 2:
			req = kmsg.NewPtrApiVersionsRequest()
		}
		reqs = append(reqs, req)
		all = append(all, frameOf(req, 2+7*int16(i%3&1), i)...)
	}
	var sent sync.WaitGroup
	sent.Go(func() { _, _ = cl.nc.Write(all) }) // what fails is missed below
	defer sent.Wait()
	for i, req := range reqs {
		cl.answerTo(req, int32(i))
	}
	for _, b := range metadataFrame(9) {
		cl.send([]byte{b})
	}
	if _, err := cl.receive(); err != nil {
		t.Error(err)
	}
}

// TestPanic holds that a handler's panic costs its own connection only, and is told.
func TestPanic(t *testing.T) {
	all := apis()
	all[kmsg.Heartbeat] = api{min: 0, max: 4, handle: func(*Server, *call) (reply, error) { panic("of the test") }}
	var mu sync.Mutex
	var told []string
	c := startAPIs(t, all, Options{Notice: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, s)
	}})
	other := c.dial()
	cl := c.dial()
	cl.send(frameOf(kmsg.NewPtrHeartbeatRequest(), 4, 1))
	if !cl.closed() {
		t.Error("it stays open")
	}
	other.ask(kmsg.NewPtrMetadataRequest(), 9)
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 1 || !strings.Contains(told[0], "Heartbeat version 4 panicked at frames_test.go:") || !strings.Contains(told[0], "of the test") {
		t.Errorf("told %q", told)
	}
}

// TestMaxConns holds that there are no more connections than are allowed, and room again once one has gone.
func TestMaxConns(t *testing.T) {
	c := startCore(t, Options{MaxConns: 2})
	a, b := c.dial(), c.dial()
	a.ask(kmsg.NewPtrMetadataRequest(), 9)
	b.ask(kmsg.NewPtrMetadataRequest(), 9)
	if third := c.dial(); !third.closed() {
		t.Error("the third connection stays open")
	}
	if err := a.nc.Close(); err != nil {
		t.Fatal(err)
	}
	c.await(func() bool { return c.connections() == 1 })
	c.dial().ask(kmsg.NewPtrMetadataRequest(), 9)
}

// TestIdle holds that a client that says nothing is let go, and so is one that never ends its frame.
func TestIdle(t *testing.T) {
	c := startCore(t, Options{IdleTimeout: 50 * time.Millisecond})
	silent, slow := c.dial(), c.dial()
	slow.send(metadataFrame(9)[:12])
	if !silent.closed() || !slow.closed() {
		t.Error("it stays open")
	}
}

// TestSlowReader holds that a client that takes no answers is let go, and holds up nobody.
func TestSlowReader(t *testing.T) {
	c := startCore(t, Options{WriteTimeout: 100 * time.Millisecond}, set("t", 300))
	slow := c.dial()
	var sent sync.WaitGroup
	sent.Go(func() {
		frame := frameOf(kmsg.NewPtrMetadataRequest(), 9, 1)
		for range 10000 { // until its answers fill both buffers
			if _, err := slow.nc.Write(frame); err != nil {
				return
			}
		}
	})
	c.await(func() bool { return c.connections() == 1 })
	c.await(func() bool {
		c.dial().ask(kmsg.NewPtrFindCoordinatorRequest(), 3)
		return len(c.refusedFor()) > 0
	})
	sent.Wait()
	if got := c.refusedFor()[0]; !strings.Contains(got, "takes no answer") {
		t.Errorf("refused for %s", got)
	}
}

// TestClose holds that requests that wait are answered when the Server ends, and idle connections closed.
func TestClose(t *testing.T) {
	began := make(chan struct{})
	all := apis()
	all[kmsg.Heartbeat] = api{min: 0, max: 4, handle: func(_ *Server, c *call) (reply, error) {
		close(began)
		<-c.ctx.Done()
		r := c.req.ResponseKind().(*kmsg.HeartbeatResponse)
		r.ErrorCode = 27
		return r, nil
	}}
	c := startAPIs(t, all, Options{})
	idle, waiting := c.dial(), c.dial()
	idle.ask(kmsg.NewPtrMetadataRequest(), 9)
	req := kmsg.NewPtrHeartbeatRequest()
	waiting.send(frameOf(req, 4, 1))
	<-began
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if r := waiting.answerTo(req, 1).(*kmsg.HeartbeatResponse); r.ErrorCode != 27 || !waiting.closed() || !idle.closed() {
		t.Errorf("answered %+v, or left open", r)
	}
}

// TestGone holds that a wait ends when its client has closed the connection.
func TestGone(t *testing.T) {
	ended := make(chan struct{})
	all := apis()
	all[kmsg.Heartbeat] = api{min: 0, max: 4, handle: func(_ *Server, c *call) (reply, error) {
		<-c.ctx.Done()
		close(ended)
		return nil, nil
	}}
	c := startAPIs(t, all, Options{})
	cl := c.dial()
	cl.send(frameOf(kmsg.NewPtrHeartbeatRequest(), 4, 1))
	c.await(func() bool { return c.connections() == 1 && c.served(kmsg.Heartbeat) == 0 && c.waiting() == 1 })
	c.letGo(time.Now().Add(time.Hour))
	select {
	case <-ended:
		t.Fatal("it ended while its client was there")
	default:
	}
	if err := cl.nc.Close(); err != nil {
		t.Fatal(err)
	}
	c.await(func() bool {
		c.letGo(time.Now().Add(time.Hour))
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
}

// FuzzHeader holds that no header makes its parsers fail, and that what they return lies in it.
func FuzzHeader(f *testing.F) {
	f.Add(metadataFrame(9)[4:])
	f.Add(rawFrame(18, 99)[4:])
	f.Fuzz(func(t *testing.T, b []byte) {
		h, rest, err := parseHeader(b)
		if err != nil {
			return
		}
		if len(h.client)+len(rest)+minFrame != len(b) {
			t.Fatalf("%d bytes, %d of them client id, %d left", len(b), len(h.client), len(rest))
		}
		if after, err := skipTags(rest); err == nil && !bytes.HasSuffix(rest, after) {
			t.Fatal("what follows the tags is not in the frame")
		}
	})
}

// TestBuffers holds the size classes: a slice goes back to the class that it came from.
func TestBuffers(t *testing.T) {
	var p buffers
	for _, n := range []int{0, 1, 4095, 4096, 4097, 1 << 20, 1<<20 + 1, 1 << 24, 1<<24 + 1} {
		b := p.get(n)
		if cap(*b) < n || len(*b) != 0 {
			t.Errorf("%d: len %d, cap %d", n, len(*b), cap(*b))
		}
		if i := class(n); i >= 0 && cap(*b) != 1<<(minClass+i) {
			t.Errorf("%d: class %d holds %d", n, i, cap(*b))
		}
		p.put(b)
	}
	odd := make([]byte, 0, 5000)
	p.put(&odd)
	p.put(nil)
	if b := p.get(5000); cap(*b) == 5000 {
		t.Error("a slice of no class came back")
	}
}

// TestAutoCreate holds when Metadata makes topics.
func TestAutoCreate(t *testing.T) {
	no := false
	for name, tc := range map[string]struct {
		o       Options
		version int16
		allow   bool
		topic   string
		code    int16
	}{
		"v3 always":            {version: 3, topic: "t"},
		"v4 allowed":           {version: 4, allow: true, topic: "t"},
		"v4 not allowed":       {version: 4, topic: "t", code: 3},
		"v12 allowed":          {version: 12, allow: true, topic: "t"},
		"not by the configs":   {o: Options{AutoCreate: &no}, version: 4, allow: true, topic: "t", code: 3},
		"a bad name":           {version: 4, allow: true, topic: "a b", code: 17},
		"a name that collides": {version: 4, allow: true, topic: "is.there", code: 17},
		"of Kafka's own":       {version: 4, allow: true, topic: "__share_group_state", code: 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCore(t, tc.o, model.TopicSpec{Name: "is_there"})
			req := kmsg.NewPtrMetadataRequest()
			req.AllowAutoTopicCreation = tc.allow
			rt := kmsg.NewMetadataRequestTopic()
			rt.Topic = &tc.topic
			req.Topics = append(req.Topics, rt)
			r := c.dial().ask(req, tc.version).(*kmsg.MetadataResponse)
			if got := r.Topics[0]; got.ErrorCode != tc.code || *got.Topic != tc.topic || (len(got.Partitions) == 1) != (tc.code == 0) || c.engine.HasTopic(tc.topic) != (tc.code == 0) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

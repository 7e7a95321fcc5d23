//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience bounds every wait of these tests; nothing waits for it to pass.
const patience = 60 * time.Second

// process is a command that runs beside the test.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // of stdout; closed with it

	mu  sync.Mutex
	err bytes.Buffer
}

// Write takes stderr.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err.Write(b)
}

func (p *process) stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err.String()
}

// begin starts a command, which is killed with the test.
func (w *world) begin(args ...string) *process {
	w.t.Helper()
	p := &process{t: w.t, cmd: exec.Command(binary, args...), lines: make(chan string, 10_000)}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = w.env(), w.home, p
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // as a rule it has ended
		<-read
		_ = p.cmd.Wait()
	})
	return p
}

// line returns the next line of stdout.
func (p *process) line() string {
	p.t.Helper()
	select {
	case l, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("%v ended: %s", p.cmd.Args[1:], p.stderr())
		}
		return l
	case <-time.After(patience):
		p.t.Fatalf("no line of %v: %s", p.cmd.Args[1:], p.stderr())
	}
	return ""
}

// ends waits for the end, after a signal where one is given, and returns the exit code.
func (p *process) ends(sig ...os.Signal) int {
	p.t.Helper()
	for _, s := range sig {
		if err := p.cmd.Process.Signal(s); err != nil {
			p.t.Fatal(err)
		}
	}
	for deadline := time.After(patience); ; {
		select {
		case _, ok := <-p.lines:
			if ok {
				continue
			}
			_ = p.cmd.Wait() // the code says it
			return p.cmd.ProcessState.ExitCode()
		case <-deadline:
			p.t.Fatalf("%v does not end: %s", p.cmd.Args[1:], p.stderr())
		}
	}
}

// serve starts the broker and returns where it listens.
func (w *world) serve(args ...string) (*process, string) {
	w.t.Helper()
	p := w.begin(append([]string{"serve"}, args...)...)
	address, ok := strings.CutPrefix(p.line(), "ready ")
	if !ok {
		w.t.Fatalf("not ready: %s", p.stderr())
	}
	return p, address
}

// until asks again and again until what it asks for is so.
func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !so(); {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// members returns how many members a group has, as the command line says.
func (w *world) members(group string) string {
	w.t.Helper()
	for _, o := range w.run(0, "", "groups", "--json").objects(w.t) {
		if o["group"] == group {
			return fmt.Sprint(o["state"], " ", o["members"])
		}
	}
	return ""
}

// send produces values, in turn over the partitions, with a client of Kafka.
func send(t *testing.T, address, topic string, partitions, from, to int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	var rs []*kgo.Record
	for i := from; i < to; i++ {
		rs = append(rs, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: fmt.Appendf(nil, "v%d", i)})
	}
	if err := cl.ProduceSync(ctx, rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// TestConsumersShareAGroupAndHaveTheirOwn is a queue and publish/subscribe at once, with records of any client.
func TestConsumersShareAGroupAndHaveTheirOwn(t *testing.T) {
	for _, protocol := range []string{"classic", "consumer"} {
		t.Run(protocol, func(t *testing.T) {
			w := newWorld(t)
			server, address := w.serve()
			w.run(0, "", "topic", "create", "orders", "-p", "4")
			consume := func(group string) *process {
				return w.begin("consume", "orders", "-g", group, "-f", `%s\n`, "--protocol", protocol)
			}
			a, b, other := consume("shared"), consume("shared"), consume("own")
			w.until("two members and one", func() bool {
				return w.members("shared") == "Stable 2" && w.members("own") == "Stable 1"
			})
			send(t, address, "orders", 4, 0, 200)
			got := map[string]int{}
			had := [2]int{}
			for len(got) < 200 {
				select {
				case v := <-a.lines:
					got[v]++
					had[0]++
				case v := <-b.lines:
					got[v]++
					had[1]++
				case <-time.After(patience):
					t.Fatalf("%d of 200 records: %s %s", len(got), a.stderr(), b.stderr())
				}
			}
			if had != [2]int{100, 100} {
				t.Errorf("two members of one group with two partitions each were given %v records", had)
			}
			all := map[string]bool{}
			for len(all) < 200 {
				all[other.line()] = true
			}
			if !maps.EqualFunc(got, all, func(n int, seen bool) bool { return n == 1 && seen }) {
				t.Errorf("not each record once: %v", got)
			}
			for _, p := range []*process{a, b, other} {
				if code := p.ends(os.Interrupt); code != 130 {
					t.Errorf("exit code %d of an interrupted consume: %s", code, p.stderr())
				}
			}
			if s, o := w.members("shared"), w.members("own"); s != "Empty 0" || o != "Empty 0" {
				t.Errorf("after they have left: %s, %s", s, o)
			}
			if lag := fmt.Sprint(w.run(0, "", "group", "shared", "--json").objects(t)[0]["lag"]); lag != "0" {
				t.Errorf("what was printed is not committed: lag %s", lag)
			}
			if code := server.ends(syscall.SIGTERM); code != 0 {
				t.Errorf("exit code %d: %s", code, server.stderr())
			}
		})
	}
}

// TestConsumeWithoutABroker brings its own, and goes on where the group was.
func TestConsumeWithoutABroker(t *testing.T) {
	w := newWorld(t)
	w.run(0, "", "topic", "create", "orders", "-p", "2")
	w.run(0, "a\nb\nc\nd\ne\n", "produce", "orders", "--partition", "1")
	r := w.run(0, "", "consume", "orders", "--limit", "2", "--json").objects(t)
	if got := fmt.Sprint(field(r, "value"), field(r, "offset"), field(r, "batch")); got != "[a b] [0 1] [<nil> <nil>]" {
		t.Errorf("first: %s", got)
	}
	if got := w.run(0, "", "consume", "orders", "--limit", "3", "-f", `%o:%s\n`).out; got != "2:c\n3:d\n4:e\n" {
		t.Errorf("then: %q", got)
	}
	if got := field(w.run(0, "", "group", "default", "--json").objects(t)[1:], "committed"); fmt.Sprint(got) != "[5]" {
		t.Errorf("committed: %v", got)
	}
	w.run(2, "", "consume", "order")
	w.run(2, "", "consume", "orders", "--from", "7")
	w.run(2, "", "consume", "orders", "-s", kitchenDir(t, nil))
}

// TestASecondStrataAttaches has the one that holds the directory do what the second is told to.
func TestASecondStrataAttaches(t *testing.T) {
	w := newWorld(t)
	server, address := w.serve()
	x := w.start(140, 40)
	x.Wait(fmt.Sprintf(`attached to process %d at %s`, server.cmd.Process.Pid, address))
	r := w.run(0, "", "topic", "create", "orders", "-p", "2", "-c", "retention.ms=3600000")
	if want := fmt.Sprintf("strata: attached to process %d at %s\n", server.cmd.Process.Pid, address); r.err != want {
		t.Errorf("said %q, want %q", r.err, want)
	}
	x.Wait(`orders +2 `)
	w.run(0, "", "topic", "grow", "orders", "-p", "3")
	w.run(0, "", "topic", "alter", "orders", "-c", "retention.ms=-1", "--yes")
	if ts := w.run(0, "", "topics", "--json").objects(t); fmt.Sprintf("%v %v", ts[0]["retentionMs"], ts[0]["partitions"]) != "-1 3" {
		t.Errorf("topics: %v", ts)
	}
	if r := w.run(0, "1\n2\n3\n4\n", "produce", "orders", "--partition", "2"); r.out != "orders/2@0\norders/2@1\norders/2@2\norders/2@3\n" {
		t.Errorf("produced: %q", r.out)
	}
	w.run(2, "", "produce", "orders", "-v", "x", "--partition", "3")
	w.run(2, "", "topic", "create", "orders")
	w.run(0, "", "consume", "orders", "-g", "billing", "--limit", "3")
	rows := w.run(0, "", "group", "billing", "--json").objects(t)
	if got := fmt.Sprintf("%v %v", rows[0]["lag"], field(rows[1:], "committed")); got != "1 [3]" {
		t.Errorf("group: %s", got)
	}
	w.run(0, "", "reset", "billing", "--to", "1")
	r = w.run(0, "", "reset", "billing", "--to", "1", "--apply")
	if !strings.Contains(r.err, "no undo: process") {
		t.Errorf("does not say that there is no undo: %s", r.err)
	}
	if got := field(w.run(0, "", "group", "billing", "--json").objects(t)[1:], "committed"); fmt.Sprint(got) != "[1]" {
		t.Errorf("after the reset: %v", got)
	}
	w.run(1, "", "undo", "--apply")
	if r := w.run(0, "", "delete-records", "orders/2", "--before", "2", "--yes"); r.out != "orders-2 starts at 2\n" {
		t.Errorf("%q", r.out)
	}
	w.run(2, "", "delete-records", "orders/2", "--before", "9", "--yes")
	w.run(0, "", "topic", "delete", "orders", "--yes")
	x.Until(func() bool { return !strings.Contains(x.Screen(), "orders ") }, "the deleted topic stays")
	x.Type("q")
	if code := x.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if code := server.ends(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, server.stderr())
	}
}

// TestAnOwnerThatIsKilled is shown, its files can be browsed still, and its lock stands in nobody's way.
func TestAnOwnerThatIsKilled(t *testing.T) {
	w := newWorld(t)
	server, address := w.serve()
	w.run(0, "", "topic", "create", "orders", "-p", "2")
	send(t, address, "orders", 2, 0, 10)
	consumer := w.begin("consume", "orders", "-f", `%s\n`)
	seen := map[string]bool{}
	for len(seen) < 10 {
		seen[consumer.line()] = true
	}
	x := w.start(140, 40, "--no-listen")
	x.Wait(fmt.Sprintf(`attached to process %d`, server.cmd.Process.Pid))
	if code := server.ends(syscall.SIGKILL); code != -1 {
		t.Errorf("exit code %d", code)
	}
	// Of the two that are left, the consumer brings a broker of its own, which the explorer finds.
	x.Wait(fmt.Sprintf(`attached to process %d|process %d has ended`, consumer.cmd.Process.Pid, server.cmd.Process.Pid))
	w.run(0, "", "topics")
	w.until("somebody takes the directory", func() bool {
		return strings.Contains(consumer.stderr(), "the broker has ended")
	})
	x.Wait(fmt.Sprintf(`attached to process %d`, consumer.cmd.Process.Pid))
	w.run(0, "last\n", "produce", "orders")
	for consumer.line() != "last" { // what was printed and not committed may come again
	}
	if code := consumer.ends(os.Interrupt); code != 130 {
		t.Errorf("exit code %d: %s", code, consumer.stderr())
	}
	x.Wait(fmt.Sprintf(`process %d has ended`, consumer.cmd.Process.Pid))
	x.Type("\r")
	x.Wait(`strata ▸ orders`)
	x.Wait(`log start|LOG START|START`)
	x.Type("q")
	if code := x.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	w := newWorld(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	address := ln.Addr().String()
	another := address + " is taken by another program"
	if runtime.GOOS == "linux" {
		another += " (not strata)"
	}
	for _, args := range [][]string{{"serve", "--listen", address}, {"--listen", address}, {"demo", "--listen", address}} {
		if r := w.run(2, "", args...); r.err != "strata: "+another+". Start with --listen 127.0.0.1:0, or --no-listen.\n" || r.out != "" {
			t.Errorf("%v: %q %q", args, r.out, r.err)
		}
	}
	if _, err := os.Stat(w.data); err == nil {
		t.Error("a broker that cannot listen has made its directory")
	}
	server, address := w.serve()
	r := w.run(2, "", "serve", "--listen", address, "--data", filepath.Join(w.home, "other"))
	if runtime.GOOS == "linux" && !strings.HasPrefix(r.err, fmt.Sprintf("strata: %s is taken by strata, process %d, for %s. Start with ", address, server.cmd.Process.Pid, w.data)) {
		t.Errorf("said %q", r.err)
	}
	if r := w.run(2, "", "serve", "--listen", address); !strings.Contains(r.err, fmt.Sprintf("in use by process %d", server.cmd.Process.Pid)) {
		t.Errorf("said %q", r.err)
	}
	server.ends(syscall.SIGTERM)
}

// TestTheDemoTakesAnotherPort where the usual one is taken, and says so.
func TestTheDemoTakesAnotherPort(t *testing.T) {
	w := newWorld(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dir := t.TempDir()
	props, empty := filepath.Join(dir, "server.properties"), filepath.Join(dir, "config.toml")
	for path, text := range map[string]string{props: "listeners=PLAINTEXT://" + ln.Addr().String() + "\n", empty: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := w.start(160, 40, "demo", "--properties", props, "--config", empty)
	x.Wait(ln.Addr().String() + ` is taken by another program.*Kafka clients are served at 127\.0\.0\.1:\d+`)
	x.Wait(`embedded · 127\.0\.0\.1:\d+`)
	x.Type("q")
	if code := x.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestListenersOfProperties are where the broker listens, and what it tells clients of itself.
func TestListenersOfProperties(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	props, empty := filepath.Join(dir, "server.properties"), filepath.Join(dir, "config.toml")
	text := "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:1\ncontroller.listener.names=CONTROLLER\nadvertised.listeners=PLAINTEXT://kafka.invalid:19092\n"
	for path, text := range map[string]string{props: text, empty: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, address := w.serve("--properties", props, "--config", empty)
	dialled := make(chan string, 100)
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DisableClientMetrics(), kgo.Dialer(func(ctx context.Context, network, host string) (net.Conn, error) {
		select {
		case dialled <- host:
		default:
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	w.run(0, "", "--properties", props, "topic", "create", "orders")
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("x")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for len(dialled) > 0 {
		hosts = append(hosts, <-dialled)
	}
	if !slices.Contains(hosts, "kafka.invalid:19092") {
		t.Errorf("dialled %v, not what is advertised", hosts)
	}
	server.ends(syscall.SIGTERM)
}

// TestAnOwnerThatDoesNotListen is told as such: the files are read, and nothing is written.
func TestAnOwnerThatDoesNotListen(t *testing.T) {
	w := newWorld(t)
	x := w.start(120, 40, "--no-listen")
	x.Wait(`there are no topics here`)
	if r := w.run(2, "", "produce", "orders", "-v", "x"); !strings.Contains(r.err, fmt.Sprintf("in use by process %d", x.Cmd.Process.Pid)) {
		t.Errorf("said %q", r.err)
	}
	y := w.start(120, 40)
	y.Wait(fmt.Sprintf(`process %d writes here`, x.Cmd.Process.Pid))
	y.Type("q")
	y.ends()
	x.Type("q")
	x.ends()
	for _, args := range [][]string{{"serve", "--no-listen"}, {"serve", "--listen", "9092"}, {"--listen", "127.0.0.1:0", "--no-listen"}} {
		w.run(2, "", args...)
	}
}

// TestTheSameUserComesInByTheDoor where other clients have to say who they are.
func TestTheSameUserComesInByTheDoor(t *testing.T) {
	w := newWorld(t)
	if r := w.run(1, "", "serve", "--sasl"); !strings.Contains(r.err, "strata user add NAME") {
		t.Errorf("without any user: %q", r.err)
	}
	w.run(0, "secret\n", "user", "add", "ada")
	server, address := w.serve("--sasl")
	w.run(0, "", "topic", "create", "orders")
	w.run(0, "1\n2\n", "produce", "orders")
	if r := w.run(0, "", "consume", "orders", "--limit", "2", "-f", `%s\n`); r.out != "1\n2\n" {
		t.Errorf("consumed %q", r.out)
	}
	if got := w.members("default"); got != "Empty 0" {
		t.Errorf("group: %s", got)
	}
	if r := w.run(2, "secret\n", "user", "add", "bob"); !strings.Contains(r.err, "keeps the users") {
		t.Errorf("said %q", r.err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DisableClientMetrics(), kgo.RequestRetries(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	if _, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, cl); err == nil || ctx.Err() != nil {
		t.Errorf("a client that does not say who it is: %v", err)
	}
	if code := server.ends(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, server.stderr())
	}
}

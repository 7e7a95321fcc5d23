package remote

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
)

// deaf is a listener that takes connections and does with each what it is told.
func deaf(t *testing.T, with func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []net.Conn
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, nc)
			mu.Unlock()
			with(nc)
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-over
		for _, nc := range all {
			_ = nc.Close()
		}
	})
	return ln.Addr().String()
}

// calls are all calls of a Client that wait for a broker.
func calls(c *Client) map[string]func(ctx context.Context) error {
	g := c.Groups(&logs{end: 10}, func() {})
	tp := model.TopicPartition{Topic: "orders"}
	reset := model.ResetPlan{Group: "g", Rows: []model.PlanRow{{TopicPartition: tp, From: 1, To: 2}}}
	return map[string]func(ctx context.Context) error{
		"ping":   c.Ping,
		"names":  func(ctx context.Context) error { _, err := c.TopicNames(ctx); return err },
		"create": func(ctx context.Context) error { return c.CreateTopic(ctx, model.TopicSpec{Name: "orders"}) },
		"grow":   func(ctx context.Context) error { return c.GrowTopic(ctx, "orders", 2) },
		"alter": func(ctx context.Context) error {
			return c.AlterTopic(ctx, "orders", []model.ConfigChange{{Name: "retention.ms", Value: "1"}})
		},
		"delete":  func(ctx context.Context) error { return c.DeleteTopic(ctx, "orders") },
		"records": func(ctx context.Context) error { _, err := c.DeleteRecords(ctx, tp, 1); return err },
		"config":  func(ctx context.Context) error { _, err := c.TopicConfig(ctx, "orders"); return err },
		"configs": func(ctx context.Context) error { _, err := c.SetConfigs(ctx, nil); return err },
		"produce": func(ctx context.Context) error {
			_, err := c.Produce(ctx, model.ProduceRequest{Topic: "orders", Acks: -1, Records: []model.ProduceRecord{{Partition: -1}}})
			return err
		},
		"commit": func(ctx context.Context) error { return c.Commit(ctx, "g", commits(1)) },
		"groups": func(ctx context.Context) error { _, err := g.Groups(ctx); return err },
		"group":  func(ctx context.Context) error { _, err := g.Group(ctx, "g"); return err },
		"plan": func(ctx context.Context) error {
			_, err := g.PlanReset(ctx, model.ResetRequest{Group: "g"})
			return err
		},
		"apply":        func(ctx context.Context) error { _, err := g.ApplyReset(ctx, reset); return err },
		"delete group": func(ctx context.Context) error { return g.DeleteGroup(ctx, "g") },
	}
}

// TestNothingBlocks asks brokers that are gone, deaf, or hang up: each call ends by itself, with an error.
func TestNothingBlocks(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	for name, address := range map[string]string{
		"gone":     gone.Addr().String(),
		"deaf":     deaf(t, func(net.Conn) {}),
		"hangs up": deaf(t, func(nc net.Conn) { _ = nc.Close() }),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New([]string{address}, Options{Timeout: 200 * time.Millisecond, DialTimeout: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for name, call := range calls(c) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					over := make(chan error, 1)
					go func() { over <- call(context.Background()) }()
					select {
					case err := <-over:
						if err == nil {
							t.Error("done, by nobody")
						}
					case <-time.After(30 * time.Second):
						t.Fatal("it waits for ever")
					}
				})
			}
		})
	}
}

// TestACallEndsWithItsContextOrTheClient, though the broker says nothing.
func TestACallEndsWithItsContextOrTheClient(t *testing.T) {
	asked := make(chan struct{}, 100)
	address := deaf(t, func(net.Conn) { asked <- struct{}{} })
	c, err := New([]string{address}, Options{Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- c.Ping(ctx) }()
	<-asked
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	m := join(t, c, model.JoinRequest{Group: "g", Topics: []string{"orders"}})
	go func() {
		_, err := m.Next(context.Background())
		over <- err
	}()
	go func() { over <- c.Ping(context.Background()) }()
	<-asked
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-over; !errors.Is(err, model.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
	if _, err := c.Produce(t.Context(), model.ProduceRequest{Topic: "orders", Records: []model.ProduceRecord{{}}}); !errors.Is(err, model.ErrClosed) && !errors.Is(err, context.Canceled) {
		t.Errorf("after Close: %v", err)
	}
	_ = m.Leave(context.Background()) // there is nobody to leave
}

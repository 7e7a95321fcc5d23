package groups

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// TestEverythingAtOnce does all that can be done to groups from many goroutines: nothing fails but what must be refused, and
// what is left is sound.
func TestEverythingAtOnce(t *testing.T) {
	const rounds = 25
	c := clockAt(1000)
	s := newService(t, (&fakeLogs{}).fill("t", 4, 0, 200).fill("gone", 1, 0, 10), c)
	ctx := t.Context()
	for i := range 4 {
		commit(t, s, fmt.Sprintf("g%d", i), offset("t", int32(i), 1), offset("gone", 0, 1))
	}
	refusable := func(err error) error {
		if errors.Is(err, model.ErrRefused) || errors.Is(err, model.ErrNoGroup) || errors.Is(err, model.ErrInvalid) {
			return nil
		}
		return err
	}
	tasks := map[string]func(group string, n int64) error{
		"commit": func(g string, n int64) error { return s.Commit(ctx, g, []model.Commit{offset("t", 0, n)}) },
		"member": func(g string, n int64) error {
			m, err := s.Join(g, MemberInfo{Assignment: []model.TopicPartition{at("t", 0)}})
			if err != nil {
				return err
			}
			return errors.Join(m.Commit(ctx, []model.Commit{offset("t", 1, n)}), m.SetAssignment(nil), m.Leave())
		},
		"reset": func(g string, n int64) error {
			p, err := s.PlanReset(ctx, model.ResetRequest{Group: g, Where: model.Where{Kind: model.ToOffset, N: n}})
			if err == nil {
				_, err = s.ApplyReset(ctx, p)
			}
			return refusable(err)
		},
		"undo": func(string, int64) error {
			p, err := s.PlanUndo(ctx, 0)
			if err == nil {
				_, err = s.ApplyReset(ctx, p)
			}
			return refusable(err)
		},
		"list": func(g string, _ int64) error {
			_, err := s.Groups(ctx)
			_, gerr := s.Group(ctx, g)
			return errors.Join(err, refusable(gerr))
		},
		"delete": func(g string, _ int64) error { return refusable(s.DeleteGroup(ctx, g)) },
		"expire": func(string, int64) error { _, err := s.Expire(c.now()); return err },
		"forget": func(string, int64) error { _, err := s.ForgetTopic("gone"); return err },
		"configs": func(g string, n int64) error {
			return s.db.TopicConfigs().Save(g, map[string]string{"a": fmt.Sprint(n)})
		},
	}
	var wg sync.WaitGroup
	for name, do := range tasks {
		wg.Go(func() {
			for n := range int64(rounds) {
				if err := do(fmt.Sprintf("g%d", n%4), n); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	gs, err := s.Groups(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gs {
		if g.Active() || g.Note != "" {
			t.Errorf("left: %s, %s, note %q", g.ID, g.State, g.Note)
		}
	}
}

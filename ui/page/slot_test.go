package page

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	tea "github.com/charmbracelet/bubbletea"
)

// both runs the two commands of a Slot's Start at once and returns what they bring.
func both(cmd tea.Cmd) (run, slow chan tea.Msg) {
	run, slow = make(chan tea.Msg, 1), make(chan tea.Msg, 1)
	b := cmd().(tea.BatchMsg)
	go func() { run <- b[0]() }()
	go func() { slow <- b[1]() }()
	return run, slow
}

func TestSlotDropsLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Slot[int]
		cancelled := make(chan struct{})
		first, _ := both(s.Start(t.Context(), func(ctx context.Context) (int, error) {
			<-ctx.Done()
			close(cancelled)
			return 1, ctx.Err()
		}))
		second, slow := both(s.Start(t.Context(), func(context.Context) (int, error) { return 2, nil }))
		<-cancelled
		if s.Owns((<-first).(Result[int])) {
			t.Error("the slot owns the answer of a cancelled request")
		}
		r := (<-second).(Result[int])
		if !s.Busy() || !s.Owns(r) || r.Val != 2 || s.Busy() {
			t.Errorf("second request: %+v", r)
		}
		if s.Owns(r) {
			t.Error("an answer twice")
		}
		if m := <-slow; m != nil {
			t.Errorf("a quick request is told slow: %v", m)
		}
	})
}

func TestSlotIsSlowAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Slot[int]
		release := make(chan struct{})
		run, slow := both(s.Start(t.Context(), func(context.Context) (int, error) {
			<-release
			return 1, nil
		}))
		if s.Slow() {
			t.Error("slow at once")
		}
		if m := <-slow; m != (Redraw{}) || !s.Slow() {
			t.Errorf("after 150 ms: %v, slow %v", m, s.Slow())
		}
		close(release)
		if s.Owns((<-run).(Result[int])); s.Slow() || s.Busy() {
			t.Error("still slow when answered")
		}
	})
}

func TestStreamBringsAllInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Stream[int]
		boom := errors.New("disk")
		const all = 5000
		cmd := s.Start(t.Context(), func(_ context.Context, emit func(int) bool) error {
			for i := range all {
				if !emit(i) {
					return nil
				}
			}
			return boom
		})
		next, messages := 0, 0
		for {
			it := cmd().(Items[int])
			messages++
			if !s.Owns(it) {
				t.Fatal("not its own")
			}
			for _, v := range it.Vals {
				if v != next {
					t.Fatalf("got %d, want %d", v, next)
				}
				next++
			}
			if it.Done {
				if !errors.Is(it.Err, boom) {
					t.Errorf("ended with %v", it.Err)
				}
				break
			}
			cmd = s.Next()
		}
		if next != all || s.Busy() {
			t.Errorf("brought %d of %d", next, all)
		}
		if messages > 50 {
			t.Errorf("%d messages for %d items: each costs a frame", messages, all)
		}
	})
}

func TestStreamCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Stream[int]
		ended := make(chan struct{})
		cmd := s.Start(t.Context(), func(_ context.Context, emit func(int) bool) error {
			defer close(ended)
			for emit(1) {
			}
			return nil
		})
		it := cmd().(Items[int])
		s.Cancel()
		<-ended
		if s.Owns(it) || s.Next() != nil {
			t.Error("a cancelled stream goes on")
		}
	})
}

func TestStreamRaisesTheProducersFault(t *testing.T) {
	var s Stream[int]
	cmd := s.Start(t.Context(), func(context.Context, func(int) bool) error { panic("in producer") })
	defer func() {
		if v := recover(); v == nil {
			t.Error("the fault got lost")
		}
	}()
	cmd()
}

package interrupt_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

func TestCause(t *testing.T) {
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	killed, kill := context.WithCancelCause(t.Context())
	kill(interrupt.Disconnected)
	plain, stop := context.WithCancel(t.Context())
	stop()
	for ctx, want := range map[context.Context]int32{
		t.Context(): 0, expired: mongoerr.MaxTimeMSExpired, killed: mongoerr.ClientDisconnect,
		plain: mongoerr.Interrupted,
	} {
		if got := mongoerr.CodeOf(interrupt.Cause(ctx)); got != want || got != 0 && !interrupt.Ends(got) {
			t.Errorf("code %d, want %d", got, want)
		}
	}
}

func TestStep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := follow(ctx)
	for range 1000 {
		if err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	n := 0
	for w.Step() == nil {
		n++
	}
	if n > 1000 || w.Steps(1) == nil {
		t.Errorf("%d steps after the end; then %v", n, w.Steps(1))
	}
	w.Follow(t.Context())
	if err := errors.Join(w.Step(), w.Steps(100_000)); err != nil {
		t.Errorf("the next command: %v", err)
	}
	var none *interrupt.Watch
	if err := errors.Join(none.Step(), none.Steps(100_000)); err != nil {
		t.Errorf("a watch of nothing: %v", err)
	}
}

func TestSort(t *testing.T) {
	list := rand.New(rand.NewPCG(1, 2)).Perm(100_000)
	for name, sort := range map[string]func(*interrupt.Watch, []int, func(a, b int) int) error{
		"Sort": interrupt.Sort[int], "SortStable": interrupt.SortStable[int],
	} {
		own := slices.Clone(list)
		if err := sort(follow(t.Context()), own, func(a, b int) int {
			return a - b
		}); err != nil || !slices.IsSorted(own) {
			t.Errorf("%s: %v, sorted %v", name, err, slices.IsSorted(own))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		compared := 0
		err := sort(follow(ctx), slices.Clone(list), func(a, b int) int {
			if compared++; compared == 1000 {
				cancel()
			}
			return a - b
		})
		cancel()
		if err == nil || compared > 2000 {
			t.Errorf("%s: %d comparisons, %v", name, compared, err)
		}
	}
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = interrupt.Sort(nil, list, func(a, b int) int { panic("mine") })
}

// follow returns the watch of a command with this context.
func follow(ctx context.Context) *interrupt.Watch {
	w := new(interrupt.Watch)
	w.Follow(ctx)
	return w
}

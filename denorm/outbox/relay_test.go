package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// until waits for a condition, for half a minute at most.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within half a minute", what)
		}
	}
}

// Three runners divide the lots, one of them dies, another joins, and receivers fail now and then: all events come,
// those of a lot in their order.
func TestRelayRunners(t *testing.T) {
	const all, each = 40, 6
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i := range all {
			lotWith(t, db, fmt.Sprint("l", i), 1, 2)
		}
		spec := outbox.RelaySpec{
			Attempts: 50, Pause: time.Millisecond, MaxPause: 5 * time.Millisecond, Parts: 8, For: 2 * time.Second,
			Poll: 5 * time.Millisecond,
		}
		rng := rand.New(rand.NewPCG(1, 1))
		s := &sink{fail: func(delivery, int) error {
			if rng.IntN(10) == 0 {
				return errHand
			}
			return nil
		}}
		var mu sync.Mutex
		by := map[int]int{}
		var ends []context.CancelFunc
		var running sync.WaitGroup
		start := func(n int) {
			ctx, cancel := context.WithCancel(t.Context())
			ends = append(ends, cancel)
			relay := wide.Relay("three", spec, func(ctx context.Context, d delivery) error {
				err := s.hand(ctx, d)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					by[n]++
				}
				return err
			})
			running.Go(func() {
				if err := relay.Run(ctx, db); !errors.Is(err, context.Canceled) {
					t.Errorf("runner %d: %v", n, err)
				}
			})
		}
		for n := range 3 {
			start(n)
		}
		for n := 3; n <= each; n++ {
			for i := range all {
				id := fmt.Sprint("l", i)
				if _, err := wide.Publish(id, told{n}, noon, opOf(id, n)).Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			if n == 4 {
				ends[0]()
				start(3)
			}
		}
		until(t, "all events", func() bool {
			s.Lock()
			defer s.Unlock()
			return len(s.got) == all && !slices.ContainsFunc(slices.Collect(func(yield func([]int) bool) {
				for _, v := range s.got {
					if !yield(v) {
						return
					}
				}
			}), func(got []int) bool { return len(firsts(got)) < each })
		})
		for _, end := range ends {
			end()
		}
		running.Wait()
		for id, got := range s.got {
			if !slices.Equal(firsts(got), []int{1, 2, 3, 4, 5, 6}) {
				t.Errorf("%s: %v", id, got)
			}
		}
		if none, err := wide.Depth().All(t.Context(), db); err != nil || len(none) != 0 {
			t.Errorf("%+v, %v", none, err)
		}
	})
}

// A runner that is alone has all parts, and gives half of them to one that joins.
func TestRelayShares(t *testing.T) {
	tenancy.Differs(t, "it reads the leases")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		spec := outbox.RelaySpec{Parts: 6, For: 3 * time.Second, Poll: 10 * time.Millisecond}
		relay := wide.Relay("shares", spec, func(context.Context, delivery) error { return nil })
		owners := func() (out []int) {
			cur, err := db.Collection("docmodel.relays").
				Find(t.Context(), bson.D{
					testkit.E("owner", bson.D{testkit.E("$exists", true)}),
					testkit.E("until", bson.D{testkit.E("$gt", time.Now())}),
				})
			if err != nil {
				t.Fatal(err)
			}
			var list []struct {
				Owner bson.ObjectID `bson:"owner"`
			}
			if err := cur.All(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			n := map[bson.ObjectID]int{}
			for _, x := range list {
				n[x.Owner]++
			}
			for _, k := range n {
				out = append(out, k)
			}
			slices.Sort(out)
			return out
		}
		var running sync.WaitGroup
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		defer endFirst()
		defer endSecond()
		running.Go(func() { _ = relay.Run(first, db) })
		until(t, "one runner has all", func() bool { return slices.Equal(owners(), []int{6}) })
		running.Go(func() { _ = relay.Run(second, db) })
		until(t, "each has half", func() bool { return slices.Equal(owners(), []int{3, 3}) })
		endFirst()
		until(t, "the other has all again", func() bool { return slices.Equal(owners(), []int{6}) })
		endSecond()
		running.Wait()
		if got := owners(); len(got) != 0 {
			t.Errorf("leases are left: %v", got)
		}
	})
}

// What a runner writes that was taken for dead is refused, and its successor has a greater fence.
func TestRelayFence(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		lotWith(t, db, "a", 1, 2)
		spec := outbox.RelaySpec{
			Once: true, Parts: 1, For: 2 * time.Second, Attempts: 9, Pause: time.Nanosecond, MaxPause: time.Nanosecond,
		}
		var fences []int64
		var order []string
		second := wide.Relay("fence", spec, func(_ context.Context, d delivery) error {
			fences, order = append(fences, d.Fence), append(order, fmt.Sprint("second ", d.Body.N))
			return nil
		})
		first := wide.Relay("fence", spec, func(ctx context.Context, d delivery) error {
			fences, order = append(fences, d.Fence), append(order, fmt.Sprint("first ", d.Body.N))
			loseLeases(t, db)
			<-ctx.Done() // it hangs until its lease is lost
			until(t, "the second has handed on", func() bool {
				if err := second.Run(t.Context(), db); err != nil {
					t.Error(err)
				}
				return len(order) == 3
			})
			return errHand // which doesn't count any more
		})
		if err := first.Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(order, []string{"first 1", "second 1", "second 2"}) || fences[1] <= fences[0] {
			t.Errorf("%v with the fences %v", order, fences)
		}
		if events, parked := waiting(t, db, "a"); len(events)+len(parked) != 0 {
			t.Errorf("%v wait, %v are parked", events, parked)
		}
	})
}

// loseLeases ends all leases, as after a pause of their runners.
func loseLeases(t *testing.T, db *mongo.Database) {
	t.Helper()
	if _, err := db.Collection("docmodel.relays").
		UpdateMany(t.Context(), bson.D{testkit.E("owner", bson.D{testkit.E("$exists", true)})},
			bson.D{testkit.E("$set", bson.D{testkit.E("until", time.Unix(0, 0))})}); err != nil {
		t.Error(err)
	}
}

// A delivery may take longer than the lease, which the relay extends: the context doesn't end, and the event is
// delivered once. The bubble's clock makes the delivery exactly twice as long as the lease, which takes no time.
func TestRelaySlow(t *testing.T) {
	for _, once := range []bool{true, false} {
		t.Run(fmt.Sprintf("once %v", once), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := mongotest.NewClient(t).Database("slow")
				lotWith(t, db, "a", 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				spec := outbox.RelaySpec{
					Once: once, Parts: 1, Attempts: 1, For: time.Second, Poll: 20 * time.Millisecond,
				}
				delivered := 0
				relay := wide.Relay("slow", spec, func(ctx context.Context, _ delivery) error {
					delivered++
					timer := time.NewTimer(2 * spec.For)
					defer timer.Stop()
					select {
					case <-timer.C:
						return nil
					case <-ctx.Done():
						t.Errorf("the context ended: %v", context.Cause(ctx))
						return ctx.Err()
					}
				})
				done := make(chan error, 1)
				go func() { done <- relay.Run(ctx, db) }()
				time.Sleep(4 * spec.For)
				cancel()
				if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				events, parked := waiting(t, db, "a")
				if len(events) != 0 || len(parked) != 0 || delivered != 1 {
					t.Errorf("%v wait, %v are parked, delivered %d times", events, parked, delivered)
				}
			})
		})
	}
}

// A delivery that fails because the lease was lost isn't counted.
func TestRelayLostLease(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		lotWith(t, db, "a", 1)
		spec := outbox.RelaySpec{Once: true, Parts: 1, Attempts: 1, For: time.Second}
		var cause error
		relay := wide.Relay("lost", spec, func(ctx context.Context, _ delivery) error {
			loseLeases(t, db)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return errHand
		})
		for cause == nil && t.Context().Err() == nil { // on a busy machine, a run can lose its lease before it delivers
			if err := relay.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if events, parked := waiting(t, db, "a"); len(events) != 1 || len(parked) != 0 {
			t.Errorf("%v wait, %v are parked", events, parked)
		}
		if cause == nil || errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("the context ended with %v", cause)
		}
	})
}

// With nothing waiting, a run over many groups costs one command.
func TestRelayOnceCost(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		lotWith(t, db, "a")
		for waits, want := range []int{1, 9} {
			if waits > 0 {
				lotWith(t, db, "b", 1)
			}
			before := len(m.Commands())
			err := wide.Relay("idle", outbox.RelaySpec{Once: true}, func(context.Context, delivery) error {
				return nil
			}).Run(t.Context(), db)
			if got := len(m.Commands()) - before; err != nil || got > want {
				t.Errorf("%d documents with events: %d commands, want at most %d; %v", waits, got, want, err)
			}
		}
	}, m)
}

// Lost leases don't stop a relay: its fences go on above those that documents hold.
func TestRelayLostLeases(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var s sink
		for n := range 3 {
			if n == 0 {
				lotWith(t, db, "a", 1)
			} else if _, err := wide.Publish("a", told{n + 1}, noon, opOf("a", n+1)).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := once(&s)(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			if n == 1 {
				if err := db.Collection("docmodel.relays").Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !slices.Equal(s.got["a"], []int{1, 2, 3}) {
			t.Errorf("%v", s.got)
		}
	})
}

func TestRelayRefuses(t *testing.T) {
	hand := func(context.Context, delivery) error { return nil }
	for reason, r := range map[string]outbox.Relay{
		"no name":             wide.Relay("", outbox.RelaySpec{}, hand),
		"no function":         wide.Relay("x", outbox.RelaySpec{}, nil),
		"a short lease":       wide.Relay("x", outbox.RelaySpec{For: time.Millisecond}, hand),
		"negative attempts":   wide.Relay("x", outbox.RelaySpec{Attempts: -1}, hand),
		"too many parts":      wide.Relay("x", outbox.RelaySpec{Parts: 5000}, hand),
		"pauses":              wide.Relay("x", outbox.RelaySpec{Pause: time.Hour}, hand),
		"leases among others": wide.Relay("x", outbox.RelaySpec{Leases: "lots"}, hand),
	} {
		if err := r.Run(t.Context(), nil); !errors.As(err, new(*model.ValueError)) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	declared := func(path string, spec outbox.Spec) func() {
		return func() { outbox.New[told](lots, path, spec) }
	}
	for reason, f := range map[string]func(){
		"no such field": declared("bag", outbox.Spec{}), "another type": declared("n", outbox.Spec{}),
		"a negative bound": declared("box", outbox.Spec{Max: -1}),
		"a large bound":    declared("box", outbox.Spec{MaxBytes: 16 << 20}),
		"events that are no documents": func() {
			outbox.New[int](model.NewCollection[bson.D, any]("x"), "box", outbox.Spec{})
		},
	} {
		if testkit.Catch(t, f) == nil {
			t.Errorf("%s: it is taken", reason)
		}
	}
}

package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestOutboxPublish(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		lotWith(t, db, "a", 1)
		w := box.Publish("a", told{2}, noon, testkit.Token(2))
		for range 2 {
			if _, err := w.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := waiting(t, db, "a"); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("%v wait", got)
		}
		for reason, test := range map[string]struct {
			w    model.Write
			want error
			says string
		}{
			"a token of another event": {
				w: box.Publish("a", told{3}, noon, testkit.Token(2)), want: denorm.ErrToken,
				says: "used for something else",
			},
			"no such lot": {box.Publish("b", told{3}, noon, testkit.Token(3)), model.ErrNotFound, ""},
			"no token": {
				w:    box.Publish("a", told{3}, noon, bson.NilObjectID),
				want: testkit.ErrRefused, says: "box.events.id",
			},
			"no time": {
				w:    box.Publish("a", told{3}, time.Time{}, testkit.Token(3)),
				want: testkit.ErrRefused, says: "box.events.at",
			},
			"no _id":                  {box.Publish("", told{3}, noon, testkit.Token(3)), testkit.ErrRefused, "_id"},
			"dropped without a token": {box.Drop("a", bson.NilObjectID), testkit.ErrRefused, "box.parked.id"},
		} {
			_, err := test.w.Run(t.Context(), db)
			testkit.WantError(t, err, test.want)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", reason, err)
			}
		}
		for n := 3; n <= 5; n++ {
			if _, err := box.Publish("a", told{n}, noon, testkit.Token(n)).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		_, err := box.Publish("a", told{6}, noon, testkit.Token(6)).Run(t.Context(), db)
		if !errors.Is(err, model.ErrFull) {
			t.Errorf("a sixth event: %v", err)
		}
		if _, err := box.Publish("a", told{5}, noon, testkit.Token(5)).Run(t.Context(), db); err != nil {
			t.Errorf("the fifth event again, in a full box: %v", err)
		}
		long := outbox.New[bson.D](model.NewCollection[bson.D, string]("lots"), "box",
			outbox.Spec{MaxBytes: 100})
		_, err = long.Publish("a", bson.D{testkit.E("x", strings.Repeat("x", 100))}, noon,
			testkit.Token(9)).Run(t.Context(), db)
		testkit.WantError(t, err, testkit.ErrRefused)
	})
}

// A change and its event are one write, and a second run of it does nothing, also after the event was handed on.
func TestOutboxMerged(t *testing.T) {
	testkit.Parallel(t)
	versioned := embed.NewVersioned(lots, embed.VersionedSpec{Tokens: "ops", Uncounted: []string{"box"}})
	model.New("lots", versioned, box)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		lotWith(t, db, "a")
		change := model.Merge(
			versioned.Guarded("a", bson.D{testkit.E("n", bson.D{testkit.E("$lt", 5)})},
				bson.D{testkit.E("$inc", bson.D{testkit.E("n", int64(1))})}, testkit.Token(1)),
			box.Publish("a", told{1}, noon, testkit.Token(1)),
		)
		var s sink
		for range 3 {
			if _, err := change.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if err := once(&s)(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		l, err := lots.ByID("a").One(t.Context(), db)
		if err != nil || l.N != 1 || s.all != 1 || len(l.Box.Events) != 0 {
			t.Errorf("%+v, %d handed on, %v", l, s.all, err)
		}
	})
}

// In a collection of its own the event is part of the change's transaction.
func TestOutboxInTransaction(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		lotWith(t, db, "a")
		fails := errors.New("taken back")
		act := func(n int, end error) error {
			return model.InTx(t.Context(), db, func(ctx context.Context) error {
				p := model.MergePlans(model.NewPlan(lots.Delete("a")),
					model.NewPlan(byKey.Publish("k", told{n}, noon, testkit.Token(n))))
				if _, err := p.Run(ctx, db); err != nil {
					return err
				}
				return end
			})
		}
		if err := act(1, fails); !errors.Is(err, fails) {
			t.Fatal(err)
		}
		if _, err := keys.ByID("k").One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("an event of what was taken back: %v", err)
		}
		for n := 2; n <= 3; n++ {
			if err := act(n, nil); err != nil {
				t.Fatal(err)
			}
		}
		var s sink
		if err := byKey.Relay("keys", outbox.RelaySpec{Once: true}, s.hand).Run(t.Context(), db); err != nil ||
			!slices.Equal(s.got["k"], []int{2, 3}) {
			t.Errorf("%v, %v", s.got, err)
		}
	})
}

// Events of a lot come in their order. One that fails waits, with those behind it, and is parked in the end.
func TestRelayOnce(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, id := range []string{"a", "b", "c"} {
			lotWith(t, db, id, 1, 2, 3)
		}
		s := sink{fail: func(d delivery, _ int) error {
			if d.Key == "b" && d.Body.N == 2 {
				return errHand
			}
			return nil
		}}
		slow := func(r *outbox.RelaySpec) { r.Pause, r.MaxPause = time.Hour, time.Hour }
		if err := once(&s, slow)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if s.all != 7 || !slices.Equal(s.got["a"], []int{1, 2, 3}) || !slices.Equal(s.got["b"], []int{1}) {
			t.Errorf("%v", s.got)
		}
		depth, err := wide.Depth().One(t.Context(), db)
		if err != nil || depth.Waiting != 2 || depth.Failing != 1 || depth.Parked != 0 || depth.Documents != 1 ||
			!depth.Oldest.Equal(noon.Add(2*time.Second)) {
			t.Errorf("%+v, %v", depth, err)
		}
		if err := once(&s)(t.Context(), db); err != nil || s.all != 7 {
			t.Errorf("an event was tried before its time: %v, %v", s.got, err)
		}
		past := bson.D{testkit.E("$set", bson.D{testkit.E("box.events.0.after", noon)})}
		if err := testkit.Updates(t.Context(), db, "lots", "b", past); err != nil {
			t.Fatal(err)
		}
		if err := once(&s)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		events, parked := waiting(t, db, "b")
		if len(events) != 0 || !slices.Equal(parked, []int{2}) || !slices.Equal(s.got["b"], []int{1, 3}) {
			t.Errorf("%v wait, %v are parked, %v came", events, parked, s.got["b"])
		}
		found, err := wide.Parked().All(t.Context(), db)
		if err != nil || len(found) != 1 || found[0].Box.Parked[0].Error != errHand.Error() ||
			found[0].Box.Parked[0].Attempts != 2 {
			t.Errorf("%+v, %v", found, err)
		}
		s.fail = nil
		for range 2 {
			if _, err := wide.Retry("b").Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if err := once(&s)(t.Context(), db); err != nil || !slices.Equal(s.got["b"], []int{1, 3, 2}) {
			t.Errorf("%v, %v", s.got, err)
		}
		if none, err := wide.Depth().All(t.Context(), db); err != nil || len(none) != 0 {
			t.Errorf("%+v, %v", none, err)
		}
	})
}

func TestOutboxDrop(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		lotWith(t, db, "a", 1, 2)
		s := sink{fail: func(delivery, int) error { return errHand }}
		if err := once(&s)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, parked := waiting(t, db, "a"); !slices.Equal(parked, []int{1, 2}) {
			t.Fatalf("%v are parked", parked)
		}
		_, err := wide.Publish("a", told{9}, noon, opOf("a", 1)).Run(t.Context(), db)
		if !errors.Is(err, denorm.ErrToken) {
			t.Errorf("a parked event's token: %v", err)
		}
		if _, err := wide.Drop("a", opOf("a", 1)).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, parked := waiting(t, db, "a"); !slices.Equal(parked, []int{2}) {
			t.Errorf("%v are parked", parked)
		}
	})
}

// A new document brings its first event along.
func TestOutgoing(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		out, err := wide.Outgoing("a", told{1}, noon, testkit.Token(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lots.Insert(lot{ID: "a", Box: out}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, err := wide.Publish("a", told{2}, noon, testkit.Token(2)).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		var s sink
		if err := once(&s)(t.Context(), db); err != nil || !slices.Equal(s.got["a"], []int{1, 2}) {
			t.Errorf("%v, %v", s.got, err)
		}
		if _, err := wide.Outgoing("", told{1}, noon, testkit.Token(1)); !errors.As(err, new(*model.ValueError)) {
			t.Errorf("without an _id: %v", err)
		}
	})
}

// A relay that is cut at any command hands everything on, in order, when it runs again.
func TestRelayFaults(t *testing.T) {
	var s *sink
	testkit.RunFaults(t, map[string]modeltest.FaultCase{
		"two lots": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				s = &sink{fail: func(d delivery, before int) error {
					if d.Key == "b" && before == 0 {
						return errHand
					}
					return nil
				}}
				p := model.NewPlan(lots.Insert(lot{ID: "a"}), lots.Insert(lot{ID: "b"}))
				for i := range 3 {
					p.Steps = append(p.Steps, wide.Publish("a", told{i}, noon, opOf("a", i)),
						wide.Publish("b", told{i}, noon, opOf("b", i)))
				}
				return testkit.Exec(ctx, db, p)
			},
			Run: func(ctx context.Context, db *mongo.Database) error {
				// The leases of the run that was cut are over.
				if _, err := db.Collection("docmodel.relays").
					DeleteMany(ctx, bson.D{testkit.E("until", bson.D{testkit.E("$gt", noon)})}); err != nil {
					return err
				}
				// An event that failed is tried in the second run.
				run := once(s, func(r *outbox.RelaySpec) { r.Attempts = 9 })
				err := errors.Join(run(ctx, db), run(ctx, db))
				if err == nil {
					_, err = db.Collection("docmodel.relays").DeleteMany(ctx, bson.D{})
				}
				return err
			},
			Check: func(t testing.TB, db *mongo.Database) {
				for id, got := range s.got {
					if !slices.Equal(firsts(got), []int{0, 1, 2}) {
						t.Errorf("%s: %v", id, got)
					}
				}
				if n := len(s.got); n != 2 {
					t.Errorf("%d lots", n)
				}
				if none, err := wide.Depth().All(context.Background(), db); err != nil || len(none) != 0 {
					t.Errorf("%+v, %v", none, err)
				}
			},
		},
	})
}

// Publishing meets publishing, and a relay.
func TestOutboxInterleaved(t *testing.T) {
	publish := func(n int) testkit.Operation {
		return testkit.Operation{
			Name: fmt.Sprint("publish ", n),
			Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
				_, err := wide.Publish("a", told{n}, noon, op).Run(ctx, db)
				return err
			},
		}
	}
	for _, with := range []string{"publish", "relay"} {
		var s *sink
		other := publish(3)
		if with == "relay" {
			other = testkit.Operation{
				Name: "relay",
				Run: func(ctx context.Context, db *mongo.Database, _ bson.ObjectID) error {
					return once(s, func(r *outbox.RelaySpec) { r.Parts = 1 })(ctx, db)
				},
			}
		}
		testkit.Meet(t, publish(2), other, modeltest.InterleaveCase{
			Sample: 3, Match: mongotest.Writes,
			Seed: func(ctx context.Context, db *mongo.Database) error {
				s = &sink{}
				_, err := lots.Insert(lot{ID: "a"}).Run(ctx, db)
				return errors.Join(err, func() error {
					_, err := wide.Publish("a", told{1}, noon, testkit.Token(9)).Run(ctx, db)
					return err
				}())
			},
			Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
				if err := errors.Join(errA, errB, once(s)(context.Background(), db)); err != nil {
					t.Error(err)
				}
				if got := s.got["a"]; len(got) < 2 || got[0] != 1 || !slices.Contains(got, 2) ||
					len(firsts(got)) != len(got) {
					t.Errorf("%v came", got)
				}
			},
		})
	}
}

func TestOutboxCosts(t *testing.T) {
	testkit.Parallel(t)
	seed := func(ctx context.Context, db *mongo.Database) error {
		p := model.NewPlan(lots.Insert(lot{ID: "a"}), wide.Publish("a", told{1}, noon, testkit.Token(1)))
		return testkit.Exec(ctx, db, p)
	}
	publish := wide.Publish("a", told{2}, noon, testkit.Token(2))
	testkit.WantPricesAnew(t, seed,
		testkit.Writes("Publish", 1, 1, model.NewPlan(publish)),
		testkit.Writes("Publish, merged", 1, 1,
			model.NewPlan(model.Merge(lots.Update("a", bson.D{
				testkit.E("$set", bson.D{testkit.E("n", int64(1))}),
			}), publish))),
		testkit.Does("Retry of none", 1, 0, 0, testkit.Doing(wide.Retry("a"))),
		testkit.Does("a relay with one event", 8, 5, 3, once(&sink{}, func(r *outbox.RelaySpec) { r.Parts = 1 })),
		testkit.Reads("Depth", 1, wide.Depth()),
		testkit.Reads("Parked", 0, wide.Parked()),
	)
}

// What waits is found by the partial indexes, among thousands of lots.
func TestOutboxIndexed(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 3000 {
			list = append(list, lot{ID: fmt.Sprint("l", i)})
		}
		testkit.Seed(t, db, testkit.Docs{"lots": list})
		if err := testkit.CreateIndexes(t.Context(), db, wide); err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			if _, err := wide.Publish(fmt.Sprint("l", n), told{n}, noon, testkit.Token(n+1)).
				Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		modeltest.WantIndexed(t, db, wide.Parked(), wide.Indexes()[1].Name)
		before := len(m.Commands())
		if err := once(&sink{})(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		reads := 0
		for _, x := range m.Commands()[before:] {
			if x.Name == "find" && x.Collection == "lots" {
				reads++
				modeltest.WantIndexed(t, db, testkit.AsSent(t, x), wide.Indexes()[0].Name)
			}
		}
		if reads == 0 {
			t.Error("the relay reads nothing")
		}
	}, m)
}

package model_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
)

// soon fails the test unless run ends soon after its context, though the server doesn't answer. The gate is opened in
// the end.
func soon(t *testing.T, f *mongotest.Faults, run func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	stop := time.AfterFunc(40*time.Second, f.Reset)
	defer stop.Stop()
	begun := time.Now()
	if err := run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("a context of 300 ms took %v", took)
	}
	f.Reset()
}

// A change whose server answers no more ends with its context, and not when the lease could be given back.
func TestLeaseKeepsDeadline(t *testing.T) {
	t.Parallel() // it waits
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, _, err := pairOf(longLease).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		locks, pairs := mongotest.On("locks"), mongotest.On("pairs")
		for what, silent := range map[string]func(mongotest.Action){
			"from the lease on": func(a mongotest.Action) { f.From(mongotest.All, 1, a) },
			"from the read on": func(a mongotest.Action) {
				f.From(pairs, 1, a).From(mongotest.Both(locks, mongotest.Named("update")), 1, a)
			},
			"from the intent on": func(a mongotest.Action) { f.From(mongotest.Both(locks, mongotest.Named("update")), 1, a) },
			"from the plan on": func(a mongotest.Action) {
				f.From(mongotest.Both(pairs, mongotest.Writes), 1, a).From(mongotest.Both(locks, mongotest.Named("update")), 2, a)
			},
		} {
			t.Run(what, func(t *testing.T) {
				g := mongotest.NewGate()
				defer g.Open()
				silent(mongotest.Hold(g))
				soon(t, f, func(ctx context.Context) error { _, _, err := pairOf(longLease).Run(ctx, db); return err })
				_, err := db.Collection("locks").UpdateOne(t.Context(), d("_id", "tree"), d("$unset", d("holder", "", "until", "")))
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}, f)
}

// A read whose server answers no more ends with its context, and not when its cursor could be closed.
func TestReadKeepsDeadline(t *testing.T) {
	t.Parallel() // it waits
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		docs := []any{d("_id", 1), d("_id", 2), d("_id", 3)}
		if _, err := db.Collection("pairs").InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		g := mongotest.NewGate()
		defer g.Open()
		f.From(mongotest.Named("getMore", "killCursors"), 1, mongotest.Hold(g))
		find := docsAny.Find(nil)
		find.Options.BatchSize = 1
		soon(t, f, func(ctx context.Context) error { _, err := find.All(ctx, db); return err })
	}, f)
}

// The end of a change whose own write holds the lease is not the end of the lease: it is extended while its holder
// lives.
func TestLeaseIsExtended(t *testing.T) {
	f := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		short := *lease
		short.For = 2 * time.Second // a busy server takes its time for what extends it
		slow := pairOf(&short)
		read := slow.Read
		reading := make(chan struct{})
		begun := false
		slow.Read = func(ctx context.Context, db model.DB) (int64, error) {
			n, err := read(ctx, db)
			if !begun {
				begun = true
				close(reading)
				time.Sleep(7 * time.Second)
			} else {
				t.Error("it had to begin anew")
			}
			return n, err
		}
		done := make(chan error, 1)
		go func() { _, _, err := slow.Run(t.Context(), db); done <- err }()
		<-reading
		at := time.Now()
		if _, _, err := pairOf(&short).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(at); waited < 4*time.Second {
			t.Errorf("the other waited %v", waited)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n, err := docsAny.Find(d("n", int64(2))).Count(t.Context(), db); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}, f)
}

// Once it is taken by another, a lease is extended no more.
func TestLeaseIsLost(t *testing.T) {
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		short := *lease
		short.For = 60 * time.Millisecond
		c := pairOf(&short)
		read := c.Read
		other, begun := bson.NewObjectID(), false
		c.Read = func(ctx context.Context, db model.DB) (int64, error) {
			if !begun {
				begun = true
				_, err := core.Database(db).Collection("locks").
					UpdateOne(ctx, d("_id", "tree"), d("$set", d("holder", other, "until", time.Now().Add(100*time.Millisecond))))
				if err != nil {
					return 0, err
				}
				time.Sleep(120 * time.Millisecond)
			}
			return read(ctx, db)
		}
		if _, _, err := c.Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if n, err := docsAny.Find(d("n", int64(1))).Count(t.Context(), db); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// A plan of one write is stored too: what arrives after its lease ran out was done before by the next writer, and does
// nothing.
func TestLeaseSingleWriteLate(t *testing.T) {
	f := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		f.Reset()
		short := *lease
		short.For = 60 * time.Millisecond
		// Either document may say "on", unless the other does.
		on := func(id, other int) model.ChangeOf[int64] {
			c := pairOf(&short)
			c.Read = func(ctx context.Context, db model.DB) (int64, error) {
				n, err := docsAny.Find(d("_id", other, "s", "on")).Count(ctx, db)
				if n > 0 {
					err = errBad
				}
				return model.Fence(ctx), err
			}
			c.Decide = func(fence int64) (model.Plan, error) {
				return model.NewPlan(model.Write{Collection: "pairs", Idempotent: true, Model: &mongo.UpdateOneModel{
					Filter: d("_id", id, "at", d("$lt", fence)), Update: d("$set", d("s", "on", "at", fence)),
				}}), nil
			}
			return c
		}
		if _, err := db.Collection("pairs").
			InsertMany(t.Context(), []any{d("_id", 1, "at", 0), d("_id", 2, "at", 0)}); err != nil {
			t.Fatal(err)
		}
		g := mongotest.NewGate()
		defer g.Open()
		f.On(mongotest.Both(mongotest.On("pairs"), mongotest.Writes), 1, mongotest.Hold(g)).
			From(renewals, 1, mongotest.Fail(96))
		late := make(chan error, 1)
		go func() { _, _, err := on(1, 2).Run(t.Context(), db); late <- err }()
		if _, err := g.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, _, err := on(2, 1).Run(t.Context(), db)
		g.Open()
		if errLate := <-late; errLate != nil && !errors.Is(errLate, model.ErrStale) {
			t.Error(errLate)
		}
		if n, errCount := docsAny.Find(d("s", "on")).Count(t.Context(), db); n != 1 || errCount != nil ||
			!errors.Is(err, errBad) {
			t.Errorf("%d are on, %v; the second writer: %v", n, errCount, err)
		}
	}, f, mongotest.Settings{Client: options.Client().SetRetryWrites(false)})
}

// renewals are the commands that extend a lease.
func renewals(c mongotest.Command) bool {
	list, ok := c.Body.Lookup("updates").ArrayOK()
	if !ok {
		return false
	}
	first := list.Index(0)
	_, err := first.Document().LookupErr("u", "$set", "until")
	return err == nil
}

// A single write that can't be told from its second run is refused, as several are.
func TestLeaseRefusesUnrepeatable(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		c := pairOf(lease)
		c.Decide = func(int64) (model.Plan, error) {
			return model.NewPlan(updateOne(d("_id", 1), d("$inc", d("n", 1)))), nil
		}
		var refused *model.ValueError
		if _, _, err := c.Run(t.Context(), db); !errors.As(err, &refused) || refused.Field != "Lease" {
			t.Errorf("%v", err)
		}
	})
}

// A first write that the server refuses, when the next writer is to finish it, is not in the way of those after it.
func TestLeaseRefusedLate(t *testing.T) {
	tenancy.Differs(t, "a sparse unique index led by the tenant holds all documents")
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		f.Reset()
		if err := db.RunCommand(t.Context(),
			d("createIndexes", "pairs", "indexes", bson.A{
				d("name", "u", "key", d("u", 1), "unique", true, "sparse", true),
			})).Err(); err != nil {
			t.Fatal(err)
		}
		c := pairOf(lease)
		c.Decide = func(int64) (model.Plan, error) {
			return model.NewPlan(model.Write{
				Collection: "pairs",
				Model:      &mongo.InsertOneModel{Document: d("_id", 7, "u", 1)},
				Expect:     model.One, Done: d("_id", 7),
			}), nil
		}
		f.On(mongotest.Both(mongotest.On("pairs"), mongotest.Writes), 1, mongotest.CutBefore())
		if _, _, err := c.Run(t.Context(), db); err == nil {
			t.Fatal("it wasn't cut")
		}
		if _, err := db.Collection("pairs").InsertOne(t.Context(), d("_id", 8, "u", 1)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := pairOf(lease).Run(t.Context(), db); err != nil {
			t.Errorf("the next: %v", err)
		}
	}, f, mongotest.Settings{Client: options.Client().SetRetryWrites(false)})
}

// A lock document that is not there begins above what Begin says.
func TestLeaseBegins(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		l := *lease
		l.Begin = func(context.Context, model.DB) (int64, error) { return 41, nil }
		c := pairOf(&l)
		read, fences := c.Read, []int64{}
		c.Read = func(ctx context.Context, db model.DB) (int64, error) {
			fences = append(fences, model.Fence(ctx))
			return read(ctx, db)
		}
		for range 2 {
			if _, _, err := c.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if len(fences) != 2 || fences[0] != 42 || fences[1] != 43 {
			t.Errorf("%v", fences)
		}
		l.ID = "other"
		l.Begin = func(context.Context, model.DB) (int64, error) { return 0, errBad }
		if _, _, err := c.Run(t.Context(), db); !errors.Is(err, errBad) {
			t.Errorf("%v", err)
		}
	})
}

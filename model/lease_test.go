package model_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

var lease = &model.Lease{Collection: "locks", ID: "tree", For: 300 * time.Millisecond, Wait: 10 * time.Second}

// pairOf adds one to two documents, which only a lease keeps equal.
func pairOf(l *model.Lease) model.ChangeOf[int64] {
	return model.ChangeOf[int64]{
		Lease: l,
		Read: func(ctx context.Context, db model.DB) (int64, error) {
			doc, err := docsAny.ByID(1).One(ctx, db)
			if errors.Is(err, model.ErrNotFound) {
				err = nil
			}
			n := int64(0)
			for _, e := range doc {
				if e.Key == "n" {
					n = e.Value.(int64)
				}
			}
			if model.Fence(ctx) == 0 {
				err = errors.New("there is no fence")
			}
			return n, err
		},
		Decide: func(n int64) (model.Plan, error) {
			yes := true
			set := func(id int) model.Write {
				return model.Write{Collection: "pairs", Model: &mongo.UpdateOneModel{
					Filter: d("_id", id), Update: d("$set", d("n", n+1)), Upsert: &yes,
				}}
			}
			return model.NewPlan(set(1), set(2)), nil
		},
	}
}

var docsAny = model.NewCollection[bson.D, int32]("pairs")

// Writers under a lease do not come between each other.
func TestLeaseKeepsWritersApart(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		long := *lease
		long.For = time.Minute
		var wg sync.WaitGroup
		for range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 3 {
					if _, _, err := pairOf(&long).Run(t.Context(), db); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		wg.Wait()
		all, err := docsAny.Find(nil).All(t.Context(), db)
		if err != nil || len(all) != 2 || all[0][1].Value != int64(48) || all[1][1].Value != int64(48) {
			t.Errorf("%v, %v", all, err)
		}
	})
}

func TestLeaseRefuses(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		run := func(c model.ChangeOf[int64], want string) {
			t.Helper()
			if _, _, err := c.Run(t.Context(), db); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		run(pairOf(&model.Lease{Collection: "locks"}), "needs a Collection and an ID")
		run(pairOf(&model.Lease{ID: "x"}), "needs a Collection and an ID")
		transactional := pairOf(lease)
		transactional.Decide = func(int64) (model.Plan, error) {
			p := model.NewPlan(updateOne(d("_id", 1), d("$inc", d("n", 1))), updateOne(d("_id", 2), d("$inc", d("n", 1))))
			return p, nil
		}
		run(transactional, "needs a transaction")
		server := pairOf(lease)
		server.Decide = func(int64) (model.Plan, error) {
			return model.NewPlan(model.MergeInto{
				Collection: "pairs", Idempotent: true, Pipeline: mongo.Pipeline{d("$merge", "others")},
			}), nil
		}
		run(server, "can't be stored")
		durable := pairOf(lease)
		durable.Decide = func(int64) (model.Plan, error) {
			p := model.NewPlan(updateOne(d("_id", 1), d("$set", d("n", 1))), updateOne(d("_id", 2), d("$set", d("n", 1))))
			p.Options.WriteConcern = writeconcern.Majority()
			return p, nil
		}
		run(durable, "Options.WriteConcern: can't be stored")
		undecided := pairOf(lease)
		undecided.Decide = func(int64) (model.Plan, error) { return model.Plan{}, errBad }
		run(undecided, errBad.Error())

		held := d("_id", "tree", "fence", int64(9), "holder", bson.NewObjectID(), "until", time.Now().Add(time.Minute))
		if _, err := db.Collection("locks").
			ReplaceOne(t.Context(), d("_id", "tree"), held, options.Replace().SetUpsert(true)); err != nil {
			t.Fatal(err)
		}
		waits := *lease
		waits.Wait = 50 * time.Millisecond
		if _, _, err := pairOf(&waits).Run(t.Context(), db); !errors.Is(err, model.ErrLeased) {
			t.Errorf("a lease that another holds: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, _, err := pairOf(lease).Run(ctx, db); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while the context ends: %v", err)
		}
	})
}

// What can't be finished stops those that come after it, until it is forgotten or mended.
func TestLeaseUnfinished(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		store := func() {
			t.Helper()
			lock := d("_id", "tree", "fence", int64(4), "intent",
				d("fence", int64(4), "what", "nonsense", "plan", []byte{1, 2, 3}))
			if _, err := db.Collection("locks").
				ReplaceOne(t.Context(), d("_id", "tree"), lock, options.Replace().SetUpsert(true)); err != nil {
				t.Fatal(err)
			}
		}
		store()
		if _, _, err := pairOf(lease).Run(t.Context(), db); err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("%v", err)
		}
		if err := lease.Forget(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := pairOf(lease).Run(t.Context(), db); err != nil {
			t.Error(err)
		}
		store()
		mends := pairOf(lease)
		mends.Mends = true
		if _, _, err := mends.Run(t.Context(), db); err != nil {
			t.Error(err)
		}
		if _, _, err := pairOf(lease).Run(t.Context(), db); err != nil {
			t.Error(err)
		}
	})
}

// A stored plan does what the plan does, whatever its writes are.
func TestLeaseStoresEveryWrite(t *testing.T) {
	yes := true
	seed := []any{
		d("_id", 1, "l", bson.A{d("id", 1, "x", 1), d("id", 2, "x", 1)}),
		d("_id", 2, "s", "é"), d("_id", 3), d("_id", 4), d("_id", 5, "n", 1),
	}
	on := func(m mongo.WriteModel) model.Write {
		return model.Write{Collection: "pairs", Model: m, Idempotent: true}
	}
	plan := model.NewPlan(
		on(&mongo.UpdateOneModel{
			Filter: d("_id", 1), Update: d("$set", d("l.$[e].x", int64(7))), ArrayFilters: []any{d("e.id", 2)},
		}),
		on(&mongo.UpdateManyModel{
			Filter: d("s", "é"),
			Update: mongo.Pipeline{d("$set", d("t", d("$concat", bson.A{"$s", d("$literal", "$s")})))},
		}),
		on(&mongo.ReplaceOneModel{Filter: d("_id", 8), Replacement: d("_id", 8, "r", 1.5), Upsert: &yes}),
		on(&mongo.DeleteOneModel{Filter: d("_id", 3)}),
		on(&mongo.DeleteManyModel{Filter: d("_id", d("$in", bson.A{4}))}),
		model.Write{
			Collection: "pairs", Expect: model.One,
			Model: &mongo.UpdateOneModel{Filter: d("_id", 5, "n", 1), Update: d("$set", d("n", 2))},
			Done:  d("_id", 5, "n", 2),
		},
		on(&mongo.InsertOneModel{Document: d("_id", 9, "x", bson.Regex{Pattern: "^a"})}),
	)
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var dumps []string
		for _, dies := range []bool{false, true} {
			for _, name := range []string{"pairs", "locks"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := db.Collection("pairs").InsertMany(t.Context(), seed); err != nil {
				t.Fatal(err)
			}
			f.Reset()
			if dies {
				f.From(mongotest.Both(mongotest.Writes, mongotest.On("pairs")), 1, mongotest.Fail(96)).
					From(mongotest.Writes, 5, mongotest.Fail(96)) // after the intent
			}
			c := pairOf(lease)
			c.Read = func(context.Context, model.DB) (int64, error) { return 0, nil }
			c.Decide = func(int64) (model.Plan, error) { return plan, nil }
			if _, _, err := c.Run(t.Context(), db); (err != nil) != dies {
				t.Fatal(err)
			}
			f.Reset()
			c.Decide = func(int64) (model.Plan, error) { return model.Plan{}, nil }
			if _, _, err := c.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection("locks").DeleteMany(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
			dump, err := mongotest.Dump(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			dumps = append(dumps, dump)
		}
		if dumps[0] != dumps[1] {
			t.Errorf("run: %s\nfinished: %s", dumps[0], dumps[1])
		}
	}, f, mongotest.Settings{Client: options.Client().SetRetryWrites(false).SetRetryReads(false)})
}

// The writer that finishes a plan sends it with the same options.
func TestLeaseStoresOptions(t *testing.T) {
	p := model.NewPlan(updateOne(d("_id", 1), d("$set", d("n", 1))))
	p.Options.Comment, p.Options.BypassDocumentValidation = d("by", "import"), true
	got, err := model.StoredPlan(p)
	if err != nil || model.Shell(got.Options.Comment) != "{by: 'import'}" || !got.Options.BypassDocumentValidation ||
		got.String() != p.String() {
		t.Errorf("%+v, %v", got, err)
	}
}

// Everything that a lease sends finds its lock document by _id, among many.
func TestLeaseIndexed(t *testing.T) {
	tenancy.Differs(t, "the lock document is named by the tenant")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i := range 200 {
			if _, err := db.Collection("locks").InsertOne(t.Context(), d("_id", i)); err != nil {
				t.Fatal(err)
			}
		}
		held := &model.Lease{Collection: "locks", ID: "tree"}
		monitor.Reset()
		if _, _, err := pairOf(held).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		filters := 0
		for _, c := range monitor.Commands() {
			if c.Collection != "locks" {
				continue
			}
			for _, at := range [][]string{{"filter"}, {"query"}, {"updates", "0", "q"}, {"deletes", "0", "q"}} {
				var filter bson.D
				raw, ok := c.Body.Lookup(at...).DocumentOK()
				if !ok {
					continue
				}
				if err := bson.Unmarshal(raw, &filter); err != nil {
					t.Fatal(err)
				}
				filters++
				modeltest.WantIndexed(t, db, docsAny.Named("locks").Find(filter), model.IDIndex)
			}
		}
		if filters < 3 {
			t.Errorf("%d filters on the lock document: %v", filters, monitor.Commands())
		}
	}, monitor)
}

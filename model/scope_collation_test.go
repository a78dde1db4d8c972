package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// alikeTenants are tenants of which each equals another under one of the collations.
var alikeTenants = []string{"acme", "ACME", "Acme", "äcme", "a-cme", "a cme", "ac.me", "7", "07", "acme\n", "acme\x00"}

// foldingCollations are collations of a command. Most make different strings equal.
var foldingCollations = []*options.Collation{
	nil, {Locale: "simple"}, {Locale: "en"}, {Locale: "en", Strength: 1}, {Locale: "en", Strength: 2},
	{Locale: "de", Strength: 1, CaseLevel: true}, {Locale: "en", NumericOrdering: true},
	{Locale: "en", Strength: 1, Alternate: "shifted"}, {Locale: "en", Strength: 2, Alternate: "shifted"},
}

// collatedRuns are operations under a collation. Each returns the _ids that it found.
var collatedRuns = map[string]func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error){
	"Find": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		find := anyParts.Find(d("x", 1))
		find.Options.Collation = c
		return idsOf(find.All(ctx, db))
	},
	"Count": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		find := anyParts.Find(d("x", 1))
		find.Options.Collation = c
		n, err := find.Count(ctx, db)
		if n != 1 && err == nil {
			err = fmt.Errorf("counts %d", n)
		}
		return nil, err
	},
	"Distinct": func(ctx context.Context, db model.DB, c *options.Collation) (ids []int32, err error) {
		find := anyParts.Find(d("x", 1))
		find.Options.Collation = c
		err = find.Distinct(ctx, db, "_id", &ids)
		return ids, err
	},
	"Aggregate": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		agg := anyParts.Aggregate(mongo.Pipeline{d("$match", d("x", 1))})
		agg.Options.Collation = c
		return idsOf(agg.All(ctx, db))
	},
	"$lookup": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return joinedIDs(ctx, db, c,
			d("$lookup", d("from", "parts", "as", "all", "pipeline", mongo.Pipeline{d("$match", d("x", 1))})))
	},
	"$lookup by a field": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return joinedIDs(ctx, db, c, d("$lookup", d("from", "parts", "as", "all", "localField", "x", "foreignField", "x")))
	},
	"$unionWith": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return joinedIDs(ctx, db, c, d("$unionWith", "parts"))
	},
	"$graphLookup": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return joinedIDs(ctx, db, c,
			d("$graphLookup",
				d("from", "parts", "as", "all", "startWith", "$x", "connectFromField", "x", "connectToField", "x")))
	},
	"$facet": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		lookup := d("$lookup", d("from", "parts", "as", "all", "pipeline", mongo.Pipeline{}))
		return joinedIDs(ctx, db, c,
			d("$facet", d("all", mongo.Pipeline{lookup, d("$unwind", "$all"), d("$replaceWith", "$all")})))
	},
	"MergeInto": func(ctx context.Context, db model.DB, _ *options.Collation) ([]int32, error) {
		copying := mergeInto("parts", d("$merge", d("into", "copies", "whenMatched", "fail")))
		copying.Idempotent = true
		_, err := model.NewPlan(copying).Run(ctx, db)
		if err != nil {
			return nil, err
		}
		return idsOf(model.NewCollection[bson.D, any]("copies").Find(nil).All(ctx, db))
	},
	"Modify": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		m := anyParts.Modify(d("x", 1), d("$inc", d("n", 1)))
		m.Options.Collation = c
		doc, err := m.Run(ctx, db)
		return idsOf([]bson.D{doc}, err)
	},
	"Modify, removing": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		m := anyParts.Modify(d("x", 1), nil)
		m.Remove, m.Options.Collation = true, c
		doc, err := m.Run(ctx, db)
		return idsOf([]bson.D{doc}, err)
	},
	"updateOne": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return wroteOne(ctx, db, &mongo.UpdateOneModel{Filter: d("x", 1), Update: d("$inc", d("n", 1)), Collation: c})
	},
	"updateMany": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return wroteOne(ctx, db, &mongo.UpdateManyModel{Filter: d("x", 1), Update: d("$inc", d("n", 1)), Collation: c})
	},
	"replaceOne": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return wroteOne(ctx, db, &mongo.ReplaceOneModel{Filter: d("x", 1), Replacement: d("x", 1, "n", 2), Collation: c})
	},
	"deleteOne": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return wroteOne(ctx, db, &mongo.DeleteOneModel{Filter: d("x", 1), Collation: c})
	},
	"deleteMany": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		return wroteOne(ctx, db, &mongo.DeleteManyModel{Filter: d("x", 1), Collation: c})
	},
	"an upsert": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		yes := true
		w := write(&mongo.UpdateOneModel{Filter: d("x", 1), Update: d("$inc", d("n", 1)), Collation: c, Upsert: &yes})
		res, err := w.Run(ctx, db)
		if err == nil && reachedBy(res) != 1 {
			err = fmt.Errorf("%v", res)
		}
		return nil, err
	},
	"Done and Reasons": func(ctx context.Context, db model.DB, c *options.Collation) ([]int32, error) {
		w := expectOne(write(&mongo.UpdateOneModel{Filter: d("x", 2), Update: d("$inc", d("n", 1)), Collation: c}))
		w.Done = d("other", true)
		w.Reasons = []model.Reason{{If: d("other", true), Err: errBad}, {If: d("x", 1), Err: model.ErrFull}}
		if _, err := w.Run(ctx, db); !errors.Is(err, model.ErrFull) {
			return nil, fmt.Errorf("the write gives %w", err)
		}
		return nil, nil
	},
}

// anyParts are the documents of the tests of collations.
var anyParts = model.NewCollection[bson.D, any]("parts")

// reachedBy returns how many documents the writes matched or deleted.
func reachedBy(res model.Result) (n int64) {
	for _, b := range res.Batches {
		n += b.Matched + b.Deleted
	}
	return n
}

func wroteOne(ctx context.Context, db model.DB, m mongo.WriteModel) ([]int32, error) {
	p := model.NewPlan(write(m))
	p.Options.AllowPartial = true
	res, err := p.Run(ctx, db)
	if n := reachedBy(res); n != 1 && err == nil {
		err = fmt.Errorf("wrote %d documents", n)
	}
	return nil, err
}

func joinedIDs(ctx context.Context, db model.DB, c *options.Collation, stage bson.D) (ids []int32, _ error) {
	agg := model.AggregateAs[bson.Raw](anyParts, mongo.Pipeline{stage})
	agg.Options.Collation = c
	docs, err := agg.All(ctx, db)
	for _, doc := range docs {
		if id, ok := doc.Lookup("_id").Int32OK(); ok {
			ids = append(ids, id)
		}
		all, _ := doc.Lookup("all").ArrayOK()
		values, _ := all.Values()
		for _, v := range values {
			ids = append(ids, v.Document().Lookup("_id").Int32())
		}
	}
	return ids, err
}

func idsOf(docs []bson.D, err error) (ids []int32, _ error) {
	for _, doc := range docs {
		for _, e := range doc {
			if id, ok := e.Value.(int32); ok && e.Key == "_id" {
				ids = append(ids, id)
			}
		}
	}
	return ids, err
}

// No collation of a command joins two tenants.
func TestScopeCollations(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	client := mongotest.NewClient(t)
	for i, collation := range foldingCollations {
		for name, run := range collatedRuns {
			for k, tenant := range alikeTenants {
				if (3*i+k)%len(alikeTenants) > 4 { // not each of the combinations
					continue
				}
				how := fmt.Sprintf("%s of %q under %v", name, tenant, collation)
				wantApart(t, how, client.Database(fmt.Sprintf("c%d_%d", i, k)), k, func(on model.DB) ([]int32, error) {
					return run(t.Context(), on, collation)
				})
			}
		}
	}
}

// wantApart stores a document of each tenant, and runs an operation for one tenant.
func wantApart(t *testing.T, how string, db *mongo.Database, own int, run func(model.DB) ([]int32, error)) {
	t.Helper()
	ctx := t.Context()
	if err := db.Drop(ctx); err != nil {
		t.Fatal(err)
	}
	var docs []any
	for i, tenant := range alikeTenants {
		docs = append(docs, d("_id", int32(i), "tenant", tenant, "x", 1, "other", i != own))
	}
	if _, err := db.Collection("parts").InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	ids, err := run(model.Scope{Tenant: d("tenant", alikeTenants[own])}.On(db))
	if err != nil {
		t.Errorf("%s: %v", how, err)
	}
	if slices.ContainsFunc(ids, func(id int32) bool { return id != int32(own) }) {
		t.Errorf("%s: found %v, not %d alone", how, ids, own)
	}
	n, err := db.Collection("parts").CountDocuments(ctx, d("other", true, "x", 1, "n", nil))
	if err != nil || int(n) != len(alikeTenants)-1 {
		t.Errorf("%s: %d of %d documents of others are unchanged, %v", how, n, len(alikeTenants)-1, err)
	}
}

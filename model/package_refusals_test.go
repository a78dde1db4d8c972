// These tests of the whole package hold what is refused before anything is sent: values that don't end, a missing context
// or database.

package model_test

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
)

type ring struct {
	ID   string `bson:"_id"`
	Next *ring  `bson:"next"`
}

// rawLevels is an encoded document of so many levels.
func rawLevels(n int) bson.Raw {
	out := make([]byte, 0, 8*n+5)
	for i := n; i >= 0; i-- {
		s := 5 + 8*i
		out = append(out, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
		if i > 0 {
			out = append(out, byte(bson.TypeEmbeddedDocument), 'a', 0)
		}
	}
	return append(out, make([]byte, n+1)...)
}

// A value that has no end, or more levels than the stack, is refused before anything is sent.
func TestTooDeep(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(32 << 20)) // so that half a million levels are too many
	endless := &ring{ID: "x"}
	endless.Next = endless
	list := bson.A{nil}
	list[0] = list
	deep := bson.D{}
	for range 500_000 {
		deep = bson.D{{Key: "a", Value: deep}}
	}
	raw := rawLevels(500_000)
	db := mongotest.NewClient(t).Database("x")
	rings := model.NewCollection[ring, string]("rings")
	for name, v := range map[string]any{
		"a cycle": endless, "a list of itself": list, "levels": deep, "bytes": raw,
		"a value of bytes": bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw},
	} {
		if text := model.Shell(v); !strings.Contains(text, "deeper than") || len(text) > 1<<20 {
			t.Errorf("%s: Shell gives %d bytes", name, len(text))
		}
		filter := bson.D{{Key: "a", Value: v}}
		for method, err := range map[string]error{
			"Encode":     func() error { _, err := docsAny.Docs().Encode(v); return err }(),
			"Find":       docsAny.Find(filter).Err,
			"Update":     docsAny.Update(1, bson.D{{Key: "$set", Value: filter}}).Err,
			"a Write":    func() error { _, err := insertDoc(filter).Run(t.Context(), db); return err }(),
			"a scope":    model.Scoped(tenantOf("a"), insertDoc(filter)).Err,
			"an array":   func() error { _, err := docsAny.Docs().Encode([]any{v}); return err }(),
			"CheckNames": func() error { _, err := core.CheckNames(v, ""); return err }(),
			"SetFields":  func() error { _, err := core.SetFields(bson.Raw{5, 0, 0, 0, 0}, filter); return err }(),
		} {
			if err == nil || !strings.Contains(err.Error(), "deeper than") {
				t.Errorf("%s, %s: %v", name, method, err)
			}
		}
		bsondoc.JoinFilters(filter, filter)
		mql.Eq(v)
	}
	if err := rings.Insert(*endless).Err; !errors.As(err, new(*model.ValueError)) {
		t.Errorf("Insert: %v", err)
	}
	bsonval.Key(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw})
	if text := model.Shell(bson.D{{Key: "a", Value: rawLevels(90)}}); strings.Contains(text, "deeper") {
		t.Error("what a server stores is too deep for Shell")
	}
}

// Without a context or a database nothing runs, and nothing panics.
func TestNothingToRunOn(t *testing.T) {
	db := mongotest.NewClient(t).Database("x")
	var none context.Context
	steps := model.NewPlan(insertDoc(d("_id", 1)))
	for name, run := range map[string]func(context.Context, *mongo.Database) error{
		"Find.All": func(ctx context.Context, db *mongo.Database) error {
			_, err := docsAny.Find(nil).All(ctx, db)
			return err
		},
		"Find.Count": func(ctx context.Context, db *mongo.Database) error {
			_, err := docsAny.Find(nil).Count(ctx, db)
			return err
		},
		"Find.Each": func(ctx context.Context, db *mongo.Database) (err error) {
			for _, err = range docsAny.Find(nil).Each(ctx, db) {
			}
			return err
		},
		"Aggregate": func(ctx context.Context, db *mongo.Database) error {
			_, err := docsAny.Aggregate(nil).All(ctx, db)
			return err
		},
		"Modify": func(ctx context.Context, db *mongo.Database) error {
			_, err := docsAny.Modify(bson.D{}, d("$set", d("a", 1))).Run(ctx, db)
			return err
		},
		"Plan.Run":   func(ctx context.Context, db *mongo.Database) error { _, err := steps.Run(ctx, db); return err },
		"Plan.RunTx": func(ctx context.Context, db *mongo.Database) error { _, err := steps.RunTx(ctx, db); return err },
		"Change": func(ctx context.Context, db *mongo.Database) error {
			_, _, err := pairOf(nil).Run(ctx, db)
			return err
		},
		"Change, leased": func(ctx context.Context, db *mongo.Database) error {
			_, _, err := pairOf(longLease).Run(ctx, db)
			return err
		},
		"InTx": func(ctx context.Context, db *mongo.Database) error {
			return model.InTx(ctx, db, func(context.Context) error { return nil })
		},
		"Forget": func(ctx context.Context, db *mongo.Database) error { return longLease.Forget(ctx, db) },
		"Settled": func(ctx context.Context, db *mongo.Database) error {
			return longLease.Settled(ctx, db, func(context.Context) error { return nil })
		},
		"Indexes.Ensure": func(ctx context.Context, db *mongo.Database) error {
			return model.New("test").Indexes().Ensure(ctx, db)
		},
		"Indexes.Diff": func(ctx context.Context, db *mongo.Database) error {
			_, err := model.New("test").Indexes().Diff(ctx, db)
			return err
		},
		"Job": func(ctx context.Context, db *mongo.Database) error {
			_, err := model.Job{
				Stages: []model.Stage{{
					Collection: "parts",
					Plan:       func([]bson.Raw) (model.Plan, error) { return model.Plan{}, nil },
				}},
			}.Run(ctx, db, model.JobOptions{})
			return err
		},
		"Stream": func(ctx context.Context, db *mongo.Database) error {
			return model.Stream{
				Name: "s", Collection: "parts", Places: "places",
				Plan: func(model.Event) (model.Plan, error) { return model.Plan{}, nil },
			}.Run(ctx, db, model.StreamOptions{})
		},
	} {
		for what, err := range map[string]error{"context": run(none, db), "database": run(t.Context(), nil)} {
			if !errors.As(err, new(*model.ValueError)) {
				t.Errorf("%s without a %s: %v", name, what, err)
			}
		}
	}
}

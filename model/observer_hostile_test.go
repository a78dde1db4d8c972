package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// TestObserverPanics: what panics is told, and a panic of an observer is the caller's.
func TestObserverPanics(t *testing.T) {
	db := mongotest.NewClient(t).Database("test")
	mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 5})))
	var r record
	panics := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	change := addOne(0)
	change.Decide = func(part) (model.Plan, error) { panic("of Decide") }
	got := panics(func() { _, _, _ = change.Run(t.Context(), r.observer().On(db)) })
	if told := outline(r.taken()); got != "of Decide" || told != "change 1, panic\n attempt 1, panic\n  find" {
		t.Errorf("%v:\n%s", got, told)
	}
	got = panics(func() {
		for range parts.Find(nil).Each(t.Context(), r.observer().On(db)) {
			panic("of the loop")
		}
	})
	if told := outline(r.taken()); got != "of the loop" || told != "find, panic" {
		t.Errorf("%v:\n%s", got, told)
	}
	bad := model.Observer{End: func(context.Context, model.Operation) { panic("of End") }}
	if got := panics(func() { _, _ = parts.ByID(1).One(t.Context(), bad.On(db)) }); got != "of End" {
		t.Errorf("an observer's panic: %v", got)
	}
}

// TestObserverConcurrent: one observed database in several goroutines, and operations that run within one at once.
func TestObserverConcurrent(t *testing.T) {
	db := mongotest.NewClient(t).Database("test")
	mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 0})))
	var r record
	observed := r.observer().On(db)
	change := addOne(1000)
	change.Read = func(ctx context.Context, db model.DB) (p part, err error) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _, _ = parts.ByID(2).One(ctx, db) })
		}
		p, err = parts.ByID(1).One(ctx, db)
		wg.Wait()
		return p, err
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 4 {
				if _, _, err := change.Run(t.Context(), observed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list := r.taken()
	changes, commands, inner := 0, 0, 0
	for _, o := range list {
		switch {
		case o.Kind == "change":
			changes++
			commands += o.Actual.Commands
		case o.Kind == "find" || o.Kind == "plan":
			inner += o.Actual.Commands
		}
		if o.Parent == 0 != (o.Kind == "change") {
			t.Errorf("%+v", o)
		}
	}
	if left := stock(t, db); changes != 12 || commands != inner || left[0].Qty != 12 {
		t.Errorf("%d changes of %d commands, %d within, left %v", changes, commands, inner, left)
	}
}

// TestObserverRedacts: no value of a document, a filter, a tenant or an error is told.
func TestObserverRedacts(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	const secret = "s3cret"
	mongotest.Each(t, func(t *testing.T, plain *mongo.Database) {
		type doc struct {
			ID   string            `bson:"_id"`
			Name string            `bson:"name"`
			More map[string]string `bson:"more"`
		}
		docs := model.NewCollection[doc, string]("docs")
		if _, err := plain.Collection("docs").Indexes().
			CreateOne(t.Context(), mongo.IndexModel{Keys: d("name", 1), Options: uniqueIndex()}); err != nil {
			t.Fatal(err)
		}
		var r record
		var out strings.Builder
		db := model.LogTo(textLogger(&out)).On(tenantOf(secret).On(r.observer().On(plain)))
		run := func(err error) {
			if err != nil && !strings.Contains(err.Error(), secret) {
				t.Logf("no value in this one: %v", err)
			}
		}
		ctx := t.Context()
		run(second(docs.Insert(doc{ID: secret, Name: secret}).Run(ctx, db)))
		run(second(docs.Insert(doc{ID: secret + "2", Name: secret}).Run(ctx, db)))
		run(second(docs.Insert(doc{ID: secret, Name: secret + "2"}).Run(ctx, db)))
		run(second(docs.ByID(secret).One(ctx, db)))
		run(second(docs.ByID(secret+"3").One(ctx, db)))
		run(second(docs.Find(d(secret, secret)).All(ctx, db)))
		run(second(docs.Find(d("more."+secret, secret)).Sorted(d("more."+secret, 1)).Limited(1).Page(ctx, db, secret)))
		run(second(docs.Find(d("name", d("$"+secret, secret))).All(ctx, db)))
		run(second(docs.Aggregate(mongo.Pipeline{d("$"+secret, secret)}).All(ctx, db)))
		run(second(docs.Aggregate(mongo.Pipeline{
			d("$lookup", d("from", "docs", "localField", secret, "foreignField", secret, "as", secret)),
		}).All(ctx, db)))
		run(second(docs.Modify(d("_id", secret), d("$set", d("more."+secret, secret))).Run(ctx, db)))
		run(second(expectOne(updateOne(d("_id", secret, "name", "x"), d("$set", d("name", secret)))).Run(ctx, db)))
		run(second(model.Write{Collection: "docs", Err: errors.New(secret)}.Run(ctx, db)))
		run(second(docs.Find(d("name", secret)).Count(ctx, db)))
		run(second(docs.Find(nil).All(ctx, tenantOf(secret+"2").On(db))))
		_, _, err := model.ChangeOf[doc]{
			Read: func(ctx context.Context, db model.DB) (doc, error) { return docs.ByID(secret).One(ctx, db) },
			Decide: func(doc) (model.Plan, error) {
				return model.NewPlan(docs.Replace(doc{ID: secret, Name: secret + "4"})), fmt.Errorf("%s: %w", secret, model.ErrFull)
			},
		}.Run(ctx, db)
		run(err)
		run(second(model.Job{
			Name: "job",
			Stages: []model.Stage{{Collection: "docs", Filter: d("_id", secret), Plan: func([]bson.Raw) (model.Plan, error) {
				return model.Plan{}, errors.New(secret)
			}}},
		}.Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})))
		list := r.taken()
		if len(list) < 20 {
			t.Errorf("%d operations", len(list))
		}
		failures := map[string]bool{}
		for _, o := range list {
			failures[o.Failure] = true
			if s := fmt.Sprintf("%+v", o); strings.Contains(s, secret) {
				t.Errorf("told: %s", s)
			}
		}
		for _, want := range []string{"duplicate key", "not found", "value", "conflict", "full", "other"} {
			if !failures[want] {
				t.Errorf("no %q among %v", want, failures)
			}
		}
		if strings.Contains(out.String(), secret) || strings.Count(out.String(), "\n") != len(list) {
			t.Errorf("%d operations, logged:\n%s", len(list), out.String())
		}
	})
}

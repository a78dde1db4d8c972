// These tests of the whole package hold that a method doesn't change what it is given, and keeps no alias of it.

package model_test

import (
	"fmt"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
)

// inputs are what a caller hands in, all of it mutable.
type inputs struct {
	filter, update, sort bson.D
	pipeline             mongo.Pipeline
	doc                  bson.D
	part                 part
	product              product
	scope                model.Scope
	indexes              wants
	writes               []model.Write
	plans                []model.Plan
}

func newInputs() inputs {
	return inputs{
		filter: d("a", d("$in", bson.A{1, "$where"}), "m", bson.M{"x": 1, "y": 2, "z": bson.A{3}}),
		update: d("$set", d("x", bson.A{1}), "$inc", d("n", 1)),
		sort:   d("name", 1),
		pipeline: mongo.Pipeline{d("$match", d("a", bson.A{1})),
			d("$lookup", d("from", "parts", "pipeline", mongo.Pipeline{d("$limit", 1)}, "as", "p")),
			d("$facet", d("f", bson.A{d("$unionWith", "parts")}))},
		doc:     d("_id", 1, "list", bson.A{d("k", 1)}),
		part:    part{ID: 1, Name: "a"},
		product: product{ID: oid(1), Parts: []bson.ObjectID{oid(2)}, Items: []item{{oid(3), []string{"t"}}}},
		scope: model.Scope{
			Tenant: d("tenant", "a"), Insert: d("new", bson.A{1}), Set: d("at", 1), Delete: d("gone", bson.A{1}),
		},
		indexes: wants{ix("a", 1), ix("a", 1, "b", 1)},
		writes:  []model.Write{guarded(up("$set", d("p", bson.A{1})), "v", 1), guarded(up("$set", d("q", 1)), "w", 1)},
		plans:   []model.Plan{model.NewPlan(parts.Delete(1)), model.NewPlan(parts.Delete(2))},
	}
}

// generators are the constructors and methods that return values.
var generators = map[string]func(inputs) fmt.Stringer{
	"Find":   func(in inputs) fmt.Stringer { return products.Find(in.filter) },
	"Where":  func(in inputs) fmt.Stringer { return products.Find(in.filter).Where(in.filter).Where(in.doc) },
	"Sorted": func(in inputs) fmt.Stringer { return products.Find(nil).Sorted(in.sort).Limited(2) },
	"After": func(in inputs) fmt.Stringer {
		return products.Find(in.filter).Sorted(in.sort).After(in.doc, in.update)
	},
	"ByID":        func(in inputs) fmt.Stringer { return notes.ByID(in.doc) },
	"Project":     func(in inputs) fmt.Stringer { return model.Project[struct{ Name string }](products.Find(in.filter)) },
	"Find.Under":  func(in inputs) fmt.Stringer { return model.Scoped(in.scope, products.Find(in.filter)) },
	"Aggregate":   func(in inputs) fmt.Stringer { return products.Aggregate(in.pipeline) },
	"AggregateAs": func(in inputs) fmt.Stringer { return model.AggregateAs[bson.D](products, in.pipeline) },
	"Agg.Under":   func(in inputs) fmt.Stringer { return model.Scoped(in.scope, products.Aggregate(in.pipeline)) },
	"Agg by hand": func(in inputs) fmt.Stringer {
		return model.Scoped(in.scope, &model.Aggregate[bson.D]{
			Aggregation: model.Aggregation{Collection: "x", Pipeline: in.pipeline},
		})
	},
	"Modify":      func(in inputs) fmt.Stringer { return model.Scoped(in.scope, products.Modify(in.filter, in.update)) },
	"Insert":      func(in inputs) fmt.Stringer { return model.Scoped(in.scope, products.Insert(in.product)) },
	"Insert open": func(in inputs) fmt.Stringer { return notes.Insert(in.doc) },
	"InsertMany": func(in inputs) fmt.Stringer {
		return model.Scoped(in.scope, products.InsertMany([]product{in.product}))
	},
	"Replace": func(in inputs) fmt.Stringer { return model.Scoped(in.scope, notes.Replace(in.doc)) },
	"Update":  func(in inputs) fmt.Stringer { return model.Scoped(in.scope, parts.Update(1, in.update)) },
	"Delete":  func(in inputs) fmt.Stringer { return model.Scoped(in.scope, notes.Delete(in.doc)) },
	"by hand": func(in inputs) fmt.Stringer { return model.Scoped(in.scope, updateOne(in.doc, in.update)) },
	"MergeInto": func(in inputs) fmt.Stringer {
		return model.Scoped(in.scope, mergeInto("a", append(in.pipeline[:2:2], d("$out", "b"))...))
	},
	"Merge":    func(in inputs) fmt.Stringer { return model.Merge(in.writes...) },
	"Concat":   func(in inputs) fmt.Stringer { return model.Scoped(in.scope, model.Concat(in.plans...)) },
	"Indexes":  func(in inputs) fmt.Stringer { return model.New("test", in.indexes).Indexes() },
	"NewIndex": func(in inputs) fmt.Stringer { return model.NewIndex("a", in.sort) },
	"And": func(in inputs) fmt.Stringer {
		return products.Find(bsondoc.JoinFilters(in.filter, in.filter, in.doc))
	},
	"Encode": func(in inputs) fmt.Stringer { return text(model.Shell(must(products.Docs().Encode(in.filter)))) },
	"Eq":     func(in inputs) fmt.Stringer { return text(model.Shell(mql.Eq(in.doc))) },
	"Plan": func(in inputs) fmt.Stringer {
		return text(fmt.Sprint(model.Concat(in.plans...).Guarantee(), model.Concat(in.plans...).Cost()))
	},
	"Scope by hand": func(in inputs) fmt.Stringer {
		return model.Scoped(in.scope, write(&mongo.DeleteManyModel{Filter: in.doc}))
	},
}

type text string

func (s text) String() string { return string(s) }

// show renders inputs, but for maps, whose order Go doesn't keep.
func (in inputs) show() string {
	f := d("a", in.filter[0].Value)
	return fmt.Sprint(model.Shell(f), len(in.filter), len(in.filter[1].Value.(bson.M)), model.Shell(in.update),
		model.Shell(in.sort), model.Shell(in.pipeline), model.Shell(in.doc), in.part, in.product,
		model.Shell(in.scope.Tenant), model.Shell(in.scope.Insert), model.Shell(in.scope.Set), model.Shell(in.scope.Delete),
		in.indexes, in.writes, in.plans)
}

// TestPure: the same input gives the same, whoever asks and how often, and is not changed. Run it with -race.
func TestPure(t *testing.T) {
	shared := newInputs()
	before := shared.show()
	for name, generate := range generators {
		want := generate(newInputs()).String()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if got := generate(shared).String(); got != want {
					t.Errorf("%s gives\n%s\nand\n%s", name, want, got)
				}
			})
		}
		wg.Wait()
		if got := shared.show(); got != before {
			t.Fatalf("%s changed its input from\n%s\nto\n%s", name, before, got)
		}
	}
}

// TestNothingAliases changes all that was handed in, and looks at what was made of it.
func TestNothingAliases(t *testing.T) {
	for name, generate := range generators {
		switch name {
		case "Agg by hand", "by hand", "Scope by hand", "MergeInto", "Merge", "And", "Eq", "Concat",
			"Indexes", "Plan", "Insert open":
			continue // these take values that were made before, or share them and say so
		}
		in := newInputs()
		got := generate(in)
		want := got.String()
		in.filter[0].Value.(bson.D)[0].Value.(bson.A)[0] = "changed"
		in.filter[1].Value.(bson.M)["x"] = "changed"
		in.update[0].Value.(bson.D)[0].Value.(bson.A)[0] = "changed"
		in.sort[0].Key = "changed"
		in.pipeline[0][0].Value.(bson.D)[0].Value.(bson.A)[0] = "changed"
		in.pipeline[1][0].Value.(bson.D)[1].Value.(mongo.Pipeline)[0][0].Value = "changed"
		in.doc[1].Value.(bson.A)[0].(bson.D)[0].Value = "changed"
		in.product.Parts[0], in.product.Items[0].Tags[0] = oid(9), "changed"
		if got.String() != want {
			t.Errorf("%s changed from\n%s\nto\n%s", name, want, got)
		}
	}
}

// TestChangedCopies holds that what returns a changed query, pipeline or findAndModify leaves the one that it came from
// alone.
func TestChangedCopies(t *testing.T) {
	scope := model.Scope{Filter: d("tenant", "t"), Set: d("by", "x")}
	find := parts.Find(d("name", "a")).Sorted(d("qty", 1)).Limited(3)
	find.Projection = d("name", 1)
	pipeline := parts.Aggregate(mongo.Pipeline{d("$match", d("qty", 1))})
	modify := parts.Modify(d("name", "a"), d("$set", d("qty", 2)))
	for _, c := range []struct {
		name   string
		from   interface{ Command() bson.D }
		change func() interface{ Command() bson.D }
	}{
		{"Where", find, func() interface{ Command() bson.D } { return find.Where(d("name", "b")) }},
		{"Sorted", find, func() interface{ Command() bson.D } { return find.Sorted(nil) }},
		{"Limited", find, func() interface{ Command() bson.D } { return find.Limited(7) }},
		{"After", find, func() interface{ Command() bson.D } { return find.After(1, bson.NewObjectID()) }},
		{"Under", find, func() interface{ Command() bson.D } { return model.Scoped(scope, find) }},
		{"Project", find, func() interface{ Command() bson.D } { return model.Project[struct{ Qty int }](find) }},
		{"Aggregate.Under", pipeline, func() interface{ Command() bson.D } { return model.Scoped(scope, pipeline) }},
		{"Modify.Under", modify, func() interface{ Command() bson.D } { return model.Scoped(scope, modify) }},
	} {
		before := model.Shell(c.from.Command())
		if after := model.Shell(c.change().Command()); after == before {
			t.Errorf("%s changes nothing: %s", c.name, after)
		}
		if now := model.Shell(c.from.Command()); now != before {
			t.Errorf("%s changes what it is called on: %s, was %s", c.name, now, before)
		}
	}
}

package model_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/tenancy"
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
	"And":      func(in inputs) fmt.Stringer { return products.Find(model.And(in.filter, in.filter, in.doc)) },
	"Encode":   func(in inputs) fmt.Stringer { return text(model.Shell(must(products.Docs().Encode(in.filter)))) },
	"Eq":       func(in inputs) fmt.Stringer { return text(model.Shell(model.Eq(in.doc))) },
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

// randomPlan is made of steps that succeed on any parts.
func randomPlan(r *rand.Rand) model.Plan {
	yes := true
	p := model.Plan{Options: model.PlanOptions{AllowPartial: true}}
	for range r.IntN(8) {
		c := parts.Named([]string{"parts", "more"}[r.IntN(2)])
		id := r.Int32N(20)
		var w model.Write
		switch r.IntN(7) {
		case 0:
			w = c.Delete(id)
		case 1:
			w = updateMany(d("qty", d("$lt", 3)), d("$inc", d("qty", 1)))
		case 2:
			w = write(&mongo.ReplaceOneModel{Filter: d("_id", id), Replacement: d("name", "r"), Upsert: &yes})
		case 3:
			w = write(&mongo.DeleteManyModel{Filter: d("_id", d("$gt", id+10))})
		case 4:
			p.Steps = append(p.Steps, mergeInto("parts", d("$match", d("_id", id)), d("$merge", d("into", "copy"))))
			continue
		case 5:
			w = expectOne(write(&mongo.UpdateOneModel{Filter: d("_id", id), Update: d("$set", d("name", "e")), Upsert: &yes}))
		default:
			w = write(&mongo.UpdateOneModel{Filter: d("_id", id), Update: d("$inc", d("qty", 1)), Upsert: &yes})
		}
		w.Collection = c.Name()
		p.Steps = append(p.Steps, w)
	}
	return p
}

// TestRunCostsWhatItSays runs random plans, and compares their price with what a monitor counts.
func TestRunCostsWhatItSays(t *testing.T) {
	tenancy.Differs(t,
		"a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(9, 9))
		for range 60 {
			p := randomPlan(r)
			monitor.Reset()
			got, err := p.Run(t.Context(), db)
			price, cost := p.Cost(), monitor.Cost()
			if err != nil || cost.Commands != price.Commands || len(got.Batches) != price.Commands ||
				!price.Unbounded && cost.Written > price.Written {
				t.Fatalf("%s\ncosts %v, says %v; %d batches, %v", p, cost, price, len(got.Batches), err)
			}
		}
	}, mongotest.WithMonitor(monitor))
}

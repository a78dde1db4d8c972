package model_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// scope is a tenant's: soft deletion, and a time of change.
var scope = model.Scope{
	Tenant: d("tenant", "a"),
	Set:    d("updatedAt", 7),
	Delete: d("deletedAt", 7),
}

// TestScope renders what a scope makes of each kind of value.
func TestScope(t *testing.T) {
	yes := true
	set := d("$set", d("x", 1))
	lookup := func(args ...any) bson.D { return d("$lookup", d(args...)) }
	agg := func(stages ...bson.D) *model.Aggregate[product] { return products.Aggregate(stages) }
	only := scope
	only.Collections = []string{"parts"}
	ranged := model.Scope{Filter: d("tenant", d("$in", bson.A{"a", "b"})), Insert: d("tenant", "a")}
	plain := model.Scope{Filter: d("tenant", "a")}
	parts, products := parts.Unchecked(), products.Unchecked()
	deletedToo := parts.Find(d("x", 1))
	deletedToo.Deleted = true
	var b strings.Builder
	for _, c := range []struct {
		reason string
		s      fmt.Stringer
	}{
		{"a query", model.Scoped(scope, parts.Find(d("x", 1)))},
		{"a query that has the condition", model.Scoped(scope, parts.Find(d("tenant", "a")))},
		{"a query of another tenant", model.Scoped(scope, parts.Find(d("tenant", "b")))},
		{"twice is once", model.Scoped(scope, model.Scoped(scope, parts.Find(nil)))},
		{"another collection", model.Scoped(only, products.Find(d("x", 1)))},
		{"an update", model.Scoped(scope, parts.Update(1, set))},
		{"an update of the same field to the same value", model.Scoped(scope, parts.Update(1, d("$set", d("updatedAt", 7))))},
		{"an update of the same field", model.Scoped(scope, parts.Update(1, d("$set", d("updatedAt", 8))))},
		{
			reason: "an update of the same field by another operator",
			s:      model.Scoped(scope, parts.Update(1, d("$unset", d("updatedAt", "")))),
		},
		{"an update whose fields are a map", model.Scoped(scope, parts.Update(1, d("$set", bson.M{"x": 1})))},
		{"an update in raw bytes", model.Scoped(scope, write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: raw(set)}))},
		{
			reason: "an update in raw bytes that moves to another tenant",
			s: model.Scoped(scope,
				write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: raw(d("$set", d("tenant", "b")))})),
		},
		{"an update that moves to another tenant", model.Scoped(scope, parts.Update(1, d("$set", d("tenant", "b"))))},
		{"an update that stays", model.Scoped(scope, parts.Update(1, d("$set", d("tenant", "a"))))},
		{"an update that takes the tenant away", model.Scoped(scope, parts.Update(1, d("$rename", d("x", "tenant"))))},
		{"an update by a pipeline", model.Scoped(scope, updateMany(d("x", 1), mongo.Pipeline{set}))},
		{
			reason: "an upsert: equalities of the filter are stored by the server",
			s:      model.Scoped(scope, write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: set, Upsert: &yes})),
		},
		{
			reason: "an upsert whose filter has the tenant: not twice, or the server refuses",
			s: model.Scoped(scope,
				write(&mongo.UpdateOneModel{Filter: d("_id", 1, "tenant", "a"), Update: set, Upsert: &yes})),
		},
		{
			reason: "an upsert, where the filter is no equality",
			s:      model.Scoped(ranged, write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: set, Upsert: &yes})),
		},
		{
			reason: "an upsert by a pipeline",
			s: model.Scoped(scope,
				write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: mongo.Pipeline{set}, Upsert: &yes})),
		},
		{
			reason: "an upsert by a pipeline that needs an Insert field",
			s: model.Scoped(ranged,
				write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: mongo.Pipeline{set}, Upsert: &yes})),
		},
		{"an insert", model.Scoped(scope, parts.Insert(part{ID: 1}))},
		{"an insert that has the field", model.Scoped(scope, insertDoc(d("_id", 1, "tenant", "a")))},
		{"an insert of another tenant", model.Scoped(scope, insertDoc(d("_id", 1, "tenant", "b")))},
		{"a replacement", model.Scoped(scope, parts.Replace(part{ID: 1}))},
		{"a delete marks", model.Scoped(scope, parts.Delete(1))},
		{"a delete of many marks", model.Scoped(scope, write(&mongo.DeleteManyModel{Filter: d("x", 1)}))},
		{"a delete without marks", model.Scoped(plain, parts.Delete(1))},
		{
			reason: "a mark of two fields",
			s:      model.Scoped(model.Scope{Set: d("at", 1), Delete: d("gone", true, "by", "x")}, parts.Delete(1)),
		},
		{"a write that reaches deleted documents", model.Scoped(scope, reachDeleted(parts.Update(1, set)))},
		{
			reason: "a write that reaches deleted documents, where nothing marks them",
			s:      model.Scoped(plain, reachDeleted(parts.Update(1, set))),
		},
		{"a query that reaches deleted documents", model.Scoped(scope, deletedToo)},
		{"a delete marks, and takes a field away", model.Scoped(scope, ifMarked(parts.Delete(1), d("$unset", d("x", ""))))},
		{
			reason: "a delete without marks takes nothing away",
			s:      model.Scoped(plain, ifMarked(parts.Delete(1), d("$unset", d("x", "")))),
		},
		{"a filter in raw bytes", model.Scoped(plain, write(&mongo.DeleteOneModel{Filter: raw(d("x", 1))}))},
		{"a filter in a map", model.Scoped(plain, write(&mongo.DeleteOneModel{Filter: bson.M{"x": 1}}))},
		{"what is refused stays refused", model.Scoped(scope, model.Refused("parts", errBad))},
		{"a findAndModify", model.Scoped(scope, parts.Modify(d("x", 1), set))},
		{
			reason: "a Remove",
			s: model.Scoped(scope, &model.Modify[part]{
				FindAndModify: model.FindAndModify{Collection: "parts", Filter: d("x", 1), Remove: true},
			}),
		},
		{
			reason: "a Remove without marks",
			s: model.Scoped(plain, &model.Modify[part]{
				FindAndModify: model.FindAndModify{Collection: "parts", Filter: d("x", 1), Remove: true},
			}),
		},
		{"a pipeline", model.Scoped(scope, agg(d("$limit", 1)))},
		{"an empty pipeline", model.Scoped(scope, agg())},
		{
			reason: "another collection's pipeline, joining this one",
			s:      model.Scoped(only, agg(lookup("from", "parts", "localField", "parts", "foreignField", "_id", "as", "p"))),
		},
		{"a join of another", model.Scoped(only, agg(lookup("from", "stock", "as", "p")))},
		{
			reason: "a join with a pipeline",
			s:      model.Scoped(plain, agg(lookup("from", "parts", "as", "p", "pipeline", mongo.Pipeline{d("$limit", 1)}))),
		},
		{
			reason: "a join with a pipeline as a list",
			s:      model.Scoped(plain, agg(lookup("from", "parts", "as", "p", "pipeline", bson.A{d("$limit", 1)}))),
		},
		{
			reason: "a join with a pipeline of maps",
			s:      model.Scoped(plain, agg(lookup("from", "parts", "as", "p", "pipeline", []bson.M{{"$limit": 1}}))),
		},
		{"a join in a map", model.Scoped(plain, agg(d("$lookup", bson.M{"from": "parts", "as": "p"})))},
		{
			reason: "a join in a join",
			s: model.Scoped(plain,
				agg(lookup("from", "parts", "as", "p", "pipeline", mongo.Pipeline{lookup("from", "parts", "as", "q")}))),
		},
		{"a join from another database", model.Scoped(plain, agg(lookup("from", d("db", "x", "coll", "parts"), "as", "p")))},
		{"a union", model.Scoped(plain, agg(d("$unionWith", "parts")))},
		{"a union with a pipeline", model.Scoped(plain, agg(d("$unionWith", d("coll", "parts", "pipeline", bson.A{}))))},
		{"a graph", model.Scoped(plain, agg(d("$graphLookup", d("from", "parts", "as", "p"))))},
		{
			reason: "a graph with a condition",
			s: model.Scoped(plain,
				agg(d("$graphLookup", d("from", "parts", "as", "p", "restrictSearchWithMatch", d("x", 1))))),
		},
		{
			reason: "a graph with a condition in a map",
			s: model.Scoped(plain,
				agg(d("$graphLookup", d("from", "parts", "as", "p", "restrictSearchWithMatch", bson.M{"x": 1})))),
		},
		{"facets", model.Scoped(plain, agg(d("$facet", d("a", bson.A{d("$limit", 1), lookup("from", "parts", "as", "p")}))))},
		{"a stage that must be first", model.Scoped(plain, agg(d("$geoNear", d("near", 1))))},
		{
			reason: "a stage that must be first, inside",
			s:      model.Scoped(plain, agg(lookup("from", "parts", "as", "p", "pipeline", bson.A{d("$search", d())}))),
		},
		{"a $merge", model.Scoped(scope, mergeInto("parts", d("$match", d("x", 1)), d("$merge", d("into", "copy"))))},
		{"an $out into another collection", model.Scoped(only, mergeInto("parts", d("$out", "copy")))},
		{"an $out from another collection", model.Scoped(only, mergeInto("stock", d("$out", d("db", "x", "coll", "parts"))))},
		{
			reason: "a plan",
			s: model.Scoped(scope,
				model.NewPlan(parts.Delete(1), parts.Insert(part{ID: 2}), mergeInto("parts", d("$out", "copy")))),
		},
		{"no scope", model.Scoped(model.Scope{}, model.NewPlan(parts.Update(1, set), parts.Delete(1)))},
	} {
		fmt.Fprintf(&b, "# %s\n%s\n", c.reason, c.s)
	}
	golden(t, "scope.golden", b.String())
}

func raw(doc bson.D) bson.Raw {
	b, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

func reachDeleted(w model.Write) model.Write {
	w.Deleted = true
	return w
}

func ifMarked(w model.Write, update bson.D) model.Write {
	w.IfMarked = update
	return w
}

func TestScopeDone(t *testing.T) {
	parts := parts.Unchecked()
	w := model.Scoped(scope, done(expectOne(updateOne(d("_id", 1, "v", 1), d("$set", d("v", 2)))), d("_id", 1, "v", 2)))
	if model.Shell(w.Done) != "{_id: 1, v: 2, tenant: 'a', deletedAt: null}" || w.Expect != model.One {
		t.Errorf("Done %s, %v", model.Shell(w.Done), w.Expect)
	}
	var e *model.ConflictError
	if err := model.Scoped(scope, parts.Update(1, d("$set", d("updatedAt", 8)))).Err; !errors.As(err, &e) ||
		e.Paths != [2]string{"$set updatedAt", "$set updatedAt"} {
		t.Errorf("%v", err)
	}
}

// TestScopeReasons: why a write matched nothing is asked of the documents that the scope shows, and what is sent in the
// place of taking back is under it too. An insert meets the tenant's documents that it doesn't show.
func TestScopeReasons(t *testing.T) {
	full, taken := errors.New("full"), errors.New("taken")
	reason := model.Reason{If: d("_id", 1), Err: full, Instead: []model.Step{parts.Delete(2)}}
	update := expectOne(updateOne(d("_id", 1, "v", 1), d("$set", d("v", 2))))
	update.Reasons = []model.Reason{
		reason, {If: d("_id", 1, "x", 2), Err: taken},
		{If: d("_id", 1), Err: full, Instead: []model.Step{}},
	}
	got := model.Scoped(scope, update).Reasons
	if len(got) != 3 || got[0].Err != full || model.Shell(got[0].If) != "{_id: 1, tenant: 'a', deletedAt: null}" ||
		got[1].Instead != nil ||
		model.Shell(got[1].If) != "{_id: 1, x: 2, tenant: 'a', deletedAt: null}" || got[2].Instead == nil {
		t.Errorf("an update's %v", got)
	}
	if want := model.Scoped(scope, parts.Delete(2)).String(); len(got) == 0 || len(got[0].Instead) != 1 ||
		got[0].Instead[0].(model.Write).String() != want {
		t.Errorf("an update's Instead %v, want %s", got, want)
	}
	if model.Shell(update.Reasons[0].If) != "{_id: 1}" ||
		model.Shell(model.Scoped(model.Scope{Collections: []string{"x"}}, update).Reasons[0].If) != "{_id: 1}" {
		t.Errorf("the write itself has %v", update.Reasons)
	}
	insert := insertDoc(d("_id", 1))
	insert.Reasons = []model.Reason{reason}
	if got := model.Scoped(scope, insert).Reasons[0]; model.Shell(got.If) != "{_id: 1, tenant: 'a'}" ||
		got.Instead[0].(model.Write).String() != model.Scoped(scope, parts.Delete(2)).String() {
		t.Errorf("an insert's %v", got)
	}
	other := write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: d("$set", d("v", 2))})
	other.Collection, other.Reasons = "products", []model.Reason{reason}
	if got := model.Scoped(model.Scope{Tenant: scope.Tenant, Delete: scope.Delete, Collections: []string{"parts"}},
		other).Reasons[0]; model.Shell(got.If) != "{_id: 1}" ||
		!strings.Contains(got.Instead[0].String(), "updateOne") {
		t.Errorf("another collection's %v", got)
	}
	collection := model.NewCollection[versionedPart, int32]("parts")
	docs := embed.NewVersioned(collection, embed.VersionedSpec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db,
			model.NewPlan(model.Scoped(model.Scope{Tenant: d("tenant", "b")}, collection.Insert(versionedPart{ID: 1, Qty: 3}))))
		for _, w := range []model.Write{
			docs.Update(1, 7, d("$set", d("qty", 4)), bson.NilObjectID), docs.Take(1, "qty", 1, bson.NilObjectID),
		} {
			if _, err := model.Scoped(scope, w).Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) ||
				errors.Is(err, embed.ErrVersion) || errors.Is(err, model.ErrGuard) {
				t.Errorf("%s: %v, want that there is none", w, err)
			}
		}
	})
}

type versionedPart struct {
	ID      int32 `bson:"_id"`
	Version int64 `bson:"version"`
	Qty     int64 `bson:"qty"`
}

// TestScopeHolds: what runs under a tenant's scope neither sees nor changes another's documents.
func TestScopeHolds(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	yes := true
	docs := model.NewCollection[bson.D, int32]("parts")
	of := func(tenant string) model.Scope {
		return model.Scope{Tenant: d("tenant", tenant), Set: d("updatedAt", 7), Delete: d("deletedAt", 7)}
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		a, b := of("a"), of("b")
		mustRun(t, db, model.Scoped(a, docs.InsertMany([]bson.D{d("_id", 1, "x", 1), d("_id", 2, "x", 2)})),
			model.Scoped(b, docs.InsertMany([]bson.D{d("_id", 3, "x", 1)})))
		ids := func(p model.Scope) []int32 {
			t.Helper()
			var out []int32
			for doc, err := range model.Scoped(p, docs.Find(nil).Sorted(d("_id", 1))).Each(t.Context(), db) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, doc[0].Value.(int32))
			}
			return out
		}
		run := func(w model.Write, want error) {
			t.Helper()
			if _, err := model.Scoped(b, w).Run(t.Context(), db); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", model.Scoped(b, w), err, want)
			}
		}
		run(docs.Update(1, d("$set", d("x", 9))), model.ErrNotFound)
		run(docs.Replace(d("_id", 1, "x", 9)), model.ErrNotFound)
		run(docs.Delete(1), nil)
		run(write(&mongo.DeleteManyModel{Filter: d("x", d("$lt", 2))}), nil)
		run(model.Scoped(model.Scope{}, updateMany(bson.D{}, d("$inc", d("x", 10)))), model.ErrTransactional)
		run(once(updateMany(bson.D{}, d("$inc", d("x", 10)))), nil)
		run(write(&mongo.UpdateOneModel{Filter: d("_id", 4), Update: d("$set", d("x", 4)), Upsert: &yes}), nil)
		run(write(&mongo.UpdateOneModel{Filter: d("_id", 5, "tenant", "b"), Update: d("$set", d("x", 5)), Upsert: &yes}), nil)
		if got := ids(a); !slices.Equal(got, []int32{1, 2}) {
			t.Errorf("a has %v", got)
		}
		if got := ids(b); !slices.Equal(got, []int32{4, 5}) {
			t.Errorf("b has %v; 3 is marked as deleted", got)
		}
		if _, err := model.Scoped(b, docs.Modify(d("_id", 1), d("$set", d("x", 9)))).
			Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("Modify of another tenant's: %v", err)
		}
		joined, err := model.Scoped(b, model.AggregateAs[bson.Raw](docs, mongo.Pipeline{
			d("$lookup", d("from", "parts", "let", d("x", "$x"), "pipeline", mongo.Pipeline{}, "as", "all")),
			d("$unionWith", "parts"),
		})).All(t.Context(), db)
		if err != nil || len(joined) != 4 {
			t.Errorf("%d joined, %v", len(joined), err)
		}
		for _, doc := range joined {
			if all, ok := doc.Lookup("all").ArrayOK(); doc.Lookup("tenant").StringValue() != "b" ||
				ok && len(must(all.Values())) != 2 {
				t.Errorf("joined %s", doc)
			}
		}
		if left, err := docs.Find(d("tenant", "a")).All(t.Context(), db); err != nil ||
			model.Shell(left) != "[{_id: 1, x: 1, tenant: 'a', updatedAt: 7}, {_id: 2, x: 2, tenant: 'a', updatedAt: 7}]" {
			t.Errorf("a's documents are %s, %v", model.Shell(left), err)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

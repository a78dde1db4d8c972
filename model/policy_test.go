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
	"github.com/docmodel/docmodel/model/modeltest"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// policy is a tenant's: soft deletion, and a time of change.
var policy = model.Policy{
	Filter: d("tenant", "a", "deletedAt", nil),
	Insert: d("tenant", "a"),
	Set:    d("updatedAt", 7),
	Delete: d("deletedAt", 7),
}

// TestPolicy renders what a policy makes of each kind of value.
func TestPolicy(t *testing.T) {
	yes := true
	set := d("$set", d("x", 1))
	lookup := func(args ...any) bson.D { return d("$lookup", d(args...)) }
	agg := func(stages ...bson.D) *model.Aggregate[product] { return products.Aggregate(stages) }
	only := policy
	only.Collections = []string{"parts"}
	ranged := model.Policy{Filter: d("tenant", d("$in", bson.A{"a", "b"})), Insert: d("tenant", "a")}
	plain := model.Policy{Filter: d("tenant", "a")}
	either := model.Policy{Filter: d("tenant", "a", "$or", bson.A{d("deletedAt", nil), d("kept", true)}), Delete: d("deletedAt", 7)}
	parts, products := parts.Unchecked(), products.Unchecked()
	deletedToo := parts.Find(d("x", 1))
	deletedToo.Deleted = true
	var b strings.Builder
	for _, c := range []struct {
		reason string
		s      fmt.Stringer
	}{
		{"a query", parts.Find(d("x", 1)).Under(policy)},
		{"a query that has the condition", parts.Find(d("tenant", "a")).Under(policy)},
		{"a query of another tenant finds nothing", parts.Find(d("tenant", "b")).Under(policy)},
		{"twice is once", parts.Find(nil).Under(policy).Under(policy)},
		{"another collection", products.Find(d("x", 1)).Under(only)},
		{"an update", parts.Update(1, set).Under(policy)},
		{"an update of the same field to the same value", parts.Update(1, d("$set", d("updatedAt", 7))).Under(policy)},
		{"an update of the same field", parts.Update(1, d("$set", d("updatedAt", 8))).Under(policy)},
		{"an update of the same field by another operator", parts.Update(1, d("$unset", d("updatedAt", ""))).Under(policy)},
		{"an update whose fields are a map", parts.Update(1, d("$set", bson.M{"x": 1})).Under(policy)},
		{"an update in raw bytes", write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: raw(set)}).Under(policy)},
		{"an update in raw bytes that moves to another tenant", write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: raw(d("$set", d("tenant", "b")))}).Under(policy)},
		{"an update that moves to another tenant", parts.Update(1, d("$set", d("tenant", "b"))).Under(policy)},
		{"an update that stays", parts.Update(1, d("$set", d("tenant", "a"))).Under(policy)},
		{"an update that takes the tenant away", parts.Update(1, d("$rename", d("x", "tenant"))).Under(policy)},
		{"an update by a pipeline", updateMany(d("x", 1), mongo.Pipeline{set}).Under(policy)},
		{"an upsert: equalities of the filter are stored by the server", write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: set, Upsert: &yes}).Under(policy)},
		{"an upsert whose filter has the tenant: not twice, or the server refuses", write(&mongo.UpdateOneModel{Filter: d("_id", 1, "tenant", "a"), Update: set, Upsert: &yes}).Under(policy)},
		{"an upsert, where the filter is no equality", write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: set, Upsert: &yes}).Under(ranged)},
		{"an upsert by a pipeline", write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: mongo.Pipeline{set}, Upsert: &yes}).Under(policy)},
		{"an upsert by a pipeline that needs an Insert field", write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: mongo.Pipeline{set}, Upsert: &yes}).Under(ranged)},
		{"an insert", parts.Insert(part{ID: 1}).Under(policy)},
		{"an insert that has the field", insertDoc(d("_id", 1, "tenant", "a")).Under(policy)},
		{"an insert of another tenant", insertDoc(d("_id", 1, "tenant", "b")).Under(policy)},
		{"an insert under a dotted field", insertDoc(d("_id", 1)).Under(model.Policy{Insert: d("a.b", 1)})},
		{"a replacement", parts.Replace(part{ID: 1}).Under(policy)},
		{"a delete marks", parts.Delete(1).Under(policy)},
		{"a delete of many marks", write(&mongo.DeleteManyModel{Filter: d("x", 1)}).Under(policy)},
		{"a delete without marks", parts.Delete(1).Under(plain)},
		{"a mark that Set sets too", parts.Delete(1).Under(model.Policy{Set: d("at", 1), Delete: d("gone", true, "at", 1)})},
		{"a mark that Set sets otherwise", parts.Delete(1).Under(model.Policy{Set: d("at", 1), Delete: d("at", 2)})},
		{"a write that reaches deleted documents", reachDeleted(parts.Update(1, set)).Under(policy)},
		{"a write that reaches deleted documents, where the filter hides them within $or", reachDeleted(parts.Update(1, set)).Under(either)},
		{"a write that reaches deleted documents, where nothing marks them", reachDeleted(parts.Update(1, set)).Under(plain)},
		{"a query that reaches deleted documents", deletedToo.Under(policy)},
		{"a query that reaches deleted documents, where the filter hides them within $or", deletedToo.Under(either)},
		{"a delete marks, and takes a field away", ifMarked(parts.Delete(1), d("$unset", d("x", ""))).Under(policy)},
		{"a delete without marks takes nothing away", ifMarked(parts.Delete(1), d("$unset", d("x", ""))).Under(plain)},
		{"a filter in raw bytes", write(&mongo.DeleteOneModel{Filter: raw(d("x", 1))}).Under(plain)},
		{"a filter in a map", write(&mongo.DeleteOneModel{Filter: bson.M{"x": 1}}).Under(plain)},
		{"what is refused stays refused", model.Refused("parts", errBad).Under(policy)},
		{"a findAndModify", parts.Modify(d("x", 1), set).Under(policy)},
		{"a Remove", (&model.Modify[part]{FindAndModify: model.FindAndModify{Collection: "parts", Filter: d("x", 1), Remove: true}}).Under(policy)},
		{"a Remove without marks", (&model.Modify[part]{FindAndModify: model.FindAndModify{Collection: "parts", Filter: d("x", 1), Remove: true}}).Under(plain)},
		{"a pipeline", agg(d("$limit", 1)).Under(policy)},
		{"an empty pipeline", agg().Under(policy)},
		{"another collection's pipeline, joining this one", agg(lookup("from", "parts", "localField", "parts", "foreignField", "_id", "as", "p")).Under(only)},
		{"a join of another", agg(lookup("from", "stock", "as", "p")).Under(only)},
		{"a join with a pipeline", agg(lookup("from", "parts", "as", "p", "pipeline", mongo.Pipeline{d("$limit", 1)})).Under(plain)},
		{"a join with a pipeline as a list", agg(lookup("from", "parts", "as", "p", "pipeline", bson.A{d("$limit", 1)})).Under(plain)},
		{"a join with a pipeline of maps", agg(lookup("from", "parts", "as", "p", "pipeline", []bson.M{{"$limit": 1}})).Under(plain)},
		{"a join in a map", agg(d("$lookup", bson.M{"from": "parts", "as": "p"})).Under(plain)},
		{"a join in a join", agg(lookup("from", "parts", "as", "p", "pipeline", mongo.Pipeline{lookup("from", "parts", "as", "q")})).Under(plain)},
		{"a join from another database", agg(lookup("from", d("db", "x", "coll", "parts"), "as", "p")).Under(plain)},
		{"a union", agg(d("$unionWith", "parts")).Under(plain)},
		{"a union with a pipeline", agg(d("$unionWith", d("coll", "parts", "pipeline", bson.A{}))).Under(plain)},
		{"a graph", agg(d("$graphLookup", d("from", "parts", "as", "p"))).Under(plain)},
		{"a graph with a condition", agg(d("$graphLookup", d("from", "parts", "as", "p", "restrictSearchWithMatch", d("x", 1)))).Under(plain)},
		{"a graph with a condition in a map", agg(d("$graphLookup", d("from", "parts", "as", "p", "restrictSearchWithMatch", bson.M{"x": 1}))).Under(plain)},
		{"facets", agg(d("$facet", d("a", bson.A{d("$limit", 1), lookup("from", "parts", "as", "p")}))).Under(plain)},
		{"a stage that must be first", agg(d("$geoNear", d("near", 1))).Under(plain)},
		{"a stage that must be first, inside", agg(lookup("from", "parts", "as", "p", "pipeline", bson.A{d("$search", d())})).Under(plain)},
		{"a $merge", mergeInto("parts", d("$match", d("x", 1)), d("$merge", d("into", "copy"))).Under(policy)},
		{"an $out into another collection", mergeInto("parts", d("$out", "copy")).Under(only)},
		{"an $out from another collection", mergeInto("stock", d("$out", d("db", "x", "coll", "parts"))).Under(only)},
		{"a plan", model.NewPlan(parts.Delete(1), parts.Insert(part{ID: 2}), mergeInto("parts", d("$out", "copy"))).Under(policy)},
		{"no policy", model.NewPlan(parts.Update(1, set), parts.Delete(1)).Under(model.Policy{})},
	} {
		fmt.Fprintf(&b, "# %s\n%s\n", c.reason, c.s)
	}
	golden(t, "policy.golden", b.String())
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

func TestPolicyDone(t *testing.T) {
	parts := parts.Unchecked()
	w := done(expectOne(updateOne(d("_id", 1, "v", 1), d("$set", d("v", 2)))), d("_id", 1, "v", 2)).Under(policy)
	if model.Shell(w.Done) != "{_id: 1, v: 2, tenant: 'a', deletedAt: null}" || w.Expect != model.One {
		t.Errorf("Done %s, %v", model.Shell(w.Done), w.Expect)
	}
	var e *model.ConflictError
	if err := parts.Update(1, d("$set", d("updatedAt", 8))).Under(policy).Err; !errors.As(err, &e) || e.Paths != [2]string{"$set updatedAt", "$set updatedAt"} {
		t.Errorf("%v", err)
	}
}

// TestPolicyReasons: why a write matched nothing is asked of the documents that the policy shows, and what is sent in the place of
// taking back is under it too. An insert meets the tenant's documents that it doesn't show.
func TestPolicyReasons(t *testing.T) {
	full, taken := errors.New("full"), errors.New("taken")
	reason := model.Reason{If: d("_id", 1), Err: full, Instead: []model.Step{parts.Delete(2)}}
	update := expectOne(updateOne(d("_id", 1, "v", 1), d("$set", d("v", 2))))
	update.Reasons = []model.Reason{reason, {If: d("_id", 1, "x", 2), Err: taken}, {If: d("_id", 1), Err: full, Instead: []model.Step{}}}
	got := update.Under(policy).Reasons
	if len(got) != 3 || got[0].Err != full || model.Shell(got[0].If) != "{_id: 1, tenant: 'a', deletedAt: null}" || got[1].Instead != nil ||
		model.Shell(got[1].If) != "{_id: 1, x: 2, tenant: 'a', deletedAt: null}" || got[2].Instead == nil {
		t.Errorf("an update's %v", got)
	}
	if want := parts.Delete(2).Under(policy).String(); len(got) == 0 || len(got[0].Instead) != 1 || got[0].Instead[0].(model.Write).String() != want {
		t.Errorf("an update's Instead %v, want %s", got, want)
	}
	if model.Shell(update.Reasons[0].If) != "{_id: 1}" || model.Shell(update.Under(model.Policy{Collections: []string{"x"}}).Reasons[0].If) != "{_id: 1}" {
		t.Errorf("the write itself has %v", update.Reasons)
	}
	insert := insertDoc(d("_id", 1))
	insert.Reasons = []model.Reason{reason}
	if got := insert.Under(policy).Reasons[0]; model.Shell(got.If) != "{_id: 1, tenant: 'a'}" || got.Instead[0].(model.Write).String() != parts.Delete(2).Under(policy).String() {
		t.Errorf("an insert's %v", got)
	}
	other := write(&mongo.UpdateOneModel{Filter: d("_id", 1), Update: d("$set", d("v", 2))})
	other.Collection, other.Reasons = "products", []model.Reason{reason}
	if got := other.Under(model.Policy{Filter: policy.Filter, Delete: policy.Delete, Collections: []string{"parts"}}).Reasons[0]; model.Shell(got.If) != "{_id: 1}" ||
		!strings.Contains(got.Instead[0].String(), "updateOne") {
		t.Errorf("another collection's %v", got)
	}
	docs := embed.NewVersioned(model.NewCollection[versionedPart, int32]("parts"), embed.VersionedSpec{})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, model.NewPlan(docs.Insert(versionedPart{ID: 1, Qty: 3}, bson.NilObjectID).Under(model.Policy{Insert: d("tenant", "b")})))
		for _, w := range []model.Write{
			docs.Update(1, 7, d("$set", d("qty", 4)), bson.NilObjectID), docs.Take(1, "qty", 1, bson.NilObjectID), docs.Delete(1, 1),
		} {
			if _, err := w.Under(policy).Run(t.Context(), db); !errors.Is(err, model.ErrStale) || errors.Is(err, embed.ErrVersion) || errors.Is(err, embed.ErrGuard) {
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

// TestPolicyHolds: what runs under a tenant's policy neither sees nor changes another's documents.
func TestPolicyHolds(t *testing.T) {
	tenancy.Differs(t, "it has a policy of its own")
	yes := true
	docs := model.NewCollection[bson.D, int32]("parts")
	of := func(tenant string) model.Policy {
		return model.Policy{Filter: d("tenant", tenant, "deletedAt", nil), Insert: d("tenant", tenant), Set: d("updatedAt", 7), Delete: d("deletedAt", 7)}
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		a, b := of("a"), of("b")
		mustRun(t, db, docs.InsertMany([]bson.D{d("_id", 1, "x", 1), d("_id", 2, "x", 2)}).Under(a), docs.InsertMany([]bson.D{d("_id", 3, "x", 1)}).Under(b))
		ids := func(p model.Policy) []int32 {
			t.Helper()
			var out []int32
			for doc, err := range docs.Find(nil).Sorted(d("_id", 1)).Under(p).Each(t.Context(), db) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, doc[0].Value.(int32))
			}
			return out
		}
		run := func(w model.Write, want error) {
			t.Helper()
			if _, err := w.Under(b).Run(t.Context(), db); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", w.Under(b), err, want)
			}
		}
		run(docs.Update(1, d("$set", d("x", 9))), model.ErrStale)
		run(docs.Replace(d("_id", 1, "x", 9)), model.ErrStale)
		run(docs.Delete(1), nil)
		run(write(&mongo.DeleteManyModel{Filter: d("x", d("$lt", 2))}), nil)
		run(updateMany(bson.D{}, d("$inc", d("x", 10))).Under(model.Policy{}), model.ErrTransactional)
		run(once(updateMany(bson.D{}, d("$inc", d("x", 10)))), nil)
		run(write(&mongo.UpdateOneModel{Filter: d("_id", 4), Update: d("$set", d("x", 4)), Upsert: &yes}), nil)
		run(write(&mongo.UpdateOneModel{Filter: d("_id", 5, "tenant", "b"), Update: d("$set", d("x", 5)), Upsert: &yes}), nil)
		if got := ids(a); !slices.Equal(got, []int32{1, 2}) {
			t.Errorf("a has %v", got)
		}
		if got := ids(b); !slices.Equal(got, []int32{4, 5}) {
			t.Errorf("b has %v; 3 is marked as deleted", got)
		}
		if _, err := docs.Modify(d("_id", 1), d("$set", d("x", 9))).Under(b).Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("Modify of another tenant's: %v", err)
		}
		joined, err := model.AggregateAs[bson.Raw](docs, mongo.Pipeline{
			d("$lookup", d("from", "parts", "let", d("x", "$x"), "pipeline", mongo.Pipeline{}, "as", "all")),
			d("$unionWith", "parts"),
		}).Under(b).All(t.Context(), db)
		if err != nil || len(joined) != 4 {
			t.Errorf("%d joined, %v", len(joined), err)
		}
		for _, doc := range joined {
			if all, ok := doc.Lookup("all").ArrayOK(); doc.Lookup("tenant").StringValue() != "b" || ok && len(must(all.Values())) != 2 {
				t.Errorf("joined %s", doc)
			}
		}
		if left, err := docs.Find(d("tenant", "a")).All(t.Context(), db); err != nil || model.Shell(left) != "[{_id: 1, x: 1, tenant: 'a', updatedAt: 7}, {_id: 2, x: 2, tenant: 'a', updatedAt: 7}]" {
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

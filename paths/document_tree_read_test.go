package paths_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func remarkIDs(nodes []remark) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.ID)
	}
	return out
}

// remarksOf are the nodes of a forest as a form has them: in any order if order keys sort them, else siblings in their order.
func (f documentForm) remarksOf(r *rand.Rand, forest *paths.Forest[string]) []remark {
	var out []remark
	var list func(parent string, ids []string) []remark
	list = func(parent string, ids []string) (nested []remark) {
		keys := paths.Spread(len(ids))
		for i, id := range ids {
			n := remark{ID: id, Text: "text of " + id, Likes: likesOf(id)}
			below := list(id, sure(forest.Children(id)))
			if f.spec.Nested != "" {
				n.Below = below
			} else {
				n.Parent = parent
			}
			if f.spec.Order != "" {
				n.Order = keys[i]
			}
			out, nested = append(out, n), append(nested, n)
		}
		return nested
	}
	nested := list("", forest.Roots())
	if f.spec.Nested != "" {
		return nested
	}
	if f.spec.Order != "" {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// Every query of a tree in a document finds what the plain tree has, in order, and nodes come whole but for their children.
func TestDocumentTreeQueries(t *testing.T) {
	parallel(t)
	rounds := 6
	if onServer {
		rounds = 2
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(4, 8))
		for round := range rounds {
			for _, f := range documentForms {
				forest := convertForest(r, 1+round*3)
				f.start(t, db, f.remarksOf(r, forest)...)
				f.wantQueries(t, db, forest)
			}
		}
	})
}

func (f documentForm) wantQueries(t *testing.T, db *mongo.Database, forest *paths.Forest[string]) {
	t.Helper()
	want := func(what string, q *model.Aggregate[remark], want []string) {
		t.Helper()
		got, err := q.All(t.Context(), db)
		if err != nil || !slices.Equal(remarkIDs(got), want) {
			t.Fatalf("%s: %s in %s: %v, %v, want %v", f.name, what, shape(forest), remarkIDs(got), err, want)
		}
		for _, n := range got {
			if n.Text != "text of "+n.ID || n.Below != nil {
				t.Fatalf("%s: %s: %+v", f.name, what, n)
			}
		}
	}
	want("roots", f.tree.Roots("p"), forest.Roots())
	for id := range forest.All() {
		want("node "+id, f.tree.Node("p", id), []string{id})
		above, below := sure(forest.Ancestors(id)), sure(forest.Descendants(id, 0))
		want("parent of "+id, f.tree.Parent("p", id), above[max(0, len(above)-1):])
		want("children of "+id, f.tree.Children("p", id), sure(forest.Children(id)))
		want("siblings of "+id, f.tree.Siblings("p", id), siblingsOf(forest, id))
		want("ancestors of "+id, f.tree.Ancestors("p", id), above)
		for depth := range 4 {
			want(fmt.Sprint("descendants of ", id, " to ", depth), f.tree.Descendants("p", id, depth), sure(forest.Descendants(id, depth)))
		}
		want("leaves of "+id, f.tree.Leaves("p", id), slices.DeleteFunc(below, func(x string) bool { return len(sure(forest.Children(x))) > 0 }))
	}
	f.wantTotals(t, db, forest)
	again, err := paths.NewForest(f.tree.Dump(t.Context(), db, "p"), func(n remark) string { return n.ID })
	if err != nil || shape(again) != shape(forest) {
		t.Fatalf("%s: the dump is %v, %v, want %s", f.name, again, err, shape(forest))
	}
}

// wantTotals compares the totals of likes, which every node with a letter after its first has as many of as letters.
func (f documentForm) wantTotals(t *testing.T, db *mongo.Database, forest *paths.Forest[string]) {
	t.Helper()
	up := paths.NewDocumentRollUp[int](f.tree, "likes")
	items := map[string]int64{}
	for id := range forest.All() {
		items[id] = int64(likesOf(id))
	}
	want := func(id string) paths.Totals[int] {
		o := rollUpOracle(forest, items, id)
		return paths.Totals[int]{Nodes: o.Nodes, Values: o.Values, Sum: int(o.Sum), Min: int(o.Min), Max: int(o.Max)}
	}
	all := func(what string, q *model.Aggregate[paths.Total[string, int]], ids []string) {
		t.Helper()
		got, err := q.All(t.Context(), db)
		if err != nil || len(got) != len(ids) {
			t.Fatalf("%s: totals of %s in %s: %v, %v", f.name, what, shape(forest), got, err)
		}
		for i, id := range ids {
			if got[i].ID != id || got[i].Totals != want(id) {
				t.Fatalf("%s: totals of %s in %s: %v, want %s %v", f.name, what, shape(forest), got[i], id, want(id))
			}
		}
	}
	all("roots", up.Roots("p"), forest.Roots())
	for id := range forest.All() {
		if got, err := up.Total("p", id).One(t.Context(), db); err != nil || got != want(id) {
			t.Fatalf("%s: total of %s in %s: %v, %v, want %v", f.name, id, shape(forest), got, err, want(id))
		}
		all("children of "+id, up.Children("p", id), sure(forest.Children(id)))
	}
}

// likesOf is a node's number; 0 is not stored.
func likesOf(id string) int { return int(id[len(id)-1]) % 7 }

// A missing owner or node gives nothing, a bad argument an error, and a damaged list is read to its end.
func TestDocumentTreeQueriesOfNothing(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range documentForms {
			f.start(t, db, remark{ID: "a"}, remark{ID: "b", Parent: "c"}, remark{ID: "c", Parent: "b"}, remark{ID: "d", Parent: "z"}, remark{ID: "d", Parent: "d"})
			owners := []any{bson.D{{Key: "_id", Value: "none"}}, bson.D{{Key: "_id", Value: "null"}, {Key: "remarks", Value: nil}}, bson.D{{Key: "_id", Value: "text"}, {Key: "remarks", Value: "x"}}}
			if _, err := db.Collection(f.name).InsertMany(t.Context(), owners); err != nil {
				t.Fatal(err)
			}
			ask := func(owner, id string) (all []*model.Aggregate[remark]) {
				return []*model.Aggregate[remark]{f.tree.Node(owner, id), f.tree.Parent(owner, id), f.tree.Children(owner, id), f.tree.Siblings(owner, id),
					f.tree.Ancestors(owner, id), f.tree.Descendants(owner, id, 0), f.tree.Leaves(owner, id)}
			}
			for _, at := range [][2]string{{"p", "z0"}, {"none", "a"}, {"null", "a"}, {"text", "a"}, {"nobody", "a"}} {
				for i, q := range append(ask(at[0], at[1]), f.tree.Roots(at[0])) {
					if n, err := q.Count(t.Context(), db); err != nil || n > 0 && (at[0] != "p" || i < 7) {
						t.Errorf("%s: query %d of %v: %d, %v", f.name, i, at, n, err)
					}
				}
			}
			for _, id := range []string{"a", "b", "c", "d"} {
				for i, q := range ask("p", id) {
					if n, err := q.Count(t.Context(), db); err != nil || n > 5 {
						t.Errorf("%s: query %d of %s in a damaged list: %d, %v", f.name, i, id, n, err)
					}
				}
			}
			var value *model.ValueError
			for i, q := range append(ask("p", ""), f.tree.Descendants("p", "a", -1)) {
				if _, err := q.All(t.Context(), db); !errors.As(err, &value) {
					t.Errorf("%s: query %d: %v", f.name, i, err)
				}
			}
			for _, err := range f.tree.Dump(t.Context(), db, "nobody") {
				wantDocumentError(t, "no owner", err, model.ErrNotFound)
			}
			if f.spec.Nested == "" {
				for _, err := range f.tree.Dump(t.Context(), db, "p") {
					wantDocumentError(t, "damaged", err, paths.ErrDamaged)
				}
			}
		}
	})
}

// A node whose fields can't be decoded is in the way of nobody who doesn't ask for it.
func TestDocumentTreeQueriesMistyped(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []documentForm{listed, keyed, nested} {
			forest := parse("a(b(c d)) e")
			f.start(t, db, f.remarksOf(rand.New(rand.NewPCG(1, 1)), forest)...)
			filter := bson.D{{Key: "_id", Value: "p"}}
			set := bson.D{{Key: "$set", Value: bson.D{{Key: "remarks.$[n].likes", Value: "many"}}}}
			if f.spec.Nested != "" {
				set = bson.D{{Key: "$set", Value: bson.D{{Key: "remarks.0.likes", Value: "many"}}}}
			}
			w := model.Write{Collection: f.name, Model: &mongo.UpdateOneModel{Filter: filter, Update: set, ArrayFilters: []any{bson.D{{Key: "n.id", Value: "a"}}}}}
			if f.spec.Nested != "" {
				w.Model = &mongo.UpdateOneModel{Filter: filter, Update: set}
			}
			if _, err := w.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if _, err := f.tree.Node("p", "a").One(t.Context(), db); err == nil {
				t.Errorf("%s: a mistyped node is decoded", f.name)
			}
			below, err := f.tree.Descendants("p", "a", 0).All(t.Context(), db)
			if err != nil || !slices.Equal(remarkIDs(below), []string{"b", "c", "d"}) {
				t.Errorf("%s: %v, %v", f.name, below, err)
			}
			total, err := paths.NewDocumentRollUp[int](f.tree, "likes").Total("p", "a").One(t.Context(), db)
			if err != nil || total.Nodes != 4 {
				t.Errorf("%s: %v, %v", f.name, total, err)
			}
			if n, err := f.tree.Roots("p").Count(t.Context(), db); err != nil || n != 2 {
				t.Errorf("%s: %d roots, %v", f.name, n, err)
			}
			for _, c := range []model.Change[any]{
				f.tree.Move("p", "c", paths.LastRoot[string]()), f.tree.Insert("p", remark{ID: "x"}, paths.FirstChild("a")), f.tree.Delete("p", "b", paths.Promote), f.tree.Repair("p"),
			} {
				if _, _, err := c.Run(t.Context(), db); err != nil {
					t.Errorf("%s: %v", f.name, err)
				}
			}
		}
	})
}

// Each query is one command, and returns only what it finds.
func TestDocumentTreeQueryCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []documentForm{listed, keyed, nested} {
			f.start(t, db, f.remarksOf(rand.New(rand.NewPCG(1, 1)), parse("a(b(c d)) e"))...)
			for _, q := range []struct {
				of   *model.Aggregate[remark]
				want int
			}{
				{f.tree.Node("p", "d"), 1}, {f.tree.Roots("p"), 2}, {f.tree.Parent("p", "d"), 1}, {f.tree.Children("p", "b"), 2}, {f.tree.Siblings("p", "a"), 1},
				{f.tree.Ancestors("p", "d"), 2}, {f.tree.Descendants("p", "a", 0), 3}, {f.tree.Leaves("p", "a"), 2},
			} {
				modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: q.want}, func() error { _, err := q.of.All(t.Context(), db); return err })
				modeltest.WantIndexed(t, db, q.of, model.IDIndex)
			}
			modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: 1}, func() error {
				for _, err := range f.tree.Dump(t.Context(), db, "p") {
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	}, mongotest.WithMonitor(monitor))
}

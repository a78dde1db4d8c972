package paths_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// wide is a nested set that is loaded with room between its numbers.
var wide = nestedOf("wide", paths.NestedSetSpec{Gap: 1024})

// A move among siblings writes the moved node; one to where the node is writes nothing.
func TestLeastWrites(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, k := range append(append(kinds[:len(kinds):len(kinds)], named), nestedKinds[1].kind, wide.kind) {
			k.ensure(t, db)
			k.store(t, db, parse("a(b(c d(e)) f g) h(i) j"))
			run := func(c model.Change[any]) int {
				got, err := modeltest.Measure(monitor, func() error { _, _, err := c.Run(ctx, db); return err })
				if err != nil {
					t.Fatalf("%s: %v", k.name, err)
				}
				return got.Written
			}
			for _, m := range []struct {
				id string
				to paths.Place[string]
			}{
				{"b", paths.FirstChild("a")}, {"g", paths.LastChild("a")}, {"f", paths.After("b")}, {"f", paths.Before("g")}, {"f", paths.After("f")},
				{"a", paths.FirstRoot[string]()}, {"j", paths.LastRoot[string]()}, {"h", paths.Before("j")}, {"h", paths.After("a")}, {"e", paths.LastChild("d")},
			} {
				before, err := k.docs.Find(nil).All(ctx, db)
				if err != nil {
					t.Fatal(err)
				}
				if n := run(k.tree.Move(m.id, m.to)); n != 2 { // the lease
					t.Errorf("%s: %s %v, where it is: %d documents written", k.name, m.id, m.to, n)
				}
				if after, err := k.docs.Find(nil).All(ctx, db); err != nil || !reflect.DeepEqual(before, after) {
					t.Errorf("%s: %s %v changed the tree", k.name, m.id, m.to)
				}
			}
			f := parse("a(b(c d(e)) f g) h(i) j")
			for _, m := range []struct {
				id string
				to paths.Place[string]
			}{
				{"f", paths.FirstChild("a")}, {"b", paths.LastChild("a")}, {"j", paths.Before("a")}, {"h", paths.FirstRoot[string]()}, {"b", paths.Before("f")},
			} {
				want := 3 + 1 // the lease and the intent, and the node
				if k.name == "children" && m.id != "j" && m.id != "h" {
					want = 3 + 2 // the parent's list, and the intent
				}
				n := run(k.tree.Move(m.id, m.to))
				if k.name != "nested" && k.name != "gapped" && k.name != "wide" && n != want {
					t.Errorf("%s: %s %v, among its siblings: %d documents written, want %d", k.name, m.id, m.to, n, want)
				}
				if err := f.Move(m.id, m.to); err != nil || shape(k.stored(t, db)) != shape(f) {
					t.Fatalf("%s: %s %v: %s, want %s, %v", k.name, m.id, m.to, shape(k.stored(t, db)), shape(f), err)
				}
				k.whole(t, db)
			}
		}
	}, mongotest.WithMonitor(monitor))
}

// So it is in a document, which isn't written.
func TestLeastWritesDocumentTree(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range documentForms {
			f.grow(t, db, "a(b(c) d) e")
			for id, to := range map[string]paths.Place[string]{
				"b": paths.FirstChild("a"), "d": paths.After("b"), "a": paths.FirstRoot[string](), "e": paths.LastRoot[string](), "c": paths.LastChild("b"),
			} {
				modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: 1}, func() error {
					_, _, err := f.tree.Move("p", id, to).Run(t.Context(), db)
					return err
				})
			}
		}
	}, mongotest.WithMonitor(monitor))
}

// A nested set that was loaded with gaps takes leaves, branches and first roots by writing few documents, wherever they go, and
// however often they go to one place.
func TestNestedSetUsesGaps(t *testing.T) {
	alone(t)
	monitor, size, often := mongotest.NewMonitor(), 400, 150
	if few() {
		size, often = 120, 40
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		f := &paths.Forest[string]{}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range size {
			at := paths.LastRoot[string]()
			if i%20 > 0 {
				at = paths.LastChild(fmt.Sprint("n", i-1-(i-1)%4))
			}
			must(f.Insert(fmt.Sprint("n", i), at))
		}
		wide.ensure(t, db)
		wide.store(t, db, f)
		run := func(what string, most int, c model.Change[any]) int {
			t.Helper()
			got, err := modeltest.Measure(monitor, func() error { _, _, err := c.Run(ctx, db); return err })
			must(err)
			if got.Written > 3+most {
				t.Errorf("%s: %d documents written, at most %d of them nodes", what, got.Written, most)
			}
			return got.Written
		}
		first, last := "n3", fmt.Sprint("n", size-1)
		must(f.Move(last, paths.Before(first)))
		run("a loaded leaf, far", 1, wide.tree.Move(last, paths.Before(first)))
		must(f.Move("n20", paths.FirstChild("n0")))
		run("a loaded branch, far", 20, wide.tree.Move("n20", paths.FirstChild("n0")))
		must(f.Insert("r", paths.FirstRoot[string]()))
		run("a first root", 1+1+2, wide.tree.Insert(category{ID: "r"}, paths.FirstRoot[string]()))
		wide.wantNumbers(t, db, f, "moved")
		total := 0
		for i := range often {
			id := fmt.Sprint("s", i)
			at := []paths.Place[string]{paths.FirstRoot[string](), paths.After(first), paths.FirstChild("n40"), paths.LastChild("n44")}[i%4]
			must(f.Insert(id, at))
			total += run("one place", 300, wide.tree.Insert(category{ID: id}, at))
		}
		if total > often*10 {
			t.Errorf("%d inserts at four places: %d documents written", often, total)
		}
		t.Log(often, "inserts:", total, "documents")
		wide.wantNumbers(t, db, f, "inserted")
		wide.whole(t, db)
		n, err := wide.docs.Find(bson.D{{Key: "left", Value: bson.D{{Key: "$lt", Value: 1}}}}).Count(ctx, db)
		if err != nil || n > 0 {
			t.Errorf("%d nodes without numbers, %v", n, err)
		}
	}, mongotest.WithMonitor(monitor))
}

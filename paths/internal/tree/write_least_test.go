package tree_test

import (
	"reflect"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// wide is a nested set that is loaded with room between its numbers.
var wide = pathstest.NestedKindOf("wide", paths.NestedSetSpec{Gap: 1024})

// A move among siblings writes the moved node; one to where the node is writes nothing.
func TestLeastWrites(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, k := range append(
			append(pathstest.Kinds[:len(pathstest.Kinds):len(pathstest.Kinds)], pathstest.Named),
			pathstest.NestedKinds[1].Kind, wide.Kind,
		) {
			k.Ensure(t, db)
			k.Store(t, db, pathstest.Parse("a(b(c d(e)) f g) h(i) j"))
			run := func(c model.Change) int {
				got, err := modeltest.Measure(monitor, func() error { _, err := c.Run(ctx, db); return err })
				if err != nil {
					t.Fatalf("%s: %v", k.Name, err)
				}
				return got.Written
			}
			for _, m := range []struct {
				id string
				to paths.Place[string]
			}{
				{"b", paths.FirstChild("a")}, {"g", paths.LastChild("a")}, {"f", paths.After("b")},
				{"f", paths.Before("g")}, {"f", paths.After("f")},
				{"a", paths.FirstRoot[string]()}, {"j", paths.LastRoot[string]()}, {"h", paths.Before("j")},
				{"h", paths.After("a")}, {"e", paths.LastChild("d")},
			} {
				before, err := k.Docs.Find(nil).All(ctx, db)
				if err != nil {
					t.Fatal(err)
				}
				if n := run(k.Tree.Move(m.id, m.to)); n != 2 { // the lease
					t.Errorf("%s: %s %v, where it is: %d documents written", k.Name, m.id, m.to, n)
				}
				if after, err := k.Docs.Find(nil).All(ctx, db); err != nil || !reflect.DeepEqual(before, after) {
					t.Errorf("%s: %s %v changed the tree", k.Name, m.id, m.to)
				}
			}
			f := pathstest.Parse("a(b(c d(e)) f g) h(i) j")
			for _, m := range []struct {
				id string
				to paths.Place[string]
			}{
				{"f", paths.FirstChild("a")}, {"b", paths.LastChild("a")}, {"j", paths.Before("a")},
				{"h", paths.FirstRoot[string]()}, {"b", paths.Before("f")},
			} {
				want := 3 + 1 // the lease and the intent, and the node
				if k.Name == "children" && m.id != "j" && m.id != "h" {
					want = 3 + 2 // the parent's list, and the intent
				}
				n := run(k.Tree.Move(m.id, m.to))
				if k.Name != "nested" && k.Name != "gapped" && k.Name != "wide" && n != want {
					t.Errorf(
						"%s: %s %v, among its siblings: %d documents written, want %d", k.Name, m.id, m.to, n, want,
					)
				}
				if err := f.Move(m.id, m.to); err != nil || pathstest.Shape(k.ReadForest(t, db)) != pathstest.Shape(f) {
					t.Fatalf(
						"%s: %s %v: %s, want %s, %v", k.Name, m.id, m.to, pathstest.Shape(k.ReadForest(t, db)),
						pathstest.Shape(f), err,
					)
				}
				k.WantWhole(t, db)
			}
		}
	}, monitor)
}

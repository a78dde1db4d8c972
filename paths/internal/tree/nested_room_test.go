package tree_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A nested set that was loaded with gaps takes leaves, branches and first roots by writing few documents, wherever they
// go, and
// however often they go to one place.
func TestNestedSetUsesGaps(t *testing.T) {
	testkit.Alone(t)
	monitor, size, often := mongotest.NewMonitor(), 400, 150
	if testkit.Few() {
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
		wide.Ensure(t, db)
		wide.Store(t, db, f)
		run := func(what string, most int, c model.Change) int {
			t.Helper()
			got, err := modeltest.Measure(monitor, func() error { _, err := c.Run(ctx, db); return err })
			must(err)
			if got.Written > 3+most {
				t.Errorf("%s: %d documents written, at most %d of them nodes", what, got.Written, most)
			}
			return got.Written
		}
		first, last := "n3", fmt.Sprint("n", size-1)
		must(f.Move(last, paths.Before(first)))
		run("a loaded leaf, far", 1, wide.Tree.Move(last, paths.Before(first)))
		must(f.Move("n20", paths.FirstChild("n0")))
		run("a loaded branch, far", 20, wide.Tree.Move("n20", paths.FirstChild("n0")))
		must(f.Insert("r", paths.FirstRoot[string]()))
		run("a first root", 1+1+2, wide.Tree.Insert(pathstest.Category{ID: "r"}, paths.FirstRoot[string]()))
		wantNumbers(wide, t, db, f, "moved")
		total := 0
		for i := range often {
			id := fmt.Sprint("s", i)
			at := []paths.Place[string]{
				paths.FirstRoot[string](), paths.After(first), paths.FirstChild("n40"), paths.LastChild("n44"),
			}[i%4]
			must(f.Insert(id, at))
			total += run("one place", 300, wide.Tree.Insert(pathstest.Category{ID: id}, at))
		}
		if total > often*10 {
			t.Errorf("%d inserts at four places: %d documents written", often, total)
		}
		t.Log(often, "inserts:", total, "documents")
		wantNumbers(wide, t, db, f, "inserted")
		wide.WantWhole(t, db)
		n, err := wide.Docs.Find(bson.D{{Key: "left", Value: bson.D{{Key: "$lt", Value: 1}}}}).Count(ctx, db)
		if err != nil || n > 0 {
			t.Errorf("%d nodes without numbers, %v", n, err)
		}
	}, monitor)
}

package paths_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// In place, the unique indexes of the other tree come after the data, and into another collection before it, as the comments say.
func TestConvertIndexOrder(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		first := kinds[0]
		for name, to := range map[string]*paths.Tree[category, string]{
			"array":    paths.NewAncestorArray(first.docs, paths.AncestorArraySpec{}),
			"path":     paths.NewMaterializedPath(first.docs, paths.MaterializedPathSpec{}),
			"nested":   paths.NewNestedSet(first.docs, paths.NestedSetSpec{}),
			"children": paths.NewChildTree(first.docs, paths.ChildTreeSpec{}),
		} {
			if err := db.Collection(first.name).Drop(t.Context()); err != nil {
				t.Fatal(err)
			}
			first.ensure(t, db)
			first.store(t, db, parse("a(b c) d"))
			unique := false
			for _, index := range to.Indexes() {
				unique = unique || index.Unique
			}
			if err := model.New("test", to).Indexes().Ensure(t.Context(), db); (err != nil) != unique {
				t.Errorf("%s: indexes before the data: %v", name, err)
			}
			if _, _, err := paths.Convert(first.tree, to).Run(t.Context(), db); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := model.New("test", to).Indexes().Ensure(t.Context(), db); err != nil {
				t.Errorf("%s: indexes after the data: %v", name, err)
			}
			if report, err := inspect(t.Context(), db, to); err != nil || len(report) > 0 {
				t.Errorf("%s: %v, %v", name, report, err)
			}
		}
		if err := db.Collection(first.name).Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, to := range kinds[1:] {
			first.store(t, db, parse("a(b c) d"))
			if err := db.Collection(to.name).Drop(t.Context()); err != nil {
				t.Fatal(err)
			}
			to.ensure(t, db)
			if _, err := paths.ConvertInto(first.tree, to.tree, convertCopy, paths.IntoSpec[string]{}).Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Errorf("%s: %v", to.name, err)
			}
			to.whole(t, db)
		}
	})
}

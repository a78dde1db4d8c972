// The whole of Extract, as a fault matrix: it is cut at each write, and run again.

package convert_test

import (
	"context"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A tree that is taken out of a document, over another one, keeps the nodes of both at each cut.
func TestExtractCuts(t *testing.T) {
	testkit.Parallel(t)
	const begin, end = "a(b(c d(e)) f) g(h) i", "g(h a(x f(c e) d)) b j"
	form := convertForms[0]
	for _, k := range []pathstest.Kind{pathstest.Kinds[2], pathstest.Kinds[3], pathstest.Kinds[4]} {
		pathstest.Cut{
			Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				p := pathstest.Article{ID: "p"}
				f := pathstest.Parse(end)
				for id := range f.All() {
					parent, _, _ := f.Parent(id)
					p.Remarks = append(p.Remarks, pathstest.Remark{ID: id, Parent: parent})
				}
				if _, err := db.Collection(form.Name).InsertOne(ctx, p); err != nil {
					return err
				}
				return pathstest.LoadShape(begin, true)(ctx, db, k)
			},
			Run: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				_, err := paths.Extract(
					form.Tree, "p", k.Tree, convertBack, paths.IntoSpec[string]{Delete: true},
				).Run(ctx, db, model.JobOptions{BatchSize: 6})
				return err
			},
			Stays:  pathstest.KeepIDs(strings.Split("abcdefgh", "")...),
			Want:   pathstest.WantShape(end),
			Server: "paths",
		}.Test(t, k)
	}
}

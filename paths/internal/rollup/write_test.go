package rollup_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store that dies at any of its writes leaves totals that are right among those of before, and is brought to its end
// by the next.
func TestRollUpDies(t *testing.T) {
	testkit.Parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	f, items := pathstest.Parse(all), map[string]int64{"c": 3, "e": 4, "f": 5, "g": -1}
	// wrong is a node whose total is neither missing nor right; with every, it may not be missing either.
	wrong := func(ctx context.Context, db *mongo.Database, k pathstest.Kind, every bool) error {
		stored, err := k.Docs.Find(nil).All(ctx, db)
		for _, d := range stored {
			if err == nil && (every || d.Total != nil) &&
				(d.Total == nil || *d.Total != pathstest.AddTotals(f, items, d.ID)) {
				err = fmt.Errorf("%s: %q has stored %+v", k.Name, d.ID, d.Total)
			}
		}
		return err
	}
	for _, k := range pathstest.Kinds {
		pathstest.Cut{
			Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				docs := pathstest.NodesOf(f)
				for i := range docs {
					docs[i].Items = items[docs[i].ID]
				}
				_, err := k.Tree.Load(docs).Run(ctx, db)
				return err
			},
			Run: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				_, err := pathstest.RollUpItems(k).Store().Run(ctx, db)
				return err
			},
			Stays: func(
				ctx context.Context, db *mongo.Database, k pathstest.Kind,
			) error {
				return wrong(ctx, db, k, false)
			},
			Want: func(t testing.TB, db *mongo.Database, k pathstest.Kind) {
				if err := wrong(t.Context(), db, k, true); err != nil {
					t.Error(err)
				}
				pathstest.WantShape(all)(t, db, k)
			},
			Server: "ancestors",
		}.Test(t, k)
	}
}

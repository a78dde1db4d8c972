package document_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// So it is in a document, which isn't written.
func TestLeastWritesDocumentTree(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range pathstest.DocumentForms {
			f.Grow(t, db, "a(b(c) d) e")
			for id, to := range map[string]paths.Place[string]{
				"b": paths.FirstChild("a"), "d": paths.After("b"), "a": paths.FirstRoot[string](),
				"e": paths.LastRoot[string](), "c": paths.LastChild("b"),
			} {
				modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Returned: 1}, func() error {
					_, err := f.Tree.Move("p", id, to).Run(t.Context(), db)
					return err
				})
			}
		}
	}, monitor)
}

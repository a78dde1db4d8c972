package rollup

// Totals over trees within one document. The queries are those of package document, with
// the accumulators of this package.

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentRollUp is the non-generic core of paths.DocumentRollUp.
type DocumentRollUp struct {
	tree *document.Tree
	path string
}

// DeclareDocumentRollUp declares the number at a path in each node of a list.
func DeclareDocumentRollUp(t *document.Tree, path string, number reflect.Type) *DocumentRollUp {
	t.CheckNumber(core.Place("NewDocumentRollUp of "+t.Owners+"."+t.Path), path, number)
	return &DocumentRollUp{tree: t, path: path}
}

// FindTotal is the query of a node's totals, including its descendants.
func (r *DocumentRollUp) FindTotal(owner, id bson.RawValue, err error) model.Aggregation {
	return r.tree.FindTotal(owner, id, r.path, accumulateTotals, err)
}

// FindChildTotals is the query of the totals of a node's children. An id of type 0 means
// the roots.
func (r *DocumentRollUp) FindChildTotals(owner, id bson.RawValue, err error) model.Aggregation {
	return r.tree.FindChildTotals(owner, id, r.path, accumulateTotals, err)
}

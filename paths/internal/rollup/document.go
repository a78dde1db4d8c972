package rollup

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentRollUp is what of a DocumentRollUp doesn't depend on types.
type DocumentRollUp struct {
	tree *document.Tree
	path string
}

// DeclareDocument declares what is added up in trees within documents: the number at a path in each node.
func DeclareDocument(t *document.Tree, path string, number reflect.Type) *DocumentRollUp {
	t.CheckNumber(core.Place("NewDocumentRollUp of "+t.Owners+"."+t.Path), path, number)
	return &DocumentRollUp{tree: t, path: path}
}

// Total is the query of a node's total.
func (r *DocumentRollUp) Total(owner, id bson.RawValue, err error) model.Aggregation {
	return r.tree.Total(owner, id, r.path, totalsOf, err)
}

// Children is the query of the totals of a node's children, or of the roots where the id has no type.
func (r *DocumentRollUp) Children(owner, id bson.RawValue, err error) model.Aggregation {
	return r.tree.Totals(owner, id, r.path, totalsOf, err)
}

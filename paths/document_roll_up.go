package paths

import (
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/rollup"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentRollUp adds up a number over subtrees of a [DocumentTree], as [RollUp] does for
// a [Tree]. It stores nothing: each total is one query of one document. A node without a
// number counts only in Totals.Nodes.
type DocumentRollUp[V Numeric, E, N, K any] struct {
	tree *DocumentTree[E, N, K]
	r    *rollup.DocumentRollUp
}

// NewDocumentRollUp declares totals of a field over subtrees of t. In each node, the
// field at path has type V. A path that isn't in E, has a wrong type, is in an array, or
// is one of the tree's fields panics with a [*model.DeclarationError].
//
//	var likes = paths.NewDocumentRollUp[int64](comments, "likes")
func NewDocumentRollUp[V Numeric, E, N, K any](t *DocumentTree[E, N, K], path string) *DocumentRollUp[V, E, N, K] {
	mustHave("NewDocumentRollUp", t != nil)
	return &DocumentRollUp[V, E, N, K]{tree: t, r: rollup.DeclareDocumentRollUp(t.t, path, reflect.TypeFor[V]())}
}

// Total returns the query that totals the subtree of a node. A missing owner or node
// gives no result.
//
// Cost: as [DocumentTree.Descendants], with one document returned.
func (r *DocumentRollUp[V, E, N, K]) Total(owner K, id N) *model.Aggregate[Totals[V]] {
	o, n, err := r.tree.ids(owner, id)
	return &model.Aggregate[Totals[V]]{Aggregation: r.r.FindTotal(o, n, err)}
}

// Roots returns the query that totals the subtree of each root, in order.
//
// Cost: as [DocumentTree.Descendants], with one document returned per root.
func (r *DocumentRollUp[V, E, N, K]) Roots(owner K) *model.Aggregate[Total[N, V]] {
	o, err := r.tree.owner(owner)
	return &model.Aggregate[Total[N, V]]{Aggregation: r.r.FindChildTotals(o, bson.RawValue{}, err)}
}

// Children returns the query that totals the subtree of each child of a node, in order.
//
// Cost: as [DocumentTree.Descendants], with one document returned per child.
func (r *DocumentRollUp[V, E, N, K]) Children(owner K, id N) *model.Aggregate[Total[N, V]] {
	o, n, err := r.tree.ids(owner, id)
	return &model.Aggregate[Total[N, V]]{Aggregation: r.r.FindChildTotals(o, n, err)}
}

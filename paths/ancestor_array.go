package paths

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// AncestorArray is a tree whose nodes hold the _ids of all their ancestors, root first, and their own last. Descendants of a node
// are one query by a multikey index, ancestors one query by _id; a move rewrites the arrays of the whole subtree, by one update.
//
// The own _id is in the array so that a subtree, its top too, is one condition.
//
// Sources: "Materialized Paths" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-ancestors-array/.
type AncestorArray[D, K any] struct{ planner[D, K] }

// AncestorArraySpec says in which fields an [AncestorArray] is kept.
type AncestorArraySpec struct {
	Links
	Ancestors string // an array of _ids; "" means "ancestors"
}

// NewAncestorArray declares a tree by arrays of ancestors. It panics with a [*model.DeclarationError] when the documents don't have
// the fields, or have them with other types.
func NewAncestorArray[D, K any](c *model.Collection[D, K], spec AncestorArraySpec) *AncestorArray[D, K] {
	t := declareTree(c, spec.Links, "AncestorArray")
	path := spec.Ancestors
	if path == "" {
		path = "ancestors"
	}
	if f := model.CheckArray(c, path); !f.Open && f.Type != reflect.TypeFor[K]() {
		panic(&model.DeclarationError{Problem: fmt.Sprintf("%q holds %s, not _ids", path, f.Type), Place: "NewAncestorArray of " + c.Name(), Remedy: "name an array of the _id's type"})
	}
	t.fields = []string{path}
	index := model.NewIndex(t.docs, bson.D{{Key: path, Value: 1}})
	index.Why = "descendants"
	t.indexes = append(t.indexes, index)
	t.rep = &ancestorArray{t, path}
	return &AncestorArray[D, K]{planner[D, K]{c, t}}
}

type ancestorArray struct {
	*tree
	path string
}

// list are a node's ancestors and itself, as its document says.
func (t *ancestorArray) list(n *node) []bson.RawValue {
	if n == nil {
		return nil
	}
	v, _ := model.ValueAt(n.raw, t.path)
	array, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := array.Values()
	return values
}

func (t *ancestorArray) sound(n node) error {
	if list := t.list(&n); len(list) == 0 || bsonval.Key(list[len(list)-1]) != n.key() {
		return t.unsound(n, t.path)
	}
	return nil
}

func (t *ancestorArray) derive(n node, s spot) (bson.D, error) {
	return bson.D{{Key: t.path, Value: append(t.list(s.parent), n.id)}}, nil
}

func (t *ancestorArray) taken(node, spot) bson.D { return nil }

func (t *ancestorArray) removal(n node, change int64) []model.Step { return t.deleteOne(n, change) }

func (t *ancestorArray) within(n, top node) (is, known bool) {
	for _, id := range t.list(&n) {
		if bsonval.Key(id) == top.key() {
			return true, true
		}
	}
	return n.key() == top.key(), true
}

// inSubtree matches a node and all below it.
func (t *ancestorArray) inSubtree(n node) bson.E { return bson.E{Key: t.path, Value: model.Eq(n.id)} }

func (t *ancestorArray) move(n node, s spot, change int64) []model.Step {
	if n.reorders(s) {
		return []model.Step{t.relink(n, s, change)}
	}
	stage := t.movedLinks(n, s, change)
	stage = append(stage, t.rebased(s.parent, max(0, len(t.list(&n))-1)))
	return []model.Step{t.updateSubtree(t.indexes[1].Name, bson.D{t.inSubtree(n)}, stage, change)}
}

// rebased puts an array's elements from one on behind the ancestors of another parent.
func (t *ancestorArray) rebased(parent *node, from int) bson.E {
	above := t.list(parent)
	if above == nil {
		above = []bson.RawValue{}
	}
	return bson.E{Key: t.path, Value: bson.D{{Key: "$concatArrays", Value: bson.A{
		bson.D{{Key: "$literal", Value: above}},
		bson.D{{Key: "$slice", Value: bson.A{"$" + t.path, from, math.MaxInt32}}},
	}}}}
}

func (t *ancestorArray) dissolve(n node, children []node, to []spot, change int64) []model.Step {
	stage := bson.D{{Key: t.links.Change, Value: change}, t.rebased(to[0].parent, len(t.list(&n)))}
	filter := bson.D{t.inSubtree(n), {Key: "_id", Value: bson.D{{Key: "$ne", Value: n.id}}}}
	steps := []model.Step{t.updateSubtree(t.indexes[1].Name, filter, stage, change)}
	return slices.Concat(steps, t.relinkAll(children, to, change), t.deleteOne(n, change))
}

func (t *ancestorArray) prune(n node, _ []node, change int64) []model.Step {
	return []model.Step{t.deleteMany(t.indexes[1].Name, bson.D{t.inSubtree(n)}, change)}
}

func (t *ancestorArray) above(n node) source {
	list := t.list(&n)
	ids := list[:max(0, len(list)-1)]
	if ids == nil {
		ids = []bson.RawValue{}
	}
	return t.byID(append([]bson.RawValue{}, ids...)...)
}

func (t *ancestorArray) below(n node, depth int) source {
	filter := bson.D{t.inSubtree(n), {Key: "_id", Value: bson.D{{Key: "$ne", Value: n.id}}}}
	if depth > 0 {
		last := fmt.Sprintf("%s.%d", t.path, len(t.list(&n))+depth)
		filter = append(filter, bson.E{Key: last, Value: bson.D{{Key: "$exists", Value: false}}})
	}
	return match(t.indexes[1].Name, filter)
}

func (t *ancestorArray) parked(node, bson.D) bson.D { return nil }

func (t *ancestorArray) canonical(f *Forest[string], nodes map[string]node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	var stack []bson.RawValue
	for id, depth := range f.All() {
		stack = append(stack[:depth], nodes[id].id)
		out[id] = bson.D{{Key: t.path, Value: append([]bson.RawValue{}, stack...)}}
	}
	return out
}

// fits says that a node's array is its parent's, and its own _id: so no node can be above itself.
func (t *ancestorArray) fits() fitting {
	own, above := "$"+t.path, "$$up."+t.path
	return fitting{
		root:  mql.Op("$eq", own, bson.A{"$_id"}),
		child: mql.Op("$and", mql.Op("$isArray", above), mql.Op("$eq", own, mql.Op("$concatArrays", mql.Op("$cond", mql.Op("$isArray", above), above, bson.A{}), bson.A{"$_id"}))),
	}
}

// movedLinks are the fields of a stage that ties a node to another spot, and marks it and what lies below it as changed.
func (t *tree) movedLinks(n node, s spot, change int64) bson.D {
	top := bson.D{{Key: "$eq", Value: bson.A{"$_id", bson.D{{Key: "$literal", Value: n.id}}}}}
	onTop := func(path string, v any) bson.E {
		return bson.E{Key: path, Value: bson.D{{Key: "$cond", Value: bson.A{top, bson.D{{Key: "$literal", Value: v}}, "$" + path}}}}
	}
	return bson.D{onTop(t.links.Parent, under(s.parent)), onTop(t.links.Order, s.order), {Key: t.links.Change, Value: change}}
}

// updateSubtree is an update of documents by one stage, each once.
func (t *tree) updateSubtree(index string, filter, set bson.D, change int64) model.Write {
	return model.Write{
		Collection: t.docs, Index: index, Once: true,
		Model: &mongo.UpdateManyModel{
			Filter: append(filter, t.notYet(change)),
			Update: mongo.Pipeline{{{Key: "$set", Value: set}}},
		},
	}
}

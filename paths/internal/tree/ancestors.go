package tree

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DeclareAncestorArray declares a tree whose nodes store the _ids of their ancestors,
// root first, and then their own. The multikey index on this array finds a subtree by the
// _id of its top: each descendant has it in its array, and so has the top itself.
func DeclareAncestorArray(d Declared, path string) *Tree {
	t := d.declareTree("AncestorArray")
	path = cmp.Or(path, "ancestors")
	if f := t.CheckArray(path); !f.Untyped && f.Type != d.ID {
		core.Fail(
			fmt.Sprintf("%q holds values of type %s, not _ids", path, f.Type), "NewAncestorArray of "+t.Collection,
			"name an array of the _id's type",
		)
	}
	t.fields = []string{path}
	index := model.NewIndex(t.Collection, bson.D{{Key: path, Value: 1}})
	index.Why = "descendants"
	t.Indexes = append(t.Indexes, index)
	t.Rep = &ancestorArray{t, path}
	return t
}

// ancestorArray is the representation of paths.NewAncestorArray.
type ancestorArray struct {
	*Tree
	path string
}

// readAncestorArray returns the stored array: the ancestors, then the node. It is nil for
// a nil node (the parent of a root), so that a root's array is its own _id alone.
func (t *ancestorArray) readAncestorArray(n *Node) []bson.RawValue {
	if n == nil {
		return nil
	}
	v, _ := core.ValueAt(n.Raw, t.path)
	array, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := array.Values()
	return values
}

func (t *ancestorArray) CheckStored(n Node) error {
	// The last element must be the node itself. More isn't checked here: the array's
	// other elements are compared with the parent links by the check.
	if list := t.readAncestorArray(&n); len(list) == 0 || bsonval.Key(list[len(list)-1]) != n.Key() {
		return t.newUnsoundError(n, t.path)
	}
	return nil
}

func (t *ancestorArray) deriveFields(n Node, s spot) (bson.D, error) {
	return bson.D{{Key: t.path, Value: append(t.readAncestorArray(s.parent), n.ID)}}, nil
}

func (t *ancestorArray) matchConflict(Node, spot) bson.D { return nil }

func (t *ancestorArray) planLeafDelete(n Node, change int64) []model.Step {
	return t.deleteByID(n, change)
}

func (t *ancestorArray) isWithin(n, top Node) (is, known bool) {
	for _, id := range t.readAncestorArray(&n) {
		if bsonval.Key(id) == top.Key() {
			return true, true
		}
	}
	return n.Key() == top.Key(), true
}

// matchSubtree matches a node and its descendants.
func (t *ancestorArray) matchSubtree(n Node) bson.E { return mql.E(t.path, mql.Eq(n.ID)) }

// planMove writes a move among siblings as one document. Any other move is one update of
// the subtree, in which the top also gets its links. If the update is cut, the nodes that
// were not reached have the old array; the same update, run again, finds exactly those.
func (t *ancestorArray) planMove(n Node, s spot, change int64) []model.Step {
	if s.sameParent {
		return []model.Step{t.relinkNode(n, s, change)}
	}
	stage := t.setMovedLinks(n, s, change)
	stage = append(stage, t.rebaseArray(s.parent, max(0, len(t.readAncestorArray(&n))-1)))
	return []model.Step{t.updateSubtree(t.Indexes[1].Name, bson.D{t.matchSubtree(n)}, stage, change)}
}

// rebaseArray replaces the first elements of an array, up to index from, by the ancestors
// of another parent. MaxInt32 is the greatest number of elements that $slice accepts:
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/slice/.
func (t *ancestorArray) rebaseArray(parent *Node, from int) bson.E {
	above := t.readAncestorArray(parent)
	if above == nil {
		above = []bson.RawValue{}
	}
	return bson.E{Key: t.path, Value: bson.D{{Key: "$concatArrays", Value: bson.A{
		mql.Literal(above),
		mql.Op("$slice", "$"+t.path, from, math.MaxInt32),
	}}}}
}

// planDissolve rebases the descendants first: until the node is deleted, a reader finds
// each of them below the node or below its new parent.
func (t *ancestorArray) planDissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	stage := bson.D{{Key: t.Links.Change, Value: change}, t.rebaseArray(to[0].parent, len(t.readAncestorArray(&n)))}
	filter := bson.D{t.matchSubtree(n), {Key: "_id", Value: mql.Op("$ne", n.ID)}}
	steps := []model.Step{t.updateSubtree(t.Indexes[1].Name, filter, stage, change)}
	return slices.Concat(steps, t.relinkNodes(children, to, change), t.deleteByID(n, change))
}

func (t *ancestorArray) planSubtreeDelete(n Node, _ []Node, change int64) []model.Step {
	return []model.Step{t.deleteMatching(t.Indexes[1].Name, bson.D{t.matchSubtree(n)}, change)}
}

// FindAncestors queries by _id. An answer to $in comes in the index's order, so more than
// one ancestor is sorted by its index in the array.
func (t *ancestorArray) FindAncestors(n Node) Source {
	list := t.readAncestorArray(&n)
	ids := list[:max(0, len(list)-1)]
	if ids == nil {
		ids = []bson.RawValue{}
	}
	s := t.FindByID(append([]bson.RawValue{}, ids...)...)
	if len(ids) < 2 {
		return s
	}
	place := mql.Op("$indexOfArray", mql.Literal(ids), "$_id")
	s.Pipeline = append(
		s.Pipeline, bson.D{mql.E("$set", bson.D{mql.E(distance, place)})}, sortByField(distance, 1),
		bson.D{mql.E("$unset", distance)},
	)
	return s
}

// FindDescendants limits the depth without a computation: a node deeper than depth has an
// element at the index that the filter says must not exist.
func (t *ancestorArray) FindDescendants(n Node, depth int) Source {
	filter := bson.D{t.matchSubtree(n), {Key: "_id", Value: mql.Op("$ne", n.ID)}}
	if depth > 0 {
		last := fmt.Sprintf("%s.%d", t.path, len(t.readAncestorArray(&n))+depth)
		filter = append(filter, mql.E(last, mql.Exists(false)))
	}
	return Match(t.Indexes[1].Name, filter)
}

func (t *ancestorArray) ParkFields(Node, bson.D) bson.D { return nil }

// ComputeFields walks the forest in preorder, with the _ids above the current node in
// stack.
func (t *ancestorArray) ComputeFields(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	var stack []bson.RawValue
	for id, depth := range f.WalkAll() {
		stack = append(stack[:depth], nodes[id].ID)
		out[id] = bson.D{{Key: t.path, Value: append([]bson.RawValue{}, stack...)}}
	}
	return out
}

// describeFitting says that a node's array is its parent's array and its own _id. No node
// of a cycle can satisfy this, because each array would be longer than the one before.
func (t *ancestorArray) describeFitting() fitting {
	own, above := "$"+t.path, "$$up."+t.path
	return fitting{
		root: mql.Op("$eq", own, bson.A{"$_id"}),
		child: mql.Op(
			"$and", mql.Op("$isArray", above),
			mql.Op(
				"$eq", own,
				mql.Op("$concatArrays", mql.Op("$cond", mql.Op("$isArray", above), above, bson.A{}), bson.A{"$_id"}),
			),
		),
	}
}

// setMovedLinks returns the $set fields of an update of a whole subtree: the top gets the
// links of its new spot, and all nodes get the change number. Other nodes keep their
// links.
func (t *Tree) setMovedLinks(n Node, s spot, change int64) bson.D {
	top := mql.Op("$eq", "$_id", mql.Literal(n.ID))
	onTop := func(path string, v any) bson.E {
		return mql.E(path, mql.Cond(top, mql.Literal(v), "$"+path))
	}
	return bson.D{
		onTop(t.Links.Parent, EncodeParentID(s.parent)), onTop(t.Links.Order, s.order),
		{Key: t.Links.Change, Value: change},
	}
}

// updateSubtree is an update of many documents, each at most once per change, by one $set
// stage of expressions.
func (t *Tree) updateSubtree(index string, filter, set bson.D, change int64) model.Write {
	return model.Write{
		Collection: t.Collection, Index: index, Idempotent: true,
		Model: &mongo.UpdateManyModel{
			Filter: append(filter, t.matchChangedBefore(change)),
			Update: mongo.Pipeline{mql.Op("$set", set)},
		},
	}
}

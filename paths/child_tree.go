package paths

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ChildTree is a tree whose nodes hold the _ids of their children, in order, beside the [Links] that all trees of this package have:
// an adjacency list from above. A node's document tells how many children it has and which, a page of them is read by the list, and
// what lies below is followed by _id, without an index of its own.
//
// Choose it where nodes are shown with their children, page by page or by number, or where documents have such lists already
// ([ChildTree.Adopt]). It costs a [ParentTree]'s writes and the lists beside them: an insert writes the node and its parent, a move
// the node and both parents, which are hot documents where many writers insert under one node. A parent that has more children than
// fit in a document can't be had: the list is a part of it, and what would outgrow 16 MiB, or Max, is refused with [ErrFull].
//
// The links are what is true, and the lists follow them. What a cut leaves, until the next change finishes it: a node that was
// inserted is in no list yet; one that is moved is in two, and where its link says; within one list, or among children that take a
// deleted node's place, the order of the list is the one before. What is read by lists passes over ids that lead nowhere, and [Tree]
// over what the links don't confirm. [Tree.Checks] find each list that isn't as the links say, and write it anew.
//
// Cost: an insert and a delete, two documents; a move, three, or two within one list, and from or to the roots; a delete that leaves
// the children to the parent, these, the node and the parent. Each is written by its _id. Children in order are read by the index on
// the links, ancestors and descendants by $graphLookup on _id, with its limits as [ParentTree] says. The index on the lists serves
// [ChildTree.Listing] alone: leave it out of those that you create if you don't ask that.
//
// Sources: "Adjacency Lists" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-child-references/.
type ChildTree[D, K any] struct{ planner[D, K] }

// ChildTreeSpec says in which fields a [ChildTree] is kept.
type ChildTreeSpec struct {
	Links
	Children string // an array of _ids; "" means "children"
	Max      int    // how many children an insert or a move may bring a node to; 0 means as many as its document has room for
}

// NewChildTree declares a tree by lists of children. It panics with a [*model.DeclarationError] when the documents don't have the
// fields, or have them with other types, and for a negative Max.
func NewChildTree[D, K any](c *model.Collection[D, K], spec ChildTreeSpec) *ChildTree[D, K] {
	t := declareTree(c, spec.Links, "ChildTree")
	path := spec.Children
	if path == "" {
		path = "children"
	}
	f := model.CheckArray(c, path)
	return &ChildTree[D, K]{planner[D, K]{c, t.listing(path, spec.Max, f.Open || f.Type == reflect.TypeFor[K](), f.Type)}}
}

// listing makes a tree one of lists.
func (t *tree) listing(path string, most int, ids bool, holds reflect.Type) *tree {
	refused := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewChildTree of " + t.docs, Remedy: remedy})
	}
	switch {
	case !ids:
		refused(fmt.Sprintf("%q holds %s, not _ids", path, holds), "name an array of the _id's type")
	case slices.Contains([]string{t.links.Parent, t.links.Order, t.links.Change}, path):
		refused(fmt.Sprintf("%q holds two things", path), "give each its own field")
	case most < 0:
		refused(fmt.Sprintf("Max is %d", most), "0 means as many as the document has room for")
	}
	t.fields = []string{path}
	index := model.NewIndex(t.docs, bson.D{{Key: path, Value: 1}})
	index.Why = "which nodes list one"
	t.indexes = append(t.indexes, index)
	t.rep = &childTree{parentTree{t}, path, most}
	return t
}

// childTree keeps lists of children beside what a parentTree keeps.
type childTree struct {
	parentTree
	path string
	most int
}

// list are a node's children, as its document says; false for what is no list.
func (t *childTree) list(n *node) ([]bson.RawValue, bool) {
	v, inArray := model.ValueAt(n.raw, t.path)
	if n.typed && (v.Type == 0 || v.Type == bson.TypeNull) {
		return nil, true // the Go type leaves an empty list out
	}
	array, ok := v.ArrayOK()
	if !ok || inArray {
		return nil, false
	}
	values, err := array.Values()
	return values, err == nil
}

func (t *childTree) sound(n node) error {
	if _, ok := t.list(&n); !ok {
		return t.unsound(n, t.path)
	}
	return nil
}

func (t *childTree) derive(n node, s spot) (bson.D, error) {
	return bson.D{{Key: t.path, Value: []bson.RawValue{}}}, t.full(s.parent, nil, n)
}

// full returns an error when a parent's list has no room for nodes, in the place of one that leaves it.
func (t *childTree) full(parent, leaves *node, nodes ...node) error {
	if parent == nil {
		return nil
	}
	list, _ := t.list(parent)
	listed := make(map[string]bool, len(list))
	for _, id := range list {
		listed[bsonval.Key(id)] = true
	}
	count, size := len(list), len(parent.raw)
	if leaves != nil && listed[leaves.key()] {
		count--
	}
	grows := false
	for _, n := range nodes {
		if !listed[n.key()] {
			grows = true
			count++
			size += len(n.id.Value) + len(fmt.Sprint(count)) + 2 // as an element: its type, its number, a zero byte and the value
		}
	}
	switch {
	case grows && t.most > 0 && count > t.most:
		return fmt.Errorf("%w: %s of %s in %s would have %d nodes, of at most %d", ErrFull, t.path, text(parent.id), t.docs, count, t.most)
	case grows && size > model.MaxDocument:
		return fmt.Errorf("%w: %s of %s in %s would make it larger than 16 MiB", ErrFull, t.path, text(parent.id), t.docs)
	}
	return nil
}

func (t *childTree) below(n node, depth int) source {
	return t.follow(n, "$"+t.path, t.path, "_id", 1, depth)
}

func (t *childTree) canonical(f *Forest[string], nodes map[string]node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	for id := range f.All() {
		children := f.nodes[id].children
		list := make([]bson.RawValue, len(children))
		for i, c := range children {
			list[i] = nodes[c].id
		}
		out[id] = bson.D{{Key: t.path, Value: list}}
	}
	return out
}

// fits says that a list holds those that name the node as their parent, in order. The lists don't tell a cycle.
func (t *childTree) fits() fitting {
	lookup := bson.D{
		mql.E("from", t.docs), mql.E("localField", "_id"), mql.E("foreignField", t.links.Parent), mql.E("as", up), mql.E("pipeline", mongo.Pipeline{
			{mql.E("$sort", bson.D{mql.E(t.links.Order, 1), mql.E("_id", 1)})}, {mql.E("$project", bson.D{mql.E(t.links.Parent, 1)})},
		}),
	}
	return fitting{more: []source{t.circular(), {pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {mql.E("$lookup", lookup)}, {mql.E("$match", bson.D{mql.E("$expr", mql.Op("$ne", "$"+t.path, "$"+up+"._id"))})}, {mql.E("$unset", up)},
	}}}}
}

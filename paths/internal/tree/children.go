package tree

// The child tree: its declaration, its fields, and how its lists are checked.

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DeclareChildTree declares a tree whose nodes store the _ids of their children, in
// order. most is the greatest number of children; 0 means as many as a document has room
// for.
func DeclareChildTree(d Declared, path string, most int) *Tree {
	t := d.declareTree("ChildTree")
	path = cmp.Or(path, "children")
	f := t.CheckArray(path)
	return t.declareLists(path, most, f.Untyped || f.Type == d.ID, f.Type)
}

// declareLists checks the array's type, and makes the tree a child tree.
func (t *Tree) declareLists(path string, most int, ids bool, holds reflect.Type) *Tree {
	refused := core.Place("NewChildTree of " + t.Collection).Fail
	switch {
	case !ids:
		refused(fmt.Sprintf("%q holds values of type %s, not _ids", path, holds), "name an array of the _id's type")
	case slices.Contains([]string{t.Links.Parent, t.Links.Order, t.Links.Change}, path):
		refused(fmt.Sprintf("%q is given for two fields of the tree", path), "give each a field of its own")
	case most < 0:
		refused(fmt.Sprintf("Max is %d", most), "give 1 or more, or 0 for as many as a document has room for")
	}
	t.fields = []string{path}
	t.Rep = &childTree{parentTree{t}, path, most}
	return t
}

// childTree stores lists of children beside the links of a parentTree, and uses the
// queries of a parentTree. The lists are for readers who page through children; changes
// trust the links.
type childTree struct {
	parentTree
	path string
	most int
}

// readChildList returns the stored children. ok is false if the value isn't a list.
func (t *childTree) readChildList(n *Node) ([]bson.RawValue, bool) {
	v, inArray := core.ValueAt(n.Raw, t.path)
	if n.typed && (v.Type == 0 || v.Type == bson.TypeNull) {
		// The caller's Go type leaves out an empty list.
		return nil, true
	}
	array, ok := v.ArrayOK()
	if !ok || inArray {
		return nil, false
	}
	values, err := array.Values()
	return values, err == nil
}

func (t *childTree) CheckStored(n Node) error {
	if _, ok := t.readChildList(&n); !ok {
		return t.newUnsoundError(n, t.path)
	}
	return nil
}

func (t *childTree) deriveFields(n Node, s spot) (bson.D, error) {
	return bson.D{{Key: t.path, Value: []bson.RawValue{}}}, t.checkRoom(s.parent, nil, n)
}

// checkRoom returns [model.ErrFull] if a parent's list can't take nodes. leaves is a node
// that leaves the list in the same write. An _id that is listed already needs no room, so
// that a plan can run again.
func (t *childTree) checkRoom(parent, leaves *Node, nodes ...Node) error {
	if parent == nil {
		return nil
	}
	list, _ := t.readChildList(parent)
	listed := make(map[string]bool, len(list))
	for _, id := range list {
		listed[bsonval.Key(id)] = true
	}
	count, size := len(list), parent.size
	if leaves != nil && listed[leaves.Key()] {
		count--
	}
	grows := false
	for _, n := range nodes {
		if !listed[n.Key()] {
			grows = true
			count++
			// A BSON array element has a type byte, its index as text with a zero byte,
			// and the value: https://bsonspec.org/spec.html.
			size += len(n.ID.Value) + len(fmt.Sprint(count)) + 2
		}
	}
	switch {
	case grows && t.most > 0 && count > t.most:
		return fmt.Errorf(
			"%w: %s of %s in %s would have %d nodes, of at most %d", model.ErrFull, t.path, model.Shell(parent.ID),
			t.Collection, count, t.most,
		)
	case grows && size > model.MaxDocument:
		return fmt.Errorf(
			"%w: %s of %s in %s would make it larger than 16 MiB", model.ErrFull, t.path, model.Shell(parent.ID),
			t.Collection,
		)
	}
	return nil
}

// ComputeFields lists the children of each node in the order of their keys.
func (t *childTree) ComputeFields(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	for id := range f.WalkAll() {
		children := f.ListChildren(id)
		list := make([]bson.RawValue, len(children))
		for i, c := range children {
			list[i] = nodes[c].ID
		}
		out[id] = bson.D{{Key: t.path, Value: list}}
	}
	return out
}

// describeFitting compares each list with the nodes that name the document as their
// parent, in order. Lists and links of a cycle can agree, so cycles have a query of their
// own.
func (t *childTree) describeFitting() fitting {
	lookup := bson.D{
		mql.E("from", t.Collection), mql.E("localField", "_id"), mql.E(
			"foreignField", t.Links.Parent,
		), mql.E("as", up), mql.E("pipeline", mongo.Pipeline{
			{mql.E("$sort", bson.D{mql.E(t.Links.Order, 1), mql.E("_id", 1)})},
			{mql.E("$project", bson.D{mql.E(t.Links.Parent, 1)})},
		}),
	}
	return fitting{more: []Source{t.findCircularNodes(), {Pipeline: mongo.Pipeline{
		t.projectStage(), {mql.E("$lookup", lookup)},
		{mql.E("$match", bson.D{mql.E("$expr", mql.Op("$ne", "$"+t.path, "$"+up+"._id"))})}, {mql.E("$unset", up)},
	}}}}
}

package tree

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

// Children declares a tree whose nodes hold the _ids of their children.
func Children(d Declared, path string, most int) *Tree {
	t := d.tree("ChildTree")
	path = cmp.Or(path, "children")
	f := t.CheckArray(path)
	return t.listing(path, most, f.Open || f.Type == d.ID, f.Type)
}

// listing makes a tree one of lists.
func (t *Tree) listing(path string, most int, ids bool, holds reflect.Type) *Tree {
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

// childTree keeps lists of children beside what a parentTree keeps.
type childTree struct {
	parentTree
	path string
	most int
}

// list are a node's children, as its document says; false for what is no list.
func (t *childTree) list(n *Node) ([]bson.RawValue, bool) {
	v, inArray := core.ValueAt(n.Raw, t.path)
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

func (t *childTree) Sound(n Node) error {
	if _, ok := t.list(&n); !ok {
		return t.unsound(n, t.path)
	}
	return nil
}

func (t *childTree) derive(n Node, s spot) (bson.D, error) {
	return bson.D{{Key: t.path, Value: []bson.RawValue{}}}, t.full(s.parent, nil, n)
}

// full returns an error when a parent's list has no room for nodes, in the place of one that leaves it.
func (t *childTree) full(parent, leaves *Node, nodes ...Node) error {
	if parent == nil {
		return nil
	}
	list, _ := t.list(parent)
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
			size += len(n.ID.Value) + len(fmt.Sprint(count)) + 2 // as an element: its type, its number, a zero byte and the value
		}
	}
	switch {
	case grows && t.most > 0 && count > t.most:
		return fmt.Errorf("%w: %s of %s in %s would have %d nodes, of at most %d", model.ErrFull, t.path, model.Shell(parent.ID), t.Collection, count, t.most)
	case grows && size > model.MaxDocument:
		return fmt.Errorf("%w: %s of %s in %s would make it larger than 16 MiB", model.ErrFull, t.path, model.Shell(parent.ID), t.Collection)
	}
	return nil
}

func (t *childTree) Canonical(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	for id := range f.All() {
		children := f.Children(id)
		list := make([]bson.RawValue, len(children))
		for i, c := range children {
			list[i] = nodes[c].ID
		}
		out[id] = bson.D{{Key: t.path, Value: list}}
	}
	return out
}

// fits says that a list holds those that name the node as their parent, in order. The lists don't tell a cycle.
func (t *childTree) fits() fitting {
	lookup := bson.D{
		mql.E("from", t.Collection), mql.E("localField", "_id"), mql.E("foreignField", t.Links.Parent), mql.E("as", up), mql.E("pipeline", mongo.Pipeline{
			{mql.E("$sort", bson.D{mql.E(t.Links.Order, 1), mql.E("_id", 1)})}, {mql.E("$project", bson.D{mql.E(t.Links.Parent, 1)})},
		}),
	}
	return fitting{more: []Source{t.circular(), {Pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {mql.E("$lookup", lookup)}, {mql.E("$match", bson.D{mql.E("$expr", mql.Op("$ne", "$"+t.path, "$"+up+"._id"))})}, {mql.E("$unset", up)},
	}}}}
}

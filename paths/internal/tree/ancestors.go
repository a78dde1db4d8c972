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

// Ancestors declares a tree whose nodes hold the _ids of all their ancestors.
func Ancestors(d Declared, path string) *Tree {
	t := d.tree("AncestorArray")
	path = cmp.Or(path, "ancestors")
	if f := t.CheckArray(path); !f.Open && f.Type != d.ID {
		core.Fail(fmt.Sprintf("%q holds values of type %s, not _ids", path, f.Type), "NewAncestorArray of "+t.Collection, "name an array of the _id's type")
	}
	t.fields = []string{path}
	index := model.NewIndex(t.Collection, bson.D{{Key: path, Value: 1}})
	index.Why = "descendants"
	t.Indexes = append(t.Indexes, index)
	t.Rep = &ancestorArray{t, path}
	return t
}

type ancestorArray struct {
	*Tree
	path string
}

// list are a node's ancestors and itself, as its document says.
func (t *ancestorArray) list(n *Node) []bson.RawValue {
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

func (t *ancestorArray) Sound(n Node) error {
	if list := t.list(&n); len(list) == 0 || bsonval.Key(list[len(list)-1]) != n.Key() {
		return t.unsound(n, t.path)
	}
	return nil
}

func (t *ancestorArray) derive(n Node, s spot) (bson.D, error) {
	return bson.D{{Key: t.path, Value: append(t.list(s.parent), n.ID)}}, nil
}

func (t *ancestorArray) taken(Node, spot) bson.D { return nil }

func (t *ancestorArray) removal(n Node, change int64) []model.Step { return t.deleteOne(n, change) }

func (t *ancestorArray) within(n, top Node) (is, known bool) {
	for _, id := range t.list(&n) {
		if bsonval.Key(id) == top.Key() {
			return true, true
		}
	}
	return n.Key() == top.Key(), true
}

// inSubtree matches a node and all below it.
func (t *ancestorArray) inSubtree(n Node) bson.E { return mql.E(t.path, model.Eq(n.ID)) }

func (t *ancestorArray) move(n Node, s spot, change int64) []model.Step {
	if s.among {
		return []model.Step{t.relink(n, s, change)}
	}
	stage := t.movedLinks(n, s, change)
	stage = append(stage, t.rebased(s.parent, max(0, len(t.list(&n))-1)))
	return []model.Step{t.updateSubtree(t.Indexes[1].Name, bson.D{t.inSubtree(n)}, stage, change)}
}

// rebased puts an array's elements from one on behind the ancestors of another parent.
func (t *ancestorArray) rebased(parent *Node, from int) bson.E {
	above := t.list(parent)
	if above == nil {
		above = []bson.RawValue{}
	}
	return bson.E{Key: t.path, Value: bson.D{{Key: "$concatArrays", Value: bson.A{
		mql.Literal(above),
		mql.Op("$slice", "$"+t.path, from, math.MaxInt32),
	}}}}
}

func (t *ancestorArray) dissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	stage := bson.D{{Key: t.Links.Change, Value: change}, t.rebased(to[0].parent, len(t.list(&n)))}
	filter := bson.D{t.inSubtree(n), {Key: "_id", Value: mql.Op("$ne", n.ID)}}
	steps := []model.Step{t.updateSubtree(t.Indexes[1].Name, filter, stage, change)}
	return slices.Concat(steps, t.relinkAll(children, to, change), t.deleteOne(n, change))
}

func (t *ancestorArray) prune(n Node, _ []Node, change int64) []model.Step {
	return []model.Step{t.deleteMany(t.Indexes[1].Name, bson.D{t.inSubtree(n)}, change)}
}

func (t *ancestorArray) Above(n Node) Source {
	list := t.list(&n)
	ids := list[:max(0, len(list)-1)]
	if ids == nil {
		ids = []bson.RawValue{}
	}
	s := t.ByID(append([]bson.RawValue{}, ids...)...)
	if len(ids) < 2 {
		return s
	}
	place := mql.Op("$indexOfArray", mql.Literal(ids), "$_id")
	s.Pipeline = append(s.Pipeline, bson.D{mql.E("$set", bson.D{mql.E(distance, place)})}, sortBy(distance, 1), bson.D{mql.E("$unset", distance)})
	return s
}

func (t *ancestorArray) Below(n Node, depth int) Source {
	filter := bson.D{t.inSubtree(n), {Key: "_id", Value: mql.Op("$ne", n.ID)}}
	if depth > 0 {
		last := fmt.Sprintf("%s.%d", t.path, len(t.list(&n))+depth)
		filter = append(filter, mql.E(last, mql.Exists(false)))
	}
	return Match(t.Indexes[1].Name, filter)
}

func (t *ancestorArray) Parked(Node, bson.D) bson.D { return nil }

func (t *ancestorArray) Canonical(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	var stack []bson.RawValue
	for id, depth := range f.All() {
		stack = append(stack[:depth], nodes[id].ID)
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
func (t *Tree) movedLinks(n Node, s spot, change int64) bson.D {
	top := mql.Op("$eq", "$_id", mql.Literal(n.ID))
	onTop := func(path string, v any) bson.E {
		return mql.E(path, mql.Cond(top, mql.Literal(v), "$"+path))
	}
	return bson.D{onTop(t.Links.Parent, Under(s.parent)), onTop(t.Links.Order, s.order), {Key: t.Links.Change, Value: change}}
}

// updateSubtree is an update of documents by one stage, each once.
func (t *Tree) updateSubtree(index string, filter, set bson.D, change int64) model.Write {
	return model.Write{
		Collection: t.Collection, Index: index, Once: true,
		Model: &mongo.UpdateManyModel{
			Filter: append(filter, t.notYet(change)),
			Update: mongo.Pipeline{mql.Op("$set", set)},
		},
	}
}

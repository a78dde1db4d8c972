package document

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An element is a node of a list.
type element struct {
	value  bson.RawValue // as it is stored; in the nested form without its children
	id     bson.RawValue
	parent bson.RawValue // null for a root
	order  string
	at     string // its path in the owner, by positions
	bad    string // why it is no node

	uprooted bool // a repair has just made it a root
}

func (e element) key() string { return bsonval.Key(e.id) }

func (e element) doc() bson.Raw { return e.value.Value }

// A grove is a list that was read.
type grove struct {
	all    []element      // flat: as they are listed; nested: parents before their children
	at     map[string]int // where in all the first of an id is
	forest *forest.Forest[string]
	lost   []forest.Link[string] // what has no place in the forest
	bad    int                   // how many elements are no nodes
}

// grove reads a list.
func (t *Tree) grove(list bson.RawValue) (*grove, error) {
	g := &grove{at: map[string]int{}}
	if err := t.collect(g, list, t.Path, forest.Null); err != nil {
		return nil, err
	}
	links := make([]forest.Link[string], 0, len(g.all))
	var again []forest.Link[string]
	for i, e := range g.all {
		if e.bad != "" {
			g.bad++
			continue
		}
		if _, twice := g.at[e.key()]; twice { // forest.New would take the one with the least key
			again = append(again, e.link())
			continue
		}
		g.at[e.key()] = i
		links = append(links, e.link())
	}
	g.forest, g.lost = forest.New(links)
	g.lost = append(g.lost, again...)
	return g, nil
}

func (e element) link() forest.Link[string] {
	l := forest.Link[string]{ID: e.key(), Root: forest.IsNull(e.parent), Order: e.order}
	if !l.Root {
		l.Parent = bsonval.Key(e.parent)
	}
	return l
}

// collect appends the nodes of a list, and in the nested form those below them.
func (t *Tree) collect(g *grove, list bson.RawValue, path string, parent bson.RawValue) error {
	if forest.IsNull(list) {
		return nil
	}
	if list.Type != bson.TypeArray {
		return fmt.Errorf("%w: %w", forest.ErrDamaged, t.Refuse(path, list, "isn't a list of nodes"))
	}
	values, err := list.Array().Values()
	if err != nil {
		return t.Refuse(path, nil, err.Error())
	}
	for i, v := range values {
		e := t.element(v, path+"."+strconv.Itoa(i))
		if t.spec.Nested == "" {
			g.all = append(g.all, e)
			continue
		}
		e.parent = parent
		if doc, ok := v.DocumentOK(); ok && e.bad == "" {
			e.value = forest.DocumentValue(withFields(doc, field{t.spec.Nested, bson.RawValue{}}))
			g.all = append(g.all, e)
			if err := t.collect(g, doc.Lookup(t.spec.Nested), e.at+"."+t.spec.Nested, e.id); err != nil {
				return err
			}
			continue
		}
		g.all = append(g.all, e)
	}
	return nil
}

// element reads one element.
func (t *Tree) element(v bson.RawValue, at string) element {
	e := element{value: v, at: at, parent: forest.Null}
	doc, ok := v.DocumentOK()
	if !ok {
		e.bad = "isn't a document"
		return e
	}
	e.id = doc.Lookup(t.spec.ID)
	e.bad = notNodeID(e.id)
	if t.spec.Parent != "" {
		if e.parent = doc.Lookup(t.spec.Parent); noID(e.parent) {
			e.parent = forest.Null
		}
	}
	if t.spec.Order != "" {
		e.order, _ = doc.Lookup(t.spec.Order).StringValueOK()
	}
	return e
}

// find is the element of an id that has a place in the tree.
func (t *Tree) find(g *grove, id bson.RawValue) (int, error) {
	i, ok := g.at[bsonval.Key(id)]
	switch {
	case !ok:
		return 0, t.fault(model.ErrNotFound, id)
	case !g.forest.Has(bsonval.Key(id)):
		return i, fmt.Errorf("%w: %w", forest.ErrDamaged, t.fault(model.ErrNotFound, id))
	}
	return i, nil
}

// fault is an error about a node.
func (t *Tree) fault(kind error, id bson.RawValue) error {
	switch kind {
	case model.ErrNotFound:
		return fmt.Errorf("%w: no node %s in %s of %s", kind, model.Shell(id), t.Path, t.Owners)
	case model.ErrTaken:
		return fmt.Errorf("%w: node %s in %s of %s", kind, model.Shell(id), t.Path, t.Owners)
	}
	return fmt.Errorf("%w: %s in %s of %s", kind, model.Shell(id), t.Path, t.Owners)
}

// faulty is an error of the forest about a node and a place, in words about what is stored.
func (t *Tree) faulty(g *grove, err error, id bson.RawValue, at forest.Place[bson.RawValue]) error {
	for _, kind := range []error{model.ErrTaken, forest.ErrCycle, forest.ErrHasChildren} {
		if errors.Is(err, kind) {
			return t.fault(kind, id)
		}
	}
	if !at.At.Root() {
		if _, err := t.find(g, at.Ref); err != nil {
			return err
		}
	}
	_, err = t.find(g, id)
	return err
}

// byKey is a place whose node is named by its key.
func byKey(at forest.Place[bson.RawValue]) forest.Place[string] {
	p, _ := forest.PlaceOf(at, func(id bson.RawValue) (string, error) { return bsonval.Key(id), nil })
	return p
}

// parentAt is the id of the parent that a node has at a place that was found.
func (g *grove) parentAt(at forest.Place[bson.RawValue]) bson.RawValue {
	switch {
	case at.At.Root():
		return forest.Null
	case at.At == forest.FirstChild || at.At == forest.LastChild:
		return at.Ref
	}
	return g.all[g.at[bsonval.Key(at.Ref)]].parent
}

// index is where in the list a node comes at a place.
func (g *grove) index(at forest.Place[bson.RawValue]) int {
	switch at.At {
	case forest.FirstRoot, forest.FirstChild:
		return 0
	case forest.Before:
		return g.at[bsonval.Key(at.Ref)]
	case forest.After:
		return g.at[bsonval.Key(at.Ref)] + 1
	}
	return len(g.all)
}

// Arrange goes through the nodes of a list of the caller's in preorder, until each says that it is enough.
func (t *Tree) Arrange(list any, each func(node bson.Raw, depth int) bool) error {
	v, err := t.value(t.Path, list)
	if err != nil {
		return err
	}
	g, err := t.grove(v)
	if err != nil {
		return err
	}
	for key, depth := range g.forest.All() {
		if !each(g.all[g.at[key]].doc(), depth) {
			return nil
		}
	}
	return nil
}

// A Listed is a node of an owner's list.
type Listed struct {
	ID    bson.RawValue
	Link  forest.Link[string]
	Doc   bson.Raw
	Depth int
}

// Whole reads the nodes of an owner's list, in preorder. A damaged list is refused.
func (t *Tree) Whole(ctx context.Context, db model.DB, owner bson.RawValue) (out []Listed, _ error) {
	s, err := t.state(ctx, db, owner)
	if err != nil {
		return nil, err
	}
	g, err := t.sound(owner, s)
	if err != nil {
		return nil, err
	}
	for key, depth := range g.forest.All() {
		e := g.all[g.at[key]]
		out = append(out, Listed{ID: bsonval.Clone(e.id), Link: e.link(), Doc: e.doc(), Depth: depth})
	}
	return out, nil
}

// sound reads a list that isn't damaged.
func (t *Tree) sound(owner bson.RawValue, s state) (*grove, error) {
	g, err := t.grove(s.List)
	if err == nil && len(g.lost)+g.bad > 0 {
		err = fmt.Errorf("%w: %s of %s", forest.ErrDamaged, t.Path, t.Of(owner))
	}
	return g, err
}

// Of names an owner in errors.
func (t *Tree) Of(owner bson.RawValue) string { return t.Owners + " " + model.Shell(owner) }

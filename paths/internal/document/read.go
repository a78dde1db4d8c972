package document

// A list that was read: its nodes, and the forest that they make.

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

// An element is a node of a list, decoded.
type element struct {
	// The stored value; in the nested form without its children.
	value  bson.RawValue
	id     bson.RawValue
	parent bson.RawValue // null for a root
	order  string
	// Its path in the owner by positions, such as "comments.3".
	at string
	// Why it isn't a node; "" for nodes.
	bad string

	// A repair has just made it a root.
	uprooted bool
}

// key returns the id as a key of Go maps.
func (e element) key() string { return bsonval.Key(e.id) }

// doc returns the stored document.
func (e element) doc() bson.Raw { return e.value.Value }

// A grove is a list that was read, with its forest.
type grove struct {
	// Flat: in the order of the list. Nested: parents before their children.
	all []element
	// The index in all of the first node with an id.
	at     map[string]int
	forest *forest.Forest[string]
	// Nodes without a place in the forest. bad counts the elements that aren't nodes.
	lost []forest.Link[string]
	bad  int // how many elements are no nodes
}

// readGrove decodes a list. Repeated ids count as lost. forest.BuildForest isn't given
// them, because it keeps the node with the least order key, and changes keep the first of
// the list.
func (t *Tree) readGrove(list bson.RawValue) (*grove, error) {
	g := &grove{at: map[string]int{}}
	if err := t.collectNodes(g, list, t.Path, forest.Null); err != nil {
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
			again = append(again, e.makeLink())
			continue
		}
		g.at[e.key()] = i
		links = append(links, e.makeLink())
	}
	g.forest, g.lost = forest.BuildForest(links)
	g.lost = append(g.lost, again...)
	return g, nil
}

// makeLink returns the element's link, by keys.
func (e element) makeLink() forest.Link[string] {
	l := forest.Link[string]{ID: e.key(), Root: forest.IsNull(e.parent), Order: e.order}
	if !l.Root {
		l.Parent = bsonval.Key(e.parent)
	}
	return l
}

// collectNodes appends the nodes of a list, and in the nested form the nodes below them.
func (t *Tree) collectNodes(g *grove, list bson.RawValue, path string, parent bson.RawValue) error {
	if forest.IsNull(list) {
		return nil
	}
	if list.Type != bson.TypeArray {
		// Another client stored something else in the list's place.
		return fmt.Errorf("%w: %w", forest.ErrDamaged, t.Refuse(path, list, "isn't a list of nodes"))
	}
	values, err := list.Array().Values()
	if err != nil {
		return t.Refuse(path, nil, err.Error())
	}
	for i, v := range values {
		e := t.readElement(v, path+"."+strconv.Itoa(i))
		if t.spec.Nested == "" {
			g.all = append(g.all, e)
			continue
		}
		// The nesting says which node is the parent, whatever the node itself stores.
		e.parent = parent
		if doc, ok := v.DocumentOK(); ok && e.bad == "" {
			e.value = forest.EncodeDocument(setFields(doc, field{t.spec.Nested, bson.RawValue{}}))
			g.all = append(g.all, e)
			if err := t.collectNodes(g, doc.Lookup(t.spec.Nested), e.at+"."+t.spec.Nested, e.id); err != nil {
				return err
			}
			continue
		}
		g.all = append(g.all, e)
	}
	return nil
}

// readElement decodes one element of a list, at a path.
func (t *Tree) readElement(v bson.RawValue, at string) element {
	e := element{value: v, at: at, parent: forest.Null}
	doc, ok := v.DocumentOK()
	if !ok {
		e.bad = "isn't a document"
		return e
	}
	e.id = doc.Lookup(t.spec.ID)
	e.bad = explainBadID(e.id)
	if t.spec.Parent != "" {
		// All forms of "no parent" are read as null.
		if e.parent = doc.Lookup(t.spec.Parent); isNoID(e.parent) {
			e.parent = forest.Null
		}
	}
	if t.spec.Order != "" {
		e.order, _ = doc.Lookup(t.spec.Order).StringValueOK()
	}
	return e
}

// findNode returns the index of a node that has a place in the tree. A node without a
// place is both damaged and not found: callers may wait for a repair.
func (t *Tree) findNode(g *grove, id bson.RawValue) (int, error) {
	i, ok := g.at[bsonval.Key(id)]
	switch {
	case !ok:
		return 0, t.newNodeError(model.ErrNotFound, id)
	case !g.forest.Contains(bsonval.Key(id)):
		return i, fmt.Errorf("%w: %w", forest.ErrDamaged, t.newNodeError(model.ErrNotFound, id))
	}
	return i, nil
}

// newNodeError makes an error about a node, which wraps kind.
func (t *Tree) newNodeError(kind error, id bson.RawValue) error {
	switch kind {
	case model.ErrNotFound:
		return fmt.Errorf("%w: no node %s in %s of %s", kind, model.Shell(id), t.Path, t.Owners)
	case model.ErrTaken:
		return fmt.Errorf("%w: node %s in %s of %s", kind, model.Shell(id), t.Path, t.Owners)
	}
	return fmt.Errorf("%w: %s in %s of %s", kind, model.Shell(id), t.Path, t.Owners)
}

// explainForestError turns an error of package forest, which knows only keys, into an
// error with stored ids.
func (t *Tree) explainForestError(g *grove, err error, id bson.RawValue, at forest.Place[bson.RawValue]) error {
	for _, kind := range []error{model.ErrTaken, forest.ErrCycle, forest.ErrHasChildren} {
		if errors.Is(err, kind) {
			return t.newNodeError(kind, id)
		}
	}
	if !at.At.IsRoot() {
		if _, err := t.findNode(g, at.Ref); err != nil {
			return err
		}
	}
	_, err = t.findNode(g, id)
	return err
}

// makeKeyPlace returns a place that names its node by its key.
func makeKeyPlace(at forest.Place[bson.RawValue]) forest.Place[string] {
	p, _ := forest.ConvertPlace(at, func(id bson.RawValue) (string, error) { return bsonval.Key(id), nil })
	return p
}

// findParentAt returns the id of the parent at a place; the place's node must exist.
func (g *grove) findParentAt(at forest.Place[bson.RawValue]) bson.RawValue {
	switch {
	case at.At.IsRoot():
		return forest.Null
	case at.At == forest.FirstChild || at.At == forest.LastChild:
		return at.Ref
	}
	return g.all[g.at[bsonval.Key(at.Ref)]].parent
}

// findIndex returns the index in the list at which a node is inserted at a place.
func (g *grove) findIndex(at forest.Place[bson.RawValue]) int {
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

// ArrangeNodes calls each for the nodes of a list of the caller's in preorder, until it
// returns false. Nodes without a place are left out.
func (t *Tree) ArrangeNodes(list any, each func(node bson.Raw, depth int) bool) error {
	v, err := t.encodeValue(t.Path, list)
	if err != nil {
		return err
	}
	g, err := t.readGrove(v)
	if err != nil {
		return err
	}
	for key, depth := range g.forest.WalkAll() {
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

// ReadWholeList reads the nodes of an owner's list, in preorder. It refuses a damaged
// list.
func (t *Tree) ReadWholeList(ctx context.Context, db model.DB, owner bson.RawValue) (out []Listed, _ error) {
	s, err := t.readState(ctx, db, owner)
	if err != nil {
		return nil, err
	}
	g, err := t.readSoundGrove(owner, s)
	if err != nil {
		return nil, err
	}
	for key, depth := range g.forest.WalkAll() {
		e := g.all[g.at[key]]
		out = append(out, Listed{ID: bsonval.Clone(e.id), Link: e.makeLink(), Doc: e.doc(), Depth: depth})
	}
	return out, nil
}

// readSoundGrove decodes a list, and refuses a damaged one.
func (t *Tree) readSoundGrove(owner bson.RawValue, s state) (*grove, error) {
	g, err := t.readGrove(s.List)
	if err == nil && len(g.lost)+g.bad > 0 {
		err = fmt.Errorf("%w: %s of %s", forest.ErrDamaged, t.Path, t.NameOwner(owner))
	}
	return g, err
}

// NameOwner names an owner in errors.
func (t *Tree) NameOwner(owner bson.RawValue) string { return t.Owners + " " + model.Shell(owner) }

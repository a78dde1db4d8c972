package paths

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/docmodel/docmodel/internal/bsonval"
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
}

func (e element) key() string { return bsonval.Key(e.id) }

func (e element) doc() bson.Raw { return e.value.Value }

// A grove is a list that was read.
type grove struct {
	all    []element      // flat: as they are listed; nested: parents before their children
	at     map[string]int // where in all the first of an id is
	forest *Forest[string]
	lost   []Link[string] // what has no place in the forest
	bad    int            // how many elements are no nodes
}

// grove reads a list.
func (t *documentTree) grove(list bson.RawValue) (*grove, error) {
	g := &grove{at: map[string]int{}}
	if err := t.collect(g, list, t.path, null); err != nil {
		return nil, err
	}
	links := make([]Link[string], 0, len(g.all))
	for i, e := range g.all {
		if e.bad != "" {
			g.bad++
			continue
		}
		if _, twice := g.at[e.key()]; !twice {
			g.at[e.key()] = i
		}
		links = append(links, e.link())
	}
	g.forest, g.lost = NewForest(links)
	return g, nil
}

func (e element) link() Link[string] {
	l := Link[string]{ID: e.key(), Root: isNull(e.parent), Order: e.order}
	if !l.Root {
		l.Parent = bsonval.Key(e.parent)
	}
	return l
}

// collect appends the nodes of a list, and in the nested form those below them.
func (t *documentTree) collect(g *grove, list bson.RawValue, path string, parent bson.RawValue) error {
	if isNull(list) {
		return nil
	}
	if list.Type != bson.TypeArray {
		return fmt.Errorf("%w: %w", ErrDamaged, t.refused(path, list, "is not a list of nodes"))
	}
	values, err := list.Array().Values()
	if err != nil {
		return t.refused(path, nil, err.Error())
	}
	for i, v := range values {
		e := t.element(v, path+"."+strconv.Itoa(i))
		if t.spec.Nested == "" {
			g.all = append(g.all, e)
			continue
		}
		e.parent = parent
		if doc, ok := v.DocumentOK(); ok && e.bad == "" {
			e.value = documentValue(withFields(doc, field{t.spec.Nested, bson.RawValue{}}))
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
func (t *documentTree) element(v bson.RawValue, at string) element {
	e := element{value: v, at: at, parent: null}
	doc, ok := v.DocumentOK()
	if !ok {
		e.bad = "is not a document"
		return e
	}
	e.id = doc.Lookup(t.spec.ID)
	e.bad = notNodeID(e.id)
	if t.spec.Parent != "" {
		if e.parent = doc.Lookup(t.spec.Parent); noID(e.parent) {
			e.parent = null
		}
	}
	if t.spec.Order != "" {
		e.order, _ = doc.Lookup(t.spec.Order).StringValueOK()
	}
	return e
}

// find is the element of an id that has a place in the tree.
func (t *documentTree) find(g *grove, id bson.RawValue) (int, error) {
	i, ok := g.at[bsonval.Key(id)]
	switch {
	case !ok:
		return 0, t.fault(ErrNoNode, id)
	case !g.forest.Has(bsonval.Key(id)):
		return i, fmt.Errorf("%w: %w", ErrDamaged, t.fault(ErrNoNode, id))
	}
	return i, nil
}

// fault is an error about a node.
func (t *documentTree) fault(kind error, id bson.RawValue) error {
	return fmt.Errorf("%w: %s in %s of %s", kind, text(id), t.path, t.owners)
}

// faulty is an error of the forest about a node and a place, in words about what is stored.
func (t *documentTree) faulty(g *grove, err error, id bson.RawValue, at place) error {
	for _, kind := range []error{ErrExists, ErrCycle, ErrHasChildren} {
		if errors.Is(err, kind) {
			return t.fault(kind, id)
		}
	}
	if !at.at.root() {
		if _, err := t.find(g, at.ref); err != nil {
			return err
		}
	}
	_, err = t.find(g, id)
	return err
}

// key is a place by keys.
func (p place) key() Place[string] {
	if p.at.root() {
		return Place[string]{at: p.at}
	}
	return Place[string]{p.at, bsonval.Key(p.ref)}
}

// parentAt is the id of the parent that a node has at a place that was found.
func (g *grove) parentAt(at place) bson.RawValue {
	switch {
	case at.at.root():
		return null
	case at.at == firstChild || at.at == lastChild:
		return at.ref
	}
	return g.all[g.at[bsonval.Key(at.ref)]].parent
}

// index is where in the list a node comes at a place.
func (g *grove) index(at place) int {
	switch at.at {
	case firstRoot, firstChild:
		return 0
	case before:
		return g.at[bsonval.Key(at.ref)]
	case after:
		return g.at[bsonval.Key(at.ref)] + 1
	}
	return len(g.all)
}

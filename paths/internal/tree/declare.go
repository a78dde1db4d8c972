// Package tree holds what is behind paths.Tree: reading, deciding and writing for every representation, and the representations, of
// which each adds fields, queries and the writes that keep them.
package tree

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// links are the fields in which the documents of a tree hold what ties them together: what a tree is repaired and converted from.
type links struct{ Parent, Order, Change string }

// Tree is a tree in any representation, without the Go types of its documents.
type Tree struct {
	*core.Docs
	Collection string // their name
	Links      links
	fields     []string // that the representation keeps, beside the links
	Own        []string // fields of the user's that it reads
	Indexes    []model.Index
	Lease      *model.Lease
	Rep        representation
}

// A representation is how a tree is stored.
type representation interface {
	// Sound returns an error for a stored node that lacks what the representation keeps beside its links.
	Sound(n Node) error
	// derive returns what a node's document holds beside its links, for a new node at a spot.
	derive(n Node, s spot) (bson.D, error)
	// taken is a condition that no document may match before a node is put at a spot; nil for none.
	taken(n Node, s spot) bson.D
	// move takes a node and all below it to a spot.
	move(n Node, s spot, change int64) []model.Step
	// dissolve takes the children of a node, with all below them, to spots under one parent, and deletes the node.
	dissolve(n Node, children []Node, to []spot, change int64) []model.Step
	// prune deletes a node and all below it, whose ids are below, if the representation needs them.
	prune(n Node, below []Node, change int64) []model.Step
	// removal deletes a node that has no children.
	removal(n Node, change int64) []model.Step
	// Canonical is what the documents of a whole forest hold beside their links.
	Canonical(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D
	// fits says how a sound node is told: see [tree.suspects].
	fits() fitting
	// Parked are values for the fields of a unique index that no node has otherwise, for a node that will get other ones; nil where
	// there is no such index.
	Parked(n Node, want bson.D) bson.D
	// Above is the query of a node's ancestors, and below that of its descendants down to a depth, which is 0 for all.
	Above(n Node) Source
	Below(n Node, depth int) Source
	// within reports whether a node is another, or lies below it; known is false where it takes a query.
	within(n, top Node) (is, known bool)
}

// A roomer is a representation that writes to others to make room for a node. insertion returns what a new node's document holds
// beside its links when it is inserted, instead of derive, and the steps that come then: so a document that the server refuses is
// refused before anything is written. around reads, and notes in a spot, what the representation needs to know of the nodes there.
type roomer interface {
	around(ctx context.Context, db model.DB, n Node, s *spot, moves bool) error
	insertion(n Node, s spot, change int64) (bson.D, []model.Step, error)
}

// A lister is a representation that writes another document after a node is inserted, and before it is moved.
type lister interface {
	listed(n Node, s spot, change int64) []model.Step
	// unlisted takes back what a move wrote before it found the node elsewhere.
	unlisted(n Node, s spot, change int64) []model.Step
}

// Node is a document of a tree, read.
type Node struct {
	Raw    bson.Raw
	ID     bson.RawValue
	Parent bson.RawValue // null or type 0 for a root
	Order  string
	change int64
	size   int  // of the whole document, in bytes
	typed  bool // it came through the caller's Go type, which may leave out what is empty
}

// Key is a node's _id as a key of maps.
func (n Node) Key() string { return bsonval.Key(n.ID) }

func (n Node) Root() bool { return n.Parent.Type == 0 || n.Parent.Type == bson.TypeNull }

// Link is a node's link, by keys.
func (n Node) Link() forest.Link[string] {
	return forest.Link[string]{ID: n.Key(), Parent: bsonval.Key(n.Parent), Root: n.Root(), Order: n.Order}
}

// spot is a place that was found: between which siblings, under which parent.
type spot struct {
	parent     *Node // nil for a root
	prev, next *Node // nil at the ends
	order      string
	crowd      []Node // the siblings in order, when they get new order keys; nil when they don't
	at         int    // where among them
	among      bool   // a node that is moved there is a child of the parent already

	// Of a nested set with gaps: the range whose numbers are spread, both ends excluded, and whose they are; 0 for none. below are the
	// nodes below one that is moved there.
	from, to    int64
	near, below []Node
}

// Spec is the shell's TreeSpec.
type Spec struct {
	Parent, Order, Change, Locks, Name string
	For, Wait                          time.Duration
}

// A Declared is a collection whose documents a tree is declared of, with the type of their _ids.
type Declared struct {
	Docs *core.Docs
	ID   reflect.Type
	Spec Spec
}

// tree checks the links of a declaration.
func (d Declared) tree(kind string) *Tree {
	l := links{cmp.Or(d.Spec.Parent, "parent"), cmp.Or(d.Spec.Order, "order"), cmp.Or(d.Spec.Change, "change")}
	t := &Tree{Docs: d.Docs, Collection: d.Docs.Name(), Links: l}
	t.Lease = &model.Lease{
		Collection: cmp.Or(d.Spec.Locks, "docmodel.locks"), ID: cmp.Or(d.Spec.Name, t.Collection), For: d.Spec.For, Wait: d.Spec.Wait, Begin: t.begin,
	}
	fail := func(path, problem, remedy string) {
		core.Fail(problem, fmt.Sprintf("New%s of %s, path %q", kind, t.Collection, path), remedy)
	}
	for _, want := range []struct {
		path, what string
		typ        reflect.Type
	}{
		{l.Parent, "an _id, or a pointer to one", d.ID},
		{l.Order, "a string", reflect.TypeFor[string]()},
		{l.Change, "an int64", reflect.TypeFor[int64]()},
	} {
		f := t.MustField(want.path)
		if !f.Open && (f.Type != want.typ || f.Arrays > 0) {
			fail(want.path, fmt.Sprintf("%q is a %s, not %s", want.path, f.Type, want.what), "name another field, or change its type")
		}
	}
	paths := []string{l.Parent, l.Order, l.Change}
	for i, p := range paths {
		if slices.Contains(paths[:i], p) || p == "_id" {
			fail(p, fmt.Sprintf("%q is given for two fields of the tree", p), "give each a field of its own")
		}
	}
	index := model.NewIndex(t.Collection, bson.D{{Key: l.Parent, Value: 1}, {Key: l.Order, Value: 1}})
	index.Why = "children in order"
	t.Indexes = []model.Index{index}
	return t
}

// uniqueIndex returns the unique index on a field. Documents without the field aren't in the index: a collection, or another tenant's part
// of it, may not be converted yet.
func (t *Tree) uniqueIndex(path string) model.Index {
	x := model.NewIndex(t.Collection, bson.D{{Key: path, Value: 1}})
	x.Unique, x.Partial = true, bson.D{{Key: path, Value: mql.Exists(true)}}
	return x
}

// Parts are what the shell declares: indexes, relations and checks.
func (t *Tree) Parts() model.Parts {
	return model.NewParts(func() []model.Index { return t.Indexes }, t.relations, t.checks, t.footprints).
		WithDocs(t.Docs).WithReactions(t.reactions)
}

// reactions refuse that a store inserts or deletes a node: both need a place in the tree. Fields of the caller's pass.
func (t *Tree) reactions() []model.Reaction {
	return []model.Reaction{{Collection: t.Collection, React: func(w model.StoreWrite) (a model.Answer, err error) {
		switch {
		case w.Before == nil:
			err = t.Docs.Refuse("_id", w.After.Lookup("_id"), "is a new node, which needs a place in the tree: use Tree.Insert")
		case w.After == nil:
			err = t.Docs.Refuse("_id", w.Before.Lookup("_id"), "is a node, whose deletion needs a mode: use Tree.Delete")
		}
		return a, err
	}}}
}

func (t *Tree) relations() []model.Relation {
	return []model.Relation{{
		From: t.Collection, To: t.Collection, FromPath: t.Links.Parent, ToPath: "_id", FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "tree",
	}}
}

// Read reads a document's links.
func (t *Tree) Read(doc bson.Raw) (Node, error) {
	n := Node{Raw: doc, ID: doc.Lookup("_id"), size: len(doc)}
	if size, ok := doc.Lookup(sizeField).AsInt64OK(); ok {
		n.size = int(size)
	}
	if n.ID.Type == 0 {
		return n, t.Refuse("_id", nil, "the document has none")
	}
	var err error
	at := func(path string) bson.RawValue {
		v, inArray := core.ValueAt(doc, path)
		if inArray && err == nil {
			err = t.Refuse(path, nil, "is in an array in this document")
		}
		return v
	}
	n.Parent = at(t.Links.Parent)
	order, change := at(t.Links.Order), at(t.Links.Change)
	n.Order, _ = order.StringValueOK()
	if change.Type == bson.TypeInt32 || change.Type == bson.TypeInt64 {
		n.change = change.AsInt64()
	}
	return n, err
}

// Typed reads a document that came through the caller's Go type.
func (t *Tree) Typed(doc bson.Raw) (Node, error) {
	n, err := t.Read(doc)
	n.typed = true
	return n, err
}

// Sound returns an error for a node that lacks what the representation keeps.
func (t *Tree) Sound(n Node) error { return t.Rep.Sound(n) }

// linked are the fields that tie a node to a spot.
func (t *Tree) linked(s spot, change int64) bson.D {
	parent := any(nil)
	if s.parent != nil {
		parent = s.parent.ID
	}
	return bson.D{{Key: t.Links.Parent, Value: parent}, {Key: t.Links.Order, Value: s.order}, {Key: t.Links.Change, Value: change}}
}

// notYet is the condition that neither a change nor a later one wrote a document: a writer that is only slow, whose change another
// finished, finds nothing to write, also where a third has changed documents since.
func (t *Tree) notYet(change int64) bson.E {
	return mql.E(t.Links.Change, mql.Op("$not", mql.Op("$gte", change)))
}

// notLater is the condition that no later change wrote a document.
func (t *Tree) notLater(change int64) bson.E {
	return mql.E(t.Links.Change, mql.Op("$not", mql.Op("$gt", change)))
}

// under reports whether a node is a child of another, or a root where that is nil.
func (n Node) under(parent *Node) bool {
	return n.Root() && parent == nil || !n.Root() && parent != nil && bsonval.Key(n.Parent) == parent.Key()
}

// stays reports whether a node is at a spot already: under its parent, and between its siblings by its own order key.
func (n Node) stays(s spot) bool {
	return s.among && forest.CheckKey(n.Order) == nil && (s.prev == nil || s.prev.Order < n.Order) && (s.next == nil || n.Order < s.next.Order)
}

// Under is the parent's id, or null.
func Under(parent *Node) any {
	if parent == nil {
		return nil
	}
	return parent.ID
}

// Tied are the paths of the fields that the tree keeps in a document.
func (t *Tree) Tied() []string {
	return append([]string{t.Links.Parent, t.Links.Order, t.Links.Change}, t.fields...)
}

func (t *Tree) footprints() []model.Footprint {
	return slices.Concat(model.Writes.In(t.Collection, model.Whole), model.Owns.In(t.Collection, t.Tied()...))
}

package paths

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Links says in which fields the documents of a tree hold what ties them together. Each representation but [DocumentTree] has
// them, beside its own: what a tree is repaired and converted from. The zero Links are the names of the defaults.
type Links struct {
	Parent string // the _id of the parent, of the _id's type, or null for a root; "" means "parent"
	Order  string // a string, by whose bytes siblings are ordered: see [Between]; "" means "order"
	Change string // an int64, the number of the change that wrote the document last; "" means "change"
}

func (l Links) withDefaults() Links {
	for p, name := range map[*string]string{&l.Parent: "parent", &l.Order: "order", &l.Change: "change"} {
		if *p == "" {
			*p = name
		}
	}
	return l
}

// tree is what of a representation doesn't depend on the Go types of its documents.
type tree struct {
	docs    string
	links   Links
	fields  []string // that the representation keeps, beside the links
	own     []string // fields of the user's that it reads
	indexes []model.Index
	rep     representation
}

// A representation is how a tree is stored.
type representation interface {
	// sound returns an error for a stored node that lacks what the representation keeps beside its links.
	sound(n node) error
	// derive returns what a node's document holds beside its links, for a new node at a spot.
	derive(n node, s spot) (bson.D, error)
	// taken is a condition that no document may match before a node is put at a spot; nil for none.
	taken(n node, s spot) bson.D
	// move takes a node and all below it to a spot.
	move(n node, s spot, change int64) []model.Step
	// dissolve takes the children of a node, with all below them, to spots under one parent, and deletes the node.
	dissolve(n node, children []node, to []spot, change int64) []model.Step
	// prune deletes a node and all below it, whose ids are below, if the representation needs them.
	prune(n node, below []node, change int64) []model.Step
	// removal deletes a node that has no children.
	removal(n node, change int64) []model.Step
	// canonical is what the documents of a whole forest hold beside their links.
	canonical(f *Forest[string], nodes map[string]node) map[string]bson.D
	// fits says how a sound node is told: see [tree.suspects].
	fits() fitting
	// parked are values for the fields of a unique index that no node has otherwise, for a node that will get other ones; nil where
	// there is no such index.
	parked(n node, want bson.D) bson.D
	// above is the query of a node's ancestors, and below that of its descendants down to a depth, which is 0 for all.
	above(n node) source
	below(n node, depth int) source
	// within reports whether a node is another, or lies below it; known is false where it takes a query.
	within(n, top node) (is, known bool)
}

// A roomer is a representation that writes to others to make room for a node. insertion returns what a new node's document holds
// beside its links when it is inserted, instead of derive, and the steps that come then: so a document that the server refuses is
// refused before anything is written. around reads, and notes in a spot, what the representation needs to know of the nodes there.
type roomer interface {
	around(ctx context.Context, db *mongo.Database, n node, s *spot, moves bool) error
	insertion(n node, s spot, change int64) (bson.D, []model.Step, error)
}

// A lister is a representation that writes another document after a node is inserted, and before it is moved.
type lister interface {
	listed(n node, s spot, change int64) []model.Step
	// unlisted takes back what a move wrote before it found the node elsewhere.
	unlisted(n node, s spot, change int64) []model.Step
}

// node is a document of a tree, read.
type node struct {
	raw    bson.Raw
	id     bson.RawValue
	parent bson.RawValue // null or type 0 for a root
	order  string
	change int64
	typed  bool // it came through the caller's Go type, which may leave out what is empty
}

// key is a node's _id as a key of maps.
func (n node) key() string { return bsonval.Key(n.id) }

func (n node) root() bool { return n.parent.Type == 0 || n.parent.Type == bson.TypeNull }

// link is a node's link, by keys.
func (n node) link() Link[string] {
	return Link[string]{ID: n.key(), Parent: bsonval.Key(n.parent), Root: n.root(), Order: n.order}
}

// spot is a place that was found: between which siblings, under which parent.
type spot struct {
	parent     *node // nil for a root
	prev, next *node // nil at the ends
	order      string
	crowd      []node // the siblings in order, when they get new order keys; nil when they don't
	at         int    // where among them

	// Of a nested set with gaps: the range whose numbers are spread, both ends excluded, and whose they are; 0 for none. below are the
	// nodes below one that is moved there.
	from, to    int64
	near, below []node
}

// declareTree checks the links of a declaration.
func declareTree[D, K any](c *model.Collection[D, K], l Links, kind string) *tree {
	l = l.withDefaults()
	t := &tree{docs: c.Name(), links: l}
	place := func(path string) string { return fmt.Sprintf("New%s of %s, path %q", kind, c.Name(), path) }
	for _, want := range []struct {
		path, what string
		typ        reflect.Type
	}{
		{l.Parent, "an _id, or a pointer to one", reflect.TypeFor[K]()},
		{l.Order, "a string", reflect.TypeFor[string]()},
		{l.Change, "an int64", reflect.TypeFor[int64]()},
	} {
		f := model.MustField(c, want.path)
		if !f.Open && (f.Type != want.typ || f.Arrays > 0) {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("%q is a %s, not %s", want.path, f.Type, want.what), Place: place(want.path), Remedy: "name another field, or change its type"})
		}
	}
	paths := []string{l.Parent, l.Order, l.Change}
	for i, p := range paths {
		if slices.Contains(paths[:i], p) || p == "_id" {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("%q holds two things", p), Place: place(p), Remedy: "give each its own field"})
		}
	}
	index := model.NewIndex(t.docs, bson.D{{Key: l.Parent, Value: 1}, {Key: l.Order, Value: 1}})
	index.Why = "children in order"
	t.indexes = []model.Index{index}
	return t
}

func (t *tree) relations() []model.Relation {
	return []model.Relation{{
		From: t.docs, To: t.docs, FromPath: t.links.Parent, ToPath: "_id", FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "tree",
	}}
}

func (t *tree) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: t.docs, Field: field, Value: v, Reason: reason}
}

// read reads a document's links.
func (t *tree) read(doc bson.Raw) (node, error) {
	n := node{raw: doc, id: doc.Lookup("_id")}
	if n.id.Type == 0 {
		return n, t.refused("_id", nil, "the document has none")
	}
	var err error
	at := func(path string) bson.RawValue {
		v, inArray := model.ValueAt(doc, path)
		if inArray && err == nil {
			err = t.refused(path, nil, "lies inside an array in this document")
		}
		return v
	}
	n.parent = at(t.links.Parent)
	order, change := at(t.links.Order), at(t.links.Change)
	n.order, _ = order.StringValueOK()
	if change.Type == bson.TypeInt32 || change.Type == bson.TypeInt64 {
		n.change = change.AsInt64()
	}
	return n, err
}

// linked are the fields that tie a node to a spot.
func (t *tree) linked(s spot, change int64) bson.D {
	parent := any(nil)
	if s.parent != nil {
		parent = s.parent.id
	}
	return bson.D{{Key: t.links.Parent, Value: parent}, {Key: t.links.Order, Value: s.order}, {Key: t.links.Change, Value: change}}
}

// notYet is the condition that neither a change nor a later one wrote a document: a writer that is only slow, whose change another
// finished, finds nothing to write, also where a third has changed documents since.
func (t *tree) notYet(change int64) bson.E {
	return bson.E{Key: t.links.Change, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: change}}}}}
}

// notLater is the condition that no later change wrote a document.
func (t *tree) notLater(change int64) bson.E {
	return bson.E{Key: t.links.Change, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gt", Value: change}}}}}
}

// reorders reports whether a spot is under the node's own parent.
func (n node) reorders(s spot) bool {
	return n.root() && s.parent == nil || !n.root() && s.parent != nil && bsonval.Key(n.parent) == s.parent.key()
}

// stays reports whether a node is at a spot already: under its parent, and between its siblings by its own order key.
func (n node) stays(s spot) bool {
	return n.reorders(s) && checkKey(n.order) == nil && (s.prev == nil || s.prev.order < n.order) && (s.next == nil || n.order < s.next.order)
}

// under is the parent's id, or null.
func under(parent *node) any {
	if parent == nil {
		return nil
	}
	return parent.id
}

// Package tree is the core of [paths.Tree]: a forest in one collection, with one document
// per node. The shell (paths/tree.go, tree_read.go, convert.go) encodes the caller's
// documents and _ids, and calls the exported methods here, which have no type parameters.
//
// # Stored form
//
// Each node stores its parent, a fractional order key among its siblings (package
// forest), and the number of the change that last wrote it. A representation adds fields.
// This node has the fields of all five:
//
//	{
//	  _id: "shoes", parent: "men", order: "a1", change: 7,
//	  children: ["boots"],                   // childTree: _ids of the children, in order
//	  ancestors: ["root", "men", "shoes"],   // ancestorArray: from the root to the node itself
//	  path: "root/men/shoes/",               // materializedPath: escaped segments
//	  left: 5, right: 8, depth: 2,           // nestedSet: numbers of a preorder walk
//	}
//
// A parentTree adds nothing. The parent links and the order keys are the truth: checks
// compare the other fields with them, and the repair and Convert compute the other fields
// again (representation.ComputeFields). A root's parent is null or missing.
//
// Changes are numbered by the fence of the tree's lock document (see [model.Lease]):
//
//	{_id: "categories", fence: 7, holder: ObjectId(…), until: ISODate(…), intent: {plan: …}}
//
// # Protocol of a change
//
//  1. Take the lease. The fence counts up: it is the number of this change.
//  2. Read the node, the node to which the place refers, and the nearest siblings (write.go).
//     A node whose number isn't below this change's shows that the lock document was lost or
//     is old. The fence is raised, and the change begins again (write_number.go).
//  3. Decide: a spot with an order key, and the steps of the representation (write_plan.go).
//  4. Store the plan in the lock document.
//  5. Write. Each update requires that the document's number is below this change's, or for
//     some writes not above it, and sets the number. So a plan that runs twice, or late,
//     writes nothing the second time.
//  6. Give the lease back, and remove the plan from the lock document.
//
// # What a crash leaves
//
// Before state 4, a crash leaves the lock only: it expires. From 4 to 6, some of the
// plan's documents are written. The next change runs the stored plan to its end before it
// reads. Load, Adopt, Convert and the repair store no plan: the caller runs them again,
// and they write what is still missing. Readers can see half a change. Each
// representation orders its writes so that readers lose as little as possible.
//
// # Files
//
// The files of a representation declare it, and have its queries and the steps of its
// changes: parents.go, children*.go, ancestors.go, paths.go with segments.go, and
// nested*.go. The files read*.go have the queries of all trees, check*.go the check and
// its repair, write*.go the changes, and convert.go the conversion within a collection.
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

// links names the fields of the parent's _id, the order key and the number of the last
// change.
type links struct{ Parent, Order, Change string }

// Tree is a tree in any representation, without the Go types of its documents.
type Tree struct {
	*core.Docs
	Collection string
	Links      links
	// Paths of the fields that the representation keeps, beside the links.
	fields []string
	// Paths of the caller's fields that the tree reads: the segment of a materialized
	// path.
	UserFields []string
	Indexes    []model.Index
	Lease      *model.Lease
	Rep        representation
}

// A representation decides which fields a node has beside its links. Its methods are
// pure: they make queries and steps from nodes that were read. The steps are guarded by
// the change number that the method gets.
type representation interface {
	// CheckStored returns an error for a stored node without the representation's fields.
	// Such a node was stored by other code, or by a tree of another representation.
	CheckStored(n Node) error
	// deriveFields computes the representation's fields of a new node at a spot.
	deriveFields(n Node, s spot) (bson.D, error)
	// matchConflict returns a filter that no document may match before a node is put at a
	// spot. Nil means that no document can conflict.
	matchConflict(n Node, s spot) bson.D
	// planMove moves a node and its subtree to a spot.
	planMove(n Node, s spot, change int64) []model.Step
	// planDissolve moves the children of a node, with their subtrees, to spots under one
	// parent, and deletes the node. The spots are parallel to the children.
	planDissolve(n Node, children []Node, to []spot, change int64) []model.Step
	// planSubtreeDelete deletes a node and its subtree. below are the descendants: a
	// representation whose documents don't show their subtree needs their _ids.
	planSubtreeDelete(n Node, below []Node, change int64) []model.Step
	// planLeafDelete deletes a node without children.
	planLeafDelete(n Node, change int64) []model.Step
	// ComputeFields returns the representation's fields of each node of a whole forest,
	// by the node's key. Checks, repairs, Load and Convert use it.
	ComputeFields(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D
	// describeFitting says how the server recognises a sound node: see [fitting].
	describeFitting() fitting
	// ParkFields returns temporary values for the fields of a unique index, which no
	// other node has, so that two nodes can exchange their values. Nil means that there
	// is no such index.
	ParkFields(n Node, want bson.D) bson.D
	// FindAncestors is the query of a node's ancestors, root first. FindDescendants is
	// the query of its descendants down to a depth; depth 0 means all.
	FindAncestors(n Node) Source
	FindDescendants(n Node, depth int) Source
	// isWithin reports whether n is top or a descendant of top. known is false if the
	// documents don't tell it, and a query is needed.
	isWithin(n, top Node) (is, known bool)
}

// A roomer is a representation that must write other nodes to make room for a node: a
// nested set, whose numbers are all different.
type roomer interface {
	// readAround reads the nodes around a spot that may get new numbers, and notes them
	// in the spot. moves says that n is already stored and brings its subtree.
	readAround(ctx context.Context, db model.DB, n Node, s *spot, moves bool) error
	// planInsertion returns the fields of a new node, in place of deriveFields, and the
	// steps after its insert. They come after it, so that a document that the server
	// refuses, by a validator or a unique index, leaves nothing written.
	planInsertion(n Node, s spot, change int64) (bson.D, []model.Step, error)
}

// A lister is a representation that writes the parent's document too: a child tree.
type lister interface {
	// enterInList is written after an insert.
	enterInList(n Node, s spot, change int64) []model.Step
	// undoEntry removes what a move entered before the node was found elsewhere.
	undoEntry(n Node, s spot, change int64) []model.Step
}

// A Node is a document of the tree and its decoded links.
type Node struct {
	// The document, or only the tree's fields of it.
	Raw    bson.Raw
	ID     bson.RawValue
	Parent bson.RawValue // null or type 0 for a root
	Order  string
	change int64
	size   int
	typed  bool
}

// Key returns the _id as a key of Go maps.
func (n Node) Key() string { return bsonval.Key(n.ID) }

// IsRoot reports whether the node has no parent: null and a missing field mean the same.
func (n Node) IsRoot() bool { return n.Parent.Type == 0 || n.Parent.Type == bson.TypeNull }

// MakeLink returns the node's link, with keys in place of _ids, for package forest.
func (n Node) MakeLink() forest.Link[string] {
	return forest.Link[string]{ID: n.Key(), Parent: bsonval.Key(n.Parent), Root: n.IsRoot(), Order: n.Order}
}

// A spot is a place that was resolved: a parent, the two siblings between which the node
// goes, and its new order key.
type spot struct {
	parent     *Node // nil for a root
	prev, next *Node // nil at the ends
	order      string
	// The siblings in order, if the order key would be too long and all of them get new
	// keys; nil otherwise. at is the index of the new node among them.
	crowd []Node
	at    int
	// The node is moved among its siblings.
	sameParent bool

	// Only for a nested set with gaps: the range of numbers that is spread, without its
	// ends (0 means that nothing is spread), the nodes whose numbers are in it, and the
	// descendants of the moved node.
	from, to    int64
	near, below []Node
}

// Spec is the shell's TreeSpec.
type Spec struct {
	Parent, Order, Change, Locks, Name string
	For, Wait                          time.Duration
}

// Declared is what every constructor gets: the collection, the type of its _ids, the
// spec.
type Declared struct {
	Docs *core.Docs
	ID   reflect.Type
	Spec Spec
}

// declareTree checks the link fields against the documents' Go type. It panics, as all
// constructors do: a wrong declaration is a mistake in the program.
func (d Declared) declareTree(kind string) *Tree {
	l := links{cmp.Or(d.Spec.Parent, "parent"), cmp.Or(d.Spec.Order, "order"), cmp.Or(d.Spec.Change, "change")}
	t := &Tree{Docs: d.Docs, Collection: d.Docs.Name(), Links: l}
	t.Lease = &model.Lease{
		Collection: cmp.Or(d.Spec.Locks, "docmodel.locks"), ID: cmp.Or(d.Spec.Name, t.Collection), For: d.Spec.For,
		Wait: d.Spec.Wait, Begin: t.readFirstFence,
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
		if !f.Untyped && (f.Type != want.typ || f.Arrays > 0) {
			fail(
				want.path, fmt.Sprintf("%q is a %s, not %s", want.path, f.Type, want.what),
				"name another field, or change its type",
			)
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

// makeUniqueIndex returns a unique index that leaves out documents without the field.
// While a collection is converted, or when only one tenant's part of it is, many
// documents lack it.
func (t *Tree) makeUniqueIndex(path string) model.Index {
	x := model.NewIndex(t.Collection, bson.D{{Key: path, Value: 1}})
	x.Unique, x.Partial = true, bson.D{{Key: path, Value: mql.Exists(true)}}
	return x
}

// MakeParts returns what the technique declares to a model.
func (t *Tree) MakeParts() model.Parts {
	return model.NewParts(func() []model.Index { return t.Indexes }, t.listRelations, t.listChecks, t.listFootprints).
		WithDocs(t.Docs).WithReactions(t.makeReactions)
}

// makeReactions refuses inserts and deletions by a store: they need a place, or a mode
// for the children, which a store doesn't have. A change of the caller's own fields
// passes.
func (t *Tree) makeReactions() []model.Reaction {
	return []model.Reaction{{Collection: t.Collection, React: func(w model.StoreWrite) (a model.Answer, err error) {
		switch {
		case w.Before == nil:
			err = t.Docs.Refuse(
				"_id", w.After.Lookup("_id"), "is a new node, which needs a place in the tree: use Tree.Insert",
			)
		case w.After == nil:
			err = t.Docs.Refuse(
				"_id", w.Before.Lookup("_id"), "is a node, whose deletion needs a mode: use Tree.Delete",
			)
		}
		return a, err
	}}}
}

func (t *Tree) listRelations() []model.Relation {
	return []model.Relation{{
		From: t.Collection, To: t.Collection, FromPath: t.Links.Parent, ToPath: "_id", FromEnd: model.Many,
		ToEnd: model.ZeroOrOne, Label: "tree",
	}}
}

// ReadNode decodes a document's links. Links of the wrong type are read as if they were
// missing, because the check must be able to read damaged nodes.
func (t *Tree) ReadNode(doc bson.Raw) (Node, error) {
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

// ReadTypedNode decodes a document that the caller's Go type encoded again. omitempty may
// have removed its empty fields.
func (t *Tree) ReadTypedNode(doc bson.Raw) (Node, error) {
	n, err := t.ReadNode(doc)
	n.typed = true
	return n, err
}

// CheckStored returns an error for a node without the representation's fields.
func (t *Tree) CheckStored(n Node) error { return t.Rep.CheckStored(n) }

// setLinks returns the link fields of a node at a spot, in the order parent, order,
// change.
func (t *Tree) setLinks(s spot, change int64) bson.D {
	parent := any(nil)
	if s.parent != nil {
		parent = s.parent.ID
	}
	return bson.D{
		{Key: t.Links.Parent, Value: parent}, {Key: t.Links.Order, Value: s.order},
		{Key: t.Links.Change, Value: change},
	}
}

// matchChangedBefore is the condition that neither this change nor a later one wrote the
// document. A slow writer, whose change the next holder of the lease finished, then
// writes nothing, even if a third change wrote the document since. $not also matches a
// missing field.
func (t *Tree) matchChangedBefore(change int64) bson.E {
	return mql.E(t.Links.Change, mql.Op("$not", mql.Op("$gte", change)))
}

// matchNotChangedAfter is the condition that no later change wrote the document. It is
// for writes that have the same result when they run twice, and for documents that an
// earlier step of the same plan may have marked.
func (t *Tree) matchNotChangedAfter(change int64) bson.E {
	return mql.E(t.Links.Change, mql.Op("$not", mql.Op("$gt", change)))
}

// isChildOf reports whether a node is a child of a parent; a nil parent means the roots.
func (n Node) isChildOf(parent *Node) bool {
	return n.IsRoot() && parent == nil || !n.IsRoot() && parent != nil && bsonval.Key(n.Parent) == parent.Key()
}

// isAtSpot reports whether a node needs no move: it has the parent, and its own order key
// is between the siblings of the spot.
func (n Node) isAtSpot(s spot) bool {
	return s.sameParent && forest.CheckKey(n.Order) == nil &&
		(s.prev == nil || s.prev.Order < n.Order) && (s.next == nil || n.Order < s.next.Order)
}

// EncodeParentID returns the parent's _id, or nil (BSON null) for a root.
func EncodeParentID(parent *Node) any {
	if parent == nil {
		return nil
	}
	return parent.ID
}

// ListTreePaths returns the paths that the tree owns in a document.
func (t *Tree) ListTreePaths() []string {
	return append([]string{t.Links.Parent, t.Links.Order, t.Links.Change}, t.fields...)
}

func (t *Tree) listFootprints() []model.Footprint {
	return slices.Concat(model.Writes.In(t.Collection, model.Whole), model.Owns.In(t.Collection, t.ListTreePaths()...))
}

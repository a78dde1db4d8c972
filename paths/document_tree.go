package paths

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentTreeSpec says how the nodes of a tree lie in their document. The names are those of an element's own fields, without dots.
type DocumentTreeSpec struct {
	ID string // what tells the nodes of one document apart; "" means "id"

	// Parent is the field with the parent's id; "" means "parent". A root's is stored as null; one that is missing, or an empty string
	// or ObjectID, is read as a root's too. It is not used in the nested form.
	Parent string

	// Order is a string field by whose bytes siblings are ordered (see [Between]). A move writes two fields then, wherever the node
	// goes. "" means that siblings come in the order of the list: then a new leaf is pushed without reading anything. It is not
	// used in the nested form, whose lists are the order.
	Order string

	// Nested is the field in which each node holds the list of its children. "" means the flat form: one list of all nodes, each
	// with its parent's id.
	Nested string

	// Revision is the path of an int64 in the owner that every change adds one to. Changes that depend on the whole list name it in
	// their filter, in the place of the list as it was read. It must be kept by everybody who writes the list. "" means none.
	Revision string

	Max      int // how many nodes a document holds; 0 means as many as MaxBytes lets in
	MaxBytes int // how large the whole document becomes, in bytes; 0 means 15 MiB, which is the most
}

// DocumentTree is a tree within one document: all comments of a post, in the post. E is a node, N its id, K the _id of the document,
// the tree's owner. The tree is read at once, and every change is one atomic write of one document, so that there is no state
// between to be seen or mended; concurrent moves can't make a cycle.
//
// In the flat form the owner has one list of nodes, which name their parents:
//
//	{_id: 'p1', comments: [{id: 'a', parent: null}, {id: 'b', parent: 'a'}]}
//
// In the nested form each node has a list of its children:
//
//	{_id: 'p1', comments: [{id: 'a', replies: [{id: 'b'}]}]}
//
// The flat form is the one that MongoDB can query and update: a node is found by its id, whatever its depth. [DocumentTree.Push],
// [DocumentTree.Patch] and [DocumentTree.Pull] change it by one command each, without reading, and don't meet other writers. The
// nested form is what a client may want to receive; no filter or update reaches a node whose depth it doesn't know, so all of its
// changes read the list, and write it if it is as it was read. BSON's limit of 100 levels lets it be 49 deep. Choose it for small
// trees that are seldom written.
//
// Changes are a [model.Change]: they read the list, decide, and write with a filter that names what they decided by. One that finds
// another writer's change reads again, up to 64 times. Their errors are [ErrNoNode], [ErrExists], [ErrCycle], [ErrHasChildren],
// [ErrFull], [ErrDamaged], and [model.ErrNotFound] for an owner that isn't there.
//
// Methods that read send one command each, which reads the owner's list by _id; an owner that isn't there is [model.ErrNotFound], and
// a node [ErrNoNode]. Nodes of a damaged list that have no place in the tree are not among the results: [DocumentTree.Checks] find
// them.
//
// A document has 16 MiB, and is written and sent whole. A tree that may outgrow it, or of which one node is read at a time, is one of
// documents: [ParentTree], [AncestorArray], [MaterializedPath].
//
// Sources: "Tree Aggregation" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/reference/operator/update/push/.
type DocumentTree[E, N, K any] struct {
	t      *documentTree
	check  func(field string, id K) error
	decode func(bson.Raw, any) error
}

// NewDocumentTree declares that a list of the owners' documents is a tree of nodes E with ids N. It panics with a
// [*model.DeclarationError] when the path is no list of E, or lies in another, when a named field doesn't exist or has another type,
// when a bound is out of its range, or when Go's zero value of the parent's field would be stored as what may be an id, such as 0.
//
//	var comments = paths.NewDocumentTree[comment, string](posts, "comments", paths.DocumentTreeSpec{})
func NewDocumentTree[E, N, D, K any](owners *model.Collection[D, K], path string, spec DocumentTreeSpec) *DocumentTree[E, N, K] {
	t := &documentTree{
		owners: owners.Name(), path: path, list: model.CheckArray(owners, path),
		encode: owners.AppendElement, lookup: owners.Field,
	}
	declareDocumentTree[E, N](t, spec)
	return &DocumentTree[E, N, K]{t, owners.CheckID, owners.DecodeAs}
}

// Indexes returns none: owners are found by _id. An index on the ids within the list finds the owner of a node; declare it where
// that is asked for.
func (t *DocumentTree[E, N, K]) Indexes() []model.Index { return nil }

// Relations returns none: the nodes live in their owner.
func (t *DocumentTree[E, N, K]) Relations() []model.Relation { return nil }

// owner is an owner's _id, checked and encoded.
func (t *DocumentTree[E, N, K]) owner(id K) (bson.RawValue, error) {
	if err := t.check("_id", id); err != nil {
		return bson.RawValue{}, err
	}
	return t.t.value("_id", id)
}

// ids are an owner's _id and a node's id.
func (t *DocumentTree[E, N, K]) ids(owner K, id N) (o, n bson.RawValue, err error) {
	if o, err = t.owner(owner); err == nil {
		n, err = t.t.nodeID(id)
	}
	return o, n, err
}

func (t *DocumentTree[E, N, K]) place(at Place[N]) (place, error) {
	if at.at.root() {
		return place{at: at.at}, nil
	}
	ref, err := t.t.nodeID(at.ref)
	return place{at.at, ref}, err
}

// insertion are the arguments of an insert.
func (t *DocumentTree[E, N, K]) insertion(owner K, node E, at Place[N]) (o bson.RawValue, doc bson.Raw, p place, err error) {
	if o, err = t.owner(owner); err == nil {
		doc, err = t.t.newNode(node)
	}
	if err == nil {
		p, err = t.place(at)
	}
	return o, doc, p, err
}

// Load returns the write that stores a whole tree in an owner that has none. The nodes come in any order, with their parents' ids, or
// nested. Siblings come in the order of their keys, or of the list; with order keys, those that have none, or each other's, get new
// ones. A tree that is not whole is refused: with [ErrExists] for an id that comes twice, [ErrNoNode] for a parent that isn't there,
// [ErrCycle], [ErrFull]. An owner that has nodes gives [ErrExists], and one that isn't there [model.ErrStale].
//
// Cost: one command, one document, found by _id. It can be run again.
func (t *DocumentTree[E, N, K]) Load(owner K, nodes []E) model.Write {
	o, err := t.owner(owner)
	if err != nil {
		return model.Refused(t.t.owners, err)
	}
	w, err := t.t.load(o, nodes)
	if err != nil {
		return model.Refused(t.t.owners, err)
	}
	return w
}

// Push returns the write that adds a leaf at an end: as the first or last root, or child of a node. It is for the flat form
// without order keys; other trees, and other places, need what is stored: see [DocumentTree.Insert]. The node's fields of the tree
// are overwritten. Its errors are [ErrExists], [ErrNoNode] and [ErrFull]; an owner that isn't there gives model.ErrStale.
//
// Cost: one command, one document, found by _id. It can be run again: a node that is stored as it was pushed is taken for this
// one's. One to five commands more tell why nothing was pushed.
func (t *DocumentTree[E, N, K]) Push(owner K, node E, at Place[N]) model.Write {
	o, doc, p, err := t.insertion(owner, node, at)
	if err != nil {
		return model.Refused(t.t.owners, err)
	}
	return t.t.push(o, doc, p)
}

// Patch returns the write that sets some fields of a node, by paths within it, in the flat form. The fields of the tree are refused,
// and so are paths that E doesn't have. A node that isn't there gives [ErrNoNode], an owner model.ErrStale. In a damaged list every
// node of the id is set; so it is with Pull.
//
// Cost: one command, one document, found by _id. The new values count for MaxBytes as if the old ones stayed;
// [DocumentTree.Set] counts what they replace.
func (t *DocumentTree[E, N, K]) Patch(owner K, id N, fields bson.D) model.Write {
	o, n, err := t.ids(owner, id)
	set, errSet := t.t.fields(fields)
	switch {
	case err != nil:
		return model.Refused(t.t.owners, err)
	case errSet != nil:
		return model.Refused(t.t.owners, errSet)
	}
	return t.t.patch(o, n, set, -1)
}

// Pull returns the write that deletes a node that has no children, in the flat form. Its errors are [ErrHasChildren] and [ErrNoNode];
// an owner that isn't there gives model.ErrStale. Run again after a lost answer, it gives ErrNoNode where it was applied, as
// [DocumentTree.Delete] does.
//
// Cost: one command, one document, found by _id. One or two commands more tell why nothing was deleted.
func (t *DocumentTree[E, N, K]) Pull(owner K, id N) model.Write {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return model.Refused(t.t.owners, err)
	}
	return t.t.pull(o, n)
}

// Insert returns the change that adds a node at a place. The node's fields of the tree are overwritten, and a nested list that it
// brings along is refused unless it is empty: insert its nodes one by one. Its errors are [ErrExists], [ErrNoNode] and [ErrFull].
//
// Cost: two commands, one document. In the flat form without order keys inserts don't disturb each other, wherever they go;
// otherwise one that meets another change reads and decides again.
func (t *DocumentTree[E, N, K]) Insert(owner K, node E, at Place[N]) model.Change[DocumentState] {
	o, doc, p, err := t.insertion(owner, node, at)
	return t.t.change(o, err, func(s DocumentState) (model.Plan, error) { return t.t.insert(o, s, doc, p) })
}

// Move returns the change that takes a node, with all below it, to a place. Its errors are [ErrNoNode] and [ErrCycle].
// Moving a node next to itself, or to where it is, is a no-op that writes nothing.
//
// Cost: two commands, one document. The list is written whole, but with order keys two fields of one node; siblings get new keys
// when inserts at one place have made them long.
func (t *DocumentTree[E, N, K]) Move(owner K, id N, to Place[N]) model.Change[DocumentState] {
	o, n, err := t.ids(owner, id)
	p, errTo := t.place(to)
	if err == nil {
		err = errTo
	}
	return t.t.change(o, err, func(s DocumentState) (model.Plan, error) { return t.t.move(o, s, n, p) })
}

// Delete returns the change that deletes a node; the mode says what becomes of its children. Its errors are [ErrNoNode] and
// [ErrHasChildren]. Of several writers that delete a node at once, one succeeds, and the others get ErrNoNode.
//
// Cost: two commands, one document. A leaf, or in the flat form a subtree, is pulled; otherwise the list is written whole.
func (t *DocumentTree[E, N, K]) Delete(owner K, id N, mode DeleteMode) model.Change[DocumentState] {
	o, n, err := t.ids(owner, id)
	if err == nil && mode > Rootify {
		err = t.t.refused("mode", uint8(mode), "is not a DeleteMode")
	}
	return t.t.change(o, err, func(s DocumentState) (model.Plan, error) { return t.t.delete(o, s, n, mode) })
}

// Set returns the change that sets some fields of a node, by paths within it. The fields of the tree are refused, and so are paths
// that E doesn't have. Its errors are [ErrNoNode] and [ErrFull].
//
// Cost: two commands, one document. It doesn't disturb changes of other nodes, unless they move this one.
func (t *DocumentTree[E, N, K]) Set(owner K, id N, fields bson.D) model.Change[DocumentState] {
	o, n, err := t.ids(owner, id)
	set, errSet := t.t.fields(fields)
	if err == nil {
		err = errSet
	}
	return t.t.change(o, err, func(s DocumentState) (model.Plan, error) { return t.t.set(o, s, n, set) })
}

// Replace returns the change that stores a node in the place of the one with its id. What ties it to its parent, its siblings and its
// children is kept, whatever the new one says. Its errors are [ErrNoNode] and [ErrFull].
//
// Cost: two commands, one document. A change of the same node's fields that another writer makes between them is overwritten, as by
// any replacement, in the flat form; the nested one, and one with a Revision, reads again.
func (t *DocumentTree[E, N, K]) Replace(owner K, node E) model.Change[DocumentState] {
	o, err := t.owner(owner)
	doc, errNode := t.t.newNode(node)
	if err == nil {
		err = errNode
	}
	return t.t.change(o, err, func(s DocumentState) (model.Plan, error) { return t.t.replace(o, s, doc) })
}

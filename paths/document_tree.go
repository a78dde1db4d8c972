package paths

import (
	"iter"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"github.com/docmodel/docmodel/paths/internal/forest"
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
// Changes are a [model.Change]: they read the list, decide, and write with a filter that names what they decided by. One that
// finds another writer's change reads again, up to 64 times. Their errors are [model.ErrNotFound], [model.ErrTaken], [ErrCycle],
// [ErrHasChildren], [model.ErrFull] and [ErrDamaged]; an owner that isn't there is model.ErrNotFound too.
//
// A tree is read with its owner's document, by one query of the owners' collection; [DocumentTree.Arrange] puts its nodes in order.
//
// A document has 16 MiB, and is written and sent whole. A tree that may outgrow it, or of which one node is read at a time, is one of
// documents: see [Tree].
//
// Sources: "Tree Aggregation" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/reference/operator/update/push/.
//
// Checks returns one check of the trees within owners. It finds nodes that aren't nodes or have no id, ids that come twice, orphans,
// cycles, and siblings whose order keys are equal or missing; one finding for each damaged owner. A detail holds the list as it was
// read, and the problems: of each the kind (orphan, cycle, order, duplicate, notANode, notAList), the node's id, and its path.
//
// Mending does what [DocumentTree.Repair] does, without new ids: different nodes with one id stay as they are, and so does what isn't a
// node.
//
// Cost: one command in batches, which sends every list; mending, one write for each list.
type DocumentTree[E, N, K any] struct {
	model.Parts

	t *document.Tree
}

// NewDocumentTree declares that a list of the owners' documents is a tree of nodes E with ids N. It panics with a
// [*model.DeclarationError] when the path is no list of E, or lies in another, when a named field doesn't exist or has another type,
// when a bound is out of its range, or when Go's zero value of the parent's field would be stored as what may be an id, such as 0.
//
//	var comments = paths.NewDocumentTree[comment, string](posts, "comments", paths.DocumentTreeSpec{})
func NewDocumentTree[E, N, D, K any](owners *model.Collection[D, K], path string, spec DocumentTreeSpec) *DocumentTree[E, N, K] {
	t := document.Declare(owners.Docs(), owners.Name(), path, document.Spec(spec), reflect.TypeFor[E](), reflect.TypeFor[N]())
	out := &DocumentTree[E, N, K]{model.Parts{}, t}
	out.Parts = model.NewParts(nil, nil, out.t.Checks, out.t.Footprints)
	return out
}

// owner is an owner's _id, checked and encoded.
func (t *DocumentTree[E, N, K]) owner(id K) (bson.RawValue, error) { return t.t.RawID("_id", id) }

// ids are an owner's _id and a node's id.
func (t *DocumentTree[E, N, K]) ids(owner K, id N) (o, n bson.RawValue, err error) {
	if o, err = t.owner(owner); err == nil {
		n, err = t.t.NodeID(id)
	}
	return o, n, err
}

func (t *DocumentTree[E, N, K]) nodeID(id N) (bson.RawValue, error) { return t.t.NodeID(id) }

// newNode is a node of the caller's, encoded.
func (t *DocumentTree[E, N, K]) newNode(node E) (bson.Raw, error) { return t.t.NewNode(node) }

// insertion are the arguments of an insert.
func (t *DocumentTree[E, N, K]) insertion(owner K, node E, at Place[N]) (o bson.RawValue, doc bson.Raw, p forest.Place[bson.RawValue], err error) {
	if o, err = t.owner(owner); err == nil {
		doc, err = t.t.NewNode(node)
	}
	if err == nil {
		p, err = forest.PlaceOf(at.place, t.nodeID)
	}
	return o, doc, p, err
}

// Load returns the write that stores a whole tree in an owner that has none. The nodes come in any order, with their parents'
// ids, or nested. Siblings come in the order of their keys, or of the list; with order keys, those that have none, or each
// other's, get new ones. A tree that is not whole is refused: with [model.ErrTaken] for an id that comes twice,
// [model.ErrNotFound] for a parent that isn't there, [ErrCycle], [model.ErrFull]. An owner that has nodes gives [model.ErrTaken],
// one that isn't there [model.ErrNotFound].
//
// Cost: one command, one document, found by _id. It can be run again.
func (t *DocumentTree[E, N, K]) Load(owner K, nodes []E) model.Write {
	o, err := t.owner(owner)
	return t.t.Load(o, nodes, err)
}

// Push returns the write that adds a leaf at an end: as the first or last root, or child of a node. It is for the flat form
// without order keys; other trees, and other places, need what is stored: see [DocumentTree.Insert]. The node's fields of the
// tree are overwritten. Its errors are [model.ErrTaken], [model.ErrNotFound] and [model.ErrFull]; an owner that isn't there gives
// model.ErrNotFound.
//
// Cost: one command, one document, found by _id. It can be run again: a node that is stored as it was pushed is taken for this
// one's. One to five commands more tell why nothing was pushed.
func (t *DocumentTree[E, N, K]) Push(owner K, node E, at Place[N]) model.Write {
	o, doc, p, err := t.insertion(owner, node, at)
	return t.t.Push(o, doc, p, err)
}

// Patch returns the write that sets some fields of a node, by paths within it, in the flat form. The fields of the tree are
// refused, and so are paths that E doesn't have. A node or an owner that isn't there gives [model.ErrNotFound]. In a
// damaged list every node of the id is set; so it is with Pull.
//
// Cost: one command, one document, found by _id. The new values count for MaxBytes as if the old ones stayed;
// [DocumentTree.Set] counts what they replace.
func (t *DocumentTree[E, N, K]) Patch(owner K, id N, fields bson.D) model.Write {
	o, n, err := t.ids(owner, id)
	return t.t.Patch(o, n, fields, err)
}

// Pull returns the write that deletes a node that has no children, in the flat form. Its errors are [ErrHasChildren] and
// [model.ErrNotFound], for an owner that isn't there too. Run again after a lost answer, it gives model.ErrNotFound
// where it was applied, as [DocumentTree.Delete] does.
//
// Cost: one command, one document, found by _id. One or two commands more tell why nothing was deleted.
func (t *DocumentTree[E, N, K]) Pull(owner K, id N) model.Write {
	o, n, err := t.ids(owner, id)
	return t.t.Pull(o, n, err)
}

// Insert returns the change that adds a node at a place. The node's fields of the tree are overwritten, and a nested list that it
// brings along is refused unless it is empty: insert its nodes one by one. Its errors are [model.ErrTaken], [model.ErrNotFound]
// and [model.ErrFull].
//
// Cost: two commands, one document. In the flat form without order keys inserts don't disturb each other, wherever they go;
// otherwise one that meets another change reads and decides again.
func (t *DocumentTree[E, N, K]) Insert(owner K, node E, at Place[N]) model.Change[any] {
	o, doc, p, err := t.insertion(owner, node, at)
	return t.t.Insert(o, doc, p, err)
}

// Move returns the change that takes a node, with all below it, to a place. Its errors are [model.ErrNotFound] and [ErrCycle].
// Moving a node next to itself, or to where it is, is a no-op that writes nothing.
//
// Cost: two commands, one document. The list is written whole, but with order keys two fields of one node; siblings get new keys
// when inserts at one place have made them long.
func (t *DocumentTree[E, N, K]) Move(owner K, id N, to Place[N]) model.Change[any] {
	o, n, err := t.ids(owner, id)
	p, errTo := forest.PlaceOf(to.place, t.nodeID)
	if err == nil {
		err = errTo
	}
	return t.t.Move(o, n, p, err)
}

// Delete returns the change that deletes a node; the mode says what becomes of its children. Its errors are [model.ErrNotFound] and
// [ErrHasChildren]. Of several writers that delete a node at once, one succeeds, and the others get model.ErrNotFound.
//
// Cost: two commands, one document. A leaf, or in the flat form a subtree, is pulled; otherwise the list is written whole.
func (t *DocumentTree[E, N, K]) Delete(owner K, id N, mode DeleteMode) model.Change[any] {
	o, n, err := t.ids(owner, id)
	return t.t.Delete(o, n, forest.Mode(mode), err)
}

// Set returns the change that sets some fields of a node, by paths within it. The fields of the tree are refused, and so are paths
// that E doesn't have. Its errors are [model.ErrNotFound] and [model.ErrFull].
//
// Cost: two commands, one document. It doesn't disturb changes of other nodes, unless they move this one.
func (t *DocumentTree[E, N, K]) Set(owner K, id N, fields bson.D) model.Change[any] {
	o, n, err := t.ids(owner, id)
	return t.t.Set(o, n, fields, err)
}

// Replace returns the change that stores a node in the place of the one with its id. What ties it to its parent, its siblings and its
// children is kept, whatever the new one says. Its errors are [model.ErrNotFound] and [model.ErrFull].
//
// Cost: two commands, one document. A change of the same node's fields that another writer makes between them is overwritten, as by
// any replacement, in the flat form; the nested one, and one with a Revision, reads again.
func (t *DocumentTree[E, N, K]) Replace(owner K, node E) model.Change[any] {
	o, err := t.owner(owner)
	doc, errNode := t.t.NewNode(node)
	if err == nil {
		err = errNode
	}
	return t.t.Replace(o, doc, err)
}

// Repair returns the change that mends an owner's list, by one write, if it is as it was read; a list that is whole is not
// written. What it does:
//
//   - Of nodes with one id the first in the list keeps it, and the children that name it. A later one that is the same to the byte as
//     one before it is taken out. One that differs gets the next of the ids that are handed in; without one the repair is refused
//     with [model.ErrTaken].
//   - Orphans become roots, after the last one, with all that is below them.
//   - Cycles are cut at the node with the smallest id, which becomes a root, after the last one. Ids are compared as the
//     server sorts them.
//   - Siblings of whom some have no order key, or another's, get new ones, in the order that they have; equal ones come in the order
//     of the list.
//
// What is no node at all is left where it is, for a person to see: [DocumentTree.Checks] find it. Nothing else of a node is changed,
// and nothing is lost.
//
// Cost: two commands, one document.
func (t *DocumentTree[E, N, K]) Repair(owner K, fresh ...N) model.Change[any] {
	o, err := t.owner(owner)
	ids := make([]bson.RawValue, len(fresh))
	for i, id := range fresh {
		if err == nil {
			ids[i], err = t.nodeID(id)
		}
	}
	return t.t.Repair(o, ids, err)
}

// Arrange puts the nodes of a document that was read in preorder: parents before their children, siblings in order. Depths are below
// the roots. It sends nothing; what it is asked about nodes, [NewForest] makes a [Forest] of. Nodes that have no place in a damaged
// list are left out: [DocumentTree.Checks] find them.
func (t *DocumentTree[E, N, K]) Arrange(list []E) iter.Seq2[Visit[E], error] {
	return func(yield func(Visit[E], error) bool) {
		err := t.t.Arrange(list, func(node bson.Raw, depth int) bool {
			v := Visit[E]{Depth: depth}
			err := t.t.Decode(node, &v.Doc)
			return yield(v, err) && err == nil
		})
		if err != nil {
			yield(Visit[E]{}, err)
		}
	}
}

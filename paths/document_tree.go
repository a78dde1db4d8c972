package paths

import (
	"iter"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentTreeSpec names the fields of a tree in one document. ID, Parent, Order and
// Nested are fields of an element, without dots.
type DocumentTreeSpec struct {
	ID string // identifies a node within its document; "" means "id"

	// Parent is the field with the parent's id; "" means "parent". A root stores null. A
	// missing field, an empty string and a zero ObjectID also mean a root. The nested
	// form has no Parent.
	Parent string

	// Order is a string field that orders siblings by its bytes: see [Between]. "" means
	// that siblings have the order of the list. A new leaf is then pushed without a read.
	// The nested form has no Order.
	Order string

	// Nested is the field with the list of a node's children. "" means the flat form.
	Nested string

	// Revision is the path of an int64 in the owner, to which each change adds 1. Changes
	// that depend on the whole list then filter by Revision instead of by the list. All
	// other code that writes the list must increment it too. "" means none.
	Revision string

	Max      int // the most nodes of a document; 0 means as many as MaxBytes allows
	MaxBytes int // the most bytes of the document; 0 means 15 MiB, the maximum
}

// DocumentTree is a tree within one document, such as the comments of a post. E is the
// type of a node, N of its id, K of the _id of the document, which is the owner. Each
// change is one atomic write. So a reader never sees a part of a change, also after a
// crash, and concurrent moves can't make a cycle. Read the tree with the owner's
// document: [DocumentTree.Arrange] puts the nodes in order. Use a [Tree] for more than 16
// MiB, or to read single nodes.
//
// # Forms
//
// In the flat form, the owner has one list of nodes, with their parents' ids:
//
//	{_id: 'p1', comments: [{id: 'a', parent: null}, {id: 'b', parent: 'a'}]}
//
// In the nested form, each node has a list of its children:
//
//	{_id: 'p1', comments: [{id: 'a', replies: [{id: 'b'}]}]}
//
// In the flat form, queries and updates find a node by its id, at any depth.
// [DocumentTree.Push], [DocumentTree.Patch] and [DocumentTree.Pull] need one command
// each, and don't conflict with other writers. All changes of the nested form read the
// list first. A nested tree is at most 49 levels deep. Choose the nested form for small
// trees that are seldom written, if clients need this form.
//
// # Changes
//
// A [model.Change] reads the list, decides, and writes only if the values that it used
// are unchanged. Otherwise it reads again, up to 64 times. A missing owner gives
// [model.ErrNotFound]. A damaged list gives [ErrDamaged].
//
// # Checks
//
// Checks returns one check of all owners, with one finding per damaged owner. It finds
// elements that aren't nodes or have no id, repeated ids, orphans, cycles, and siblings
// with equal or missing order keys (DocumentTreeSpec.Order). A finding's detail contains
// the list and the problems. A problem has a kind (orphan, cycle, order, duplicate,
// notANode, notAList), the node's id, and its path. The repair is [DocumentTree.Repair]
// without new ids, so different nodes that share an id keep that id.
//
// Cost: one command, in batches, which sends every list. The repair takes one write per
// damaged list.
//
// Sources: "Tree Aggregation" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/reference/operator/update/push/.
type DocumentTree[E, N, K any] struct {
	model.Parts

	t *document.Tree
}

// NewDocumentTree declares that the list at a path of the owners is a tree of nodes E
// with ids N.
//
//	var comments = paths.NewDocumentTree[comment, string](posts, "comments", paths.DocumentTreeSpec{})
//
// It panics with a [*model.DeclarationError] if the path isn't a list of E or lies in a
// list, if a field is missing or has the wrong type, or if Max or MaxBytes is out of
// range. It also panics if the parent field of E's zero value would be stored as a
// possible id, such as 0. Declare this field as a pointer or with omitempty.
func NewDocumentTree[E, N, D, K any](owners *model.Collection[D, K], path string, spec DocumentTreeSpec) *DocumentTree[E, N, K] {
	t := document.Declare(owners.Docs(), owners.Name(), path, document.Spec(spec), reflect.TypeFor[E](), reflect.TypeFor[N]())
	out := &DocumentTree[E, N, K]{model.Parts{}, t}
	out.Parts = model.NewParts(nil, nil, out.t.Checks, out.t.Footprints)
	return out
}

// owner checks and encodes an owner's _id.
func (t *DocumentTree[E, N, K]) owner(id K) (bson.RawValue, error) { return t.t.RawID("_id", id) }

// ids checks and encodes an owner's _id and a node's id.
func (t *DocumentTree[E, N, K]) ids(owner K, id N) (o, n bson.RawValue, err error) {
	if o, err = t.owner(owner); err == nil {
		n, err = t.t.NodeID(id)
	}
	return o, n, err
}

func (t *DocumentTree[E, N, K]) nodeID(id N) (bson.RawValue, error) { return t.t.NodeID(id) }

// newNode encodes a node of the caller.
func (t *DocumentTree[E, N, K]) newNode(node E) (bson.Raw, error) { return t.t.NewNode(node) }

// insertion encodes the arguments of an insert.
func (t *DocumentTree[E, N, K]) insertion(owner K, node E, at Place[N]) (o bson.RawValue, doc bson.Raw, p forest.Place[bson.RawValue], err error) {
	if o, err = t.owner(owner); err == nil {
		doc, err = t.t.NewNode(node)
	}
	if err == nil {
		p, err = forest.PlaceOf(at.place, t.nodeID)
	}
	return o, doc, p, err
}

// Load returns the write that stores a whole tree in an owner without nodes. The nodes
// come in any order, with their parents' ids, or nested. With DocumentTreeSpec.Order,
// siblings are sorted by their order keys. If a key is missing or repeated, they get new
// keys. Without Order, siblings stay as listed. Errors are [model.ErrTaken] if an id
// comes twice or the owner has nodes, [model.ErrNotFound] for a missing parent or owner,
// [ErrCycle] and [model.ErrFull].
//
// Cost: one command, one document, by _id. A retry is a no-op.
func (t *DocumentTree[E, N, K]) Load(owner K, nodes []E) model.Write {
	o, err := t.owner(owner)
	return t.t.Load(o, nodes, err)
}

// Push returns the write that adds a node, without children, as the first or last root or
// child. The place decides the parent in node. Errors are [model.ErrTaken] if the id
// exists, [model.ErrNotFound] if the owner or the parent is missing, and [model.ErrFull]
// if Max or MaxBytes is exceeded. The nested form, a tree with DocumentTreeSpec.Order,
// and other values of place give a [*model.ValueError]: use [DocumentTree.Insert].
//
// Cost: one command, one document, by _id. If nothing was pushed, one to five more
// commands find the reason. A retry is a no-op if the stored node is equal.
func (t *DocumentTree[E, N, K]) Push(owner K, node E, place Place[N]) model.Write {
	o, doc, p, err := t.insertion(owner, node, place)
	return t.t.Push(o, doc, p, err)
}

// Patch returns the write that sets fields of a node. The parameter fields contains paths
// within the node, with their values. Fields of the tree, and paths that E doesn't have,
// give a [*model.ValueError]. So does the nested form: use [DocumentTree.Set]. Other
// errors are [model.ErrNotFound] and [model.ErrFull]. If a damaged list contains the id
// twice, Patch changes both nodes.
//
// Cost: one command, one document, by _id. MaxBytes counts the new values as if the old
// values stayed. [DocumentTree.Set] counts the difference.
func (t *DocumentTree[E, N, K]) Patch(owner K, id N, fields bson.D) model.Write {
	o, n, err := t.ids(owner, id)
	return t.t.Patch(o, n, fields, err)
}

// Pull returns the write that deletes a node without children. Errors are
// [ErrHasChildren] and [model.ErrNotFound]. The nested form gives a [*model.ValueError]:
// use [DocumentTree.Delete]. A retry after success gives model.ErrNotFound. In a damaged
// list, Pull deletes each node with the id.
//
// Cost: one command, one document, by _id. If nothing was deleted, one or two more
// commands find the reason.
func (t *DocumentTree[E, N, K]) Pull(owner K, id N) model.Write {
	o, n, err := t.ids(owner, id)
	return t.t.Pull(o, n, err)
}

// Insert returns the change that adds a node at a place. The place decides the parent and
// the order key in node. A node with nested children gives a [*model.ValueError]: insert
// the nodes one by one. Errors are [model.ErrTaken], [model.ErrNotFound] and
// [model.ErrFull].
//
// Cost: two commands, one document. In the flat form without DocumentTreeSpec.Order,
// inserts don't conflict with each other.
func (t *DocumentTree[E, N, K]) Insert(owner K, node E, place Place[N]) model.Change[any] {
	o, doc, p, err := t.insertion(owner, node, place)
	return t.t.Insert(o, doc, p, err)
}

// Move returns the change that moves a node, with its subtree, to a place. Errors are
// [model.ErrNotFound] and [ErrCycle]. Moving a node to where it is, or next to itself,
// writes nothing.
//
// Cost: two commands, one document. It writes the whole list or, with
// DocumentTreeSpec.Order, two fields of the node. Siblings get new order keys if theirs
// have become long.
func (t *DocumentTree[E, N, K]) Move(owner K, id N, place Place[N]) model.Change[any] {
	o, n, err := t.ids(owner, id)
	p, errTo := forest.PlaceOf(place.place, t.nodeID)
	if err == nil {
		err = errTo
	}
	return t.t.Move(o, n, p, err)
}

// Delete returns the change that deletes a node: see [DeleteMode]. Errors are
// [ErrHasChildren] and, even if another writer deleted the node first,
// [model.ErrNotFound].
//
// Cost: two commands, one document. The flat form (see [DocumentTree]) pulls a leaf or a
// subtree. Other deletions write the whole list.
func (t *DocumentTree[E, N, K]) Delete(owner K, id N, mode DeleteMode) model.Change[any] {
	o, n, err := t.ids(owner, id)
	return t.t.Delete(o, n, forest.Mode(mode), err)
}

// Set returns the change that sets fields of a node, in a flat or nested tree. The
// parameter fields and the errors are those of [DocumentTree.Patch].
//
// Cost: two commands, one document. If another writer changes the list meanwhile, the
// change reads again only if this node was moved.
func (t *DocumentTree[E, N, K]) Set(owner K, id N, fields bson.D) model.Change[any] {
	o, n, err := t.ids(owner, id)
	return t.t.Set(o, n, fields, err)
}

// Replace returns the change that stores node in place of the stored node with the same
// id. The position and the children stay. Errors are [model.ErrNotFound] and
// [model.ErrFull].
//
// Cost: two commands, one document. In the flat form without a Revision, Replace
// overwrites changes that others made to the node's fields after the read. In the nested
// form, or with a Revision, Replace reads again if the list changed.
func (t *DocumentTree[E, N, K]) Replace(owner K, node E) model.Change[any] {
	o, err := t.owner(owner)
	doc, errNode := t.t.NewNode(node)
	if err == nil {
		err = errNode
	}
	return t.t.Replace(o, doc, err)
}

// Repair returns the change that repairs an owner's list by one write. A sound list isn't
// written.
//
//   - The first of several nodes with one id keeps the id and the children. A later node
//     that is equal byte for byte is removed. A later node that differs gets the next id
//     of fresh. If fresh has no id left, Repair fails with [model.ErrTaken].
//   - Orphans become roots, and so does one node of each cycle: the node whose id the
//     server sorts first. They come after the other roots.
//   - Siblings with missing or equal order keys get new keys. Equal keys keep the order
//     of the list.
//
// Elements that aren't nodes stay.
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

// Arrange yields the nodes of an owner's list in preorder: parents before children,
// siblings by their order keys, or as listed. Roots have depth 0. It sends nothing. In a
// damaged list it leaves out orphans and cycles.
func (t *DocumentTree[E, N, K]) Arrange(elements []E) iter.Seq2[Visit[E], error] {
	return func(yield func(Visit[E], error) bool) {
		err := t.t.Arrange(elements, func(node bson.Raw, depth int) bool {
			v := Visit[E]{Depth: depth}
			err := t.t.Decode(node, &v.Doc)
			return yield(v, err) && err == nil
		})
		if err != nil {
			yield(Visit[E]{}, err)
		}
	}
}

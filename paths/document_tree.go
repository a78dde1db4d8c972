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

	// Order is a string field that orders siblings by its bytes: see [Between]. With "",
	// siblings have the order of the list, and a new leaf is pushed without a read. The
	// nested form has no Order.
	Order string

	// Nested is the field with the list of a node's children. "" means the flat form.
	Nested string

	// Revision is the path of an int64 in the owner that each change increments. Changes
	// that depend on the whole list then compare this number, not the list. All other
	// code that writes the list must also increment the number. "" means no number.
	Revision string

	Max      int // the most nodes of a document; 0 means as many as MaxBytes allows
	MaxBytes int // the most bytes of the document; 0 means 15 MiB, the maximum
}

// DocumentTree is a tree within one document (the owner), such as the comments of a post.
// E is the type of a node, N of its id, K of the owner's _id. Each change is one atomic
// write, so concurrent moves can't make a cycle. [DocumentTree.Arrange] sorts nodes that
// you have read. Use a [Tree] for more than 15 MiB, or to read single nodes.
//
// # Forms
//
// The flat form has one list of nodes, each with its parent's id:
//
//	{_id: 'p1', comments: [{id: 'a', parent: null}, {id: 'b', parent: 'a'}]}
//
// In the nested form (at most 49 levels), each node has a list of its children:
//
//	{_id: 'p1', comments: [{id: 'a', replies: [{id: 'b'}]}]}
//
// Prefer the flat form. Queries find its nodes by id at any depth. [DocumentTree.Push],
// [DocumentTree.Patch] and [DocumentTree.Pull] don't conflict with other writers.
//
// # Changes
//
// A [model.Change] reads the list, and writes only if the values that it used are
// unchanged. If a value has changed, the model.Change reads again, up to 64 times. A
// missing owner gives [model.ErrNotFound]. A damaged list gives [ErrDamaged].
//
// # Checks
//
// Checks returns one check. It finds invalid elements, repeated ids, orphans, cycles, and
// siblings with equal or missing order keys. The repair is [DocumentTree.Repair] without
// new ids. If different nodes share an id, run DocumentTree.Repair with fresh ids.
//
// Cost: one command reads every list, in batches. The repair takes one write per damaged
// list.
//
// Sources: "Tree Aggregation" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/reference/operator/update/push/.
type DocumentTree[E, N, K any] struct {
	model.Parts

	t *document.Tree
}

// NewDocumentTree declares that the owners' list at path is a tree of nodes E with ids N.
//
//	var comments = paths.NewDocumentTree[comment, string](posts, "comments", paths.DocumentTreeSpec{})
//
// Declare the parent field as a pointer or with omitempty. A root must not store a
// possible id, such as 0, as its parent. A bad path, type or spec panics with a
// [*model.DeclarationError].
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
// come in any order. If a sibling's key (DocumentTreeSpec.Order) is missing or repeated,
// all the siblings get new keys. Errors:
//   - [model.ErrTaken]: an id comes twice, or the owner has other nodes
//   - [model.ErrNotFound]: a parent or the owner is missing
//   - [ErrCycle], [model.ErrFull]
//
// Cost: one command, one document, by _id. A retry is safe.
func (t *DocumentTree[E, N, K]) Load(owner K, nodes []E) model.Write {
	o, err := t.owner(owner)
	return t.t.Load(o, nodes, err)
}

// Push returns the write that adds a node first or last among the roots, or among a
// node's children. Errors:
//   - [model.ErrTaken]: another node has the id
//   - [model.ErrNotFound]: the owner or the parent is missing
//   - [model.ErrFull]: Max or MaxBytes is exceeded
//
// Use [DocumentTree.Insert] if the tree is nested or has DocumentTreeSpec.Order, or for a
// place [Before] or [After] a node.
//
// Cost: one command, one document, by _id. A retry is safe.
func (t *DocumentTree[E, N, K]) Push(owner K, node E, place Place[N]) model.Write {
	o, doc, p, err := t.insertion(owner, node, place)
	return t.t.Push(o, doc, p, err)
}

// Patch returns the write that sets fields of a node in a flat tree ([DocumentTree]).
// fields has paths within the node, and values. Patch can't set the tree's own fields.
// Errors are [model.ErrNotFound] and [model.ErrFull]. For a nested tree, or near
// MaxBytes, use [DocumentTree.Set]: Patch's size check adds new values and subtracts no
// old values.
//
// Cost: one command, one document, by _id.
func (t *DocumentTree[E, N, K]) Patch(owner K, id N, fields bson.D) model.Write {
	o, n, err := t.ids(owner, id)
	return t.t.Patch(o, n, fields, err)
}

// Pull returns the write that deletes a node without children. Errors are
// [ErrHasChildren] and [model.ErrNotFound]. The nested form gives a [*model.ValueError]:
// use [DocumentTree.Delete]. A retry after success gives model.ErrNotFound. If
// several nodes have the id, Pull deletes all.
//
// Cost: one command, one document, by _id. If nothing was deleted, up to three
// more commands find the reason.
func (t *DocumentTree[E, N, K]) Pull(owner K, id N) model.Write {
	o, n, err := t.ids(owner, id)
	return t.t.Pull(o, n, err)
}

// Insert returns the change that adds a node at a place, which decides the node's parent
// and order key. The node must not contain children. Errors are [model.ErrTaken],
// [model.ErrNotFound] and [model.ErrFull]: see [DocumentTree.Push].
//
// Cost: two commands, one document.
func (t *DocumentTree[E, N, K]) Insert(owner K, node E, place Place[N]) model.Change[any] {
	o, doc, p, err := t.insertion(owner, node, place)
	return t.t.Insert(o, doc, p, err)
}

// Move returns the change that moves a node, with its subtree, to a place. Errors are
// [model.ErrNotFound], [ErrCycle] and [model.ErrFull].
//
// Cost: two commands, one document. It writes the whole list or, with
// DocumentTreeSpec.Order, usually two fields of the node.
func (t *DocumentTree[E, N, K]) Move(owner K, id N, place Place[N]) model.Change[any] {
	o, n, err := t.ids(owner, id)
	p, errTo := forest.PlaceOf(place.place, t.nodeID)
	if err == nil {
		err = errTo
	}
	return t.t.Move(o, n, p, err)
}

// Delete returns the change that deletes a node: see [DeleteMode]. Errors are
// [ErrHasChildren] and [model.ErrNotFound]. If another writer deleted the node
// first, the error is ErrNotFound.
//
// Cost: two commands, one document. In the flat form (see [DocumentTree]), a $pull
// deletes a leaf or a subtree. In all other cases, the whole list is written.
func (t *DocumentTree[E, N, K]) Delete(owner K, id N, mode DeleteMode) model.Change[any] {
	o, n, err := t.ids(owner, id)
	return t.t.Delete(o, n, forest.Mode(mode), err)
}

// Set returns the change that sets fields of a node, in a flat or nested tree. For fields
// and errors, see [DocumentTree.Patch].
//
// Cost: two commands, one document. In the nested form, the change reads again if another
// writer changed the node's position.
func (t *DocumentTree[E, N, K]) Set(owner K, id N, fields bson.D) model.Change[any] {
	o, n, err := t.ids(owner, id)
	return t.t.Set(o, n, fields, err)
}

// Replace returns the change that stores node in place of the stored node with the same
// id. The position and the children stay. Errors are [model.ErrNotFound] and
// [model.ErrFull].
//
// If DocumentTreeSpec.Nested and Revision are both empty, Replace overwrites concurrent
// changes of the node's fields.
//
// Cost: two commands, one document.
func (t *DocumentTree[E, N, K]) Replace(owner K, node E) model.Change[any] {
	o, err := t.owner(owner)
	doc, errNode := t.t.NewNode(node)
	if err == nil {
		err = errNode
	}
	return t.t.Replace(o, doc, err)
}

// Repair returns the change that repairs an owner's list:
//
//   - If nodes share an id, the first node keeps the id. In the flat form, this node
//     also keeps all children. A later equal node is removed. A different node gets the
//     next id of fresh. A missing or used id gives [model.ErrTaken].
//   - Nodes with a missing parent, and one node of each cycle, become the last roots.
//   - Siblings with missing or equal order keys get new keys.
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

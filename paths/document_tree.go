package paths

import (
	"iter"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DocumentTreeSpec names the fields of a [DocumentTree]. ID, Parent, Order and Nested are
// a node's fields, without dots. If you set Nested, leave Parent and Order empty.
type DocumentTreeSpec struct {
	ID string // the field with a node's id; "" means "id"

	// Parent is the field with the parent's id; "" means "parent". In a root, the field
	// is missing, null, "" or the zero ObjectID.
	Parent string

	// Order is a string field that sorts siblings by bytes: see [Between]. With "",
	// siblings are sorted as in the list of nodes.
	Order string

	// Nested is the field with a node's list of children. "" means the flat form.
	Nested string

	// Revision is the path of a change counter, an int64 in the owner document. To detect
	// concurrent writes, a change compares the counter, not the whole list. If you write
	// to the list yourself, increment the counter. "" means no counter.
	Revision string

	Max      int // maximum number of nodes; 0 means no maximum
	MaxBytes int // maximum size of the document; 0 means 15 MiB, the greatest value
}

// DocumentTree is a tree within one document (the owner), such as the comments of a post.
// E is a node, N is a node's id, and K is the owner's _id.
//
// Each change is one atomic write. For more than 15 MiB, or if most reads are of single
// nodes, use a [Tree].
//
// # Forms
//
// In the flat form, each node has its parent's id:
//
//	{_id: 'p1', comments: [{id: 'a', parent: null}, {id: 'b', parent: 'a'}]}
//
// In the nested form (at most 49 levels), each node has a list of its children:
//
//	{_id: 'p1', comments: [{id: 'a', replies: [{id: 'b'}]}]}
//
// Prefer the flat form. Its queries find a node's id at any depth. Its
// [DocumentTree.Push], [DocumentTree.Patch] and [DocumentTree.Pull] never conflict with
// other writers.
//
// # Queries
//
// Queries such as [DocumentTree.Children] return nodes of one owner. In the nested form,
// a node comes without its list of children. A missing owner or node gives no results,
// and a damaged list can give wrong results. Each query costs one command by _id. The
// server reads the whole document, and returns only the result. If you need the whole
// tree, read the owner and use [DocumentTree.Arrange]. A tree in one document has no
// Settled, because each read of the document sees whole changes.
//
// # Errors
//
// A missing owner gives [model.ErrNotFound]. A damaged list gives [ErrDamaged].
//
// Sources: "Tree Aggregation" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/reference/operator/update/push/.
//
// # Checks
//
// Checks returns one check, which finds:
//   - invalid elements, and repeated ids
//   - missing parents, and cycles
//   - siblings with equal or missing order keys
//
// The repair leaves invalid elements unchanged. If different nodes share an id, run
// [DocumentTree.Repair] with new ids.
//
// Cost: one command reads every list, in batches. The repair writes each changed list.
type DocumentTree[E, N, K any] struct {
	model.Parts

	t     *document.Tree
	query func(mongo.Pipeline) *model.Aggregate[E]
}

// NewDocumentTree declares that the owners' list at path is a tree of nodes E with ids N.
//
//	var comments = paths.NewDocumentTree[comment, string](posts, "comments", paths.DocumentTreeSpec{})
//
// A root must not store 0 as parent id. If ids aren't strings or ObjectIDs, tag E's
// parent field (DocumentTreeSpec.Parent) omitempty, or use a pointer. A bad path, type
// or spec panics with a [*model.DeclarationError].
func NewDocumentTree[E, N, D, K any](
	owners *model.Collection[D, K], path string, spec DocumentTreeSpec,
) *DocumentTree[E, N, K] {
	t := document.DeclareTree(owners.Docs(), owners.Name(), path, document.Spec(spec),
		reflect.TypeFor[E](), reflect.TypeFor[N]())
	out := &DocumentTree[E, N, K]{
		t:     t,
		query: func(p mongo.Pipeline) *model.Aggregate[E] { return model.AggregateAs[E](owners, p) },
	}
	out.Parts = model.NewParts(nil, nil, out.t.ListChecks, out.t.ListFootprints).WithDocs(owners.Docs()).
		WithReactions(func() []model.Reaction { return nil })
	return out
}

// owner checks and encodes an owner's _id.
func (t *DocumentTree[E, N, K]) owner(id K) (bson.RawValue, error) { return t.t.RawID("_id", id) }

// ids checks and encodes an owner's _id and a node's id.
func (t *DocumentTree[E, N, K]) ids(owner K, id N) (o, n bson.RawValue, err error) {
	if o, err = t.owner(owner); err == nil {
		n, err = t.t.EncodeNodeID(id)
	}
	return o, n, err
}

func (t *DocumentTree[E, N, K]) nodeID(id N) (bson.RawValue, error) { return t.t.EncodeNodeID(id) }

// newNode encodes a node of the caller.
func (t *DocumentTree[E, N, K]) newNode(node E) (bson.Raw, error) { return t.t.EncodeNode(node) }

// insertion encodes the arguments of an insert.
func (t *DocumentTree[E, N, K]) insertion(
	owner K, node E, at Place[N],
) (o bson.RawValue, doc bson.Raw, p forest.Place[bson.RawValue], err error) {
	if o, err = t.owner(owner); err == nil {
		doc, err = t.t.EncodeNode(node)
	}
	if err == nil {
		p, err = forest.ConvertPlace(at.place, t.nodeID)
	}
	return o, doc, p, err
}

// Load returns the write that stores a whole tree in an owner without nodes. Pass nodes
// in any order. If one sibling lacks or repeats an order key (DocumentTreeSpec.Order), it
// and its siblings get new keys. Errors:
//   - [model.ErrTaken]: two nodes have one id, or the owner has other nodes
//   - [model.ErrNotFound]: the owner or a node's parent is missing
//   - [ErrCycle], [model.ErrFull]
//
// Cost: one command, one document, by _id. A retry is safe.
func (t *DocumentTree[E, N, K]) Load(owner K, nodes []E) model.Write {
	o, err := t.owner(owner)
	if err != nil {
		return model.Refused(t.t.Owners, err)
	}
	return t.t.LoadTree(o, nodes)
}

// Push returns the write that adds a first or last root, or a first or last child of a
// node. Errors:
//   - [model.ErrTaken]: another node has the id
//   - [model.ErrNotFound]: the owner or the parent is missing
//   - [model.ErrFull]: [DocumentTreeSpec].Max or MaxBytes is exceeded
//
// Push refuses nested trees, trees with DocumentTreeSpec.Order, and the places [Before]
// and [After]. Use [DocumentTree.Insert] instead.
//
// Cost: one command, one document, by _id. A retry is safe.
func (t *DocumentTree[E, N, K]) Push(owner K, node E, place Place[N]) model.Write {
	o, doc, p, err := t.insertion(owner, node, place)
	if err != nil {
		return model.Refused(t.t.Owners, err)
	}
	return t.t.PushNode(o, doc, p)
}

// Patch returns the write that sets fields of a node in a flat tree. Each key of fields
// is a path within the node. Patch can't set fields that DocumentTreeSpec names. Errors
// are [model.ErrNotFound] and [model.ErrFull]. ErrFull can come although the new values
// would fit. After ErrFull, or for a nested tree, use [DocumentTree.Set].
//
// Cost: one command, one document, by _id.
func (t *DocumentTree[E, N, K]) Patch(owner K, id N, fields bson.D) model.Write {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return model.Refused(t.t.Owners, err)
	}
	return t.t.PatchNode(o, n, fields)
}

// Pull returns the write that deletes a leaf of a flat tree ([DocumentTree]). If several
// leaves have this id, all are deleted. Errors are [ErrHasChildren] and
// [model.ErrNotFound]. A retry after success gives model.ErrNotFound. For a nested tree,
// use [DocumentTree.Delete].
//
// Cost: one command, one document, by _id. If nothing is deleted, up to three more
// commands find the reason.
func (t *DocumentTree[E, N, K]) Pull(owner K, id N) model.Write {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return model.Refused(t.t.Owners, err)
	}
	return t.t.PullNode(o, n)
}

// Insert returns the change that adds a node at a place. The place decides the node's
// parent and order key. The node must not contain children. Errors are [model.ErrTaken],
// [model.ErrNotFound] and [model.ErrFull]: see [DocumentTree.Push].
//
// Cost: two commands, one document.
func (t *DocumentTree[E, N, K]) Insert(owner K, node E, place Place[N]) model.Change {
	o, doc, p, err := t.insertion(owner, node, place)
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.InsertNode(o, doc, p)
}

// Move returns the change that moves a node, with its subtree, to a place. Errors are
// [model.ErrNotFound], [ErrCycle] and [model.ErrFull].
//
// Cost: two commands, one document. With DocumentTreeSpec.Order, Move usually writes only
// two fields of the node. Without Order, Move can write all nodes.
func (t *DocumentTree[E, N, K]) Move(owner K, id N, place Place[N]) model.Change {
	o, n, err := t.ids(owner, id)
	p, errTo := forest.ConvertPlace(place.place, t.nodeID)
	if err == nil {
		err = errTo
	}
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.MoveNode(o, n, p)
}

// Delete returns the change that deletes a node. The parameter mode decides what happens
// to the node's children. Errors are [ErrHasChildren] and [model.ErrNotFound]. A retry
// after success gives model.ErrNotFound.
//
// Cost: two commands, one document. In a flat tree ([DocumentTree]), a leaf or a subtree
// is deleted by $pull. Other deletions write the whole list.
func (t *DocumentTree[E, N, K]) Delete(owner K, id N, mode DeleteMode) model.Change {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.DeleteNode(o, n, forest.Mode(mode))
}

// Set returns the change that sets fields of a node, in a flat or nested tree. For fields
// and errors, see [DocumentTree.Patch].
//
// Cost: two commands, one document. In the nested form, the change reads again if another
// writer changed the node's position.
func (t *DocumentTree[E, N, K]) Set(owner K, id N, fields bson.D) model.Change {
	o, n, err := t.ids(owner, id)
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.SetNode(o, n, fields)
}

// Replace returns the change that replaces a stored node by a new node with the same id.
// The position and the children stay. Errors are [model.ErrNotFound] and [model.ErrFull].
//
// In a flat tree ([DocumentTree]) without DocumentTreeSpec.Revision, Replace overwrites
// concurrent changes of the node's fields.
//
// Cost: two commands, one document.
func (t *DocumentTree[E, N, K]) Replace(owner K, node E) model.Change {
	o, err := t.owner(owner)
	doc, errNode := t.t.EncodeNode(node)
	if err == nil {
		err = errNode
	}
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.ReplaceNode(o, doc)
}

// Repair returns the change that repairs an owner's list:
//
//   - If nodes share an id, the first keeps the id. In a flat tree, the first gets all
//     children. Exact copies of earlier nodes are removed. Others get ids from fresh.
//     Too few ids in fresh, or an id in use, give [model.ErrTaken].
//   - Nodes with a missing parent, and one node of each cycle, become the last roots.
//   - If a sibling has a missing or repeated order key, all siblings get new keys. They
//     keep the order of [DocumentTree.Arrange].
//
// Cost: two commands, one document.
func (t *DocumentTree[E, N, K]) Repair(owner K, fresh ...N) model.Change {
	o, err := t.owner(owner)
	ids := make([]bson.RawValue, len(fresh))
	for i, id := range fresh {
		if err == nil {
			ids[i], err = t.nodeID(id)
		}
	}
	if err != nil {
		return t.t.RefuseChange(err)
	}
	return t.t.RepairList(o, ids)
}

// Arrange yields the nodes of an owner's list in preorder, parents before children.
// Siblings are sorted by their order keys. Without order keys, siblings keep the list's
// order. Roots have depth 0. Arrange sends no command. It leaves out orphans, cycles,
// invalid elements, and later nodes with a repeated id.
func (t *DocumentTree[E, N, K]) Arrange(elements []E) iter.Seq2[Visit[E], error] {
	return func(yield func(Visit[E], error) bool) {
		err := t.t.ArrangeNodes(elements, func(node bson.Raw, depth int) bool {
			v := Visit[E]{Depth: depth}
			err := t.t.Decode(node, &v.Doc)
			return yield(v, err) && err == nil
		})
		if err != nil {
			yield(Visit[E]{}, err)
		}
	}
}

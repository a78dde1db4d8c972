package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/convert"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Convert returns the change that adds the fields of a second tree (target) to
// the documents of a tree (source). Both trees must be declared over one collection with
// equal [TreeSpec]s, else Convert gives a [*model.ValueError]. If writers still use the
// first tree, run Convert again to copy their changes. When all clients use the second
// tree, [Tree.Drop] removes the old fields.
//
// If the second tree has a unique index (materialized path, nested set), create it after
// Convert, and before writers use that tree. [model.New] refuses two trees of one
// collection.
//
// A crash leaves some documents without the new fields, and the first tree whole. Then
// run Convert again.
//
// Cost: that of the second tree's repair: see [Tree].
func Convert[D, K any](source, target *Tree[D, K]) model.Change[any] {
	mustHave("Convert", source != nil && target != nil)
	return target.t.Converted(source.t)
}

// mustHave panics if a tree is nil.
func mustHave(place string, there bool) {
	if !there {
		core.Fail("a tree is nil", place, "give a result of NewParentTree, NewDocumentTree or another constructor")
	}
}

// IntoSpec says where nodes go in another tree: see [ConvertInto] and [Extract].
type IntoSpec[K any] struct {
	Under *K // the target's node that becomes the roots' parent; nil means that they become roots

	// Delete deletes target nodes that the source doesn't have: below Under, or in the
	// whole tree if Under is nil. Without Delete these nodes stay, after their siblings
	// from the source.
	Delete bool
}

// ConvertInto returns the job that copies a tree to another collection, in any
// representation and with another type of documents. Run it again to bring the target up
// to date.
//
// The function build returns the target's document, with its _id, for a document of the
// source. The job fills in the tree's fields. The function must be pure and return each
// _id once. A nil build, or trees of one collection, panic with a
// [*model.DeclarationError]: use [Convert] for one collection.
//
// The job stores missing nodes and replaces nodes that differ. A replaced node loses
// fields that others added in the target. Siblings get the source's order and keys. First
// create the target's indexes ([model.Model.Indexes]).
//
// # Steps
//
//  1. read the source and the target, and compare them
//  2. with Delete, delete nodes now if one of them has a unique path or number that
//     another node needs
//  3. give temporary paths or numbers to remaining nodes whose path or number another
//     node needs
//  4. store missing nodes in preorder, then write nodes that differ
//  5. with Delete, delete nodes, if step 2 didn't
//  6. check the target
//
// Each batch of steps 2 to 5 runs under the target's lease. Readers don't find the nodes
// of step 3 by path or number until step 4.
//
// An interrupted job begins anew and keeps the nodes that are done. If nodes vanish
// meanwhile, or others write the target, the job begins anew, up to 8 times in all. Then
// it returns [model.ErrStale].
//
// Progress.Documents counts the nodes in the source, Progress.Writes the target nodes to
// insert, change or delete, and Progress.Modified those that are done.
// JobOptions.BatchSize is the number of nodes per lease; 0 means 500. A dry run only
// reads.
//
// Errors are:
//
//   - [model.ErrNotFound]: the target has no node with the _id IntoSpec.Under.
//   - [model.ErrTaken]: build returned one _id twice, or the target has the _id, but not
//     below Under.
//   - [ErrSegment]: a path can't contain a segment, or two nodes would have one path.
//   - [ErrDamaged]: a tree must be repaired first.
//   - [model.ErrLeased]: another writer holds the target's lease.
//   - any error that build returns
//
// After ErrStale, ErrLeased, or an error of build for a document that changed meanwhile,
// the target can be half written: run the job again. The other errors come before an
// attempt writes, so only an earlier attempt can have written.
//
// Cost: one command, in batches, for the source and one for the target. Each batch of
// nodes that differ takes one command that reads their documents again, two for the
// lease, and one to three that write. Then comes the check of the target: see [Tree]. If
// nothing differs, two commands. It needs memory for the tree's fields of all nodes, and
// for one batch of documents.
func ConvertInto[D, K, E, L any](source *Tree[D, K], target *Tree[E, L], build func(D) (E, error), spec IntoSpec[L]) model.Job {
	mustHave("ConvertInto", source != nil && target != nil)
	place := "ConvertInto of " + source.t.Collection + " to " + target.t.Collection
	if source.t.Collection == target.t.Collection {
		core.Fail("both trees are in the same collection", place, "use Convert")
	}
	if build == nil {
		core.Fail("build is nil", place, "give a function that makes the target's documents")
	}
	under, err := target.under(spec)
	return convert.Job(convert.OfTree(source.t, through(source.t.Decode, build, target.document), bson.RawValue{}), target.t, under, spec.Delete, err)
}

// under encodes the _id of spec.Under, if it has one.
func (t *Tree[D, K]) under(spec IntoSpec[K]) (id bson.RawValue, err error) {
	if spec.Under != nil {
		id, err = t.id(*spec.Under)
	}
	return id, err
}

// through decodes a document, calls make, and encodes the result.
func through[D, E any](decode func(bson.Raw, any) error, make func(D) (E, error), encode func(E) (bson.Raw, error)) func(bson.Raw) (bson.Raw, error) {
	return func(raw bson.Raw) (bson.Raw, error) {
		var d D
		if err := decode(raw, &d); err != nil {
			return nil, err
		}
		e, err := make(d)
		if err != nil {
			return nil, err
		}
		return encode(e)
	}
}

package paths

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Convert returns the change that makes a tree also a tree of another representation of the same documents, with the same links:
// each document gets the fields of the other one, where it hasn't got them yet. The fields of the first stay, so that its readers
// and writers go on; what they change afterwards, Convert brings up to date when it is run again. Once all have gone over to the
// other representation, [Tree.Drop] takes the old fields away.
//
// Make the indexes of the other tree after the data: run Convert, then model.Indexes(to).Ensure, and then let writers use the other
// tree. Documents that don't have its fields yet are equal in a unique index, that of a [MaterializedPath] or a [NestedSet]: made
// before, it fails with a duplicate key, and it refuses what the first tree's writers insert. Other indexes can be made at any time.
// While both trees are written, go without the unique index; Convert and [Tree.Checks] need none.
//
// Both must be declared over one collection with equal [Links] and [TreeSpec]s, else it is refused.
//
// A cut leaves some documents with the other's fields and some without; the first tree is whole all the while. Run it again.
//
// Cost and consistency: those of mending the other tree: see [Tree.Checks].
func Convert[D, K any](from, to *Tree[D, K]) model.Change[State] {
	mustTree("Convert", from)
	mustTree("Convert", to)
	c := to.t.repair(to.lease)
	if from.t.docs != to.t.docs || from.t.links != to.t.links || from.lease.ID != to.lease.ID || from.lease.Collection != to.lease.Collection {
		c.Err = to.t.refused("Links", nil, "the trees are not of the same documents, links and locks")
	}
	return c
}

// mustTree panics for a tree that isn't there.
func mustTree[D, K any](place string, t *Tree[D, K]) {
	if t == nil {
		panic(&model.DeclarationError{Problem: "a tree is nil", Place: place, Remedy: "give what a representation's Tree method returned"})
	}
}

// mustDocumentTree panics for a tree that isn't there.
func mustDocumentTree[E, N, K any](place string, t *DocumentTree[E, N, K]) {
	if t == nil {
		panic(&model.DeclarationError{Problem: "a tree within documents is nil", Place: place, Remedy: "give what NewDocumentTree returned"})
	}
}

// IntoSpec says how a tree is brought into the collection of another: see [ConvertInto] and [Extract].
type IntoSpec[K any] struct {
	Under *K // the node of the target below which the roots go; nil means that they become roots

	// Delete has the nodes of the target deleted that the source doesn't have: below Under, or all. Without it they stay, after the
	// siblings that the source has.
	Delete bool

	BatchSize int // how many nodes are written under one lease; 0 means 500
	Attempts  int // how often to begin anew when others write meanwhile; 0 means 8
}

// A Conversion brings the nodes of a tree into another tree, and up to date when it is run again. Make it with [ConvertInto] or
// [Extract].
type Conversion struct{ c *conversion }

// Converted is what a conversion did.
type Converted struct {
	Nodes    int // of the source
	Inserted int
	Updated  int // nodes of the target that were written
	Deleted  int
	Kept     int // nodes of the target that the source doesn't have, and that stay
	Attempts int
}

// ConvertInto declares that a tree is to be had in another collection too: by any representation, and of any type of documents.
// make gives the target's document for one of the source, with its _id; what ties it to the tree is filled in. make must be pure,
// and give no _id twice.
//
//	moved := paths.ConvertInto(oldTree, newTree, func(c oldCategory) (category, error) {
//		return category{ID: c.Slug, Name: c.Title}, nil
//	}, paths.IntoSpec[string]{})
//
// It panics with a [*model.DeclarationError] for trees of one collection, which [Convert] is for, when make is nil, and when a
// number of the spec is negative.
//
// Make the indexes of the target before the data, by model.Indexes(to).Ensure: Run finds nodes by them, and keeps to the unique ones
// with each batch.
//
// [Conversion.Run] stores what is missing, and writes what differs: a document that says what make gives, beside the fields of the
// tree, is not written. Siblings have the source's order, and its keys. A document that differs becomes what make gives: fields that
// others have added to it in the target go. Both trees stay in use meanwhile: see [Conversion.Run].
func ConvertInto[D, K, E, L any](from *Tree[D, K], to *Tree[E, L], make func(D) (E, error), spec IntoSpec[L]) *Conversion {
	mustTree("ConvertInto", from)
	mustTree("ConvertInto", to)
	place := "ConvertInto of " + from.t.docs + " to " + to.t.docs
	if from.t.docs == to.t.docs {
		panic(&model.DeclarationError{Problem: "both trees are in one collection", Place: place, Remedy: "use Convert"})
	}
	if make == nil {
		panic(&model.DeclarationError{Problem: "make is nil", Place: place, Remedy: "give a function that makes the target's documents"})
	}
	c := conversionTo(to, spec, place)
	c.from = from.t.origin(func(raw bson.Raw) (bson.Raw, error) {
		var d D
		if err := from.docs.Decode(raw, &d); err != nil {
			return nil, err
		}
		e, err := make(d)
		if err != nil {
			return nil, err
		}
		return document(to.docs.Insert(e))
	}, bson.RawValue{})
	return &Conversion{c}
}

// Run runs the conversion to its end.
//
// The source is read twice at most: once wholly, and what has to be stored once more, in batches. The target is read once, and what
// was written is checked. Nodes that are missing are stored in preorder, then those that differ are written, a batch at a time, each
// under the target's lease; so a node's parent is there before it. Where a unique index would be in the way, a node first gives up
// its path or its numbers, and gets the new ones with its batch: whoever reads the target by them meanwhile misses it. Deletions
// come last, or, where what is deleted is in the way, first.
//
// A run that was cut can be run again, from any cut, and one that is over changes nothing when it is run again. What writers of
// the source change meanwhile the next run brings over. When nodes vanish during a run, or somebody writes the target, it begins
// anew, up to Attempts times, then it returns model.ErrStale. When it returns nil, the target was a whole tree.
//
// Errors are [ErrNoNode] when Under isn't there; [ErrExists] when two nodes get one _id, or a node's _id is in the target
// elsewhere than below Under; [ErrSegment] when a node can't have its path, or two would have one; [ErrDamaged] for a tree that has
// to be repaired first; those of make; and [model.ErrLeased]. An attempt that ends with one of these has written nothing, but with
// [model.ErrLeased], which can come between batches.
//
// Cost: one command, in batches, that reads all of the source, and one that reads all of the target. For each batch of nodes that
// differ, one that reads those whose content does, two for the lease, and one to three that write; in the end those of
// [Tree.Checks] of the target. Some 2 KB of memory for each node; documents are held a batch at a time.
func (c *Conversion) Run(ctx context.Context, db *mongo.Database) (Converted, error) {
	return c.c.run(runctx.Deciding(ctx), db)
}

// Compare says what Run would write now, and writes nothing. Its errors are those of Run that come before anything is written.
//
// Cost: one command, in batches, that reads all of the source, and one that reads all of the target.
func (c *Conversion) Compare(ctx context.Context, db *mongo.Database) (Converted, error) {
	s, err := c.c.survey(ctx, db)
	if err != nil {
		return Converted{}, err
	}
	return s.would(), nil
}

// conversionTo is a conversion without its origin.
func conversionTo[E, L any](to *Tree[E, L], spec IntoSpec[L], place string) *conversion {
	c := &conversion{to: to.t, lease: to.lease, remove: spec.Delete, size: spec.BatchSize, attempts: spec.Attempts}
	if c.size < 0 || c.attempts < 0 {
		panic(&model.DeclarationError{Problem: fmt.Sprintf("BatchSize %d, Attempts %d", c.size, c.attempts), Place: place, Remedy: "give 0 or more"})
	}
	if c.size == 0 {
		c.size = 500
	}
	if c.attempts == 0 {
		c.attempts = 8
	}
	if spec.Under != nil {
		c.under, c.err = to.id(*spec.Under)
	}
	return c
}

// document is the document of an insert.
func document(w model.Write) (bson.Raw, error) {
	if w.Err != nil {
		return nil, w.Err
	}
	return inserted(w), nil
}

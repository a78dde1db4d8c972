package denorm

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Subset keeps the newest n children of a parent, or the first n in any order of theirs, in the parent itself, beside the
// children, which have a collection of their own: the ten newest comments in the post, and all of them under comments. A page
// that shows the post needs one document; who wants more pages through the rest. Make it with [NewSubset].
//
// An element holds the child's _id and the fields that are copied; the array is sorted, and never longer than n.
//
// # Consistency
//
// The children say what is true. A child and its parent are two writes; a cut between them leaves an array that lacks a new
// child, or still has the old fields of one. [Subset.Checks] finds it, and [Subset.Refresh] mends it.
//
// What replaces the array asks that it is as it was read, and otherwise reads again; what fills it up with children that it
// didn't hold, or pushes a changed child, is looked at again afterwards; a new child is pushed by its _id. So none that is pushed
// meanwhile is lost, and none comes twice. Two races are left open: a deletion that meets a change of the same child can leave
// its element, and so can, with its old fields, an insertion that meets a change of the child before it has returned.
//
// Source: recent comments (seeds 000, 003); the Subset pattern,
// https://www.mongodb.com/company/blog/building-with-patterns-the-subset-pattern.
type Subset[P, PK, C, CK any] struct {
	parents  *model.Collection[P, PK]
	children *model.Collection[C, CK]
	s        *subset
}

// SubsetSpec says what a [Subset] keeps. Max and By are required.
type SubsetSpec struct {
	Max int // how many children the parent holds; at least 1

	// By is the order of the children, the kept ones first: {time: -1}. The _id is added to it, in the direction of its last
	// field, so that it is total. Its fields are copied, and every child must have them: don't leave them out when empty.
	By bson.D

	// Fields are the paths of a child that its element holds, beside _id, under the same names; they must not lie within an
	// array. Nil means the whole child; then elements must be of the children's type.
	Fields []string
}

// NewSubset declares that the children hold their parent's _id at the path ref, and that the array at a path of the parents
// holds the first of them. It panics with a [*model.DeclarationError] when a path doesn't exist, when ref holds another type
// than the parents' _id, when the array lies inside another or can be stored as null, when its elements lack a copied field
// or _id or have it in another type, and when Max or By make no sense.
func NewSubset[P, PK, C, CK any](children *model.Collection[C, CK], ref string, parents *model.Collection[P, PK], path string, spec SubsetSpec) *Subset[P, PK, C, CK] {
	s := &subset{stored: storedIn(children), parents: parents.Name(), ref: ref, path: path, max: spec.Max, whole: spec.Fields == nil}
	s.declare(spec, declaring{
		child:  func(path string) model.Field { return model.MustField(children, path) },
		parent: func(path string) model.Field { return model.MustField(parents, path) },
		array:  func(path string) model.Field { return model.CheckArray(parents, path) },
	})
	if fields, _ := model.ShapeOf(children).Fields(); s.whole {
		for _, f := range fields { // elements hold them as they are stored, whatever version the child is of
			model.MustField(children, f.Name)
		}
	}
	return &Subset[P, PK, C, CK]{parents, children, s}
}

// Insert returns the plan that stores a child and pushes it into its parent's array, which drops what is over the bound. A
// child that isn't among the first goes in and is dropped at once. A parent that is not there gives model.ErrStale; the child
// is stored then.
//
// Cost: two commands, two documents. It can be run again. Cut, it leaves an array without the child.
func (x *Subset[P, PK, C, CK]) Insert(child C) model.Plan {
	w := x.children.Insert(child)
	if w.Err != nil {
		return model.NewPlan(w)
	}
	return x.s.insert(w)
}

// Set returns the change that sets fields of a child by their paths, and its element, if it is or comes among the first; nil
// stores null. With the reference among the fields it moves to another parent.
//
// The child is read anew, and its write is guarded by the copied fields and the reference. A child that is not there gives
// model.ErrNotFound.
//
// Cost: two commands to read; one for the child, and one or two for each parent whose array changes; and one to look again when
// its place changed. It can be run again, and completes itself. Cut, it leaves an array with the child's old fields
// or place.
func (x *Subset[P, PK, C, CK]) Set(child CK, fields bson.D) model.Change[SubsetState] {
	set, err := x.s.fields(fields, x.s.fixed())
	return x.change(child, err, func(s SubsetState) (model.Plan, error) { return x.s.set(s, set) },
		func(doc bson.Raw) ([]bson.RawValue, error) { return x.s.parentsOf(doc, set) })
}

// Delete returns the change that takes a child out of its parent's array, where the next one takes its place, and deletes it.
// A child that is not there is no error: nothing is written.
//
// Cost: two commands to read, and two to write if the parent held it; and one to look again when the next took its place. Cut, it
// leaves an array without a child that is there: run it again.
func (x *Subset[P, PK, C, CK]) Delete(child CK) model.Change[SubsetState] {
	change := x.change(child, nil, x.s.delete, func(doc bson.Raw) ([]bson.RawValue, error) { return x.s.parentsOf(doc, nil) })
	read := change.Read
	change.Read = func(ctx context.Context, db *mongo.Database) (SubsetState, error) {
		s, err := read(ctx, db)
		return s, ignoreNotFound(err)
	}
	return change
}

// change reads a child and the parents that it concerns, and decides from both.
func (x *Subset[P, PK, C, CK]) change(child CK, err error, decide func(SubsetState) (model.Plan, error), parents func(bson.Raw) ([]bson.RawValue, error)) model.Change[SubsetState] {
	id, idErr := encodedID(x.children, child)
	if err == nil {
		err = idErr
	}
	return model.Change[SubsetState]{Err: err, Decide: decide, Then: x.again(decide), Read: func(ctx context.Context, db *mongo.Database) (s SubsetState, err error) {
		q := model.Query{Collection: x.s.docs, Filter: bson.D{{Key: "_id", Value: model.Eq(id)}}, Index: model.IDIndex}
		if s.Child, err = (model.Find[bson.Raw]{Query: q}).One(ctx, db); err != nil {
			return s, err
		}
		ids, err := parents(s.Child)
		if err != nil || len(ids) == 0 {
			return s, err
		}
		s.Parents, err = model.Aggregate[SubsetDrift]{Aggregation: x.s.held(ids)}.All(ctx, db)
		return s, err
	}}
}

// Refresh returns the change that makes a parent's array what its children say: after a plan that was cut, or a write past the
// subset. A parent that is not there is no error; nothing is written.
//
// Cost: one command to read, served by [Subset.Indexes]; if the array differs, one to write, and one to look again.
func (x *Subset[P, PK, C, CK]) Refresh(parent PK) model.Change[SubsetState] {
	id, err := encodedID(x.parents, parent)
	return x.refresh([]bson.RawValue{id}, err)
}

// refresh makes the arrays of some parents what their children say, until there is nothing more to do.
func (x *Subset[P, PK, C, CK]) refresh(ids []bson.RawValue, err error) model.Change[SubsetState] {
	decide := func(s SubsetState) (model.Plan, error) { return x.s.repair(s.Parents, true), nil }
	return model.Change[SubsetState]{
		Err: err, Decide: decide, Then: x.again(decide),
		Read: func(ctx context.Context, db *mongo.Database) (s SubsetState, err error) {
			s.Parents, err = model.Aggregate[SubsetDrift]{Aggregation: x.s.held(ids)}.All(ctx, db)
			return s, err
		},
	}
}

// again follows a plan that filled arrays up.
func (x *Subset[P, PK, C, CK]) again(decide func(SubsetState) (model.Plan, error)) func(SubsetState) *model.Change[SubsetState] {
	return func(s SubsetState) *model.Change[SubsetState] {
		plan, err := decide(s)
		ids := x.s.unsure(s, plan)
		if err != nil || len(ids) == 0 {
			return nil
		}
		next := x.refresh(ids, nil)
		return &next
	}
}

// Rest returns the query of the children that a parent, as it was read, doesn't hold: those that come after its last element,
// in the order of By. An array with fewer elements than Max holds all there are; a new child may have come since.
//
// Find.After with the By fields and the _id of the last child gives the next page. Cost: one command for each batch, served by
// [Subset.Indexes].
func (x *Subset[P, PK, C, CK]) Rest(parent *P) model.Find[C] {
	id, err := x.parents.ID(parent)
	f := x.Children(id)
	if err != nil {
		f.Err = err
		return f
	}
	v, err := x.parents.Encode(*parent)
	if err == nil {
		var values []any
		if values, err = x.s.lastOf(v); err == nil && values != nil {
			return f.After(values...)
		}
	}
	f.Err = err
	return f
}

// Children returns the query of all children of a parent in the order of By: the first of them are those that the parent holds.
//
// Cost: one command for each batch, served by [Subset.Indexes].
func (x *Subset[P, PK, C, CK]) Children(parent PK) model.Find[C] {
	id, err := encodedID(x.parents, parent)
	f := x.children.Find(bson.D{{Key: x.s.ref, Value: model.Eq(id)}})
	f.Sort, f.Index = x.s.order(""), x.s.indexes()[0].Name
	if err != nil {
		f.Err = err
	}
	return f
}

// Rebuild returns the job that makes the array of every parent what its children say: to introduce the array, after By, Max or
// Fields changed, or after children were loaded beside it.
//
// Cost: two commands for each batch of 500 parents, and two to find the end; for each parent the server reads its first
// children by [Subset.Indexes]. Documents written: those whose array differs. Cut, it leaves some arrays as they were;
// it can be run again, and while others write.
func (x *Subset[P, PK, C, CK]) Rebuild() model.Job {
	return model.Job{
		Name: "subset " + x.s.parents + "." + x.s.path, Collection: x.s.parents, Stages: x.s.stages(), Plan: x.s.rebuild,
	}
}

// Checks returns one check, of parents whose array isn't what their children say. An operation that is under way can show.
// Mending sets the arrays, and doesn't disturb such an operation.
//
// Cost: see [model.Check]. For each parent the server reads its first children by [Subset.Indexes]: without that index it reads
// all children for each parent. Mending writes one document each, by _id.
func (x *Subset[P, PK, C, CK]) Checks() []model.Check { return x.s.checks() }

// Indexes returns the index that finds a parent's children in order.
func (x *Subset[P, PK, C, CK]) Indexes() []model.Index { return x.s.indexes() }

// Relations returns the relation, for diagrams: a child has one parent.
func (x *Subset[P, PK, C, CK]) Relations() []model.Relation {
	return []model.Relation{{
		From: x.s.docs, FromPath: x.s.ref, To: x.s.parents, ToPath: "_id", FromEnd: model.Many, ToEnd: model.ExactlyOne, Label: "subset",
	}}
}

package relate

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// parentRef is what of a [ParentRef] doesn't depend on its types: it works on encoded ids.
type parentRef struct {
	children, parents string // collections
	path              string
	order             bson.D // newest first, total
}

func (r *parentRef) declare(ref model.Field, spec []ParentRefSpec, field func(path string) model.Field) {
	place := "NewParentRef of " + r.children
	single(place, ref)
	switch {
	case len(spec) > 1:
		panic(&model.DeclarationError{Problem: "more than one ParentRefSpec", Place: place, Remedy: "give one"})
	case r.path == "_id":
		panic(&model.DeclarationError{Problem: "path \"_id\" can't change", Place: place, Remedy: "hold the parent's id in a field of its own"})
	case len(spec) == 1 && spec[0].By == r.path:
		panic(&model.DeclarationError{Problem: fmt.Sprintf("By is the reference %q itself", r.path), Place: place, Remedy: "name a field in which one parent's children differ, or none for _id"})
	case len(spec) == 1 && spec[0].By != "" && spec[0].By != "_id":
		single(place, field(spec[0].By))
		r.order = bson.D{{Key: spec[0].By, Value: -1}}
	}
	r.order = append(r.order, bson.E{Key: "_id", Value: -1})
}

// single panics unless the field is outside arrays.
func single(place string, f model.Field) {
	if f.Arrays > 0 {
		panic(&model.DeclarationError{
			Problem: fmt.Sprintf("path %q crosses an array", f.Path),
			Place:   place,
			Remedy:  "name a single value, outside arrays; a list of ids is declared with NewChildRefs",
		})
	}
}

//go:noinline
func (r *parentRef) holdsNone() error {
	return &model.ValueError{Collection: r.children, Field: r.path, Reason: "the document holds no parent"}
}

// of is the filter of the children of a parent.
//
//go:noinline
func (r *parentRef) of(id any) bson.D { return bson.D{{Key: r.path, Value: model.Eq(id)}} }

// newest limits the query of a parent's children.
//
//go:noinline
func (r *parentRef) newest(q *model.Query, n int64) {
	if n < 1 && q.Err == nil {
		q.Err = &model.ValueError{Collection: r.children, Field: "n", Value: n, Reason: "must be at least 1"}
	}
	q.Limit = max(n, 0)
}

// guardedEdit is an update of one document, with the conditions beside its _id: that it is to be done, and that it was.
type guardedEdit struct {
	update    bson.D
	when, was bson.D
	once      bool
}

//go:noinline
func (e *guardedEdit) guard(w *model.Write) {
	if w.Err != nil || e.when == nil {
		return
	}
	m := w.Model.(*mongo.UpdateOneModel)
	id := m.Filter.(bson.D)
	w.Done, w.Once = model.And(id, e.was), e.once
	m.Filter = model.And(id, e.when)
}

//go:noinline
func (r *parentRef) edit(update bson.D, was, becomes any) guardedEdit {
	return guardedEdit{update: update, when: bson.D{{Key: r.path, Value: was}}, was: bson.D{{Key: r.path, Value: becomes}}}
}

//go:noinline
func (r *parentRef) move(old, next any) guardedEdit {
	return r.edit(set(r.path, next), model.Eq(old), model.Eq(next))
}

//go:noinline
func (r *parentRef) detach(old any) guardedEdit {
	return r.edit(bson.D{{Key: "$unset", Value: bson.D{{Key: r.path, Value: ""}}}}, model.Eq(old), bson.D{{Key: "$exists", Value: false}})
}

//go:noinline
func (r *parentRef) attach(next any) guardedEdit {
	return r.edit(set(r.path, next), nil, model.Eq(next))
}

func (r *parentRef) moveAll(old, next any, err error) model.Write {
	if err != nil {
		return model.Refused(r.children, err)
	}
	return model.Write{
		Collection: r.children, Index: r.index().Name,
		Model: &mongo.UpdateManyModel{Filter: r.of(old), Update: set(r.path, next)},
	}
}

func (r *parentRef) index() model.Index {
	keys := append(bson.D{{Key: r.path, Value: 1}}, r.order...)
	x := model.NewIndex(r.children, keys)
	x.Why = "the " + r.children + " of a document of " + r.parents + ", newest first"
	return x
}

func (r *parentRef) relations() []model.Relation {
	return []model.Relation{{
		From: r.children, FromPath: r.path, To: r.parents, ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// newestFirst returns the order, for a query or a pipeline.
//
//go:noinline
func (r *parentRef) newestFirst() bson.D { return slices.Clone(r.order) }

func (r *parentRef) lookup(local string, n int64, as string) bson.D {
	inner := mongo.Pipeline{{{Key: "$sort", Value: r.newestFirst()}}}
	if n > 0 {
		inner = append(inner, bson.D{{Key: "$limit", Value: n}})
	}
	return bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: r.children}, {Key: "localField", Value: local}, {Key: "foreignField", Value: r.path},
		{Key: "pipeline", Value: inner}, {Key: "as", Value: as},
	}}}
}

// load is the pipeline of parents with their newest children.
func (r *parentRef) load(filter bson.D, n int64) (stages mongo.Pipeline, err error) {
	if n < 0 {
		err = &model.ValueError{Collection: r.parents, Field: "n", Value: n, Reason: "must not be negative"}
	}
	return matching(filter, nested("parent"), r.lookup("parent._id", n, "children")), err
}

// loadParents is the pipeline of children with their parent.
func (r *parentRef) loadParents(filter bson.D) mongo.Pipeline {
	return matching(
		filter, nested("child"),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: r.parents}, {Key: "localField", Value: "child." + r.path},
			{Key: "foreignField", Value: "_id"}, {Key: "as", Value: "parent"},
		}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "parent", Value: bson.D{{Key: "$arrayElemAt", Value: bson.A{"$parent", 0}}}}}}},
	)
}

// counts is the pipeline of the numbers of some parents' children.
func (r *parentRef) counts(ids bson.A) mongo.Pipeline {
	return matching(
		bson.D{{Key: r.path, Value: bson.D{{Key: "$in", Value: ids}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + r.path}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	)
}

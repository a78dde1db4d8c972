package tree

// Conversion within one collection: the target's fields are written beside the source's.
// Two trees of one representation can have the same fields. Then the conversion changes
// the fields in place, and no field is the source's alone.

import (
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ConvertTree is the change that writes this tree's fields into the documents of from.
// Missing fields are damage that the repair corrects, so the repair is the whole
// conversion.
func (t *Tree) ConvertTree(from *Tree) model.Change {
	c := t.repairTree()
	c.Err = t.checkConvertible(from)
	return c
}

// checkConvertible refuses trees that differ in collection, links or lock, and trees of
// two representations that use one field differently.
func (t *Tree) checkConvertible(from *Tree) error {
	sameLock := from.Lease.ID == t.Lease.ID && from.Lease.Collection == t.Lease.Collection
	if from.Collection != t.Collection || from.Links != t.Links || !sameLock {
		return t.Refuse("TreeSpec", nil, "the trees have different collections, links or locks")
	}
	if t.isInPlace(from) {
		return nil
	}
	for _, f := range t.fields {
		if slices.Contains(from.fields, f) {
			return t.Refuse(f, nil, "is a field of both trees, which use it differently: give the target other fields")
		}
	}
	return nil
}

// isInPlace reports whether a conversion rewrites the source's own fields.
func (t *Tree) isInPlace(from *Tree) bool {
	return len(t.fields) > 0 && slices.Equal(t.fields, from.fields) && reflect.TypeOf(t.Rep) == reflect.TypeOf(from.Rep)
}

// DropFields is the job that removes the fields that only this tree has, not the target.
func (t *Tree) DropFields(target *Tree) model.Job {
	unset := bson.D{}
	var some bson.A
	for _, f := range t.fields {
		if !slices.Contains(target.fields, f) {
			unset = append(unset, mql.E(f, ""))
			some = append(some, bson.D{{Key: f, Value: mql.Exists(true)}})
		}
	}
	j := model.Job{Name: "drop " + t.Collection, Err: target.checkConvertible(t)}
	switch {
	case j.Err != nil:
		return j
	case len(t.fields) == 0:
		j.Err = t.Refuse("fields", nil, "are none: this representation has no fields besides the parent links")
		return j
	case len(unset) == 0:
		j.Err = t.Refuse("fields", nil, "are none: the target has the same fields")
		return j
	}
	plan := func(docs []bson.Raw) (model.Plan, error) {
		ids := make(bson.A, len(docs))
		for i, d := range docs {
			ids[i] = d.Lookup("_id")
		}
		return model.NewPlan(model.Write{Collection: t.Collection, Index: model.IDIndex, Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: "_id", Value: mql.Op("$in", ids)}}, Update: mql.Op("$unset", unset),
		}}), nil
	}
	j.Stages = []model.Stage{{
		Collection: t.Collection, Filter: mql.Op("$or", some), Projection: bson.D{{Key: "_id", Value: 1}}, Plan: plan,
	}}
	return j
}

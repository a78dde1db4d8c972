package tree

import (
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A conversion in one collection writes the target's fields beside the source's. Two trees of one representation can have the same fields:
// then the conversion changes these fields in place, and none of them is the source's alone.

// Converted is the change that makes this a tree too, of the links of another representation.
func (t *Tree) Converted(from *Tree) model.Change[any] {
	c := t.repair()
	c.Err = t.convertible(from)
	return c
}

// convertible refuses trees that can't be converted into each other.
func (t *Tree) convertible(from *Tree) error {
	if from.Collection != t.Collection || from.Links != t.Links || from.Lease.ID != t.Lease.ID || from.Lease.Collection != t.Lease.Collection {
		return t.Refuse("TreeSpec", nil, "the trees have different collections, links or locks")
	}
	if t.inPlace(from) {
		return nil
	}
	for _, f := range t.fields {
		if slices.Contains(from.fields, f) {
			return t.Refuse(f, nil, "is a field of both trees, which use it differently: give the target other fields")
		}
	}
	return nil
}

// inPlace reports whether a conversion writes the source's own fields.
func (t *Tree) inPlace(from *Tree) bool {
	return len(t.fields) > 0 && slices.Equal(t.fields, from.fields) && reflect.TypeOf(t.Rep) == reflect.TypeOf(from.Rep)
}

// Drop is the job that takes away the representation's fields that a target doesn't have.
func (t *Tree) Drop(target *Tree) model.Job {
	unset := bson.D{}
	var some bson.A
	for _, f := range t.fields {
		if !slices.Contains(target.fields, f) {
			unset = append(unset, mql.E(f, ""))
			some = append(some, bson.D{{Key: f, Value: mql.Exists(true)}})
		}
	}
	j := model.Job{Name: "drop " + t.Collection, Err: target.convertible(t)}
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

// Package commands makes queries, writes, plans and indexes that several techniques
// share.
package commands

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MatchID returns the filter for one document.
func MatchID(id any) bson.D { return bson.D{{Key: "_id", Value: mql.Eq(id)}} }

// MatchIDs is the filter of several documents, by a list of their ids.
//
//go:noinline
func MatchIDs(ids any) bson.D { return bson.D{{Key: "_id", Value: mql.Op("$in", ids)}} }

// AdoptWrite returns a technique's write that a Collection made. A model's database refuses the writes of a Collection
// that pass by techniques, and no others.
func AdoptWrite(w model.Write) model.Write {
	return model.Write{
		Collection: w.Collection, Model: w.Model, Expect: w.Expect, Done: w.Done, Token: w.Token,
		Reasons: w.Reasons, Once: w.Once, Deleted: w.Deleted, Final: w.Final, Keyed: w.Keyed, IfMarked: w.IfMarked,
		Index: w.Index, Err: w.Err,
	}
}

// UpdateOne updates a document that a filter finds by _id, and expects a match.
func UpdateOne(collection string, filter bson.D, update any) model.Write {
	w := UpdateIf(collection, filter, update)
	w.Expect, w.Once = model.One, false
	return w
}

// UpdateIf updates the document that a filter finds by _id, if there is one. Running the
// update again must change nothing.
func UpdateIf(collection string, filter bson.D, update any) model.Write {
	return model.Write{
		Collection: collection, Index: model.IDIndex, Once: true,
		Model: &mongo.UpdateOneModel{Filter: filter, Update: update},
	}
}

// UpsertOne is [UpdateIf] as an upsert.
func UpsertOne(collection string, filter bson.D, update any) model.Write {
	w, upsert := UpdateIf(collection, filter, update), true
	w.Model.(*mongo.UpdateOneModel).Upsert = &upsert
	return w
}

// DeleteOne deletes a derived document that a filter finds by _id. No scope turns the
// delete into a mark.
func DeleteOne(collection string, filter bson.D) model.Write {
	return model.Write{
		Collection: collection, Index: model.IDIndex, Once: true, Final: true,
		Model: &mongo.DeleteOneModel{Filter: filter},
	}
}

// JoinOperators joins update operators. It leaves out operators without fields.
func JoinOperators(ops ...bson.E) (out bson.D) {
	for _, o := range ops {
		if len(o.Value.(bson.D)) > 0 {
			out = append(out, o)
		}
	}
	return out
}

// PlanLeaving returns a plan that says what a crash leaves, if it has several steps.
func PlanLeaving(leaves string, steps ...model.Step) model.Plan {
	p := model.NewPlan(steps...)
	if len(steps) > 1 {
		p.Leaves = leaves
	}
	return p
}

// PlanBatches makes a job's plans from the steps for each document. An error names the
// document.
func PlanBatches(leaves string, steps func(doc bson.Raw) ([]model.Step, error)) func([]bson.Raw) (model.Plan, error) {
	return func(docs []bson.Raw) (p model.Plan, _ error) {
		for _, doc := range docs {
			more, err := steps(slices.Clone(doc))
			if err != nil {
				return model.Plan{}, NameDocument(doc, err)
			}
			p.Steps = append(p.Steps, more...)
		}
		if len(p.Steps) > 0 {
			p.Leaves = leaves
		}
		return p, nil
	}
}

// NameDocument adds a document's _id to an error.
func NameDocument(doc bson.Raw, err error) error {
	return fmt.Errorf("document %s: %w", Shorten(model.Shell(doc.Lookup("_id"))), err)
}

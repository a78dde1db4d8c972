// Package commands makes the queries, writes, plans, changes and indexes that several
// techniques send in the same way. The techniques call it, in their shells and in their
// cores. The package sends nothing itself: package model does.
//
// # Stored form
//
// The package has no collection of its own. Its filters and updates are on the _id, so
// that each finds one document, in any collection of a technique:
//
//	MatchID(7)                     {_id: {$eq: 7}}
//	UpdateIf(c, filter, update)    updateOne, repeatable, a missing match is fine
//	UpdateOne(c, filter, update)   updateOne that must match, else the plan is stale
//	UpsertOne(c, filter, update)   updateOne with upsert
//	DeleteOne(c, filter)           deleteOne of a derived document
//
// # Protocol of a write
//
//  1. A technique makes the write with one of these functions, and adds to the filter the
//     values that it has read.
//  2. It may mark the write: Expect and Done for a write that must match, MarkKeyed for
//     _ids that are made of keys and so differ from tenant to tenant.
//  3. PlanLeaving or PlanBatches joins writes to a plan.
//  4. Package model sends the plan. A model's database refuses writes of a Collection that
//     pass by its techniques. AdoptWrite is how a technique sends such a write as its own.
//
// # What a crash leaves
//
// Each function makes one write, or a plan with the text of what its crash leaves.
// PlanLeaving sets the text only if the plan has several steps, because one write is
// whole or absent.
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

// MatchIDs returns the filter for several documents, by a list of their _ids.
func MatchIDs(ids any) bson.D { return bson.D{{Key: "_id", Value: mql.Op("$in", ids)}} }

// AdoptWrite returns a write that a Collection made as a technique's own write. A model's
// database refuses a Collection's writes that pass by its techniques, and no others.
func AdoptWrite(w model.Write) model.Write {
	return model.Write{
		Collection: w.Collection, Model: w.Model, Expect: w.Expect, Done: w.Done, Token: w.Token,
		Reasons: w.Reasons, Idempotent: w.Idempotent, Deleted: w.Deleted, Final: w.Final, Keyed: w.Keyed,
		IfMarked: w.IfMarked,
		Index:    w.Index, Err: w.Err,
	}
}

// UpdateOne updates a document that a filter finds by _id, and expects a match.
func UpdateOne(collection string, filter bson.D, update any) model.Write {
	w := UpdateIf(collection, filter, update)
	w.Expect, w.Idempotent = model.One, false
	return w
}

// UpdateIf updates the document that a filter finds by _id, if there is one. Running the
// update again must change nothing.
func UpdateIf(collection string, filter bson.D, update any) model.Write {
	return model.Write{
		Collection: collection, Index: model.IDIndex, Idempotent: true,
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
		Collection: collection, Index: model.IDIndex, Idempotent: true, Final: true,
		Model: &mongo.DeleteOneModel{Filter: filter},
	}
}

// JoinOperators joins update operators. It leaves out operators without fields, which the
// server would refuse before MongoDB 5.0.
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

// PlanBatches makes a job's plans from the steps for each document. steps receives a
// clone, so that the writes may keep parts of the document. An error names the document.
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

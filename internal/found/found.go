// Package found decodes the findings of checks. The techniques call it where they make
// the fields Tell and Mend of a model.Check.
//
// # Stored form
//
// A check's pipeline returns rows, and the model stores each row in a model.Finding. For
// a check of counted books:
//
//	row      {_id: "oreilly", stored: {books: 3}, counted: {books: 2}}
//	finding  Check: "publishers: wrong counts"
//	         Detail: the row
//	         ID, Problem: of the row, for people who read the report
//
// The core has a Go type for its rows, with bson tags.
//
// # Protocol of a check and its repair
//
//  1. The check runs its Pipeline, which FindMatching and FindOrphans make for simple checks.
//  2. Tell (DescribeRows, DescribeDocuments) decodes the Detail as the core's type, and sets
//     ID, Problem and, if the check has an Age, Since.
//  3. The caller may store the findings, and pass them to Mend later.
//  4. Mend (MendRows, MendByID, MendMatching) decodes each Detail again. A finding of another
//     check, or a changed Detail, refuses the whole plan: nothing is written.
//  5. PlanWrites makes one write of each row. The write's filter compares with what the check
//     found, so a document that has changed since is left alone.
//
// # What a crash leaves
//
// A repair that crashes has mended some of the findings. Each write mends one finding by
// itself, and running it again changes nothing, so the next run of the check finds the
// others. The text for model.Plan.Leaves comes from the caller.
package found

import (
	"bytes"
	"fmt"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DescribeRows returns the Tell of a check whose rows have the type F. describe sets ID,
// Problem and Since.
func DescribeRows[F any](describe func(row F, f *model.Finding)) func(*model.Finding) error {
	return func(f *model.Finding) error {
		var row F
		if err := bson.Unmarshal(f.Detail, &row); err != nil {
			return fmt.Errorf("docmodel: check %s: %w", f.Check, err)
		}
		describe(row, f)
		return nil
	}
}

// DescribeDocuments returns the Tell of a check whose rows are documents with the same
// problem.
func DescribeDocuments(problem string) func(*model.Finding) error {
	return func(f *model.Finding) error {
		f.ID, f.Problem = f.Detail.Lookup("_id"), problem
		return nil
	}
}

// FindMatching returns the pipeline of the documents that match a filter: their _id and
// more fields.
func FindMatching(filter bson.D, fields ...bson.E) mongo.Pipeline {
	return mongo.Pipeline{mql.Match(filter...), mql.Project(append(bson.D{{Key: "_id", Value: 1}}, fields...)...)}
}

// FindOrphans returns the pipeline of the _ids that have no document in another
// collection, in order.
func FindOrphans(of string) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Project(mql.E("_id", 1)),
		mql.Lookup(of, "_id", "_id", "source"),
		mql.Match(mql.E("source", mql.Op("$size", 0))), mql.SortID(), mql.Project(mql.E("_id", 1)),
	}
}

// MendRows returns the Mend of a check whose rows have the type F. The Detail is cloned,
// because a row's raw values point into it, and the plan outlives the caller's findings.
func MendRows[F any](check, collection string, mend func(rows []F) model.Plan) func([]model.Finding) model.Plan {
	return func(found []model.Finding) model.Plan {
		rows := make([]F, len(found))
		for i, f := range found {
			reason := ""
			if f.Check != check {
				reason = fmt.Sprintf("is a finding of the check %q, not of %q", f.Check, check)
			} else if err := bson.Unmarshal(bytes.Clone(f.Detail), &rows[i]); err != nil {
				reason = "has a Detail that isn't from this check: " + err.Error()
			}
			if reason != "" {
				return model.NewPlan(model.Refused(collection, &model.ValueError{
					Collection: collection, Field: fmt.Sprintf("found[%d]", i), Reason: reason,
				}))
			}
		}
		return mend(rows)
	}
}

// PlanWrites returns a plan of one write for each row. A refused write refuses the plan.
// A write without a Model is left out. leaves is the text for a plan of several steps.
func PlanWrites[R any](found []R, leaves string, write func(i int, row R) model.Write) model.Plan {
	var steps []model.Step
	for i, row := range found {
		w := write(i, row)
		if w.Err != nil {
			return model.NewPlan(w)
		}
		if w.Model != nil {
			steps = append(steps, w)
		}
	}
	return commands.PlanLeaving(leaves, steps...)
}

// RefuseFinding refuses the i-th finding, because its Detail lacks a value that the check
// always returns.
func RefuseFinding(collection string, i int, lacks string) model.Write {
	return model.Refused(collection, &model.ValueError{
		Collection: collection, Field: fmt.Sprintf("found[%d]", i),
		Reason: "has no " + lacks + ": pass the findings unchanged",
	})
}

// MendByID returns the Mend of a check whose repair needs only the document's _id.
func MendByID(check, collection, leaves string, write func(id bson.D) model.Write) func([]model.Finding) model.Plan {
	type row struct {
		ID bson.RawValue `bson:"_id"`
	}
	writeRow := func(i int, f row) model.Write {
		if f.ID.Type == 0 {
			return RefuseFinding(collection, i, "_id")
		}
		return write(commands.MatchID(f.ID))
	}
	return MendRows(check, collection, func(found []row) model.Plan { return PlanWrites(found, leaves, writeRow) })
}

// MendMatching is [MendByID] by an update of each document that still matches the check's
// condition.
func MendMatching(
	check, collection string, is bson.D, leaves string, update mongo.UpdateOneModel,
) func([]model.Finding) model.Plan {
	return MendByID(check, collection, leaves, func(id bson.D) model.Write {
		one := update
		one.Filter = bsondoc.JoinFilters(id, is)
		return model.Write{Collection: collection, Index: model.IDIndex, Idempotent: true, Model: &one}
	})
}

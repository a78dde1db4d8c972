// Package found decodes the findings of checks: rows of a pipeline become findings, and plans that mend them.
package found

import (
	"bytes"
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DescribeRows completes findings by decoding their details as F. tell fills in ID, Problem and Since.
func DescribeRows[F any](tell func(row F, f *model.Finding)) func(*model.Finding) error {
	return func(f *model.Finding) error {
		var row F
		if err := bson.Unmarshal(f.Detail, &row); err != nil {
			return fmt.Errorf("docmodel: check %s: %w", f.Check, err)
		}
		tell(row, f)
		return nil
	}
}

// DescribeDocuments completes findings of whole documents, by one text for all.
func DescribeDocuments(problem string) func(*model.Finding) error {
	return func(f *model.Finding) error {
		f.ID, f.Problem = f.Detail.Lookup("_id"), problem
		return nil
	}
}

// FindMatching returns the _id, and more fields, of the documents that match a filter.
func FindMatching(filter bson.D, fields ...bson.E) mongo.Pipeline {
	return mongo.Pipeline{mql.Match(filter...), mql.Project(append(bson.D{{Key: "_id", Value: 1}}, fields...)...)}
}

// FindOrphans returns the _ids of documents that have no document of their _id in another collection.
func FindOrphans(of string) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Project(mql.E("_id", 1)),
		mql.Lookup(of, "_id", "_id", "source"),
		mql.Match(mql.E("source", mql.Op("$size", 0))), mql.SortID(), mql.Project(mql.E("_id", 1)),
	}
}

// MendRows returns a plan for the details of findings, decoded as F. A finding of another check, and one whose detail
// isn't an F, is refused.
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
				return model.RefusedPlan(collection, &model.ValueError{
					Collection: collection, Field: fmt.Sprintf("found[%d]", i), Reason: reason,
				})
			}
		}
		return mend(rows)
	}
}

// PlanWrites returns a plan of one write for each finding. A refused write refuses the plan. A write without a Model is
// left out.
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

// RefuseFinding refuses a finding that the check can't have returned.
func RefuseFinding(collection string, i int, lacks string) model.Write {
	return model.Refused(collection, &model.ValueError{
		Collection: collection, Field: fmt.Sprintf("found[%d]", i),
		Reason: "has no " + lacks + ": pass the findings unchanged",
	})
}

// MendByID mends each found document by one write, which needs only the document's _id.
func MendByID(check, collection, leaves string, write func(id bson.D) model.Write) func([]model.Finding) model.Plan {
	type row struct {
		ID bson.RawValue `bson:"_id"`
	}
	return MendRows(check, collection, func(found []row) model.Plan {
		return PlanWrites(found, leaves, func(i int, f row) model.Write {
			if f.ID.Type == 0 {
				return RefuseFinding(collection, i, "_id")
			}
			return write(commands.MatchID(f.ID))
		})
	})
}

// MendMatching is [MendsByID] by an update of each document that still matches the check's condition.
func MendMatching(
	check, collection string, is bson.D, leaves string, update mongo.UpdateOneModel,
) func([]model.Finding) model.Plan {
	return MendByID(check, collection, leaves, func(id bson.D) model.Write {
		one := update
		one.Filter = model.And(id, is)
		return model.Write{Collection: collection, Index: model.IDIndex, Once: true, Model: &one}
	})
}

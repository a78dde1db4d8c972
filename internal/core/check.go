// Package core is what techniques stand on: the parts of a declaration, a check and a write that don't depend on the
// types of its documents.
package core

import (
	"bytes"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Row is one result of a check's pipeline.
type Row interface {
	Tell(f *model.Finding) // fills in ID, Problem and Since
}

// Tells completes findings by decoding their details as F.
func Tells[F Row]() func(*model.Finding) error {
	return func(f *model.Finding) error {
		var row F
		if err := bson.Unmarshal(f.Detail, &row); err != nil {
			return fmt.Errorf("docmodel: check %s: %w", f.Check, err)
		}
		row.Tell(f)
		return nil
	}
}

// Mends returns a plan for the details of findings, decoded as F. A finding of another check, and one whose detail isn't
// an F, is refused.
func Mends[F any](check, collection string, mend func(rows []F) model.Plan) func([]model.Finding) model.Plan {
	return func(found []model.Finding) model.Plan {
		rows := make([]F, len(found))
		for i, f := range found {
			reason := ""
			if f.Check != check {
				reason = fmt.Sprintf("is a finding of %q, not of %q", f.Check, check)
			} else if err := bson.Unmarshal(bytes.Clone(f.Detail), &rows[i]); err != nil {
				reason = "has a Detail that the check didn't return: " + err.Error()
			}
			if reason != "" {
				return model.RefusedPlan(collection, &model.ValueError{Collection: collection, Field: fmt.Sprintf("found[%d]", i), Reason: reason})
			}
		}
		return mend(rows)
	}
}

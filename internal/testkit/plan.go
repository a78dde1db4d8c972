package testkit

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A PlanCase is a plan with the documents before and after it.
type PlanCase struct {
	Reason string
	Before Docs
	Plan   model.Plan
	After  Docs // nil means as before
	Status model.Status
	Err    error        // nil, model.ErrStale or ErrRefused
	Again  model.Status // of a second run, which must change nothing
}

func (c PlanCase) run(t *testing.T, db *mongo.Database) {
	SeedAlone(t, db, c.Before)
	after := c.After
	if after == nil {
		after = c.Before
	}
	result, err := c.Plan.Run(t.Context(), db)
	WantError(t, err, c.Err)
	WantDocsInAnyOrder(t, db, after)
	if c.Err != nil {
		return
	}
	for i, s := range result.Steps {
		if s.Status != c.Status {
			t.Errorf("step %d: status %d, want %d", i+1, s.Status, c.Status)
		}
	}
	result, err = c.Plan.Run(t.Context(), db)
	if err != nil {
		t.Fatalf("run again: %v", err)
	}
	if last := result.Steps[len(result.Steps)-1]; last.Status != c.Again {
		t.Errorf("run again: status %d, want %d", last.Status, c.Again)
	}
	WantDocsInAnyOrder(t, db, after)
}

// RunPlanCases runs each case on the engine and on a server.
func RunPlanCases(t *testing.T, cases []PlanCase) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.Reason, func(t *testing.T) { c.run(t, db) })
		}
	})
}

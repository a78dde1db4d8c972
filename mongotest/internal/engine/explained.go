package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// explained is a command that explain shows. The functions explainFind and so on make it (cmd_explain.go).
type explained struct {
	ns    store.Namespace
	plan  *plan.Plan
	stage string // the stage above the plan, such as "COUNT"; "" for none
	// wrap is set for an aggregate command that does more than the plan. It puts planner and stats into the fields of
	// the reply. stats is nil for the verbosity queryPlanner.
	wrap func(planner, stats bson.D) reply
}

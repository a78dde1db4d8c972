package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// explained is a command as explain needs it: its plan, and the stage above the plan.
type explained struct {
	ns    store.Namespace
	plan  *plan.Plan
	stage string // such as "COUNT"; "" for none
	// wrap, for a command that does more than a plan, shows the rest around it.
	wrap func(planner, stats bson.D) reply
}

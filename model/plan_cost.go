package model

import (
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Cost returns the plan's price if each write finds what it expects. After a failure,
// [Plan.Run] sends at most these additional commands:
//
//   - If a write with Expect [One] matches nothing: one command for [Write].Done, one per
//     [Reason], one to look for the filter's _id, and the [Plan.IfStale] steps.
//   - After a duplicate key error: one query that tests whether an earlier run applied
//     the write.
//   - If an earlier run applied it: one command for the later writes.
//   - Otherwise: one command per Reason. If a Reason applies, also the IfStale steps.
func (p Plan) Cost() Cost {
	batches, err := p.split()
	if err != nil {
		return Cost{}
	}
	return p.costIn(len(batches))
}

// CostTx returns the plan's price in a transaction of MongoDB 8.0 (see [Plan]). The price
// doesn't include hello and commit. If [Plan].InTx is set, the price is that of InTx.
// Older servers can need more commands for the same steps.
func (p Plan) CostTx() Cost {
	p = p.inTx()
	batches, err := p.split()
	if err != nil {
		return Cost{}
	}
	return p.costIn(len(grouped(batches, whole)))
}

// CostBulkWrite returns the plan's price on a database of [WithBulkWrite], outside a
// transaction. Before MongoDB 8.0, use [Plan.Cost] instead.
func (p Plan) CostBulkWrite() Cost {
	batches, err := p.split()
	if err != nil {
		return Cost{}
	}
	return p.costIn(len(grouped(batches, upToMatch)))
}

// costIn returns the price of a plan that is sent as this number of commands.
func (p Plan) costIn(commands int) Cost {
	c := Cost{Commands: commands}
	for _, s := range p.Steps {
		c = c.Plus(stepCost(s))
	}
	return c
}

// stepCost returns the documents and indexes that a step adds to its plan's cost.
func stepCost(s Step) Cost {
	w, ok := s.(Write)
	if !ok {
		return Cost{Unbounded: true}
	}
	c := Cost{Indexes: indexes(w.Index)}
	if w.returning != nil {
		c.Returned = 1
	}
	switch w.Model.(type) {
	case *mongo.UpdateManyModel, *mongo.DeleteManyModel:
		c.Unbounded = true
	default:
		c.Written = 1
	}
	return c
}

// Cost returns the price of a plan with only this write.
func (w Write) Cost() Cost { return NewPlan(w).Cost() }

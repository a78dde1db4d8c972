package model

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Cost is a price or a measured cost. A price is computed before a query, write or plan
// runs. Package modeltest or an [Observer] measures the cost of a run.
type Cost struct {
	Commands int // number of commands, without retries and handshakes
	Written  int // documents inserted, deleted, or matched by an update; in a price, the maximum

	// Unbounded is true in a price with update many, delete many, $merge or $out. Written
	// excludes these writes.
	Unbounded bool
	// Batches is true in a query's price. Each further batch of results adds a command.
	Batches bool

	Returned int      // documents returned; in a price, only the document of a Modify or a Store's write
	Indexes  []string // indexes used; only in a price
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost {
	out := Cost{
		Commands: c.Commands + d.Commands, Written: c.Written + d.Written, Returned: c.Returned + d.Returned,
		Unbounded: c.Unbounded || d.Unbounded, Batches: c.Batches || d.Batches,
		Indexes: slices.Clone(c.Indexes),
	}
	for _, name := range d.Indexes {
		if !slices.Contains(out.Indexes, name) {
			out.Indexes = append(out.Indexes, name)
		}
	}
	return out
}

// String returns the cost in words: "2 commands, 3 documents written, by parts_1".
func (c Cost) String() string {
	s := []string{plural(c.Commands, "command")}
	if c.Batches {
		s[0] += " and one per further batch"
	}
	if c.Unbounded && c.Written == 0 {
		s = append(s, "as many documents written as match")
	} else if c.Unbounded {
		s = append(s, plural(c.Written, "document")+" written and as many as match")
	} else if c.Written > 0 {
		s = append(s, plural(c.Written, "document")+" written")
	}
	if c.Returned > 0 {
		s = append(s, fmt.Sprintf("%d returned", c.Returned))
	}
	if len(c.Indexes) > 0 {
		s = append(s, "by "+strings.Join(c.Indexes, ", "))
	}
	return strings.Join(s, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

//go:noinline
func readCost(index string) Cost { return Cost{Commands: 1, Batches: true, Indexes: indexes(index)} }

func indexes(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

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

// Cost returns the price of a plan with only this step.
func (m MergeInto) Cost() Cost { return NewPlan(m).Cost() }

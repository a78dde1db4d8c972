package model

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Cost is a price: of a value, known before it runs, or of a run, measured by package modeltest or an [Observer]. The zero Cost is
// nothing sent.
type Cost struct {
	Commands int // commands sent to the server, without retries and handshakes
	Written  int // documents inserted, matched for update, or deleted; at most, in a price

	// Unbounded says in a price that a write whose filter decides how many documents it touches (update many, delete
	// many, $merge, $out) adds to Written.
	Unbounded bool
	// Batches says in a price that each further batch of an answer adds a command (101 documents come in the first, then
	// 16 MB in each, unless the batch size says otherwise).
	Batches bool

	Returned int      // documents returned; measured only
	Indexes  []string // the indexes that serve the filters, where known; in a price only
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

// String is the cost in words: "2 commands, 3 documents written, by parts_1".
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

// Cost is the plan's price when each write finds what it expects: the commands that Run sends and the documents that it
// writes. A write that expects a match and finds none costs one command more to ask whether it was applied before ([Write].Done),
// and if it wasn't, one for each of its Reasons up to the one that holds; then it ends the plan, which sends IfStale. An insert that
// meets a duplicate key costs one to compare, and what is left of its command is sent again. A plan that would be refused costs nothing.
// [Plan.CostTx] is the price in a transaction.
func (p Plan) Cost() Cost {
	batches, err := p.split()
	if err != nil {
		return Cost{}
	}
	return p.costIn(len(batches))
}

// CostTx is the plan's price in a transaction that [Plan.RunTx], [InTx] or [WithTransactions] runs, without the transaction's commit, and
// without the hello by which RunTx and InTx ask whether the server has transactions. Since MongoDB 8.0 all writes are one bulkWrite command,
// up to 25,000 statements or 16 MiB; older servers are sent the commands of Cost.
func (p Plan) CostTx() Cost {
	p = p.inTx()
	batches, err := p.split()
	if err != nil {
		return Cost{}
	}
	return p.costIn(len(grouped(batches, whole)))
}

// CostBulkWrite is the plan's price on a database of [WithBulkWrite], outside a transaction, where the server has
// bulkWrite. Older servers are sent the commands of Cost.
func (p Plan) CostBulkWrite() Cost {
	batches, err := p.split()
	if err != nil {
		return Cost{}
	}
	return p.costIn(len(grouped(batches, upToMatch)))
}

// costIn is the price of a plan that is so many commands.
func (p Plan) costIn(commands int) Cost {
	c := Cost{Commands: commands}
	for _, s := range p.Steps {
		c = c.Plus(stepCost(s))
	}
	return c
}

// stepCost is what a step adds to the documents and indexes of its plan's cost.
func stepCost(s Step) Cost {
	w, ok := s.(Write)
	if !ok {
		return Cost{Unbounded: true}
	}
	c := Cost{Indexes: indexes(w.Index)}
	switch w.Model.(type) {
	case *mongo.UpdateManyModel, *mongo.DeleteManyModel:
		c.Unbounded = true
	default:
		c.Written = 1
	}
	return c
}

// Cost is the write's price as a plan of its own.
func (w Write) Cost() Cost { return NewPlan(w).Cost() }

// Cost is the step's price as a plan of its own.
func (m MergeInto) Cost() Cost { return NewPlan(m).Cost() }

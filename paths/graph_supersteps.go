package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

// Supersteps is a computation over a [Graph] in steps (supersteps). A computation comes
// from [Graph.Distances], [Graph.Components], [Graph.PageRank] or [NewProgram].
// [Supersteps.Job] runs the computation.
//
// # Consistency
//
// Never run a computation in two processes at a time. Use your own lock. Only PageRank
// notices a second process: see [GraphStep].Lost.
//
// Readers can see a half-written superstep. After a crash, run the Job again.
//
// # Cost
//
//	            Commands of a superstep              Documents written
//	Distances   3                                    the vertices that it reaches
//	Components  3                                    the vertices that change
//	PageRank    3                                    all vertices
//	a program   5, and 2 to 4 per batch of vertices  states and messages
//
// PageRank and programs read every vertex. Superstep 0 takes four or five commands.
//
// # Indexes
//
// Indexes returns the indexes that the computation needs.
type Supersteps struct {
	model.Parts

	s *graph.Supersteps
}

func (x *Graph[D, K]) supersteps(s *graph.Supersteps) *Supersteps {
	return &Supersteps{Parts: model.NewParts(s.ListIndexes, nil, nil, s.ListFootprints).
		WithDocs(x.docs.Docs(), x.states.Docs()).WithKeys(x.keys()...).
		WithoutReactions("Supersteps.Job"), s: s}
}

// Job returns the job that runs the computation to its end. After an interruption, run
// the job again. To begin anew, first run [Graph.Clear]. Stored states of another
// computation give [ErrGraphState].
//
// A batch is one step of the computation. For a [NewProgram], a batch is
// JobOptions.BatchSize vertices, 500 by default. With JobOptions.Checkpoint, the next run
// continues after the last batch.
//
// [Supersteps.Steps] shows the progress. Cost: see [Supersteps].
func (s *Supersteps) Job() model.Job { return s.s.MakeJob() }

// A GraphStep is the record of a finished superstep of a [Supersteps]. Fields that the
// computation doesn't use are 0.
type GraphStep struct {
	Step     int64   `bson:"_id"`      // number of the superstep, from 0
	Kind     string  `bson:"kind"`     // distances, components, rank or program
	Asked    int64   `bson:"asked"`    // hash of the sources (Distances) or damping (PageRank)
	Changed  int64   `bson:"changed"`  // number of written states ([VertexState])
	Vertices int64   `bson:"vertices"` // number of vertices, in PageRank's steps and in NewProgram's step 0
	Delta    float64 `bson:"delta"`    // PageRank: total change of all ranks
	Dangling float64 `bson:"dangling"` // PageRank: total rank of vertices without outgoing edges
	Lost     int64   `bson:"lost"`     // PageRank: vertices without a new state. If not 0, [Supersteps.Job] fails
	Active   int64   `bson:"active"`   // NewProgram: vertices that didn't halt
	Sent     int64   `bson:"sent"`     // NewProgram only: distinct sender-receiver pairs of messages
}

// Steps returns the query of the supersteps' records ([GraphStep]), in order. To read the
// last record, use Steps().Sorted(bson.D{{Key: "_id", Value: -1}}).One.
//
// Cost: one command, and one per further batch, by _id.
func (s *Supersteps) Steps() *model.Find[GraphStep] {
	return &model.Find[GraphStep]{Query: s.s.FindRecords()}
}

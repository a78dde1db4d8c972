package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

// Supersteps is a computation over a [Graph] in steps. Each step continues from the
// previous step's results. Make it with [Graph.Distances], [Graph.Components],
// [Graph.PageRank] or [NewProgram], and run its [Supersteps.Job]. Indexes returns the
// indexes that the computation needs.
//
// # Consistency
//
// A superstep writes the results for vertices ([VertexState]), and then its record
// ([GraphStep]). Meanwhile, readers can see a part of the results. An interrupted
// superstep runs again.
//
// Only one process at a time may run a computation: use a lock of your own. Only PageRank
// notices a second process: see [GraphStep].Lost.
//
// # Cost
//
// The commands of one superstep, and the documents that it writes:
//
//	Distances   3 commands; the vertices that it reaches
//	Components  3 commands; the vertices that change
//	PageRank    3 commands; all vertices
//	a program   5 commands, and 2 to 4 per batch of vertices; states and messages
//
// PageRank and programs read every vertex. Superstep 0 takes five commands, but four in a
// program.
type Supersteps struct {
	model.Parts

	s *graph.Supersteps
}

func supersteps(s *graph.Supersteps) *Supersteps {
	return &Supersteps{Parts: model.NewParts(s.Indexes, nil, nil, s.Footprints), s: s}
}

// Job returns the job that runs the computation to its end. If the job is interrupted,
// run it again to continue. To begin anew, run [Graph.Clear] first. States of another
// computation give [ErrGraphState].
//
// A batch is one superstep (a step of the computation). Only for [NewProgram], a batch is
// JobOptions.BatchSize vertices, 500 by default. With JobOptions.Checkpoint, an
// interrupted job of NewProgram continues after the last batch.
//
// To follow the computation, read [Supersteps.Steps]. Cost: see [Supersteps].
func (s *Supersteps) Job() model.Job { return s.s.Job() }

// A GraphStep is the record of a finished superstep of a [Supersteps]. Fields that the
// computation doesn't use are 0.
type GraphStep struct {
	Step     int64   `bson:"_id"`      // 0 is the beginning
	Kind     string  `bson:"kind"`     // distances, components, rank or program
	Asked    int64   `bson:"asked"`    // a hash of the arguments, such as the sources or the damping
	Changed  int64   `bson:"changed"`  // states that the superstep wrote
	Vertices int64   `bson:"vertices"` // PageRank: all vertices
	Delta    float64 `bson:"delta"`    // PageRank: the total change of all ranks
	Dangling float64 `bson:"dangling"` // PageRank: the total rank of vertices without edges
	Lost     int64   `bson:"lost"`     // PageRank: states that don't belong to this superstep; if not 0, Job fails
	Active   int64   `bson:"active"`   // NewProgram: vertices that didn't halt
	Sent     int64   `bson:"sent"`     // NewProgram: pairs of sender and receiver
}

// Steps returns the query of all records, in the order of supersteps. To read the last
// record, use Steps().Sorted(bson.D{{Key: "_id", Value: -1}}).One.
//
// Cost: one command, and one per further batch, by _id.
func (s *Supersteps) Steps() *model.Find[GraphStep] {
	return &model.Find[GraphStep]{Query: s.s.Records(1)}
}

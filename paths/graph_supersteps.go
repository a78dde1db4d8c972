package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

// Supersteps is a computation over a [Graph], in steps that each continue from the
// previous step's results. Make it with [Graph.Distances], [Graph.Components],
// [Graph.PageRank] or [NewProgram], and run its [Supersteps.Job]. Indexes returns the
// indexes that the computation needs. PageRank needs none.
//
// # Consistency
//
// A superstep writes states, the results for vertices ([VertexState]), and then a record
// that the superstep is over ([GraphStep]). An interrupted superstep that runs again
// reads the same states. While a superstep runs, readers see states of two supersteps.
//
// Only one process at a time may run a computation: use a lock of your own. Only PageRank
// notices a second process: see [GraphStep].Lost.
//
// # Cost
//
// Each superstep's commands (one reads the previous record), and the documents that the
// superstep writes:
//
//	Distances   3 commands; the vertices that it reaches
//	Components  3 commands; the vertices that change
//	PageRank    3 commands; all vertices
//	a program   5 commands, and 2 to 4 per batch of vertices; states and messages
//
// Messages are those of [GraphVertex.Send]. PageRank and programs read every vertex.
// Superstep 0 takes five commands, four for a program. For Components and PageRank,
// superstep 0 writes a state per vertex. One more command finds the end.
type Supersteps struct {
	model.Parts

	s *graph.Supersteps
}

func supersteps(s *graph.Supersteps) *Supersteps {
	return &Supersteps{Parts: model.NewParts(s.Indexes, nil, nil, s.Footprints), s: s}
}

// Job returns the job that begins the computation, or continues it, until it is over. The
// job can be stopped or killed anywhere and run again. [Graph.Clear] lets a computation
// begin anew. States of another computation give [ErrGraphState]. See [Supersteps] for
// the cost.
//
// A batch of the job is one superstep. Superstep 0 prepares the computation. In a program
// ([NewProgram]), each later superstep is divided into batches of JobOptions.BatchSize
// vertices; 0 means 500. Progress.After is the number of the superstep that ended.
// Between two batches of one superstep, Progress.After is a document with the superstep's
// number and the last vertex. With JobOptions.Checkpoint, an interrupted program
// continues after the last batch, without it at the superstep's first vertex.
//
// Progress.Documents counts the vertices that a program read. Other computations run as
// pipelines on the server. A pipeline counts as one in Progress.Writes. The states that a
// pipeline writes don't count in Progress.Modified: [Supersteps.Steps] returns their
// number. A dry run plans only the next superstep, and calls a program's function for
// this superstep's vertices.
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
	Lost     int64   `bson:"lost"`     // PageRank: states of another superstep; must be 0
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

package paths

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

// Supersteps is a computation over a [Graph], in steps that each go on from what the step before left. Make it with
// [Graph.Distances], [Graph.Components], [Graph.PageRank] or [NewProgram], and run its [Supersteps.Job].
//
// A superstep is a pipeline that writes states, and then a pipeline that leaves the record that the superstep is over. The record
// holds what decides whether there is another superstep. A program's superstep calls its function, batch by batch, in the place
// of the first pipeline. A state says which superstep wrote it, and keeps beside it what it was before. So a superstep that was
// cut reads what it read before when it is run again, and ends as it would have ended. A superstep whose record is there writes
// nothing when it is run again.
//
// One process at a time may run a computation. Two at once do the same, until one that was held up writes the states of a
// superstep that the other has left behind: let a lock of your own keep them apart. PageRank notices (GraphStep.Lost), Components and
// programs don't.
//
// Indexes returns the indexes that the computation needs on the states, or a program on its messages; PageRank needs none.
type Supersteps struct {
	model.Parts

	s *graph.Supersteps
}

func supersteps(s *graph.Supersteps) *Supersteps {
	return &Supersteps{Parts: model.NewParts(s.Indexes, nil, nil, s.Footprints), s: s}
}

// Job returns the job that begins the computation, or goes on with it where it was, until it is over. It can be stopped and killed
// anywhere, and run again. Its place are the records: a job that is over does nothing. [Graph.Clear] lets it begin anew.
//
// A part of the job is the beginning, a superstep, or a batch of a program's vertices. When JobOptions.Progress is told that a
// superstep is over, Progress.After is the superstep's number; within a program's superstep it is a document. So an error from Progress
// stops the computation after a superstep. With a Checkpoint, a program that was stopped goes on after the batch; without it, the
// superstep is run again from its first vertex. JobOptions.BatchSize is how many vertices a program reads at a time; 0 means 500.
//
// Progress.Documents are the vertices that a program read, and Writes and Modified count steps and documents outside the pipelines:
// [Supersteps.Steps] says how many states a superstep wrote. A dry run plans the next superstep, and calls a program's function for it.
//
// The job returns [ErrGraphState] where the states are those of another computation.
//
// Cost: three commands for each superstep (its plan, and the read of the record before it), five for the beginning, and one to find
// that it is over. A program needs one command less to begin. It reads the record once more for each batch, beside the read and the
// writes of the batch, and needs two commands to find the end of the vertices. Package paths says which documents they write.
func (s *Supersteps) Job() model.Job { return s.s.Job() }

// A GraphStep is the record of a superstep that is over, from which the next one goes on. A field that names a computation is 0 in
// the records of others.
type GraphStep struct {
	Step     int64   `bson:"_id"`      // 0 is the beginning
	Kind     string  `bson:"kind"`     // which computation it is of: distances, components, rank or program
	Asked    int64   `bson:"asked"`    // a hash of what it was asked: the sources, the damping
	Changed  int64   `bson:"changed"`  // states that the superstep wrote
	Vertices int64   `bson:"vertices"` // PageRank: all of them
	Delta    float64 `bson:"delta"`    // PageRank: by how much ranks changed, all together
	Dangling float64 `bson:"dangling"` // PageRank: the ranks of the vertices without edges, all together
	Lost     int64   `bson:"lost"`     // PageRank: states that are not of the superstep. There must be none
	Active   int64   `bson:"active"`   // a program: vertices that didn't halt
	Sent     int64   `bson:"sent"`     // a program: pairs of vertices of which one sent to the other
}

// Steps returns the query of all records, in the order of supersteps: what each superstep did. Steps().Sorted(bson.D{{Key:
// "_id", Value: -1}}).One reads the record of the last superstep that is over.
//
// Cost: one command, and one per further batch; served by _id.
func (s *Supersteps) Steps() *model.Find[GraphStep] {
	return &model.Find[GraphStep]{Query: s.s.Records(1)}
}

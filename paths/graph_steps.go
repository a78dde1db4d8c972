package paths

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a computation is, as its records say it.
const (
	distances  = "distances"
	components = "components"
	rank       = "rank"
	program    = "program"
	clearing   = "clearing"
)

// clearingID is the _id of the record of a Clear that is not over: it sorts after all others.
const clearingID = int64(math.MaxInt64)

// claimID is the _id of what says of which computation the records are.
const claimID = int64(-1)

// A GraphStep is the record of a superstep that is over: what [Supersteps.Step] goes on from. Each field is of the computations that
// are named for it.
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

// ErrGraphState is returned when what is stored is not what a computation goes on from: the states of another computation, of a
// [Graph.Clear] that was cut, or of two processes at once. Clear, and begin anew.
var ErrGraphState = errors.New("docmodel: the graph's states are not of this computation: clear them, and begin anew")

// Supersteps is a computation over a [Graph], in steps of which each goes on from what the one before left. Make it with
// [Graph.Distances], [Graph.Components], [Graph.PageRank] or [NewProgram].
//
// A superstep is a pipeline that writes states, and then one that leaves the record that the superstep is over, with what decides
// whether there is another. A program's superstep is a job in the place of the first. States say which superstep wrote them, and
// keep beside them what they were, so that whatever of a superstep was done before a cut, running it again reads what it read
// before, and ends as it would have ended. A superstep whose record is there writes nothing when it is run again.
//
// One process at a time may run a computation. Two at once do the same, until one that was held up writes the states of a
// superstep that the other has left behind: let a lock of your own keep them apart. PageRank notices (GraphStep.Lost), Components and
// programs don't.
type Supersteps struct {
	g     *graph
	kind  string // which computation
	asked int64  // and a hash of what it was asked

	from               bson.A // Distances: their _ids, encoded
	damping, tolerance float64
	compute            func(step int64, doc bson.Raw) (*vertexOut, error)

	err error
}

// asking sets what the computation is asked, by which its records are known.
func (s *Supersteps) asking(what any) *Supersteps {
	raw, err := model.EncodeDocument[any, any](nil, bson.D{mql.E("asked", what)})
	if err != nil {
		s.err = err
		return s
	}
	sum := sha256.Sum256(raw)
	s.asked = int64(binary.BigEndian.Uint64(sum[:8]))
	return s
}

// Begin returns the plan of superstep 0: the first states, and the record. It can be run again, and does nothing once the record is
// there. When there are states of another computation, running it gives [ErrGraphState].
//
// Cost: four commands, a program's three. Distances write the vertices that they begin at; Components and PageRank write a state for
// every vertex, and look up by _id the targets of each; a program just counts the vertices.
func (s *Supersteps) Begin() model.Plan {
	if s.err != nil {
		return model.RefusedPlan(s.g.states, s.err)
	}
	var p model.Plan
	switch s.kind {
	case distances:
		p = s.beginDistances()
	case components:
		p = s.beginComponents()
	case rank:
		p = s.beginRank()
	default:
		p = s.beginProgram()
	}
	p.Steps = append([]model.Step{s.claim()}, append(p.Steps, s.recordNone())...)
	return leaving(p)
}

func leaving(p model.Plan) model.Plan {
	p.Leaves = "some states of the superstep, and no record of it"
	return p
}

// Step returns the plan of the superstep after the last that is over, whose record it is handed ([Supersteps.Last]). Of a program it
// is what ends the superstep, when the job ([Supersteps.Vertices]) is through. When the record says that nothing is left to do
// ([Supersteps.Over]), the plan is empty. A record of another computation is refused with [ErrGraphState].
//
// Cost: two commands; package paths says which documents. Cut, it leaves some states of the superstep: run it again.
func (s *Supersteps) Step(last GraphStep) model.Plan {
	if err := s.check(last); err != nil {
		return model.RefusedPlan(s.g.states, err)
	}
	if s.Over(last) {
		return model.Plan{}
	}
	var p model.Plan
	switch s.kind {
	case distances:
		p = s.stepDistances(last.Step + 1)
	case components:
		p = s.stepComponents(last.Step + 1)
	case rank:
		p = s.stepRank(last)
	default:
		p = s.endProgram(last.Step + 1)
	}
	return leaving(p)
}

// check says why a computation can't go on from a record.
func (s *Supersteps) check(last GraphStep) error {
	switch {
	case s.err != nil:
		return s.err
	case last.Kind == clearing:
		return fmt.Errorf("%w: a Clear was cut", ErrGraphState)
	case last.Kind != s.kind:
		return fmt.Errorf("%w: %s are of %q, not of %q", ErrGraphState, s.g.states, last.Kind, s.kind)
	case last.Asked != s.asked:
		return fmt.Errorf("%w: %s are of other sources or another damping", ErrGraphState, s.g.states)
	case last.Lost != 0:
		return fmt.Errorf("%w: %d of %s are not of superstep %d", ErrGraphState, last.Lost, s.g.states, last.Step)
	case last.Step < 0:
		return &model.ValueError{Collection: s.g.steps, Field: "Step", Value: last.Step, Reason: "is not a superstep's number"}
	}
	return nil
}

// Over reports whether the computation is over after a superstep: nothing changed in it; of a PageRank no more than the tolerance;
// of a program all vertices halted and nothing was sent.
func (s *Supersteps) Over(last GraphStep) bool {
	switch s.kind {
	case rank:
		return last.Vertices == 0 || last.Step > 0 && last.Delta <= s.tolerance
	case program:
		return last.Active == 0 && last.Sent == 0
	}
	return last.Changed == 0
}

// Last returns the query of the record of the last superstep that is over; none means that the computation has not begun.
//
// Cost: one command, one document by _id.
func (s *Supersteps) Last() model.Find[GraphStep] {
	f := s.records(-1)
	f.Limit = 1
	return f
}

// Steps returns the query of all records, in the order of supersteps: what each superstep did.
//
// Cost: one command, and one per further batch; served by _id.
func (s *Supersteps) Steps() model.Find[GraphStep] { return s.records(1) }

func (s *Supersteps) records(direction int) model.Find[GraphStep] {
	return model.Find[GraphStep]{Query: model.Query{
		Collection: s.g.steps, Filter: bson.D{mql.E("_id", mql.Op("$gte", int64(0)))}, Sort: bson.D{mql.E("_id", direction)}, Index: model.IDIndex, Err: s.err,
	}}
}

// GraphOptions say how [Supersteps.Run] runs. The zero value runs a computation to its end.
type GraphOptions struct {
	Steps    int                   // how many supersteps to run at most, in this run; 0 means no bound
	Progress func(GraphStep) error // is told of each superstep when it is over; an error from it stops the run, which returns it

	// BatchSize is how many vertices a program reads at a time; 0 means 500. Checkpoint names a collection in which a program's
	// job keeps how far it came within a superstep, at a command for each batch; "" keeps none: a superstep that was cut is run
	// again from its first vertex.
	BatchSize  int
	Checkpoint string
}

// Run begins the computation, or goes on with it where it was, and runs supersteps until it is over. It returns the last record, on
// an error too. It can be stopped and killed anywhere, and run again; one that is over does nothing.
//
// Cost: three commands for each superstep (its plan, and the read of its record), five for the beginning, and one to find out where
// it was; a program's batches beside it.
func (s *Supersteps) Run(ctx context.Context, db *mongo.Database, o GraphOptions) (GraphStep, error) {
	ctx = runctx.Deciding(ctx)
	last, err := s.Last().One(ctx, db)
	began := !errors.Is(err, model.ErrNotFound)
	if err != nil && began {
		return last, err
	}
	for n := 0; ; n++ {
		plan := s.Begin()
		if began {
			plan = s.Step(last)
			if err := plan.Err(); err != nil || len(plan.Steps) == 0 || o.Steps > 0 && n >= o.Steps {
				return last, err
			}
			if err := s.batches(ctx, db, last, o); err != nil {
				return last, err
			}
		} else {
			n-- // the beginning is no superstep
		}
		if _, err := plan.Run(ctx, db); err != nil {
			return last, err
		}
		before := last
		if last, err = s.Last().One(ctx, db); err != nil {
			return before, err
		}
		if began && last.Step == before.Step {
			return last, fmt.Errorf("%w: superstep %d left no record in %s", ErrGraphState, last.Step+1, s.g.steps)
		}
		began = true
		if o.Progress != nil {
			if err := o.Progress(last); err != nil {
				return last, err
			}
		}
	}
}

func (s *Supersteps) batches(ctx context.Context, db *mongo.Database, last GraphStep, o GraphOptions) error {
	if s.kind != program {
		return nil
	}
	job := s.Vertices(last)
	job.BatchSize = o.BatchSize
	_, err := job.Run(ctx, db, model.JobOptions{Checkpoint: o.Checkpoint})
	return err
}

// Indexes returns the indexes that the computation needs on the states, or a program on its messages; PageRank needs none.
func (s *Supersteps) Indexes() []model.Index {
	index := func(collection, why string, keys ...string) model.Index {
		var d bson.D
		for _, k := range keys {
			d = append(d, mql.E(k, 1))
		}
		x := model.NewIndex(collection, d)
		x.Why = why
		return x
	}
	step := index(s.g.states, "what a superstep wrote", "step", "_id")
	switch s.kind {
	case distances:
		return []model.Index{step}
	case components:
		return []model.Index{
			step, index(s.g.states, "edges that lead to a vertex", "to"), index(s.g.states, "the vertices of a component", "component", "_id"),
		}
	case program:
		return []model.Index{step, index(s.g.messages, "messages to a vertex", "_id.t", "_id.s")}
	}
	return nil
}

// Relations returns none: those of the states are the [Graph]'s.
func (s *Supersteps) Relations() []model.Relation { return nil }

// clear deletes all, under the mark that it is being deleted.
func (g *graph) clear() model.Plan {
	mark := bson.D{mql.E("_id", clearingID)}
	all := func(name string, filter ...bson.E) model.Write {
		return model.Write{Collection: name, Model: &mongo.DeleteManyModel{Filter: append(bson.D{}, filter...)}}
	}
	p := model.NewPlan(
		put(g.steps, mark, &mongo.UpdateOneModel{Update: bson.D{mql.E("$set", bson.D{mql.E("kind", clearing)})}}),
		all(g.states), all(g.messages), all(g.steps, mql.E("_id", mql.Op("$lt", clearingID))), all(g.steps, mark...),
	)
	p.Leaves = "some states and messages, and a record that the graph is being cleared"
	return p
}

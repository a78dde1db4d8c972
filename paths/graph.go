package paths

import (
	"cmp"
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// GraphSpec says where a computation over a [Graph] keeps what it knows. The zero value is a good one.
type GraphSpec struct {
	// States names the collection of the vertices' states. Records of supersteps are kept in another, named like it with
	// "_steps", and messages of programs in a third, with "_messages". "" means the vertices' name with "_states".
	States string
}

// VertexState is what a computation knows of a vertex: of each computation the fields that are named for it, the others being
// zero.
type VertexState[K any] struct {
	ID   K     `bson:"_id"`  // the vertex's
	Step int64 `bson:"step"` // the superstep that wrote the state last; of [Graph.Distances] the distance itself

	Via       K             `bson:"via"`       // Distances: the vertex before it on a shortest path, the least where there are several
	Component K             `bson:"component"` // Components: the least _id of the vertices that it hangs together with
	Rank      float64       `bson:"rank"`      // PageRank: its rank, from 0 to 1; 0 before the first superstep
	Halted    bool          `bson:"halted"`    // a program: the vertex waits for messages
	Value     bson.RawValue `bson:"value"`     // a program: the vertex's State; Value.Unmarshal decodes it
}

// Graph is a directed graph: the documents of a collection are its vertices, and each lists the _ids of those that its edges lead to.
// Make it with [NewGraph]. A Graph holds one computation, in a collection of states of its own: declare another, with other States,
// for another computation over the same vertices.
//
// An edge to an _id that no vertex has is no edge. An edge that is listed twice is one. An edge may lead to its own vertex; a PageRank
// counts that.
//
// Vertices are never written. What an edge that changes meanwhile does is said by each computation.
//
// Sources: "Batch Graph Processing" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/, which
// is message passing in rounds: Malewicz and others, "Pregel: A System for Large-Scale Graph Processing", SIGMOD 2010.
type Graph[D, K any] struct {
	model.Parts

	docs   *model.Collection[D, K]
	states *model.Collection[VertexState[K], K]
	edges  *core.Reader[K]
	g      *graph.Graph
}

// NewGraph declares that documents list at a path the _ids of those that their edges lead to: follows, or roads.to where each edge
// is a document. It panics with a [*model.DeclarationError] when the path doesn't exist, holds other values than _ids of these
// documents, crosses no array or more than one, or is within _id; and when a name is not a collection's, or is that of the vertices.
func NewGraph[D, K any](vertices *model.Collection[D, K], edges string, spec GraphSpec) *Graph[D, K] {
	field := vertices.Docs().MustField(edges)
	g := graph.Declare(vertices.Name(), field, spec.States)
	x := &Graph[D, K]{docs: vertices, edges: core.NewReader[K](vertices.Docs(), edges), g: g}
	for _, name := range []string{g.Steps, g.Messages} {
		vertices.Named(name)
	}
	x.states = model.NewCollection[VertexState[K], K](g.States)
	x.Parts = model.NewParts(nil, g.Relations, nil, g.Footprints)
	return x
}

// Distances returns the computation of how many edges each vertex is away from the nearest of some, which are 0 away: breadth
// first, a superstep for each distance. A state's Step is the distance; Via leads back. Vertices that can't be reached get no
// state: see [Graph.Unreached].
//
// The edges are read as the search comes to them: one that changes meanwhile counts as it is then, or not, and a distance that was
// found stays. Clear and run it again for distances of the edges as they are.
//
// A superstep reads the states of the one before by the index of [Supersteps.Indexes], and their edges and targets by _id; it writes
// a state for each vertex that it reaches. Vertices of from that don't exist are passed over; empty ids are refused.
func (x *Graph[D, K]) Distances(from ...K) *Supersteps {
	ids := bson.A{}
	for i, id := range from {
		v, err := x.docs.Docs().EncodeID(fmt.Sprintf("from[%d]", i), id)
		if err != nil {
			return supersteps(x.g.Distances(nil, err))
		}
		ids = append(ids, v)
	}
	return supersteps(x.g.Distances(ids, nil))
}

// Components returns the computation of which vertices hang together, edges being taken as leading both ways. A state's Component
// is the least _id of those that it hangs together with, in the server's order.
//
// It begins with copying each vertex's edges into its state; so edges that change later don't count. Then a vertex tells its
// component to its neighbours whenever that changed: as many supersteps as the longest way from a least _id to a vertex of its
// component, and one. States that changed are found by an index, and those whose edges lead to them by another; a hub with very
// many edges to it makes none of the documents large.
func (x *Graph[D, K]) Components() *Supersteps {
	return supersteps(x.g.Components())
}

// RankSpec says how a PageRank is computed. The zero value is the usual one.
type RankSpec struct {
	Damping   float64 // how much of a rank comes from edges, above 0 and below 1; 0 means 0.85
	Tolerance float64 // ends when all ranks together changed by no more than that; 0 means 1e-10
}

// PageRank returns the computation of how often somebody is at each vertex who follows edges at random and, once in 1/(1-Damping)
// steps, goes anywhere; one who is at a vertex without edges goes anywhere too. The ranks of all vertices sum up to 1. It ends at
// the tolerance: the sum of all errors is then below Tolerance·Damping/(1-Damping), but for rounding.
//
// It begins with copying each vertex's edges into its state; so edges and vertices that change later don't count. A superstep reads
// all states and writes each. It panics with a [*model.DeclarationError] for a Damping that is not between 0 and 1, or a negative
// Tolerance.
//
// Source: Page and others, "The PageRank Citation Ranking", 1998.
func (x *Graph[D, K]) PageRank(r RankSpec) *Supersteps {
	return supersteps(x.g.PageRank(r.Damping, r.Tolerance))
}

// States returns the query of the states of some vertices, or of all where none is named, in the order of _id. A vertex without a
// state is left out.
//
// Cost: one command, and one per further batch; served by _id.
func (x *Graph[D, K]) States(ids ...K) *model.Find[VertexState[K]] {
	if len(ids) == 1 {
		return x.states.ByID(ids[0])
	}
	var filter bson.D
	var err error
	if len(ids) > 0 {
		all := make(bson.A, len(ids))
		for i, id := range ids {
			var errID error
			all[i], errID = x.docs.Docs().EncodeID(fmt.Sprintf("ids[%d]", i), id)
			err = cmp.Or(err, errID)
		}
		filter = bson.D{mql.E("_id", mql.Op("$in", all))}
	}
	f := x.find(filter, "_id", 1, model.IDIndex)
	f.Err = err
	return f
}

// Within returns the query of the vertices that are up to so many edges away, nearest first: after [Graph.Distances].
//
// Cost: one command, and one per further batch; served by the index of [Supersteps.Indexes].
func (x *Graph[D, K]) Within(distance int64) *model.Find[VertexState[K]] {
	return x.find(bson.D{mql.E("step", mql.Op("$lte", distance))}, "step", 1, "step_1__id_1")
}

// Component returns the query of the vertices of a component, which is named by its least _id: after [Graph.Components].
//
// Cost: one command, and one per further batch; served by the index of [Supersteps.Indexes].
func (x *Graph[D, K]) Component(id K) *model.Find[VertexState[K]] {
	v, err := x.docs.Docs().EncodeID("id", id)
	f := x.find(bson.D{mql.E("component", model.Eq(v))}, "_id", 1, "component_1__id_1")
	f.Err = err
	return f
}

// Top returns the query of the n vertices of the highest rank, the highest first: after [Graph.PageRank].
//
// Cost: one command, and one per further batch; the server reads all states and keeps n, for an index on ranks would be written anew
// in each superstep. Make one when the ranks are done, if this is asked often.
func (x *Graph[D, K]) Top(n int64) *model.Find[VertexState[K]] {
	f := x.find(nil, "rank", -1, "")
	f.Limit = n
	if n < 1 {
		f.Err = &model.ValueError{Collection: x.g.States, Field: "n", Value: n, Reason: "must be at least 1"}
	}
	return f
}

func (x *Graph[D, K]) find(filter bson.D, sort string, direction int, index string) *model.Find[VertexState[K]] {
	f := x.states.Find(filter)
	f.Sort, f.Index = bson.D{mql.E(sort, direction)}, index
	if sort != "_id" {
		f.Sort = append(f.Sort, mql.E("_id", 1))
	}
	return f
}

// Unreached returns the vertices that have no state, in the order of _id: after [Graph.Distances] those that can't be reached.
//
// Cost: one command, and one per further batch; the server reads every vertex, and looks its state up by _id.
func (x *Graph[D, K]) Unreached() *model.Aggregate[D] {
	return x.docs.Aggregate(mongo.Pipeline{
		mql.Op("$sort", bson.D{mql.E("_id", 1)}),
		mql.Project(mql.E("vertex", "$$ROOT")),
		mql.Lookup(x.g.States, "_id", "_id", "state", mql.E("_id", 1)),
		mql.Match(mql.E("state", mql.Op("$size", 0))),
		mql.Op("$replaceRoot", bson.D{mql.E("newRoot", "$vertex")}),
	})
}

// Clear returns the plan that deletes states, messages and records, for a computation to begin anew. A computation refuses to go
// on after one that was cut, until Clear is run to its end.
//
// Cost: four commands, for the last two deletions share one; all states, messages and records.
func (x *Graph[D, K]) Clear() model.Plan { return x.g.Clear() }

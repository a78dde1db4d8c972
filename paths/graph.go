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

// GraphSpec says where a [Graph] stores its computation.
type GraphSpec struct {
	// States is the name of the collection of [VertexState] documents. "" means the name
	// of the vertices' collection plus "_states". Two more collections have this
	// name plus "_steps" ([GraphStep]) or "_messages" ([NewProgram]).
	States string
}

// VertexState is a computation's result for one vertex. The computations are
// [Graph.Distances], [Graph.Components], [Graph.PageRank] and [NewProgram]. Fields of
// other computations are zero. A computation runs in supersteps: see [Supersteps].
type VertexState[K any] struct {
	ID   K     `bson:"_id"`  // the vertex's _id
	Step int64 `bson:"step"` // the superstep that wrote the state; in Distances, the distance

	Via       K             `bson:"via"`       // [Graph.Distances] only: the previous vertex's _id on a shortest path
	Component K             `bson:"component"` // [Graph.Components] only: the component's least _id
	Rank      float64       `bson:"rank"`      // PageRank: from 0 to 1; 0 before the first superstep
	Halted    bool          `bson:"halted"`    // NewProgram only: the vertex awaits messages
	Value     bson.RawValue `bson:"value"`     // NewProgram only: GraphVertex.State, encoded as BSON
}

// Graph is a directed graph. The vertices are a collection's documents. The edges are
// _ids in an array of each vertex. Repeated edges count once. Edges to missing vertices
// don't count. [GraphVertex].Edges contains them all.
//
// [Graph.Distances], [Graph.Components], [Graph.PageRank] and [NewProgram] compute a
// [VertexState] for each vertex. A Graph stores the results of one computation at a time.
// To find only the vertices near a known vertex, use $graphLookup.
//
// # Limits
//
// For [NewProgram], a vertex with its state and messages must fit in 16 MiB.
//
// # Shards
//
// Graphs on shards aren't tested. Shard vertices, states and messages by {_id: "hashed"}.
// Don't shard [GraphStep] records. Computations on shards need MongoDB 5.1.
//
// Sources: "Batch Graph Processing" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// Malewicz and others, "Pregel: A System for Large-Scale Graph Processing", SIGMOD 2010;
// https://www.mongodb.com/docs/manual/core/aggregation-pipeline-sharded-collections/.
type Graph[D, K any] struct {
	model.Parts

	docs   *model.Collection[D, K]
	states *model.Collection[VertexState[K], K]
	edges  *core.Reader[K]
	g      *graph.Graph
}

// NewGraph declares a graph. The parameter edges is the path at which a vertex lists the
// _ids of other vertices: "follows", or "roads.to" if an edge is a document. Exactly one
// field of the path must be an array. The path can't begin with _id. An invalid path or
// spec panics with a [*model.DeclarationError].
func NewGraph[D, K any](vertices *model.Collection[D, K], edges string, spec GraphSpec) *Graph[D, K] {
	field := vertices.Docs().MustField(edges)
	g := graph.DeclareGraph(vertices.Name(), field, spec.States)
	x := &Graph[D, K]{docs: vertices, edges: core.NewReader[K](vertices.Docs(), edges), g: g}
	for _, name := range []string{g.Steps, g.Messages} {
		vertices.Named(name)
	}
	x.states = model.NewCollection[VertexState[K], K](g.States)
	x.Parts = model.NewParts(nil, g.ListRelations, nil, g.ListFootprints).WithDocs(vertices.Docs(), x.states.Docs()).
		WithKeys(x.keys()...).WithReactions(func() []model.Reaction { return nil })
	return x
}

// keys says that the _ids of the records of supersteps contain the vertices' _ids.
func (x *Graph[D, K]) keys() (out []model.KeyedDocs) {
	for _, name := range []string{x.g.States, x.g.Steps, x.g.Messages} {
		out = append(out, model.KeyedDocs{Collection: name, From: []*core.Docs{x.docs.Docs()}})
	}
	return out
}

// Distances returns the computation of each vertex's distance: the number of edges from
// the nearest source. Pass the sources' _ids. The results are Step and Via of
// [VertexState]. Unreachable vertices get no result: see [Graph.Unreached]. After edges
// change, run [Graph.Clear], and then the computation again.
//
// Cost: see [Supersteps].
func (x *Graph[D, K]) Distances(sources ...K) *Supersteps {
	ids := bson.A{}
	for i, id := range sources {
		v, err := x.docs.Docs().EncodeID(fmt.Sprintf("sources[%d]", i), id)
		if err != nil {
			return x.supersteps(x.g.RefuseDistances(err))
		}
		ids = append(ids, v)
	}
	return x.supersteps(x.g.DeclareDistances(ids))
}

// Components returns the computation that finds each vertex's component. Two vertices are
// in the same component if a path of edges, in any direction, connects them. The result
// is [VertexState].Component. The computation first copies all edges, and ignores later
// changes. A long path needs many supersteps.
//
// Cost: see [Supersteps].
func (x *Graph[D, K]) Components() *Supersteps {
	return x.supersteps(x.g.DeclareComponents())
}

// RankSpec configures a PageRank. The zero value means the defaults.
type RankSpec struct {
	Damping   float64 // probability to follow an edge, above 0 and below 1; 0 means 0.85
	Tolerance float64 // stop when a step's total rank change is at most this; 0 means 1e-10
}

// PageRank returns the computation of each vertex's rank: the probability that a random
// walker is at the vertex. In each step, the walker follows a random edge (probability
// RankSpec.Damping) or jumps to a random vertex. The computation first copies all edges,
// and ignores later changes.
//
// Cost: see [Supersteps].
//
// Source: Page and others, "The PageRank Citation Ranking", 1998.
func (x *Graph[D, K]) PageRank(r RankSpec) *Supersteps {
	return x.supersteps(x.g.DeclarePageRank(r.Damping, r.Tolerance))
}

// States returns the query of the results ([VertexState]) of the vertices with the given
// _ids, in the order of _id. Without _ids, it returns all results.
//
// Cost: one command, and one per further batch, by _id.
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

// Within returns the query that reads each near vertex's [VertexState], nearest first.
// A vertex is near if it is at most distance edges from a source. Before Within, run
// [Graph.Distances].
//
// Cost: one command, and one per further batch, by the index of [Supersteps].Indexes.
func (x *Graph[D, K]) Within(distance int64) *model.Find[VertexState[K]] {
	return x.find(bson.D{mql.E("step", mql.Op("$lte", distance))}, "step", 1, "step_1__id_1")
}

// Component returns the query of a component's vertices, each as a [VertexState]. As id,
// pass the component's least _id. Before Component, run [Graph.Components].
//
// Cost: one command, and one per further batch, by the index of [Supersteps].Indexes.
func (x *Graph[D, K]) Component(id K) *model.Find[VertexState[K]] {
	v, err := x.docs.Docs().EncodeID("id", id)
	f := x.find(bson.D{mql.E("component", mql.Eq(v))}, "_id", 1, "component_1__id_1")
	f.Err = err
	return f
}

// Top returns the query of the states of the n vertices with the highest ranks, highest
// first. Before Top, run [Graph.PageRank].
//
// Cost: one command per batch. The server reads all states. For frequent queries, create
// the index {rank: -1, _id: 1} on the states after the computation.
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

// Unreached returns the vertices without a [VertexState], in the order of _id. After
// [Graph.Distances], they are the vertices to which no path leads from a source.
//
// Cost: one command, and one per further batch. The server reads every vertex, and its
// state by _id.
func (x *Graph[D, K]) Unreached() *model.Aggregate[D] {
	return x.docs.Aggregate(mongo.Pipeline{
		mql.Op("$sort", bson.D{mql.E("_id", 1)}),
		mql.Project(mql.E("vertex", "$$ROOT")),
		mql.Lookup(x.g.States, "_id", "_id", "state", mql.E("_id", 1)),
		mql.Match(mql.E("state", mql.Op("$size", 0))),
		mql.Op("$replaceRoot", bson.D{mql.E("newRoot", "$vertex")}),
	})
}

// Clear returns the plan that deletes the computation: all states, messages and records
// of supersteps. After an interrupted Clear, computations give [ErrGraphState] until
// Clear is run again.
//
// Cost: four commands.
func (x *Graph[D, K]) Clear() model.Plan { return x.g.PlanClear() }

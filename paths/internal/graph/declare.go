// Package graph is the core of paths.Graph and paths.Supersteps (paths/graph.go,
// graph_supersteps.go, graph_program.go): computations over all documents of a
// collection, in supersteps, as in "Pregel: A System for Large-Scale Graph Processing"
// (Malewicz et al., 2010). Distances, components and ranks run on the server, in
// pipelines that end with $merge. A program calls a Go function for each vertex.
//
// # Stored form
//
// The vertices are the caller's documents. A computation stores its results beside them,
// in three collections, here for vertices in accounts:
//
//	accounts                  {_id: "ann", follows: ["bob", "cy"]}
//	accounts_states           {_id: "bob", step: 1, via: "ann"}              // distances
//	accounts_states           {_id: "bob", step: 2, component: "ann", to: […], was: {…}}
//	accounts_states           {_id: "bob", step: 3, rank: 0.2, was: 0.19, to: […]}
//	accounts_states_steps     {_id: 2, kind: "distances", asked: 7, changed: 5}
//	accounts_states_messages  {_id: {s: 3, t: "bob", f: "ann"}, m: […]}      // programs
//
// step is the superstep that wrote a state. A record in the steps says that a superstep
// is over. asked is a hash of the arguments. The record with the _id -1 claims the
// collections for one computation. The greatest int64 as the _id marks a Clear that isn't
// over.
//
// # Protocol
//
//  1. Claim: an upsert that fails with [ErrState] if another computation has the states.
//  2. Superstep 0 stores the first states, then its record.
//  3. Superstep n reads the states of n-1, merges new states, then its record. A program
//     computes its vertices in batches, and deletes the messages that were read.
//  4. A record in which nothing changed ends the computation (see [Supersteps.IsOver]).
//
// # What a crash leaves
//
// States of a superstep without its record. The next run computes this superstep again.
// So each pipeline gives the same result when it meets states of its own superstep: it
// skips them, or reads the value from before the superstep (was). Nobody may run a
// computation in two processes: only ranks notice it ([Record].Lost).
package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrState is the shell's ErrGraphState.
var ErrState = errors.New("docmodel: the graph's states are from another computation: run Clear, then start again")

// A Graph names the collections that a computation reads and writes, and the path of the
// edges.
type Graph struct {
	Vertices, Edges         string // a collection, and a path in it
	States, Steps, Messages string // collections
}

// DeclareGraph checks the path of the edges, and derives the names of the collections
// from that of the states; "" means the vertices' name with "_states".
func DeclareGraph(vertices string, edges core.Field, states string) *Graph {
	bad := core.Place("NewGraph of " + vertices).Fail
	g := &Graph{Vertices: vertices, Edges: edges.Path, States: vertices + "_states"}
	if states != "" {
		g.States = states
	}
	g.Steps, g.Messages = g.States+"_steps", g.States+"_messages"
	switch {
	case !edges.Untyped && edges.Arrays != 1:
		bad(
			fmt.Sprintf("edges %q crosses %d arrays", edges.Path, edges.Arrays),
			"name a list of ids, or the ids in a list of documents",
		)
	case edges.Path == "_id" || strings.HasPrefix(edges.Path, "_id."):
		bad("edges are in the _id", "store the edges in another field")
	case g.States == vertices || g.Steps == vertices || g.Messages == vertices:
		bad(
			fmt.Sprintf("States %q, or a collection named after it, is the vertices' collection", g.States),
			"name another collection",
		)
	}
	return g
}

// ListRelations returns the edges, and the link from a state to its vertex.
func (g *Graph) ListRelations() []model.Relation {
	return []model.Relation{
		{
			From: g.Vertices, FromPath: g.Edges, To: g.Vertices, ToPath: "_id", FromEnd: model.Many, ToEnd: model.Many,
			Label: "edge",
		},
		{
			From: g.States, FromPath: "_id", To: g.Vertices, ToPath: "_id", FromEnd: model.ZeroOrOne,
			ToEnd: model.ExactlyOne, Label: "state",
		},
	}
}

// What a computation is, as its records say it.
const (
	// The kinds of computations, as their records store them.
	distances  = "distances"
	components = "components"
	rank       = "rank"
	program    = "program"
	clearing   = "clearing"
)

// Supersteps is a computation over a [Graph].
type Supersteps struct {
	g     *Graph
	kind  string // which computation
	asked int64  // and a hash of what it was asked

	// Of distances: the encoded _ids of the sources.
	from               bson.A
	damping, tolerance float64
	compute            func(step int64, doc bson.Raw) (*Out, error)

	err error
}

// DeclareDistances declares the distance of each vertex from the nearest of some sources,
// whose _ids are encoded.
func (g *Graph) DeclareDistances(from bson.A) *Supersteps {
	s := &Supersteps{g: g, kind: distances, from: from}
	return s.setAsked(from)
}

// RefuseDistances is a computation whose methods give an error of its arguments.
func (g *Graph) RefuseDistances(err error) *Supersteps {
	s := &Supersteps{g: g, kind: distances, err: err}
	return s.setAsked(nil)
}

// DeclareComponents declares the connected components, with edges in both directions.
func (g *Graph) DeclareComponents() *Supersteps { return &Supersteps{g: g, kind: components} }

// DeclarePageRank declares ranks. It panics if a number is out of range; 0 means the
// default.
func (g *Graph) DeclarePageRank(damping, tolerance float64) *Supersteps {
	bad := core.Place("PageRank of " + g.Vertices).Fail
	if damping == 0 {
		damping = 0.85
	}
	if tolerance == 0 {
		tolerance = 1e-10
	}
	switch {
	case !(damping > 0 && damping < 1):
		bad(fmt.Sprintf("Damping is %v", damping), "use a number above 0 and below 1")
	case !(tolerance > 0) || math.IsInf(tolerance, 1):
		bad(fmt.Sprintf("Tolerance is %v", tolerance), "use a small positive number")
	}
	s := &Supersteps{g: g, kind: rank, damping: damping, tolerance: tolerance}
	return s.setAsked(damping)
}

// DeclareProgram declares a computation by a function, which gets the documents of
// [Graph.makeVertexStages].
func (g *Graph) DeclareProgram(compute func(step int64, doc bson.Raw) (*Out, error)) *Supersteps {
	return &Supersteps{g: g, kind: program, compute: compute}
}

// setAsked stores a hash of the arguments, which the records repeat.
func (s *Supersteps) setAsked(what any) *Supersteps {
	raw, err := bson.Marshal(bson.D{mql.E("asked", what)})
	switch {
	case s.err != nil:
	case err != nil:
		s.err = err
	default:
		sum := sha256.Sum256(raw)
		s.asked = int64(binary.BigEndian.Uint64(sum[:8]))
	}
	return s
}

// ListIndexes returns the indexes that the computation's pipelines need.
func (s *Supersteps) ListIndexes() []model.Index {
	index := func(collection, why string, keys ...string) model.Index {
		var d bson.D
		for _, k := range keys {
			d = append(d, mql.E(k, 1))
		}
		x := model.NewIndex(collection, d)
		x.Why = why
		return x
	}
	step := index(s.g.States, "the states that a superstep wrote", "step", "_id")
	switch s.kind {
	case distances:
		return []model.Index{step}
	case components:
		return []model.Index{
			step, index(s.g.States, "the edges to a vertex", "to"),
			index(s.g.States, "the vertices of a component", "component", "_id"),
		}
	case program:
		return []model.Index{step, index(s.g.Messages, "messages to a vertex", "_id.t", "_id.s")}
	}
	return nil
}

// ListFootprints returns the paths that a graph uses. Clear deletes what supersteps own.
func (g *Graph) ListFootprints() []model.Footprint {
	out := slices.Concat(
		model.Reads.In(g.Vertices, g.Edges), model.Reads.In(g.States, model.Whole), model.Mends.In(g.Steps, "kind"),
	)
	for _, name := range g.listKeptCollections() {
		out = append(out, model.Mends.In(name, model.Whole)...)
	}
	return out
}

// listKeptCollections names the collections that computations write.
func (g *Graph) listKeptCollections() []string { return []string{g.States, g.Steps, g.Messages} }

// ListFootprints returns the paths that a computation uses.
func (s *Supersteps) ListFootprints() []model.Footprint {
	out := model.Reads.In(s.g.Vertices, s.g.Edges)
	for _, name := range s.g.listKeptCollections() {
		out = append(out, model.Owns.In(name, model.Whole)...)
	}
	return out
}

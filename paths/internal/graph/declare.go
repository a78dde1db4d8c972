// Package graph is the core of the shells Graph and Supersteps of package paths: the pipelines of a computation over the documents of a
// collection, and the job that runs them.
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

// A Graph names what a computation reads and writes.
type Graph struct {
	Vertices, Edges         string // a collection, and a path in it
	States, Steps, Messages string // collections
}

// Declare checks the path of the edges, and names the collections after that of the states; "" means the vertices' name with "_states".
func Declare(vertices string, edges core.Field, states string) *Graph {
	bad := core.Place("NewGraph of " + vertices).Fail
	g := &Graph{Vertices: vertices, Edges: edges.Path, States: vertices + "_states"}
	if states != "" {
		g.States = states
	}
	g.Steps, g.Messages = g.States+"_steps", g.States+"_messages"
	switch {
	case !edges.Open && edges.Arrays != 1:
		bad(fmt.Sprintf("edges %q crosses %d arrays", edges.Path, edges.Arrays), "name a list of ids, or the ids in a list of documents")
	case edges.Path == "_id" || strings.HasPrefix(edges.Path, "_id."):
		bad("edges are in the _id", "store the edges in another field")
	case g.States == vertices || g.Steps == vertices || g.Messages == vertices:
		bad(fmt.Sprintf("States %q, or a collection named after it, is the vertices' collection", g.States), "name another collection")
	}
	return g
}

// Relations are the edges, and the states of the vertices.
func (g *Graph) Relations() []model.Relation {
	return []model.Relation{
		{From: g.Vertices, FromPath: g.Edges, To: g.Vertices, ToPath: "_id", FromEnd: model.Many, ToEnd: model.Many, Label: "edge"},
		{From: g.States, FromPath: "_id", To: g.Vertices, ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: model.ExactlyOne, Label: "state"},
	}
}

// What a computation is, as its records say it.
const (
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

	from               bson.A // Distances: their _ids, encoded
	damping, tolerance float64
	compute            func(step int64, doc bson.Raw) (*Out, error)

	err error
}

// Distances computes how far each vertex is from the nearest of some, whose _ids are encoded. The error, if any, is returned by each
// method's result.
func (g *Graph) Distances(from bson.A, err error) *Supersteps {
	s := &Supersteps{g: g, kind: distances, from: from, err: err}
	return s.asking(from)
}

// Components computes which vertices hang together.
func (g *Graph) Components() *Supersteps { return &Supersteps{g: g, kind: components} }

// PageRank computes ranks. It panics where a number is out of its range; 0 is the shell's default.
func (g *Graph) PageRank(damping, tolerance float64) *Supersteps {
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
	return s.asking(damping)
}

// Program computes a function, which is called with each document of [Graph.vertexStages].
func (g *Graph) Program(compute func(step int64, doc bson.Raw) (*Out, error)) *Supersteps {
	return &Supersteps{g: g, kind: program, compute: compute}
}

// asking sets what the computation is asked, by which its records are known.
func (s *Supersteps) asking(what any) *Supersteps {
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

// Indexes are those that the computation needs on the states, or a program on its messages.
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
	step := index(s.g.States, "the states that a superstep wrote", "step", "_id")
	switch s.kind {
	case distances:
		return []model.Index{step}
	case components:
		return []model.Index{
			step, index(s.g.States, "the edges to a vertex", "to"), index(s.g.States, "the vertices of a component", "component", "_id"),
		}
	case program:
		return []model.Index{step, index(s.g.Messages, "messages to a vertex", "_id.t", "_id.s")}
	}
	return nil
}

// Footprints are the paths that are used: to clear a graph deletes what its supersteps keep.
func (g *Graph) Footprints() []model.Footprint {
	out := slices.Concat(model.Reads.In(g.Vertices, g.Edges), model.Reads.In(g.States, model.Whole), model.Mends.In(g.Steps, "kind"))
	for _, name := range g.kept() {
		out = append(out, model.Mends.In(name, model.Whole)...)
	}
	return out
}

// kept are the collections of what supersteps keep.
func (g *Graph) kept() []string { return []string{g.States, g.Steps, g.Messages} }

// Footprints are the paths that are used.
func (s *Supersteps) Footprints() []model.Footprint {
	out := model.Reads.In(s.g.Vertices, s.g.Edges)
	for _, name := range s.g.kept() {
		out = append(out, model.Owns.In(name, model.Whole)...)
	}
	return out
}

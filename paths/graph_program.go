package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A GraphVertex is a vertex in a superstep, as a program's function sees it. The function changes State, sends and halts; it keeps
// nothing of it.
type GraphVertex[D, K, S, M any] struct {
	Step     int64 // the superstep, from 1 on
	ID       K
	Doc      D                    // the document, as it is now
	Edges    []K                  // what it lists, as it lists it
	State    S                    // what the function left here in an earlier superstep; the zero value in the first
	Messages []GraphMessage[K, M] // what was sent in the superstep before, in the order of senders and of sending

	// Halt, if the function sets it, lets the vertex wait: it is computed again when it is sent something, and not before.
	Halt bool

	send func(to K, m M)
}

// A GraphMessage is what a vertex was sent.
type GraphMessage[K, M any] struct {
	From K
	M    M
}

// Send sends to a vertex, which is told in the next superstep. What is sent to an _id that no vertex has is lost.
func (v *GraphVertex[D, K, S, M]) Send(to K, m M) { v.send(to, m) }

// NewProgram returns the computation of a function over a graph's vertices. In each superstep it is called for every vertex that
// has not halted or was sent something, with what was sent in the superstep before; the computation is over when all have halted
// and nothing was sent. S and M are what a vertex remembers and what it sends: any values that BSON holds.
//
// The function must depend on what it is handed alone, for a superstep that was cut calls it again for the same vertices. It is
// called for one vertex after the other, in batches in the order of _id. An error of it ends the run, before anything of the batch
// is written. Documents are read as they are in each superstep. A document that changes while a superstep that was cut is run again
// can leave a message that the function would no longer send.
//
// Messages are stored under the superstep, target and sender, so that none is stored twice, and deleted when the superstep after
// that in which they were read is over.
func NewProgram[D, K, S, M any](x *Graph[D, K], compute func(v *GraphVertex[D, K, S, M]) error) *Supersteps {
	if x == nil || compute == nil {
		core.Fail("no graph, or no function", "NewProgram", "give what NewGraph returned, and what each vertex computes")
	}
	docs := x.docs.Docs()
	return supersteps(x.g.Program(func(step int64, raw bson.Raw) (*graph.Out, error) {
		var in struct {
			ID     K        `bson:"_id"`
			Vertex bson.Raw `bson:"vertex"`
			Was    struct {
				Value bson.RawValue `bson:"value"`
			} `bson:"was"`
			Inbox []struct {
				ID struct {
					F K `bson:"f"`
				} `bson:"_id"`
				M []M `bson:"m"`
			} `bson:"inbox"`
		}
		if err := bson.Unmarshal(raw, &in); err != nil {
			return nil, err
		}
		v := &GraphVertex[D, K, S, M]{Step: step, ID: in.ID}
		if err := docs.Decode(in.Vertex, &v.Doc); err != nil {
			return nil, err
		}
		v.Edges = x.edges.Append(nil, &v.Doc)
		if in.Was.Value.Type != 0 {
			if err := in.Was.Value.Unmarshal(&v.State); err != nil {
				return nil, err
			}
		}
		for _, from := range in.Inbox {
			for _, m := range from.M {
				v.Messages = append(v.Messages, GraphMessage[K, M]{from.ID.F, m})
			}
		}
		out := &graph.Out{}
		v.send = func(to K, m M) {
			if err := docs.CheckID("to", to); err != nil {
				out.Fail(err)
				return
			}
			out.Send(docs.Encode, to, m)
		}
		if err := compute(v); err != nil {
			return nil, err
		}
		out.Halted = v.Halt
		out.SetValue(docs.Encode, v.State)
		return out, out.Err
	}))
}

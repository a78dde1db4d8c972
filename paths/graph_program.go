package paths

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A GraphVertex is a vertex in one step of the [Supersteps]. The function given to
// [NewProgram] can change State, call Send and set Halt. The function must not keep the
// GraphVertex.
type GraphVertex[D, K, S, M any] struct {
	Step  int64 // number of the step; the first is 1
	ID    K
	Doc   D   // the current document
	Edges []K // all _ids of Doc's list, in its order
	State S   // this vertex's last stored state; zero at first

	// Messages were sent in the previous step. They are sorted by From, then in the order
	// of sending.
	Messages []GraphMessage[K, M]

	// Halt skips this vertex until a message arrives.
	Halt bool

	send func(to K, m M)
}

// A GraphMessage is a message from one vertex to another.
type GraphMessage[K, M any] struct {
	From K
	M    M
}

// Send sends a message to a vertex, which receives it in the next step of the
// [Supersteps]. A message to a missing vertex is lost.
func (v *GraphVertex[D, K, S, M]) Send(target K, m M) { v.send(target, m) }

// NewProgram returns a computation on the graph x, in steps. Each step calls compute for
// every vertex that received messages, or whose last call didn't set [GraphVertex].Halt.
// If a step has no such vertex, the computation ends. S is the type of a vertex's state,
// and M is the type of a message. BSON must be able to encode both.
//
// compute must depend only on its argument. Calls aren't concurrent. An error from
// compute ends the run.
func NewProgram[D, K, S, M any](x *Graph[D, K], compute func(v *GraphVertex[D, K, S, M]) error) *Supersteps {
	if x == nil || compute == nil {
		core.Fail("the graph or a function is nil", "NewProgram",
			"give a result of NewGraph, and the function that each vertex computes")
	}
	docs := x.docs.Docs()
	return x.supersteps(x.g.DeclareProgram(func(step int64, raw bson.Raw) (*graph.Out, error) {
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
			if err := docs.CheckID("target", to); err != nil {
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

package paths

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
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

	send func(to K, m M)
	halt bool
}

// A GraphMessage is what a vertex was sent.
type GraphMessage[K, M any] struct {
	From K
	M    M
}

// Send sends to a vertex, which is told in the next superstep. What is sent to an _id that no vertex has is lost.
func (v *GraphVertex[D, K, S, M]) Send(to K, m M) { v.send(to, m) }

// Halt lets the vertex wait: it is computed again when it is sent something, and not before.
func (v *GraphVertex[D, K, S, M]) Halt() { v.halt = true }

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
		panic(&model.DeclarationError{Problem: "no graph, or no function", Place: "NewProgram", Remedy: "give what NewGraph returned, and what each vertex computes"})
	}
	s := &Supersteps{g: x.g, kind: program}
	s.compute = func(step int64, raw bson.Raw) (*vertexOut, error) {
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
		if err := x.docs.Decode(in.Vertex, &v.Doc); err != nil {
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
		out := &vertexOut{}
		v.send = func(to K, m M) {
			if err := x.docs.CheckID("to", to); err != nil {
				out.fail(err)
				return
			}
			out.sent(x.docs.Encode, to, m)
		}
		if err := compute(v); err != nil {
			return nil, err
		}
		out.halted = v.halt
		out.setValue(x.docs.Encode, v.State)
		return out, out.err
	}
	return s
}

// vertexOut is what a function did at a vertex, encoded.
type vertexOut struct {
	value  any
	halted bool
	to     []bson.RawValue // each once, in the order of the first message
	told   []bson.A        // and what was sent there
	err    error
}

func (o *vertexOut) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *vertexOut) setValue(encode func(any) (any, error), v any) {
	value, err := encode(v)
	if err != nil {
		o.fail(fmt.Errorf("state: %w", err))
	}
	o.value = value
}

func (o *vertexOut) sent(encode func(any) (any, error), to, m any) {
	id, err := encode(to)
	if err != nil {
		o.fail(fmt.Errorf("to: %w", err))
		return
	}
	told, err := encode(m)
	if err != nil {
		o.fail(fmt.Errorf("message: %w", err))
		return
	}
	key, err := rawValue(id)
	if err != nil {
		o.fail(err)
		return
	}
	for i, t := range o.to {
		if t.Equal(key) {
			o.told[i] = append(o.told[i], told)
			return
		}
	}
	o.to, o.told = append(o.to, key), append(o.told, bson.A{told})
}

// errNoProgram is what a job for vertices is refused with.
var errNoProgram = &model.ValueError{Field: "Vertices", Reason: "only a program has a job for its vertices: see NewProgram"}

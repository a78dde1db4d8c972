package graph

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An Out collects, encoded, what a function does at a vertex.
type Out struct {
	Value  any // the state
	Halted bool
	// The receivers, each once, in the order of the first message to it; told has the
	// messages.
	to   []bson.RawValue
	told []bson.A // and what was sent there
	Err  error
}

// Fail notes the first error, which ends the run.
func (o *Out) Fail(err error) {
	if o.Err == nil {
		o.Err = err
	}
}

// SetValue encodes the vertex's new state.
func (o *Out) SetValue(encode func(any) (any, error), v any) {
	value, err := encode(v)
	if err != nil {
		o.Fail(fmt.Errorf("state: %w", err))
	}
	o.Value = value
}

// Send encodes a message. Messages to one vertex are stored in one document.
func (o *Out) Send(encode func(any) (any, error), to, m any) {
	id, err := encode(to)
	if err != nil {
		o.Fail(fmt.Errorf("to: %w", err))
		return
	}
	told, err := encode(m)
	if err != nil {
		o.Fail(fmt.Errorf("message: %w", err))
		return
	}
	key, err := core.RawValue(id)
	if err != nil {
		o.Fail(err)
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

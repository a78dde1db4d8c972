package rules

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// A difference is a case with its two different outcomes, which a rule is asked to explain. Explain makes it. It is
// passed by value, so a method may change its fields: sameAsCase puts another outcome of the engine in its place. The
// documents in it belong to the caller of Explain.
type difference struct {
	cases.Case
	kind           outcome.Kind
	engine, server outcome.Outcome
	run            func(cases.Case) outcome.Outcome // what the engine does with another case
}

// withCase returns the same difference of another case. The outcomes stay.
func (x difference) withCase(c cases.Case) difference {
	x.Case = c
	return x
}

// sameAfter reports whether the outcomes are equal after both have gone through f, a canonical form.
func (x difference) sameAfter(f func(any) any) bool {
	engine, server := outcome.MapOutcome(x.engine, f), outcome.MapOutcome(x.server, f)
	outcome.SortReply(x.Case, engine.Reply)
	outcome.SortReply(x.Case, server.Reply)
	return outcome.Compare(engine, server) == outcome.Same
}

// sameStored reports whether only the stored documents differ, and are equal after both have gone through f.
func (x difference) sameStored(f func(any) any) bool {
	x.engine.Reply, x.server.Reply = nil, nil
	return x.kind == outcome.States && x.sameAfter(f)
}

// onlyEngine reports whether only the engine fails, or whether the server fails otherwise, with a duplicate key. This
// happens in an upsert that doesn't find its document because of the difference, and tries to insert it.
func (x difference) onlyEngine() bool {
	return x.kind == outcome.OnlyEngine || x.kind == outcome.Codes && x.server.Code == 11000
}

// onlyServer reports whether only the server fails, or whether the engine fails otherwise, with a duplicate key.
func (x difference) onlyServer() bool {
	return x.kind == outcome.OnlyServer || x.kind == outcome.Codes && x.engine.Code == 11000
}

// sameButEmptied reports whether the outcomes are equal, except that the server has empty documents in place of
// scalars, or additional fields that are empty documents. Such documents remain of a path whose last field was removed:
//
//	engine  {a: 5}
//	server  {a: {}, d: {e: {}}}
func (x difference) sameButEmptied() bool {
	engine, server := outcome.MapOutcome(x.engine, sortFields), outcome.MapOutcome(x.server, sortFields)
	if len(engine.State) != len(server.State) {
		return false
	}
	for i := range engine.State {
		if !equalButEmpty(engine.State[i], server.State[i]) {
			return false
		}
	}
	return equalButEmpty(engine.Reply, server.Reply)
}

// equalButEmpty is sameButEmptied for two values.
func equalButEmpty(engine, server any) bool {
	switch e := engine.(type) {
	case bson.D:
		s, ok := server.(bson.D)
		s = slices.DeleteFunc(slices.Clone(s), func(f bson.E) bool {
			return !tree.HasField(e, f.Key) &&
				isHollow(f.Value)
		})
		return ok && len(e) == len(s) &&
			!slices.ContainsFunc(e, func(f bson.E) bool {
				return !tree.HasField(s, f.Key) ||
					!equalButEmpty(f.Value, tree.Lookup(s, f.Key))
			})
	case bson.A:
		s, ok := server.(bson.A)
		for i := 0; ok && i < len(e) && i < len(s); i++ {
			ok = equalButEmpty(e[i], s[i])
		}
		return ok && len(e) == len(s)
	}
	return isHollow(server) || string(tree.Encode(engine)) == string(tree.Encode(server))
}

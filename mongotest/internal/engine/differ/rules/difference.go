package rules

import (
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
)

// difference is a case with its two outcomes.
type difference struct {
	cases.Case
	kind           outcome.Kind
	engine, server outcome.Outcome
	run            func(cases.Case) outcome.Outcome // what the engine does with another case
}

// sameAfter reports whether the outcomes are equal once both have gone through f.
func (x difference) sameAfter(f func(any) any) bool {
	engine, server := outcome.MapOutcome(x.engine, f), outcome.MapOutcome(x.server, f)
	outcome.SortReply(x.Case, engine.Reply)
	outcome.SortReply(x.Case, server.Reply)
	return outcome.Compare(engine, server) == outcome.Same
}

// with is the same difference of another case.
func (x difference) with(c cases.Case) difference {
	x.Case = c
	return x
}

// sameStored reports whether different documents are stored that are equal once they have gone through f.
func (x difference) sameStored(f func(any) any) bool {
	x.engine.Reply, x.server.Reply = nil, nil
	return x.kind == outcome.States && x.sameAfter(f)
}

// onlyEngine reports whether only the engine fails, but for an upsert that finds its document there afterwards.
func (x difference) onlyEngine() bool {
	return x.kind == outcome.OnlyEngine || x.kind == outcome.Codes && x.server.Code == 11000
}

// onlyServer reports whether only the server fails, but for an upsert that finds its document there afterwards.
func (x difference) onlyServer() bool {
	return x.kind == outcome.OnlyServer || x.kind == outcome.Codes && x.engine.Code == 11000
}

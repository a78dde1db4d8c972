package differ

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// rule names one way in which the server at hand is known to differ from MongoDB's documentation.
type rule struct {
	name   string
	reason string // what MongoDB does, and the page of its manual that says so
	// matches reports whether the rule explains the difference in full.
	matches func(x difference) bool
}

// difference is a case with its two outcomes.
type difference struct {
	Case
	kind           Kind
	engine, server Outcome
	run            func(Case) Outcome // what the engine does with another case
}

// explain returns the name of the rule that explains a difference, "" if none does.
func explain(x difference) string {
	for _, r := range rules {
		if r.matches(x) {
			return r.name
		}
	}
	return ""
}

// sameAfter reports whether the outcomes are equal once both have gone through f.
func (x difference) sameAfter(f func(any) any) bool {
	engine, server := mapOutcome(x.engine, f), mapOutcome(x.server, f)
	sortReply(x.Case, engine.Reply)
	sortReply(x.Case, server.Reply)
	return compare(engine, server) == Same
}

// changed is the case whose command has gone through f.
func (c Case) changed(f func(any) any) Case {
	c.Command, _ = mapValue(c.Command, f).(bson.D)
	return c
}

// with is the same difference of another case.
func (x difference) with(c Case) difference {
	x.Case = c
	return x
}

// sameStored reports whether different documents are stored that are equal once they have gone through f.
func (x difference) sameStored(f func(any) any) bool {
	x.engine.Reply, x.server.Reply = nil, nil
	return x.kind == States && x.sameAfter(f)
}

// mapOutcome applies f to each value of what came back and of what is stored, the inner ones first.
func mapOutcome(o Outcome, f func(any) any) Outcome {
	o.Reply, _ = mapValue(o.Reply, f).(bson.D)
	state := make([]bson.D, len(o.State))
	for i, doc := range o.State {
		state[i], _ = mapValue(doc, f).(bson.D)
	}
	o.State = state
	return o
}

func mapValue(v any, f func(any) any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			out[i] = bson.E{Key: e.Key, Value: mapValue(e.Value, f)}
		}
		return f(out)
	case bson.A:
		out := make(bson.A, len(v))
		for i, x := range v {
			out[i] = mapValue(x, f)
		}
		return f(out)
	}
	return f(v)
}

// uses reports whether the command has one of the operators.
func (c Case) uses(names ...string) bool {
	found := false
	walk(c.Command, func(key string, _ any) { found = found || slices.Contains(names, key) })
	return found
}

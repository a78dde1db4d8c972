package commands

import (
	"slices"

	"github.com/docmodel/docmodel/model"
)

// Keyed marks a write to documents whose _ids are made of keys.
func Keyed(w model.Write) model.Write {
	w.Keyed = true
	return w
}

// KeyedPlan marks the writes of a plan to a collection whose _ids are made of keys.
func KeyedPlan(p model.Plan, collection string) model.Plan {
	p.Steps, p.InTx, p.IfStale = keyedSteps(p.Steps, collection), keyedSteps(p.InTx, collection),
		keyedSteps(p.IfStale, collection)
	return p
}

func keyedSteps(steps []model.Step, collection string) []model.Step {
	out := slices.Clone(steps)
	for i, s := range out {
		w, ok := s.(model.Write)
		if !ok {
			continue
		}
		w.Keyed = w.Keyed || w.Collection == collection
		for j, r := range w.Reasons {
			if r.Instead != nil {
				w.Reasons = slices.Clone(w.Reasons)
				w.Reasons[j].Instead = keyedSteps(r.Instead, collection)
			}
		}
		out[i] = w
	}
	return out
}

// KeyedChecks marks checks that use collections whose _ids are made of keys.
func KeyedChecks(checks []model.Check, collections ...string) []model.Check {
	for i := range checks {
		c := &checks[i]
		c.Keyed = collections
		if mend := c.Mend; mend != nil {
			c.Mend = func(found []model.Finding) model.Plan {
				p := mend(found)
				for _, name := range collections {
					p = KeyedPlan(p, name)
				}
				return p
			}
		}
		for _, q := range c.Queries {
			q.Keyed = collections
		}
	}
	return checks
}

// KeyedChange marks the writes of a change to collections whose _ids are made of keys.
func KeyedChange[S any](c model.Change[S], collections ...string) model.Change[S] {
	if decide := c.Decide; decide != nil {
		c.Decide = func(s S) (model.Plan, error) {
			p, err := decide(s)
			for _, name := range collections {
				p = KeyedPlan(p, name)
			}
			return p, err
		}
	}
	return c
}

package commands

import (
	"slices"

	"github.com/docmodel/docmodel/model"
)

// MarkKeyed marks a write to documents whose _ids are made of keys.
func MarkKeyed(w model.Write) model.Write {
	w.Keyed = true
	return w
}

// MarkPlanKeyed marks the writes of a plan to a collection whose _ids are made of keys.
func MarkPlanKeyed(p model.Plan, collection string) model.Plan {
	p.Steps, p.InTx, p.IfStale = markStepsKeyed(p.Steps, collection), markStepsKeyed(p.InTx, collection),
		markStepsKeyed(p.IfStale, collection)
	return p
}

// markStepsKeyed marks copies of the steps, also of the steps that a Reason has instead.
func markStepsKeyed(steps []model.Step, collection string) []model.Step {
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
				w.Reasons[j].Instead = markStepsKeyed(r.Instead, collection)
			}
		}
		out[i] = w
	}
	return out
}

// MarkChecksKeyed marks checks, their queries and their repairs, that use collections
// whose _ids are made of keys.
func MarkChecksKeyed(checks []model.Check, collections ...string) []model.Check {
	for i := range checks {
		c := &checks[i]
		c.Keyed = collections
		if mend := c.Mend; mend != nil {
			c.Mend = func(found []model.Finding) model.Plan {
				p := mend(found)
				for _, name := range collections {
					p = MarkPlanKeyed(p, name)
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

// MarkChangeKeyed marks the writes of a change to collections whose _ids are made of
// keys.
func MarkChangeKeyed[S any](c model.ChangeOf[S], collections ...string) model.ChangeOf[S] {
	if decide := c.Decide; decide != nil {
		c.Decide = func(s S) (model.Plan, error) {
			p, err := decide(s)
			for _, name := range collections {
				p = MarkPlanKeyed(p, name)
			}
			return p, err
		}
	}
	return c
}

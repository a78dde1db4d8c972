package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
)

// A plan under the scopes of a database.

// rewriteFor returns the plan with a database's scopes applied.
func (p Plan) rewriteFor(db DB) Plan {
	if w := rewriterOf(db); w != nil {
		return w.plan(p)
	}
	return p.refuseUnkeyed(func(w Write) error { return needsModel(w.Collection) })
}

// refuseUnkeyed refuses writes to which [Scope.Plan] was applied without a model, if only a
// model can tell that their _ids carry the tenant.
func (p Plan) refuseUnkeyed(check func(Write) error) Plan {
	for _, steps := range []*[]Step{&p.Steps, &p.IfStale, &p.InTx} {
		for i, step := range *steps {
			w, ok := step.(Write)
			if !ok || len(w.scoping().unkeyed) == 0 || !core.NeedsModel(w.Collection) {
				continue
			}
			if err := check(w); err != nil {
				*steps = slices.Clone(*steps)
				(*steps)[i] = Refused(w.Collection, err)
			}
		}
	}
	return p
}

const carryTenant = "its _ids are made of keys and carry the tenant, which only a model tells to the commands of all techniques: "

func needsModel(collection string) error {
	return &ConflictError{Collection: collection, Reason: carryTenant + "use a database of Model.On"}
}

// used returns the uses of all steps that a run can send. The plan must be under its
// scopes.
func (p Plan) used() []use { return stepUses(stepUses(nil, p.Steps), p.IfStale) }

func stepUses(list []use, steps []Step) []use {
	for _, step := range steps {
		switch step := step.(type) {
		case Write:
			if step.under != nil && step.under.text != "" {
				list = append(list, use{step.Collection, step.under.text})
			}
			for _, reason := range step.Reasons {
				list = stepUses(list, reason.Instead)
			}
		case MergeInto:
			list = append(list, step.used...)
		}
	}
	return list
}

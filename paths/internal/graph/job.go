package graph

// The plans of supersteps, and the job that runs them.

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// PlanBegin is the plan of superstep 0. It changes nothing if the superstep's record
// exists.
func (s *Supersteps) PlanBegin() model.Plan {
	if s.err != nil {
		return model.NewPlan(model.Refused(s.g.States, s.err))
	}
	var p model.Plan
	switch s.kind {
	case distances:
		p = s.beginDistances()
	case components:
		p = s.beginComponents()
	case rank:
		p = s.beginRank()
	default:
		p = s.beginProgram()
	}
	p.Steps = append([]model.Step{s.claimStates()}, append(p.Steps, s.recordEmptyBegin())...)
	return describeCrash(p)
}

// describeCrash says what a crash of a superstep's plan leaves.
func describeCrash(p model.Plan) model.Plan {
	p.Leaves = "some states of the superstep without its record; the next run computes it again"
	return p
}

// PlanStep is the plan of the superstep after a record, or the end of a program's
// superstep. It is empty if the computation is over.
func (s *Supersteps) PlanStep(last Record) model.Plan {
	if err := s.checkRecord(last); err != nil {
		return model.NewPlan(model.Refused(s.g.States, err))
	}
	if s.IsOver(last) {
		return model.Plan{}
	}
	var p model.Plan
	switch s.kind {
	case distances:
		p = s.stepDistances(last.Step + 1)
	case components:
		p = s.stepComponents(last.Step + 1)
	case rank:
		p = s.stepRank(last)
	default:
		p = s.endProgram(last.Step + 1)
	}
	return describeCrash(p)
}

// checkRecord returns an error if a record is of another computation, or shows damage.
func (s *Supersteps) checkRecord(last Record) error {
	switch {
	case s.err != nil:
		return s.err
	case last.Kind == clearing:
		return fmt.Errorf("%w: a Clear was interrupted: run Clear again", ErrState)
	case last.Kind != s.kind:
		return fmt.Errorf(
			"%w: %s contains states of the computation %q, not %q: run Clear first", ErrState, s.g.States, last.Kind,
			s.kind,
		)
	case last.Asked != s.asked:
		return fmt.Errorf(
			"%w: %s contains states of other sources or another damping: run Clear first, or give the same arguments",
			ErrState, s.g.States,
		)
	case last.Lost != 0:
		return fmt.Errorf(
			"%w: %d states in %s aren't of superstep %d: run Clear first", ErrState, last.Lost, s.g.States, last.Step,
		)
	case last.Step < 0:
		return &model.ValueError{
			Collection: s.g.Steps, Field: "Step", Value: last.Step, Reason: "isn't the number of a superstep",
		}
	}
	return nil
}

// IsOver reports whether the computation is over after a superstep: nothing changed,
// ranks changed by no more than the tolerance, or all vertices halted and sent nothing.
func (s *Supersteps) IsOver(last Record) bool {
	switch s.kind {
	case rank:
		return last.Vertices == 0 || last.Step > 0 && last.Delta <= s.tolerance
	case program:
		return last.Active == 0 && last.Sent == 0
	}
	return last.Changed == 0
}

// MakeJob begins a computation, or continues it after its last record, until it is over.
func (s *Supersteps) MakeJob() model.Job {
	name := s.kind + " in " + s.g.States
	return model.Job{Name: name, Err: s.err, Stages: []model.Stage{{Name: name, Do: s.runBatch}}}
}

// runBatch runs superstep 0, one superstep, or a batch of a program's vertices. b.After
// is the number of the superstep that ran. If the same superstep comes again, it left no
// record, and the job would never end.
func (s *Supersteps) runBatch(ctx context.Context, b *model.Batch) error {
	last, err := s.readLastRecord(ctx, b.DB)
	began := !errors.Is(err, model.ErrNotFound)
	if err != nil && began {
		return err
	}
	plan, step := s.PlanBegin(), int64(0)
	if began {
		plan, step = s.PlanStep(last), last.Step+1
		if err := plan.Err(); err != nil || len(plan.Steps) == 0 {
			b.Done = true
			return err
		}
		if ran, ok := b.After.AsInt64OK(); ok && ran == step {
			return fmt.Errorf("%w: superstep %d left no record in %s", ErrState, step, s.g.Steps)
		}
		if through, err := s.computeVertices(ctx, b, last); err != nil || !through {
			return err
		}
	}
	b.Writes += int64(len(plan.Steps))
	if b.DryRun {
		b.Done = true
		return nil
	}
	result, err := plan.Run(ctx, b.DB)
	b.Modified += result.Modified()
	if err == nil {
		b.After, err = core.RawValue(step)
	}
	return err
}

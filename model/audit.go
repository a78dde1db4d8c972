package model

import (
	"context"
	"errors"
	"iter"
)

// An Audit lists the checks of a model: see [Model.Audit]. You can remove checks, or
// change checks by [Check.In] or Check.Age. [Audit.Each] yields the findings. [Audit.Job]
// repairs the findings.
type Audit struct {
	Name   string  // name of the job
	Checks []Check // the checks, in the order of a run

	// Readers is how many checks [Audit.Each] runs concurrently; 0 means 1.
	Readers int

	// [Audit.Each] calls Progress before each check's findings, and at the end. The
	// argument's Stage is the check's index. Left counts the findings so far. An error
	// from Progress ends Each.
	Progress func(Progress) error
}

// Audit returns the checks of the model's stores, and of all techniques in the order given
// to [New]. There is one exception. If a technique computes values from fields that a second technique repairs,
// the second technique's checks run first.
func (m *Model) Audit() Audit {
	m.mustExist("Model.Audit")
	a := Audit{Name: "audit: " + m.name}
	for _, t := range inMendingOrder(m.techniques) {
		for _, c := range t.Checks() {
			c.technique = techniqueName(t)
			a.Checks = append(a.Checks, c)
		}
	}
	a.Checks = append(m.stores.checks(), a.Checks...)
	return a
}

// Each yields the findings in the order of the checks, batch by batch. Each ends at the
// first error. Cost: the sum of the checks' costs.
func (a Audit) Each(ctx context.Context, db DB) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		if a.Readers < 0 {
			yield(Finding{}, &ValueError{Field: "Readers", Value: a.Readers, Reason: "is negative: give 0 or more"})
			return
		}
		var p Progress
		r := a.read(ctx, db)
		defer r.stop()
		for i, c := range a.Checks {
			p.Stage = i
			if err := a.tell(p); err != nil {
				yield(Finding{Check: c.Name}, err)
				return
			}
			for f, err := range r.each(i) {
				if err == nil {
					p.Left++
				}
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
		p.Done = true
		if err := a.tell(p); err != nil {
			yield(Finding{}, err)
		}
	}
}

func (a Audit) tell(p Progress) error {
	if a.Progress == nil {
		return nil
	}
	return a.Progress(p)
}

// Job returns the job that repairs the findings, with a stage for each check: see
// [Check.Job]. If some findings can't be repaired, [Job.Run] returns a [*LeftError].
//
// If two techniques compute values from each other's fields, run the audit again after
// the job.
func (a Audit) Job() Job {
	j := Job{Name: a.Name}
	for _, c := range a.Checks {
		one := c.Job()
		if j.Err == nil && !errors.Is(one.Err, errNotMended) {
			j.Err = one.Err
		}
		j.Stages = append(j.Stages, one.Stages...)
	}
	return j
}

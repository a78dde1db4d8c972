package model

import (
	"context"
	"errors"
	"iter"
)

// An Audit is every check of a model. It is a plain value: leave checks out of Checks, narrow one by [Check.In], or change
// its Age.
//
//	audit := shop.Audit()
//	for finding, err := range audit.Each(ctx, db) { … } // look only
//	progress, err := audit.Job().Run(ctx, db, model.JobOptions{Checkpoint: "jobs"}) // find and mend
type Audit struct {
	Name   string  // what its Job is called
	Checks []Check // in the order in which they run

	// Readers is how many checks Each runs at the same time. 0 means 1. The findings and their
	// order are the same. A check that runs ahead waits with its hundredth finding until those
	// before it are yielded. A session takes one command at a time: with one in the context,
	// the checks run one after another. A Job mends one check after another in any case.
	Readers int

	// Progress is told of each check before its findings, and once more at the end. Stage is the check, an index of Checks,
	// and Left how many findings there were before it. An error from it ends the audit, which yields it.
	Progress func(Progress) error
}

// Audit returns the audit of all techniques. The Technique of a finding says whose check found it.
//
// A technique whose checks mend what other techniques' checks derive from runs before them, so that one [Audit.Job] mends both: a
// dangling reference is detached before the children are counted. The [Footprint]s tell. Otherwise the order is that of the techniques.
// Techniques that derive from each other keep it too.
func (m *Model) Audit() Audit {
	a := Audit{Name: "audit: " + m.name}
	for _, t := range inMendingOrder(m.techniques) {
		for _, c := range t.Checks() {
			c.technique = techniqueName(t)
			a.Checks = append(a.Checks, c)
		}
	}
	return a
}

// Each yields the findings of one check after another, as the server's batches come. It ends at the first error. It keeps
// none of the findings.
//
// Cost: the cost of each check. A check reads its whole collection unless its Index says otherwise.
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

// Job returns the job that finds and mends, with a stage for each check: see [Check.Job]. It leaves findings that no write
// can mend, and Run returns a [*LeftError] that names them.
//
// A checkpoint holds the technique and the name of the check in hand. A stopped job goes on there, also when the model gained checks
// since: a new check that comes before that place waits for the next audit.
//
// Where techniques derive from each other, mending for one check may break the rule of an earlier check. Audit again after the job.
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

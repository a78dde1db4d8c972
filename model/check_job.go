package model

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// errNotMended is returned by the job of a check that can't repair.
var errNotMended = errors.New("docmodel: this check has no repair: read the findings and decide")

// Job returns the job that repairs the check's findings, in batches by _id. The job skips
// findings younger than [Check.Age]. A finding without [Finding].Since is read again
// after Age, and repaired if unchanged. With [Check.MendAll], the job has one batch, and
// MendAll decides about Age. If Mend and MendAll are nil, running the job gives an error.
//
// Cost for each 500 documents: two commands, and the repair's commands. For each 500
// findings without Since, one more command.
func (c Check) Job() Job {
	s := Stage{
		Name: c.Name, Collection: c.Collection, Filter: c.filter, Projection: bson.D{{Key: "_id", Value: 1}}, Keyed: c.Keyed,
		check: &c,
	}
	if c.MendAll != nil {
		s.Do = c.all
	}
	j := Job{Name: c.Name, Stages: []Stage{s}, Err: c.Err}
	switch {
	case j.Err != nil:
	case c.MendAll != nil && len(c.filter) > 0:
		j.Err = &ValueError{
			Collection: c.Collection, Field: "Check", Value: c.Name,
			Reason: "repairs every finding, so it can't be narrowed by In",
		}
	case c.MendAll == nil && c.Mend == nil:
		j.Err = fmt.Errorf("%w: %s", errNotMended, c.Name)
	case c.Read == nil:
		j.Err = c.Find().Err
	}
	return j
}

// mostWaiting is how many findings may wait before the job reads them again.
const mostWaiting = 10_000

// mending is the running stage of a check.
type mending struct {
	stage   Stage
	after   bson.RawValue // the last _id read
	waiting []waiting     // oldest first
}

// waiting is a finding without a Since.
type waiting struct {
	id   bson.RawValue
	key  findingKey
	seen time.Time
}

// A findingKey identifies a finding. An unchanged finding has the same key when it is
// found again.
type findingKey [sha256.Size]byte

func (f Finding) key() findingKey {
	return sha256.Sum256([]byte(shell(f.ID) + "\n" + f.Problem + "\n" + string(f.Detail)))
}

// batch does one batch, or reads the waiting findings again.
func (m *mending) batch(ctx context.Context, b *Batch) error {
	docs, err := m.stage.read(ctx, b.DB, m.after)
	if err != nil {
		return err
	}
	if len(docs) > 0 {
		b.Documents = int64(len(docs))
		m.after = docs[len(docs)-1].Lookup("_id")
		if err := m.first(ctx, b, docs); err != nil {
			return err
		}
	}
	if len(m.waiting) > 0 && (len(docs) == 0 || len(m.waiting) >= mostWaiting) {
		if err := m.second(ctx, b); err != nil {
			return err
		}
	}
	if len(m.waiting) == 0 {
		b.After = m.after
	}
	b.Done = len(docs) == 0
	return nil
}

// first repairs the findings of a batch that are old enough, and collects those without a
// Since.
func (m *mending) first(ctx context.Context, b *Batch, docs []bson.Raw) error {
	ids := make(bson.A, len(docs))
	for i, d := range docs {
		ids[i] = d.Lookup("_id")
	}
	begun, age := time.Now(), m.stage.check.Age
	var unknown []waiting
	err := m.mend(ctx, b, ids, func(found []Finding) (old []Finding) {
		unknown = nil
		for _, f := range found {
			switch {
			case age <= 0, b.DryRun && f.Since.IsZero(), !f.Since.IsZero() && f.Since.Before(begun.Add(-age)):
				old = append(old, f)
			case f.Since.IsZero():
				unknown = append(unknown, waiting{f.ID, f.key(), time.Now()})
			}
		}
		return old
	})
	m.waiting = append(m.waiting, unknown...)
	return err
}

// second reads the waiting findings again and repairs the unchanged ones.
func (m *mending) second(ctx context.Context, b *Batch) error {
	last := m.waiting[len(m.waiting)-1].seen
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Until(last.Add(m.stage.check.Age))):
	}
	for size := int(m.stage.size()); len(m.waiting) > 0; {
		some := m.waiting[:min(size, len(m.waiting))]
		ids, same := make(bson.A, len(some)), map[findingKey]bool{}
		for i, w := range some {
			ids[i] = w.id
			same[w.key] = true
		}
		err := m.mend(ctx, b, ids, func(found []Finding) (old []Finding) {
			for _, f := range found {
				if same[f.key()] {
					old = append(old, f)
				}
			}
			return old
		})
		if err != nil {
			return err
		}
		m.waiting = m.waiting[len(some):]
	}
	return nil
}

// mend runs the check on the documents with the ids, and repairs the findings that old
// returns. If the plan is stale, it does so again.
func (m *mending) mend(ctx context.Context, b *Batch, ids bson.A, old func([]Finding) []Finding) error {
	check := m.stage.check.In(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	planned := 0
	var left []Finding
	change := ChangeOf[[]Finding]{
		Name: check.Name,
		Read: func(ctx context.Context, db DB) ([]Finding, error) {
			found, err := check.All(ctx, db)
			return old(found), err
		},
		Decide: func(found []Finding) (Plan, error) {
			var plan Plan
			plan, left = check.mendable(found)
			planned = len(plan.Steps)
			err := jobPlan(plan)
			if b.DryRun {
				return Plan{}, err
			}
			return plan, err
		},
	}
	_, result, err := change.Run(ctx, b.DB)
	b.Modified += result.Modified()
	b.Writes += int64(planned)
	if err == nil {
		b.Leave(left...)
	}
	return err
}

// mendable returns the plan that repairs findings. It leaves findings that Mend refuses,
// each with the reason. Without a Mend it leaves all.
func (c Check) mendable(found []Finding) (plan Plan, left []Finding) {
	if len(found) == 0 || c.Mend == nil {
		return plan, found
	}
	if plan = c.Mend(found); plan.Err() == nil {
		return plan, nil
	}
	plan = Plan{}
	var can []Finding
	for _, f := range found {
		if err := c.Mend([]Finding{f}).Err(); err != nil {
			f.Problem += ": " + err.Error()
			left = append(left, f)
		} else {
			can = append(can, f)
		}
	}
	if len(can) > 0 {
		plan = c.Mend(can)
	}
	return plan, left
}

// all repairs everything at once. A dry run counts the findings.
func (c Check) all(ctx context.Context, b *Batch) error {
	b.Done = true
	if b.DryRun {
		for _, err := range c.Each(ctx, b.DB) {
			if err != nil {
				return err
			}
			b.Writes++
		}
		return nil
	}
	result, err := c.MendAll(ctx, b.DB, c.Age)
	b.Writes, b.Modified = int64(len(result.Steps)), result.Modified()
	return err
}

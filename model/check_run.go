package model

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/internal/runctx"
)

// Each yields the findings, batch by batch. It ends at the first error. Cost: as
// [Check.Find]. If [Check.Read] is set, the cost is Read's cost.
func (c Check) Each(ctx context.Context, db DB) iter.Seq2[Finding, error] {
	if !observed(db) {
		return c.each(ctx, db)
	}
	return func(yield func(Finding, error) bool) {
		ctx, op := begin(ctx, db, "check", c.Name, c.Collection, 0)
		defer op.end()
		var failure error
		for f, err := range c.each(ctx, db) {
			if err != nil {
				failure = err
			}
			if !yield(f, err) {
				break
			}
		}
		op.settle(failure)
	}
}

func (c Check) each(ctx context.Context, db DB) iter.Seq2[Finding, error] {
	if c.Read != nil && c.Err == nil {
		return c.signed(c.Read(ctx, db, c.filter))
	}
	if c.InTransaction != nil && runctx.InTransaction(ctx) {
		c.Pipeline = c.InTransaction
	}
	return func(yield func(Finding, error) bool) {
		for row, err := range c.Find().Each(ctx, db) {
			f := Finding{Check: c.Name, Collection: c.Collection, Detail: row, Technique: c.technique}
			if err == nil {
				err = c.describeFinding(&f)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// signed sets the Technique of findings.
func (c Check) signed(found iter.Seq2[Finding, error]) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		for f, err := range found {
			if f.Technique = c.technique; !yield(f, err) {
				return
			}
		}
	}
}

// All returns every finding.
func (c Check) All(ctx context.Context, db DB) (found []Finding, _ error) {
	for f, err := range c.Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}

func (c Check) describeFinding(f *Finding) error {
	if c.Tell == nil {
		f.ID, f.Problem = f.Detail.Lookup("_id"), shell(f.Detail)
		return nil
	}
	return c.Tell(f)
}

package school

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// Every action and read: alone, interrupted, and concurrently with each other one.
func TestVerify(t *testing.T) {
	c, n := north, byte(0)
	answers := []error{ErrNotEnrolled, ErrEnrolled, ErrOutOfStock}
	op := func(name string, run func(ctx context.Context, r Repository) error) modeltest.VerifyOperation {
		n++
		request := n
		return modeltest.VerifyOperation{Name: name, Refused: answers, Run: func(ctx context.Context, db model.DB) error {
			return run(c.request(ctx, request), New(db))
		}}
	}
	modeltest.Verify(t, everything, modeltest.VerifyCase{
		Scopes: []model.Scope{Scope(c.tenant(), noon)},
		Max:    12, // for some seconds; TestRace has all orders of some of these
		Seed: func(ctx context.Context, db model.DB) error {
			r := New(db)
			return errors.Join(
				r.Add(ctx, []Student{{ID: c.kate(), Name: "Kate"}, {ID: c.rod(), Name: "Rod"}}, []Course{
					{ID: c.maths(), Title: "Maths", Lessons: []Lesson{{"sets", "Sets"}, {"sums", "Sums"}, {"logic", "Logic"}}, Books: 3},
					{ID: c.art(), Title: "Art", Books: 1},
				}),
				r.Enrol(ctx, c.op(1), c.rod(), c.maths()), r.Enrol(ctx, c.op(5), c.kate(), c.maths()),
				r.Announce(ctx, c.news(1)), r.Announce(ctx, c.news(2)),
			)
		},
		Operations: []modeltest.VerifyOperation{
			op("enrol", func(ctx context.Context, r Repository) error { return r.Enrol(ctx, c.op(6), c.kate(), c.art()) }),
			op("rate", func(ctx context.Context, r Repository) error { return r.Rate(ctx, c.op(5), 2) }),
			op("leave", func(ctx context.Context, r Repository) error { return r.Leave(ctx, c.op(5)) }),
			op("transfer", func(ctx context.Context, r Repository) error { return r.Transfer(ctx, c.op(5), c.art()) }),
			op("rename", func(ctx context.Context, r Repository) error { return r.Rename(ctx, c.kate(), "Katherine") }),
			op("announce", func(ctx context.Context, r Repository) error { return r.Announce(ctx, c.news(3)) }),
			op("reorder", func(ctx context.Context, r Repository) error { return r.Reorder(ctx, c.maths(), "sums") }),
			op("take", func(ctx context.Context, r Repository) error { return r.Take(ctx, c.maths(), 2, c.op(10)) }),
		},
		Reads: []modeltest.VerifyOperation{
			op("course", func(ctx context.Context, r Repository) error { _, err := r.Course(ctx, c.maths()); return err }),
			op("enrolments", func(ctx context.Context, r Repository) error {
				_, err := r.Enrolments(ctx, c.maths(), 2, "")
				return err
			}),
			op("announcements", func(ctx context.Context, r Repository) error {
				_, err := r.Announcements(ctx, c.maths(), 2, "")
				return err
			}),
		},
	})
}

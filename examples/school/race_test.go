package school

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Two concurrent actions on one enrolment, student or course leave nothing to repair, in
// every order of their commands or writes.
func TestRace(t *testing.T) {
	c := north
	seed := func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(c.fill(ctx, db), c.on(db).Enrol(ctx, c.kate(), c.maths(), c.op(5)))
	}
	enrol := func(ctx context.Context, r Repository) error { return r.Enrol(ctx, c.kate(), c.art(), c.op(6)) }
	rename := func(ctx context.Context, r Repository) error { return r.Rename(ctx, c.kate(), "Katherine") }
	rate := func(ctx context.Context, r Repository) error { return r.Rate(ctx, c.op(5), 2, c.op(7)) }
	transfer := func(ctx context.Context, r Repository) error { return r.Transfer(ctx, c.op(5), c.art(), c.op(8)) }
	leave := func(ctx context.Context, r Repository) error { return r.Leave(ctx, c.op(5), c.op(9)) }
	announce := func(ctx context.Context, r Repository) error { return r.Announce(ctx, c.news(3)) }
	take := func(ctx context.Context, r Repository) error { return r.Take(ctx, c.maths(), 2, c.op(10)) }
	reorder := func(ctx context.Context, r Repository) error { return r.Reorder(ctx, c.maths(), "sums") }
	for _, p := range []struct {
		name  string
		match modeltest.Match
		a, b  func(context.Context, Repository) error
	}{
		{"transfer, rename", modeltest.All, transfer, rename},
		{"announce, rate", modeltest.All, announce, rate},
		{"reorder, rate", modeltest.All, reorder, rate},
		{"take, rate", modeltest.All, take, rate},
		{"enrol, rename", modeltest.Writes, enrol, rename}, // there are too many orders of all commands
		{"enrol, transfer", modeltest.Writes, enrol, transfer},
		{"rate, leave", modeltest.Writes, rate, leave},
		{"transfer, leave", modeltest.Writes, transfer, leave},
	} {
		t.Run(p.name, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Sample: 1, Match: p.match, Seed: seed,
				A: func(ctx context.Context, db *mongo.Database) error { return p.a(ctx, c.on(db)) },
				B: func(ctx context.Context, db *mongo.Database) error { return p.b(ctx, c.on(db)) },
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					for _, err := range []error{errA, errB} {
						if err != nil && !errors.Is(err, ErrNotEnrolled) && !errors.Is(err, ErrEnrolled) {
							t.Error(err)
						}
					}
					c.audited(t, db)
				},
			})
		})
	}
}

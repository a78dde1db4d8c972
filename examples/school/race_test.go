package school

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Two concurrent actions on one enrolment, student or course leave nothing to repair, in
// every order of their writes, and if one runs between any two commands of the other.
func TestRace(t *testing.T) {
	c := north
	seed := func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(c.fill(ctx, db), c.on(db).Enrol(ctx, c.op(5), c.kate(), c.maths()))
	}
	enrol := func(ctx context.Context, r Repository) error { return r.Enrol(ctx, c.op(6), c.kate(), c.art()) }
	rename := func(ctx context.Context, r Repository) error { return r.Rename(ctx, c.kate(), "Katherine") }
	rate := func(ctx context.Context, r Repository) error { return r.Rate(ctx, c.op(5), 2) }
	transfer := func(ctx context.Context, r Repository) error { return r.Transfer(ctx, c.op(5), c.art()) }
	leave := func(ctx context.Context, r Repository) error { return r.Leave(ctx, c.op(5)) }
	announce := func(ctx context.Context, r Repository) error { return r.Announce(ctx, c.news(3)) }
	take := func(ctx context.Context, r Repository) error { return r.Take(ctx, c.maths(), 2, c.op(10)) }
	reorder := func(ctx context.Context, r Repository) error { return r.Reorder(ctx, c.maths(), "sums") }
	for _, p := range []struct {
		name string
		a, b func(context.Context, Repository) error
	}{
		{"transfer, rename", transfer, rename},
		{"announce, rate", announce, rate},
		{"reorder, rate", reorder, rate},
		{"take, rate", take, rate},
		{"enrol, rename", enrol, rename},
		{"enrol, transfer", enrol, transfer},
		{"rate, leave", rate, leave},
		{"transfer, leave", transfer, leave},
	} {
		for how, race := range map[string]modeltest.InterleaveCase{
			"writes":       {Match: mongotest.Writes},
			"commands":     {Nested: true},
			"transactions": {Match: mongotest.Writes, Transactions: true},
		} {
			race.Sample, race.Seed = 1, seed
			race.A, race.B = c.racing(p.a, race.Transactions), c.racing(p.b, race.Transactions)
			race.Check = func(t testing.TB, db *mongo.Database, errA, errB error) {
				for _, err := range []error{errA, errB} {
					if err != nil && !errors.Is(err, ErrNotEnrolled) && !errors.Is(err, ErrEnrolled) {
						t.Error(err)
					}
				}
				c.audited(t, db)
			}
			t.Run(p.name+", "+how, func(t *testing.T) { modeltest.Interleave(t, race) })
		}
	}
}

// racing returns an action on a school's database.
func (c cast) racing(
	act func(context.Context, Repository) error, transactions bool,
) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		if !transactions {
			return act(ctx, c.on(db))
		}
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			return err
		}
		return act(ctx, New(Scope(c.tenant(), noon).On(tx)))
	}
}

package testkit

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Price is an operation's documented cost: commands, documents written, documents
// returned. Servers don't report the writes of $merge.
type Price struct {
	reason string
	want   model.Cost
	// begin reads what the operation is made from, and returns it, and the cost that its value says, if it says one.
	begin   func(context.Context, *mongo.Database) (DBFunc, *model.Cost, error)
	differs string // why it differs for a tenant
}

// Does returns the price of a change or job, whose value reports no cost.
func Does(reason string, commands, written, returned int, run DBFunc) Price {
	return Price{reason: reason, want: model.Cost{Commands: commands, Written: written, Returned: returned},
		begin: func(context.Context, *mongo.Database) (DBFunc, *model.Cost, error) { return run, nil, nil }}
}

// Writes returns the price of plans.
func Writes(reason string, commands, written int, plans ...model.Plan) Price {
	said := model.Concat(plans...).Cost()
	p := Does(reason, commands, written, 0, nil)
	p.begin = func(context.Context, *mongo.Database) (DBFunc, *model.Cost, error) {
		return func(ctx context.Context, db *mongo.Database) error { return Exec(ctx, db, plans...) }, &said, nil
	}
	return p
}

// Mending returns the price of repairing a check's findings.
func Mending(commands, written int, check model.Check) Price {
	p := Does("Mend", commands, written, 0, nil)
	p.begin = func(ctx context.Context, db *mongo.Database) (DBFunc, *model.Cost, error) {
		found, err := check.All(ctx, db)
		plan := check.Mend(found)
		said := plan.Cost()
		return func(ctx context.Context, db *mongo.Database) error { return Exec(ctx, db, plan) }, &said, err
	}
	return p
}

// Reads returns the price of a query.
func Reads[R any](reason string, returned int, q interface {
	Cost() model.Cost
	All(context.Context, model.DB) ([]R, error)
}) Price {
	p := Does(reason, 1, 0, returned, nil)
	p.begin = func(context.Context, *mongo.Database) (DBFunc, *model.Cost, error) {
		said := q.Cost()
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := q.All(ctx, db)
			return err
		}, &said, nil
	}
	return p
}

// Differs returns a price that isn't measured under a tenant, with the reason.
func (x Price) Differs(reason string) Price {
	x.differs = reason
	return x
}

// WantPrices measures operations in order on seed's data.
func WantPrices(t *testing.T, seed DBFunc, list ...Price) {
	t.Helper()
	wantPrices(t, seed, nil, list)
}

// WantPricesAnew measures each operation on fresh data of seed.
func WantPricesAnew(t *testing.T, seed DBFunc, list ...Price) {
	t.Helper()
	wantPrices(t, seed, seed, list)
}

func wantPrices(t *testing.T, seed, again DBFunc, list []Price) {
	t.Helper()
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := errors.Join(emptied(t.Context(), db), seed(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		for i, x := range list {
			t.Run(x.reason, func(t *testing.T) {
				if x.differs != "" {
					tenancy.Differs(t, x.differs)
				}
				if again != nil && i > 0 {
					if err := errors.Join(emptied(t.Context(), db), again(t.Context(), db)); err != nil {
						t.Fatal(err)
					}
				}
				x.check(t, m, db)
			})
		}
	}, m)
}

func (x Price) check(t *testing.T, m *mongotest.Monitor, db *mongo.Database) {
	run, said, err := x.begin(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	modeltest.WantCost(t, m, x.want, func() error { return run(t.Context(), db) })
	if said != nil && (said.Commands != x.want.Commands || said.Written != x.want.Written && !said.Unbounded) {
		t.Errorf("it says %v, want %v", said, x.want)
	}
}

package indextable_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store's action outside transactions is cut after each of its writes, and run again. The
// checks, their repair and Rebuild run beside it. They neither report nor repair what the
// action is about to write. Only a Rebuild that has read a value before a concurrent action
// removes it can leave a surplus entry, which the next repair deletes. Quick runs have fewer
// actions and orders.
func TestIndexTableInFlight(t *testing.T) {
	testkit.Parallel(t)
	for i, x := range tableCases {
		for j, c := range []flight{
			{x, "insert", x.store.Insert(faultyMember), 3, false},
			{x, "set", x.store.Set("a", x.fields), 5, true},
			{x, "delete", x.store.Delete("a"), 3, true},
		} {
			if !testkit.EveryPair && i != 2 && i != j {
				continue
			}
			beside := map[string]testkit.DBFunc{"rebuild": func(ctx context.Context, db *mongo.Database) error {
				_, err := x.table.Rebuild().Run(ctx, db, model.JobOptions{})
				return err
			}}
			for _, check := range x.table.Checks() {
				beside[check.Name] = func(ctx context.Context, db *mongo.Database) error {
					return mendInFlight(ctx, db, check)
				}
			}
			for name, run := range beside {
				t.Run(x.name+" "+c.name+" | "+name, func(t *testing.T) {
					testkit.Parallel(t)
					for writes := range c.writes {
						modeltest.Interleave(t, c.runBeside(writes+1, name == "rebuild", run))
					}
				})
			}
		}
	}
}

// A flight is an action on the member "a", with the number of writes after which it is cut
// at most.
type flight struct {
	tableCase
	name   string
	change memberChange
	writes int
	seeded bool
}

// mendInFlight repairs a check's findings, which are only claims that can be under way. It
// leaves these, as the check's age does.
func mendInFlight(ctx context.Context, db *mongo.Database, check model.Check) error {
	found, err := check.All(ctx, db)
	for _, f := range found {
		if f.Since.IsZero() {
			return fmt.Errorf("the check finds %s", f)
		}
	}
	return err
}

// runBeside returns the action, which is cut after some writes and run again, beside an
// operation.
func (c flight) runBeside(writes int, rebuilds bool, other testkit.DBFunc) modeltest.InterleaveCase {
	x := c.tableCase
	return modeltest.InterleaveCase{
		Match: mongotest.All, Sample: 1, Nested: !testkit.EveryPair,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			if !c.seeded {
				return nil
			}
			return run(ctx, db, testkit.Token(9), x.store.Insert(faultyMember))
		},
		A: func(ctx context.Context, db *mongo.Database) error {
			err := run(ctx, db, testkit.Token(1), cutAfter(writes, c.change))
			// a deletion that wasn't cut
			if again := run(ctx, db, testkit.Token(1), c.change); !errors.Is(again, model.ErrNotFound) {
				err = errors.Join(err, again)
			}
			return err
		},
		B: other,
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if err := errors.Join(errA, errB); err != nil {
				t.Errorf("cut after %d writes: %v", writes, err)
			}
			if rebuilds {
				wantOnlySurplus(t, db, x.table)
			}
			wantSettled(t, db, x.table)
		},
	}
}

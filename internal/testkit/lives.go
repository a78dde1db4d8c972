package testkit

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Life is a list of operations that another client runs, such as insert, change and delete.
type Life []Operation

// Lived are the operations of one order that returned nil.
type Lived struct {
	Op    bool // the operation that the lives interrupt
	Names []string
}

// LiveBetween runs an operation, and a whole life before, between and after any two of its commands. A number that the
// operation read is old then. A life goes on after an operation that returns an error of refused. The tokens of a
// life's operations begin at 50.
func LiveBetween(
	t *testing.T, op Operation, lives []Life, c modeltest.InterleaveCase, refused []error, check func(t testing.TB, db *mongo.Database, lived Lived),
) {
	for _, life := range lives {
		name := op.Name + " within"
		for _, o := range life {
			name += " " + o.Name
		}
		t.Run(name, func(t *testing.T) {
			Parallel(t)
			var lived Lived
			c, seed := c, c.Seed
			c.Nested, c.Sample = true, 3
			c.Seed = func(ctx context.Context, db *mongo.Database) error {
				lived = Lived{}
				if seed == nil {
					return nil
				}
				return seed(ctx, db)
			}
			c.A = func(ctx context.Context, db *mongo.Database) error { return op.Run(ctx, db, Token(1)) }
			c.B = func(ctx context.Context, db *mongo.Database) error {
				for i, o := range life {
					err := o.Run(ctx, db, Token(50+i))
					if err == nil {
						lived.Names = append(lived.Names, o.Name)
					} else if !isOne(err, refused) {
						return err
					}
				}
				return nil
			}
			c.Check = func(t testing.TB, db *mongo.Database, errOp, errLife error) {
				if errLife != nil || errOp != nil && !isOne(errOp, refused) {
					t.Errorf("the operation gives %v, the life %v", errOp, errLife)
				}
				lived.Op = errOp == nil
				check(t, db, lived)
			}
			modeltest.Interleave(t, c)
		})
	}
}

func isOne(err error, list []error) bool {
	for _, e := range list {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// InTx returns an operation that runs in a transaction.
func InTx(name string, run func(ctx context.Context, db model.DB, op bson.ObjectID) error) Operation {
	return Operation{name + " in a transaction", func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			return err
		}
		return run(ctx, tx, op)
	}}
}

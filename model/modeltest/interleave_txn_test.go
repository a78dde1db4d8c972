package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// incrementInTx reads and writes the one document in a transaction, which is begun again
// for as long as another holds it.
func incrementInTx(ctx context.Context, db *mongo.Database) error {
	return model.InTx(ctx, db, func(ctx context.Context) error {
		p, err := parts.ByID(1).One(ctx, db)
		if err != nil {
			return err
		}
		_, err = db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, set(int(p.N)+1))
		return err
	})
}

// incrementBothInTx writes two documents in a transaction, in the order that is given.
func incrementBothInTx(first, second int32) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		return model.InTx(ctx, db, func(ctx context.Context) error {
			for _, id := range []int32{first, second} {
				if _, err := db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, inc()); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func seedTwo(ctx context.Context, db *mongo.Database) error {
	return errors.Join(seedOne(ctx, db), insert(ctx, db, 2))
}

func wantBothTwo(t testing.TB, db *mongo.Database, errA, errB error) {
	t.Helper()
	all, err := parts.Find(nil).All(context.Background(), db)
	if err := errors.Join(err, errA, errB); err != nil || len(all) != 2 || all[0].N != 2 || all[1].N != 2 {
		t.Errorf("%v, %v", all, err)
	}
}

// Two transactions that write the same documents end, and soon: the one that is refused
// lets the other go on. They are retried after pauses of random lengths, and yet the
// schedules are the same each time.
func TestInterleaveConflictingTransactions(t *testing.T) {
	for name, c := range map[string]modeltest.InterleaveCase{
		"one document": {Seed: seedOne, A: incrementInTx, B: incrementInTx, Check: wantTwo},
		"one document, writes only": {
			Seed: seedOne, A: incrementInTx, B: incrementInTx, Check: wantTwo, Match: mongotest.Writes,
		},
		"two documents": {
			Seed: seedTwo, A: incrementBothInTx(1, 2), B: incrementBothInTx(1, 2), Check: wantBothTwo,
		},
		"two, in opposite orders": {
			Seed: seedTwo, A: incrementBothInTx(1, 2), B: incrementBothInTx(2, 1), Check: wantBothTwo,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.Transactions = true
			var outcomes [2]int
			check := c.Check
			for i := range outcomes {
				began := time.Now()
				c.Check = func(t testing.TB, db *mongo.Database, errA, errB error) {
					check(t, db, errA, errB)
					if strings.Contains(t.Name(), "/engine") {
						outcomes[i]++
					}
				}
				t.Run(fmt.Sprint("time ", i+1), func(t *testing.T) { modeltest.Interleave(t, c) })
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
			}
			if outcomes[0] != outcomes[1] {
				t.Errorf("%d schedules, and the second time %d", outcomes[0], outcomes[1])
			}
		})
	}
}

package compose

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A random action through a store is cut at each of its writes, in each way, and run again
// with its token. What is stored is as the memory has it after one run.
func TestStoreModelsCut(t *testing.T) {
	t.Parallel()
	models := 15
	if full {
		models = 300
	}
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		d := drawModel(r)
		memory := newMemory(d)
		var before []action
		for range 8 {
			if a := memory.draw(r); a.apply(memory.clone()) == nil {
				_ = a.apply(memory)
				before = append(before, a)
			}
		}
		cut := memory.draw(r)
		for cut.apply(memory.clone()) != nil {
			cut = memory.draw(r)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { d.cut(t, memory, before, cut) })
	}
}

// cut runs the fault matrix of an action that succeeds after the actions before it.
func (d *drawn) cut(t *testing.T, memory *memory, before []action, cut action) {
	t.Logf("%s, %s", d, cut.name)
	after := memory.clone()
	if err := cut.apply(after); err != nil {
		t.Fatal(err)
	}
	token := bson.NewObjectID()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: d.tx, Sample: 1,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			on, err := d.handle(ctx, db)
			if err == nil {
				err = d.model.Indexes().Ensure(ctx, on)
			}
			for _, a := range before {
				err = errors.Join(err, a.run(ctx, on, d))
			}
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			on, err := d.handle(ctx, db)
			if err != nil {
				return err
			}
			err = cut.run(model.WithToken(ctx, token), on, d)
			if errors.Is(err, model.ErrTaken) || errors.Is(err, model.ErrNotFound) || mongo.IsDuplicateKeyError(err) {
				return nil // the first run inserted or deleted the document: see Check
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			on, err := d.handle(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if problem := after.differs(t.Context(), db, on, d); problem != "" {
				t.Errorf("%s\n%s", d, problem)
			}
		},
	})
}

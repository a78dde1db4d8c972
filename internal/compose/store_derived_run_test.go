package compose

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Random models whose techniques write in the document itself, with random actions: see store_derived_test.go.
func TestStoreDerived(t *testing.T) {
	t.Parallel()
	models := 100
	if full {
		models = 10_000
	}
	client := modeltest.NewClient(t)
	for seed := range models {
		if storeDerived(t, client, uint64(seed)); t.Failed() {
			return
		}
	}
}

func storeDerived(t *testing.T, client *mongo.Client, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	d := drawDerived(r)
	db := client.Database(fmt.Sprintf("derived%d", seed))
	defer func() { _ = db.Drop(context.Background()) }()
	on, err := d.handle(t.Context(), db)
	if err == nil {
		err = d.model.Indexes().Ensure(t.Context(), on)
	}
	if err != nil {
		t.Fatalf("seed %d, %s: %v", seed, d, err)
	}
	memory := &derivedMemory{d, map[string]derivedDoc{}}
	var story []string
	for range 12 {
		a := memory.draw(r)
		story = append(story, a.name)
		want := memory.clone()
		wantErr := a.apply(want)
		problem := sameRefusal(a.runOn(t.Context(), on, d), wantErr)
		if wantErr == nil {
			memory = want
		}
		if problem == "" {
			problem = memory.differs(t.Context(), on)
		}
		if problem != "" {
			t.Errorf("seed %d, %s, after\n\t%s\n%s", seed, d, strings.Join(story, "\n\t"), problem)
			return
		}
	}
}

// Two random actions meet in every order in which one isn't interrupted. What is stored is as after one and then the other.
func TestStoreDerivedMeet(t *testing.T) {
	t.Parallel()
	models := 15
	if full {
		models = 1000
	}
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		d := drawDerived(r)
		memory := &derivedMemory{d, map[string]derivedDoc{}}
		var before []derivedAction
		for range 6 {
			if a := memory.draw(r); a.apply(memory.clone()) == nil {
				_ = a.apply(memory)
				before = append(before, a)
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { d.meet(t, memory, before, memory.draw(r), memory.draw(r)) })
	}
}

func (d *derivedModel) meet(t *testing.T, memory *derivedMemory, before []derivedAction, a, b derivedAction) {
	run := func(list ...derivedAction) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			on, err := d.handle(ctx, db)
			for _, a := range list {
				if err == nil {
					err = a.runOn(ctx, on, d)
				}
			}
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: d.tx, Nested: true, Sample: 1, A: run(a), B: run(b),
		Seed: func(ctx context.Context, db *mongo.Database) error {
			on, err := d.handle(ctx, db)
			if err == nil {
				err = d.model.Indexes().Ensure(ctx, on)
			}
			return errors.Join(err, run(before...)(ctx, db))
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			on, err := d.handle(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, order := range [][]derivedAction{{a, b}, {b, a}} {
				m, errs := memory.clone(), map[string]error{}
				for _, x := range order {
					next := m.clone()
					if errs[x.token.Hex()] = x.apply(next); errs[x.token.Hex()] == nil {
						m = next
					}
				}
				problem := m.differs(t.Context(), on)
				if problem == "" && sameRefusal(errA, errs[a.token.Hex()]) == "" && sameRefusal(errB, errs[b.token.Hex()]) == "" {
					return
				}
				problems = append(problems, fmt.Sprintf("%s, then %s: %s", order[0].name, order[1].name, problem))
			}
			t.Errorf("%s: A %s (%v), B %s (%v); it is as after no order:\n%s", d, a.name, errA, b.name, errB, strings.Join(problems, "\n"))
		},
	})
}

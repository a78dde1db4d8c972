package compose

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Random models write through stores: store_model_test.go draws the declarations and knows in memory what is stored then. After each
// action the audit finds nothing, and the documents are as the memory has them. DOCMODEL_FULL draws 10,000 models.
func TestStoreModels(t *testing.T) {
	t.Parallel()
	models := 150
	if full {
		models = 10_000
	}
	client := modeltest.NewClient(t)
	for seed := range models {
		if storeModel(t, client, uint64(seed)); t.Failed() {
			return
		}
	}
}

// storeModel runs random actions through the stores of one random model.
func storeModel(t *testing.T, client *mongo.Client, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	d := drawModel(r)
	db := client.Database(fmt.Sprintf("store%d", seed))
	defer func() { _ = db.Drop(context.Background()) }()
	on, err := d.on(t.Context(), db, r)
	if err != nil {
		t.Fatalf("seed %d, %s: %v", seed, d, err)
	}
	memory := newMemory(d)
	var story []string
	for range 12 {
		a := memory.draw(r)
		story = append(story, a.name)
		want := memory.clone()
		wantErr := a.apply(want)
		gotErr := a.run(t.Context(), on, d)
		if problem := sameError(gotErr, wantErr); problem != "" {
			t.Errorf("seed %d, %s, after\n\t%s\n%s", seed, d, strings.Join(story, "\n\t"), problem)
			return
		}
		if wantErr == nil {
			memory = want
		}
		if problem := memory.differs(t.Context(), db, on, d); problem != "" {
			t.Errorf("seed %d, %s, after\n\t%s\n%s", seed, d, strings.Join(story, "\n\t"), problem)
			return
		}
	}
}

// sameError compares errors. An insert of a document that is stored already may return nil, if nothing changes.
func sameError(got, want error) string {
	switch {
	case got == nil && want == nil:
	case errors.Is(want, model.ErrTaken) && (got == nil || mongo.IsDuplicateKeyError(got) || errors.Is(got, model.ErrTaken)):
	case errors.Is(want, model.ErrNotFound) && errors.Is(got, model.ErrNotFound):
	case got == nil || want == nil:
		return fmt.Sprintf("the store returned %v, the memory %v", got, want)
	case !errors.Is(got, want):
		return fmt.Sprintf("the store returned %v, the memory %v", got, want)
	}
	return ""
}

// Two random actions meet in every order in which one isn't interrupted. What is stored is as after one and then the other, or as
// after the one that returned no error.
func TestStoreModelsMeet(t *testing.T) {
	t.Parallel()
	models := 25
	if full {
		models = 400
	}
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		d := drawModel(r)
		if d.tx = true; seed%2 == 1 { // counts are exact without transactions too
			counts := [][]pick{{pickCount}, {pickCountOn}, {pickCount, pickCountOn}}
			d = declareModel(false, counts[r.IntN(len(counts))]...)
		}
		memory := newMemory(d)
		var before []action
		for range 8 {
			if a := memory.draw(r); a.apply(memory.clone()) == nil {
				_ = a.apply(memory)
				before = append(before, a)
			}
		}
		a, b := memory.draw(r), memory.draw(r)
		for b.name == a.name {
			b = memory.draw(r)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { d.meet(t, memory, before, a, b) })
	}
}

func (d *drawn) meet(t *testing.T, memory *memory, before []action, a, b action) {
	run := func(a action) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			on, err := d.handle(ctx, db)
			if err != nil {
				return err
			}
			return a.run(ctx, on, d)
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: d.tx, Nested: true, Sample: 1, A: run(a), B: run(b),
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
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			on, err := d.handle(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, order := range [][]action{{a, b}, {b, a}} {
				m, errs := memory.clone(), map[string]error{}
				for _, x := range order {
					next := m.clone()
					if errs[x.name] = x.apply(next); errs[x.name] == nil {
						m = next
					}
				}
				problem := m.differs(t.Context(), db, on, d)
				if problem == "" && sameError(errA, errs[a.name]) == "" && sameError(errB, errs[b.name]) == "" {
					return
				}
				problems = append(problems, fmt.Sprintf("%s, then %s: %v, %v\n%s", order[0].name, order[1].name, errs[a.name], errs[b.name], problem))
			}
			t.Errorf("%s: A %s (%v), B %s (%v); it is as after no order:\n%s", d, a.name, errA, b.name, errB, strings.Join(problems, "\n"))
		},
	})
}

// What a store's write of one document sends, in a transaction: a reference, a counter and two copies.
func TestStoreCost(t *testing.T) {
	d := declareModel(true, pickName, pickTitle, pickCount, pickParent)
	monitor := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		on, err := d.handle(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		one := int64(1)
		if _, _, err := d.owners.Insert(storeOwner{ID: 1, Name: "a", Title: "t"}).Run(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		modeltest.WantCost(t, monitor, model.Cost{Commands: 3, Written: 2, Returned: 1}, func() error {
			_, _, err := d.items.Insert(storeItem{ID: 1, Owner: &one, Price: 3}).Run(t.Context(), on)
			return err
		})
		s, _, err := d.items.Edit(1, func(i *storeItem) error { i.Price++; return nil }).Run(t.Context(), on)
		if err != nil || s.Doc.Price != 4 || s.Doc.OwnerName != "a" || s.Doc.OwnerTitle != "t" {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		_, _, err = d.items.Set(1, bson.D{{Key: "ownerName", Value: "x"}}).Run(t.Context(), on)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "ownerName" {
			t.Errorf("a path that a technique owns: %v", err)
		}
	}, modeltest.WithMonitor(monitor))
}

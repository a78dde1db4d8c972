package compose

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Random models of techniques that write other documents, as in TestStoreModels.
func TestStoreLinkedModels(t *testing.T) {
	t.Parallel()
	models := 100
	if full {
		models = 5000
	}
	client := modeltest.NewClient(t)
	for seed := range models {
		if linkedStory(t, client, uint64(seed)); t.Failed() {
			return
		}
	}
}

func linkedStory(t *testing.T, client *mongo.Client, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	m := drawLinked(r)
	db := client.Database(fmt.Sprintf("linked%d", seed))
	defer func() { _ = db.Drop(context.Background()) }()
	on, err := m.handle(t.Context(), db)
	if err == nil {
		err = m.model.Indexes().Ensure(t.Context(), on)
	}
	if err != nil {
		t.Fatalf("seed %d, %s: %v", seed, m, err)
	}
	memory := newLinkedMemory(m)
	var story []string
	for range 14 {
		a := memory.draw(r)
		story = append(story, a.name)
		want := memory.clone()
		wantErr := a.apply(want)
		problem := sameLinkedError(a.run(t.Context(), on, m), wantErr)
		if wantErr == nil {
			memory = want
		}
		if problem == "" {
			problem = memory.differs(t.Context(), on)
		}
		if problem != "" {
			t.Errorf("seed %d, %s, after\n\t%s\n%s", seed, m, strings.Join(story, "\n\t"), problem)
			return
		}
	}
}

func sameLinkedError(got, want error) string {
	var restricted *relate.RestrictError
	if errors.Is(want, errRestricted) && errors.As(got, &restricted) {
		return ""
	}
	return sameError(got, want)
}

// Two random actions of linked models meet, as in TestStoreModelsMeet.
func TestStoreLinkedModelsMeet(t *testing.T) {
	t.Parallel()
	models := 20
	if full {
		models = 500
	}
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		m := drawLinked(r)
		m.tx = true
		memory := newLinkedMemory(m)
		var before []linkedAction
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
		t.Run(fmt.Sprint(seed), func(t *testing.T) { m.meet(t, memory, before, a, b) })
	}
}

func (m *linkedModel) meet(t *testing.T, memory *linkedMemory, before []linkedAction, a, b linkedAction) {
	run := func(a linkedAction) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			on, err := m.handle(ctx, db)
			if err != nil {
				return err
			}
			return a.run(ctx, on, m)
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: true, Nested: true, Sample: 1, A: run(a), B: run(b),
		Seed: func(ctx context.Context, db *mongo.Database) error {
			on, err := m.handle(ctx, db)
			if err == nil {
				err = m.model.Indexes().Ensure(ctx, on)
			}
			for _, a := range before {
				err = errors.Join(err, a.run(ctx, on, m))
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			on, err := m.handle(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, order := range [][]linkedAction{{a, b}, {b, a}} {
				now, errs := memory.clone(), map[string]error{}
				for _, x := range order {
					next := now.clone()
					if errs[x.name] = x.apply(next); errs[x.name] == nil {
						now = next
					}
				}
				problem := now.differs(t.Context(), on)
				if problem == "" && sameLinkedError(errA, errs[a.name]) == "" && sameLinkedError(errB, errs[b.name]) == "" {
					return
				}
				problems = append(problems, fmt.Sprintf("%s, then %s: %v, %v\n%s", order[0].name, order[1].name, errs[a.name], errs[b.name], problem))
			}
			t.Errorf("%s: A %s (%v), B %s (%v); it is as after no order:\n%s", m, a.name, errA, b.name, errB, strings.Join(problems, "\n"))
		},
	})
}

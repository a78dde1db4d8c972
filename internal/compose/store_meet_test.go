package compose

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// situation is a story's database, and the memory after the story.
type situation[M memory[M]] struct {
	story[M]
	now M
}

// fill stores what the actions of the story leave that succeed. It doesn't run an action for which the memory has an
// error.
func (s *situation[M]) fill(ctx context.Context, db *mongo.Database) error {
	w := s.begin.self()
	on, err := w.prepare(ctx, db)
	if err != nil {
		return err
	}
	s.now = s.begin
	for _, a := range s.actions {
		next := s.now.clone()
		if a.apply(next, a.token) != nil {
			continue
		}
		switch err := a.run(model.WithToken(ctx, a.token), on, s.now); {
		case err == nil:
			s.now = next
		case !w.refuses(err):
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// runOn runs an action on a database.
func (s *situation[M]) runOn(a action[M]) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		on, err := s.begin.self().handle(ctx, db)
		if err != nil {
			return err
		}
		return a.run(model.WithToken(ctx, a.token), on, s.begin)
	}
}

// drawSituation returns a random model with a story of 8 actions, and the memory after it.
func (k machine[M]) drawSituation(r *rand.Rand) *situation[M] {
	s := &situation[M]{story: story[M]{begin: k.draw(r)}}
	s.now = s.begin
	for range 8 {
		next, a := s.now.clone(), k.drawAction(r)
		if a.apply(next, a.token) == nil {
			s.now, s.actions = next, append(s.actions, a)
		}
	}
	return s
}

// meetModels lets two actions meet after each of some stories, in subtests.
func (k machine[M]) meetModels(t *testing.T, models int) {
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		s := k.drawSituation(r)
		a, b := k.drawAction(r), k.drawAction(r)
		for a.isLong || b.isLong || a.name == b.name || s.leaves(a, b) || s.leaves(b, a) {
			a, b = k.drawAction(r), k.drawAction(r)
		}
		deletes := strings.Contains(a.name+b.name, ".Delete(")
		if w := s.begin.self(); !w.tx && (k.meetsPlain == nil || !k.meetsPlain(w.has, deletes)) {
			w.tx = true
		}
		t.Run(fmt.Sprintf("%s/%d", k.name, seed), func(t *testing.T) { s.meet(t, a, b) })
	}
}

// leaves reports whether one of two actions doesn't fit the memory.
func (s *situation[M]) leaves(a, b action[M]) bool {
	m := s.now.clone()
	errA := a.apply(m, a.token)
	if errA != nil {
		m = s.now.clone()
	}
	return errors.Is(errors.Join(errA, b.apply(m, b.token)), errUndrawn)
}

func (s *situation[M]) meet(t *testing.T, a, b action[M]) {
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: s.begin.self().tx, Nested: true, Sample: 1, Seed: s.fill, A: s.runOn(a), B: s.runOn(b),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			got := map[bson.ObjectID]error{a.token: errA, b.token: errB}
			on, err := s.begin.self().handle(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, order := range [][]action[M]{{a, b}, {b, a}} {
				problem := s.explains(t.Context(), on, order, got)
				if problem == "" {
					return
				}
				problems = append(problems, fmt.Sprintf("%s, then %s: %s", order[0].name, order[1].name, problem))
			}
			t.Errorf("%s\nA %s (%v)\nB %s (%v)\nIt is as after no order:\n%s",
				s, a.name, errA, b.name, errB, strings.Join(problems, "\n"))
		},
	})
}

// explains describes how the database and the actions' errors differ from an order of the actions.
func (s *situation[M]) explains(
	ctx context.Context, on model.DB, order []action[M], got map[bson.ObjectID]error,
) string {
	m := s.now.clone()
	for _, a := range order {
		next := m.clone()
		want := a.apply(next, a.token)
		if w := m.self(); w.refuses(got[a.token]) || !w.tx && got[a.token] != nil && isTyped(got[a.token]) {
			continue // for example, a value is taken by an action that is refused later
		}
		if problem := sameError(got[a.token], want); problem != "" {
			return problem
		}
		if want == nil || errors.Is(want, errPartly) {
			m = next
		}
	}
	return compareWith(ctx, on, m)
}

// cutModels cuts an action after each of some stories, in subtests.
func (k machine[M]) cutModels(t *testing.T, models int) {
	client := mongotest.NewClient(t)
	for seed := range models {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		s := k.drawSituation(r)
		a := k.drawAction(r)
		for !s.writes(t.Context(), client.Database(fmt.Sprintf("%sCut%d", k.name, seed)), a) {
			s, a = k.drawSituation(r), k.drawAction(r)
		}
		t.Run(fmt.Sprintf("%s/%d", k.name, seed), func(t *testing.T) {
			t.Parallel()
			s.cut(t, a)
		})
	}
}

// writes reports whether an action writes something, without an error.
func (s *situation[M]) writes(ctx context.Context, db *mongo.Database, a action[M]) bool {
	after := s.now.clone()
	if a.isLong || a.apply(after, a.token) != nil || reflect.DeepEqual(after, s.now) {
		return false
	}
	defer func() { _ = db.Drop(context.Background()) }()
	return s.fill(ctx, db) == nil && s.runOn(a)(ctx, db) == nil
}

// cut runs the fault matrix of an action that writes.
func (s *situation[M]) cut(t *testing.T, a action[M]) {
	t.Logf("%s\ncut: %s", s, a.name)
	w := s.begin.self()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: w.tx, Sample: 1, Seed: s.fill,
		Run: func(ctx context.Context, db *mongo.Database) error {
			err := s.runOn(a)(ctx, db)
			if errors.Is(err, model.ErrTaken) || errors.Is(err, model.ErrNotFound) || errors.Is(err, errGuarded) ||
				mongo.IsDuplicateKeyError(err) {
				return nil // the first run inserted, changed or deleted the document: see Check
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			after := s.now.clone()
			if err := a.apply(after, a.token); err != nil {
				t.Fatal(err)
			}
			on, err := w.handle(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if problem := compareWith(t.Context(), on, after); problem != "" {
				t.Error(problem)
			}
		},
	})
}

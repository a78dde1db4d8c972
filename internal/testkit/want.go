package testkit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// All runs a query or a pipeline.
func All[R any](t testing.TB, db *mongo.Database, q interface {
	All(context.Context, model.DB) ([]R, error)
}) []R {
	t.Helper()
	list, err := q.All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// IDsOf lists what f gives for each value.
func IDsOf[R, K any](list []R, f func(R) K) []K {
	out := make([]K, len(list))
	for i, r := range list {
		out[i] = f(r)
	}
	return out
}

// WantList compares two lists.
func WantList[K comparable](t testing.TB, got, want []K) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An IndexedCase is a query, and the index that is to serve it.
type IndexedCase struct {
	Reason string
	Query  any
	Index  string
}

// WantAllIndexed asks that each query is served by its index.
func WantAllIndexed(t *testing.T, db *mongo.Database, cases []IndexedCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Reason, func(t *testing.T) { modeltest.WantIndexed(t, db, c.Query, c.Index) })
	}
}

// EnsureIndexes creates the indexes of techniques, which needn't be used together.
func EnsureIndexes(t *testing.T, db *mongo.Database, techniques ...model.Technique) {
	t.Helper()
	for _, one := range techniques {
		if err := model.New("test", one).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
}

// A CostCase is what costs, and how much.
type CostCase struct {
	Reason string
	value  interface{ Cost() model.Cost }
	run    func(ctx context.Context, db *mongo.Database) error
	want   model.Cost // as documented; measured exactly
}

// Check measures a run against what is documented, and another against what the value says.
func (c CostCase) Check(t *testing.T, m *modeltest.Monitor, db *mongo.Database, before Docs) {
	run := func() error { return c.run(t.Context(), db) }
	for _, want := range []model.Cost{c.want, c.value.Cost()} {
		SeedAlone(t, db, before)
		modeltest.WantCost(t, m, want, run)
	}
}

// CostOf is the cost of a plan, as documented.
func CostOf(reason string, p model.Plan, commands, written int) CostCase {
	return CostCase{reason, p, func(ctx context.Context, db *mongo.Database) error {
		_, err := p.Run(ctx, db)
		return err
	}, model.Cost{Commands: commands, Written: written}}
}

// CostOfRead is the cost of a query of one command, as documented.
func CostOfRead[R any](reason string, q interface {
	Cost() model.Cost
	All(context.Context, model.DB) ([]R, error)
}, returned int) CostCase {
	return CostCase{reason, q, func(ctx context.Context, db *mongo.Database) error {
		_, err := q.All(ctx, db)
		return err
	}, model.Cost{Commands: 1, Returned: returned}}
}

// PanicOf is what f panics with.
func PanicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// WantPanic wants a DeclarationError that says something.
func WantPanic(t *testing.T, reason, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, ok := recover().(*model.DeclarationError)
		if !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a DeclarationError with %q in it", reason, err, want)
		}
	}()
	f()
}

// A Mistake is a wrong declaration, and a part of each thing that its error says.
type Mistake struct {
	reason              string
	declare             func()
	problem, at, remedy string
}

// Wrong returns a Mistake.
func Wrong(reason string, declare func(), problem, at, remedy string) Mistake {
	return Mistake{reason, declare, problem, at, remedy}
}

// WantDeclarationErrors asks that each mistake panics with a *model.DeclarationError that says what is wrong, where, and what to do.
func WantDeclarationErrors(t *testing.T, cases ...Mistake) {
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			d := Catch(t, c.declare)
			if d == nil {
				t.Fatal("no panic")
			}
			for _, part := range []struct{ what, text, want string }{{"problem", d.Problem, c.problem}, {"place", d.Place, c.at}, {"remedy", d.Remedy, c.remedy}} {
				if !strings.Contains(part.text, part.want) {
					t.Errorf("%s %q doesn't say %q", part.what, part.text, part.want)
				}
			}
		})
	}
}

// JoinStrings is a list in words.
func JoinStrings[T fmt.Stringer](list []T) string {
	var s []string
	for _, x := range list {
		s = append(s, x.String())
	}
	return strings.Join(s, ", ")
}

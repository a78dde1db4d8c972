package testkit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// All runs a query or pipeline.
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

// IDsOf applies f to each value.
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

// An IndexedCase is a query with its index.
type IndexedCase struct {
	Reason string
	Query  any
	Index  string
}

// WantAllIndexed tests that each query uses its index.
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

// A CostCase is a value with its cost.
type CostCase struct {
	Reason string
	value  interface{ Cost() model.Cost }
	run    func(ctx context.Context, db *mongo.Database) error
	want   model.Cost // as documented; measured exactly
}

// Check compares one run with the documented cost, and another with the value's cost.
func (c CostCase) Check(t *testing.T, m *mongotest.Monitor, db *mongo.Database, before Docs) {
	run := func() error { return c.run(t.Context(), db) }
	for _, want := range []model.Cost{c.want, c.value.Cost()} {
		SeedAlone(t, db, before)
		modeltest.WantCost(t, m, want, run)
	}
}

// CostOf is a plan's documented cost.
func CostOf(reason string, p model.Plan, commands, written int) CostCase {
	return CostCase{reason, p, func(ctx context.Context, db *mongo.Database) error {
		_, err := p.Run(ctx, db)
		return err
	}, model.Cost{Commands: commands, Written: written}}
}

// CostOfRead is the documented cost of a query with one command.
func CostOfRead[R any](reason string, q interface {
	Cost() model.Cost
	All(context.Context, model.DB) ([]R, error)
}, returned int) CostCase {
	return CostCase{reason, q, func(ctx context.Context, db *mongo.Database) error {
		_, err := q.All(ctx, db)
		return err
	}, model.Cost{Commands: 1, Returned: returned}}
}

// PanicOf returns the value of f's panic.
func PanicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// WantPanic tests that f panics with a DeclarationError that contains a text.
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

// A Mistake is a wrong declaration, with a part of each text of its error.
type Mistake struct {
	reason              string
	declare             func()
	problem, at, remedy string
}

// Wrong returns a Mistake.
func Wrong(reason string, declare func(), problem, at, remedy string) Mistake {
	return Mistake{reason, declare, problem, at, remedy}
}

// WantDeclarationErrors tests that each mistake panics with a *model.DeclarationError
// that names problem, place and remedy.
func WantDeclarationErrors(t *testing.T, cases ...Mistake) {
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			d := Catch(t, c.declare)
			if d == nil {
				t.Fatal("no panic")
			}
			for _, part := range []struct{ what, text, want string }{
				{"problem", d.Problem, c.problem}, {"place", d.Place, c.at}, {"remedy", d.Remedy, c.remedy},
			} {
				if !strings.Contains(part.text, part.want) {
					t.Errorf("%s %q doesn't say %q", part.what, part.text, part.want)
				}
			}
		})
	}
}

// JoinStrings joins the texts of a list.
func JoinStrings[T fmt.Stringer](list []T) string {
	var s []string
	for _, x := range list {
		s = append(s, x.String())
	}
	return strings.Join(s, ", ")
}

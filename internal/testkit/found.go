package testkit

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MendAll runs the jobs of checks, one after the other, and waits for no age. It returns how many writes they planned.
func MendAll(ctx context.Context, db *mongo.Database, checks []model.Check) (planned int64, _ error) {
	for _, c := range checks {
		c.Age = 0
		p, err := c.Job().Run(ctx, db, model.JobOptions{})
		planned += p.Writes
		if err != nil {
			return planned, err
		}
	}
	return planned, nil
}

// MendedAll is a run of the jobs of checks, for a test that runs functions.
func MendedAll(checks []model.Check) func(ctx context.Context, db *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := MendAll(ctx, db, checks)
		return err
	}
}

// AllFound is what checks find, in their order.
func AllFound(t testing.TB, db *mongo.Database, checks []model.Check) (out []model.Finding) {
	t.Helper()
	for _, c := range checks {
		list, err := c.All(context.Background(), db)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, list...)
	}
	return out
}

// WantNothingFound asks that checks find nothing.
func WantNothingFound(t testing.TB, db *mongo.Database, checks []model.Check) {
	t.Helper()
	if list := AllFound(t, db, checks); len(list) > 0 {
		t.Errorf("the checks find %v", list)
	}
}

// Details are what findings hold.
func Details[T any](t testing.TB, found []model.Finding) []T {
	t.Helper()
	out := make([]T, len(found))
	for i, f := range found {
		if err := bson.Unmarshal(f.Detail, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// FoundAs are findings of a check with these details.
func FoundAs(t testing.TB, check model.Check, details ...bson.D) (out []model.Finding) {
	t.Helper()
	for _, d := range details {
		raw, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, model.Finding{Check: check.Name, Collection: check.Collection, Detail: raw})
	}
	return out
}

// WantNames wants the names of checks, each another one, and a rule and a way of mending for each.
func WantNames(t *testing.T, checks []model.Check, names ...string) {
	t.Helper()
	var got []string
	for _, c := range checks {
		got = append(got, c.Name)
		if c.Rule == "" || c.Collection == "" {
			t.Errorf("%s: no rule, or no collection: %+v", c.Name, c)
		}
	}
	WantList(t, got, names)
}

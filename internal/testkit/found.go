package testkit

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MendAll runs the checks' jobs in order, without waiting for any age. It returns the
// number of planned writes.
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

// MendedAll returns a function that runs the checks' jobs.
func MendedAll(checks []model.Check) func(ctx context.Context, db *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := MendAll(ctx, db, checks)
		return err
	}
}

// AllFound returns the checks' findings in order.
func AllFound(t testing.TB, db model.DB, checks []model.Check) (out []model.Finding) {
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

// WantNothingFound tests that checks find nothing.
func WantNothingFound(t testing.TB, db model.DB, checks []model.Check) {
	t.Helper()
	if list := AllFound(t, db, checks); len(list) > 0 {
		t.Errorf("the checks find %v", list)
	}
}

// Details returns the details of findings.
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

// FoundAs returns findings of a check with these details.
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

// WantNames tests the checks' names, which must differ, and that each has a rule and a
// repair.
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

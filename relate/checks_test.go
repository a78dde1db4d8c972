package relate_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A halfLink is the detail of a finding of relations that both sides store.
type halfLink struct {
	List  bool          `bson:"list"`
	A     string        `bson:"a"`
	B     string        `bson:"b"`
	V     int64         `bson:"v"`
	Op    bson.ObjectID `bson:"op"`
	Now   int64         `bson:"now"`
	Gone  bool          `bson:"gone"`
	Names []string      `bson:"names"`
	Kept  bool          `bson:"kept"`
}

// mendAll runs the jobs of checks, one after the other, and waits for no age. It returns how many writes they planned.
func mendAll(ctx context.Context, db *mongo.Database, checks []model.Check) (planned int64, _ error) {
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

// mending is a run of the jobs of checks, for a test that runs functions.
func mending(checks []model.Check) func(ctx context.Context, db *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := mendAll(ctx, db, checks)
		return err
	}
}

// allFound is what checks find, in their order.
func allFound(t testing.TB, db *mongo.Database, checks []model.Check) (out []model.Finding) {
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

func wantNothingFound(t testing.TB, db *mongo.Database, checks []model.Check) {
	t.Helper()
	if list := allFound(t, db, checks); len(list) > 0 {
		t.Errorf("the checks find %v", list)
	}
}

// details are what findings hold.
func details[T any](t testing.TB, found []model.Finding) []T {
	t.Helper()
	out := make([]T, len(found))
	for i, f := range found {
		if err := bson.Unmarshal(f.Detail, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// foundAs are findings of a check with these details.
func foundAs(t testing.TB, check model.Check, details ...bson.D) (out []model.Finding) {
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

// wantRefusedFindings wants that a check of half-links mends nothing that it didn't find.
func wantRefusedFindings(t *testing.T, check model.Check) {
	t.Helper()
	whole := foundAs(t, check, bson.D{{Key: "a", Value: "a"}, {Key: "b", Value: "b"}})
	for reason, found := range map[string][]model.Finding{
		"another check's": {{Check: "another", Detail: whole[0].Detail}}, "without a detail": {{Check: check.Name}},
		"without an id": foundAs(t, check, bson.D{{Key: "a", Value: "a"}}), "without ids": foundAs(t, check, bson.D{}),
	} {
		t.Run(reason, func(t *testing.T) { wantError(t, check.Mend(found).Err(), errRefused) })
	}
	if err := check.Mend(whole).Err(); err != nil {
		t.Error(err)
	}
}

// wantNames wants the names of checks, each another one, and a rule and a way of mending for each.
func wantNames(t *testing.T, checks []model.Check, names ...string) {
	t.Helper()
	var got []string
	for _, c := range checks {
		got = append(got, c.Name)
		if c.Rule == "" || c.Collection == "" {
			t.Errorf("%s: no rule, or no collection: %+v", c.Name, c)
		}
	}
	wantIDs(t, got, names)
}

package denorm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// checkJob finds and mends.
func checkJob(c model.Check) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		_, err := c.Job().Run(ctx, db, model.JobOptions{})
		return err
	}
}

// findingsOf is what a check finds, and each in words.
func findingsOf(t testing.TB, db *mongo.Database, c model.Check) (found []model.Finding, said []string) {
	t.Helper()
	found, err := c.All(context.Background(), db)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	for _, f := range found {
		said = append(said, f.String())
	}
	return found, said
}

// detailOf decodes what a check read.
func detailOf(t testing.TB, f model.Finding, into any) {
	t.Helper()
	if err := bson.Unmarshal(f.Detail, into); err != nil {
		t.Fatal(f, err)
	}
}

// wantRefusedFindings asks that checks mend only their own findings, and those with an _id.
func wantRefusedFindings(t *testing.T, checks ...model.Check) {
	t.Helper()
	for _, c := range checks {
		if c.Mend == nil {
			continue
		}
		for reason, f := range map[string]model.Finding{
			"without an id": {Check: c.Name, Detail: marshal(bson.D{e("n", 1)})}, "without a detail": {Check: c.Name},
			"of another check": {Check: c.Name + "x", Detail: marshal(bson.D{e("_id", "a")})},
		} {
			if _, err := c.Mend([]model.Finding{f}).Run(t.Context(), nil); !errors.As(err, new(*model.ValueError)) {
				t.Errorf("%s: a finding %s is taken: %v", c.Name, reason, err)
			}
		}
	}
}

// wantDistinctChecks asks that checks have names of their own, and a rule that is a sentence.
func wantDistinctChecks(t *testing.T, checks []model.Check, n int) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range checks {
		if names[c.Name] || c.Rule == "" || c.Collection == "" || !strings.HasPrefix(c.Name, c.Collection) {
			t.Errorf("check %q of %q, rule %q", c.Name, c.Collection, c.Rule)
		}
		names[c.Name] = true
	}
	if len(checks) != n {
		t.Errorf("%d checks, want %d", len(checks), n)
	}
}

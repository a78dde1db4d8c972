package testkit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// FoundBy are the findings of all checks.
func FoundBy(ctx context.Context, db *mongo.Database, checks []model.Check) (found []model.Finding, _ error) {
	for _, c := range checks {
		list, err := c.All(ctx, db)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	return found, nil
}

// FindingsOf is what a check finds, and each in words.
func FindingsOf(t testing.TB, db *mongo.Database, c model.Check) (found []model.Finding, said []string) {
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

// MendedNow mends what each check finds at once, however young it is.
func MendedNow(checks ...model.Check) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, c := range checks {
			if c.Mend == nil {
				continue
			}
			found, err := c.All(ctx, db)
			if err == nil {
				err = Exec(ctx, db, c.Mend(found))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// MendedByJobs runs the jobs of checks, which mend at once, however young a finding is.
func MendedByJobs(checks ...model.Check) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, c := range checks {
			if c.Age = 0; c.Mend == nil && c.MendAll == nil {
				continue
			}
			if err := RunJob(ctx, db, c.Job()); err != nil {
				return err
			}
		}
		return nil
	}
}

// CheckJob finds and mends.
func CheckJob(c model.Check) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { return RunJob(ctx, db, c.Job()) }
}

// Mended are the plans that mend what checks find. Each check must find something.
func Mended(t *testing.T, db *mongo.Database, checks []model.Check) (plans []model.Plan) {
	t.Helper()
	for _, c := range checks {
		found, err := c.All(t.Context(), db)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %v, %v", c.Name, found, err)
		}
		plans = append(plans, c.Mend(found))
	}
	return plans
}

// Detail decodes what a check read.
func Detail[D any](t testing.TB, f model.Finding) (d D) {
	t.Helper()
	if err := bson.Unmarshal(f.Detail, &d); err != nil {
		t.Fatal(f, err)
	}
	return d
}

// EmptyFinding is a finding of a check that says nothing.
func EmptyFinding(c model.Check) []model.Finding {
	return []model.Finding{{Check: c.Name, Detail: Marshal(bson.D{})}}
}

// WantRefusedFindings asks that checks mend only their own findings, and those with an _id.
func WantRefusedFindings(t *testing.T, checks ...model.Check) {
	t.Helper()
	for _, c := range checks {
		if c.Mend == nil {
			continue
		}
		for reason, f := range map[string]model.Finding{
			"without an id": {Check: c.Name, Detail: Marshal(bson.D{E("n", 1)})}, "without a detail": {Check: c.Name},
			"of another check": {Check: c.Name + "x", Detail: Marshal(bson.D{E("_id", "a")})},
		} {
			if _, err := c.Mend([]model.Finding{f}).Run(t.Context(), nil); !errors.As(err, new(*model.ValueError)) {
				t.Errorf("%s: a finding %s is taken: %v", c.Name, reason, err)
			}
		}
	}
}

// WantDistinctChecks asks that checks have names of their own, and a rule that is a sentence.
func WantDistinctChecks(t *testing.T, checks []model.Check, n int) {
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

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

// FoundBy returns the findings of all checks.
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

// FindingsOf returns a check's findings, also as texts.
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

// MendedNow repairs each check's findings at once, whatever their age.
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

// MendedByJobs runs the checks' jobs, which repair at once, whatever a finding's age.
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

// CheckJob finds and repairs.
func CheckJob(c model.Check) DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { return RunJob(ctx, db, c.Job()) }
}

// Mended returns the plans that repair the checks' findings. Each check must find
// something.
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

// Detail decodes a finding's detail.
func Detail[D any](t testing.TB, f model.Finding) (d D) {
	t.Helper()
	if err := bson.Unmarshal(f.Detail, &d); err != nil {
		t.Fatal(f, err)
	}
	return d
}

// EmptyFinding returns a finding of a check without content.
func EmptyFinding(c model.Check) []model.Finding {
	return []model.Finding{{Check: c.Name, Detail: Marshal(bson.D{})}}
}

// WantRefusedFindings tests that checks repair only their own findings, with an _id.
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

// WantDistinctChecks tests that checks have distinct names, and rules that are sentences.
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

package denorm_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// foundBy are the findings of all checks.
func foundBy(ctx context.Context, db *mongo.Database, checks []model.Check) (found []model.Finding, _ error) {
	for _, c := range checks {
		list, err := c.All(ctx, db)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	return found, nil
}

// mendedNow mends what each check finds at once, however young it is.
func mendedNow(checks ...model.Check) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, c := range checks {
			if c.Mend == nil {
				continue
			}
			found, err := c.All(ctx, db)
			if err == nil {
				err = exec(ctx, db, c.Mend(found))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// mendedByJobs runs the jobs of checks, which mend at once, however young a finding is.
func mendedByJobs(checks ...model.Check) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, c := range checks {
			if c.Age = 0; c.Mend == nil && c.MendAll == nil {
				continue
			}
			if err := runJob(ctx, db, c.Job()); err != nil {
				return err
			}
		}
		return nil
	}
}

// detail decodes what a check read.
func detail[D any](t testing.TB, f model.Finding) (d D) {
	t.Helper()
	if err := bson.Unmarshal(f.Detail, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// emptyFinding is a finding of a check that says nothing.
func emptyFinding(c model.Check) []model.Finding {
	return []model.Finding{{Check: c.Name, Detail: marshal(bson.D{})}}
}

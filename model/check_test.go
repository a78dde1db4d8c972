package model_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
)

// checkOf is the check, of those, that finds this.
func checkOf(t testing.TB, finds string, checks []model.Check) model.Check {
	t.Helper()
	i := slices.IndexFunc(checks, func(c model.Check) bool { return strings.HasSuffix(c.Name, ": "+finds) })
	if i < 0 {
		t.Fatalf("no check finds %s", finds)
	}
	return checks[i]
}

// foundIDs are the _ids, strings, of the documents that a check finds, sorted.
func foundIDs(t testing.TB, db *mongo.Database, check model.Check) (ids []string) {
	t.Helper()
	found, err := check.All(context.Background(), db)
	if err != nil {
		t.Fatalf("%s: %v", check.Name, err)
	}
	for _, f := range found {
		if f.Check != check.Name || f.Collection != check.Collection || f.Problem == "" {
			t.Errorf("%s: finds %+v", check.Name, f)
		}
		ids = append(ids, f.ID.StringValue())
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// mend runs the jobs of the checks that can mend, in their order.
func mend(ctx context.Context, db *mongo.Database, checks []model.Check) error {
	for _, c := range checks {
		if c.Mend == nil && c.MendAll == nil {
			continue
		}
		if _, err := c.Job().Run(ctx, db, model.JobOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// finding is what a check has found, of this detail.
func finding(check model.Check, detail bson.D) model.Finding {
	raw, err := bson.Marshal(detail)
	if err != nil {
		panic(err)
	}
	return model.Finding{Check: check.Name, Collection: check.Collection, Detail: raw}
}

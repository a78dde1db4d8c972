package versions_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// A migration that stopped doesn't say where another begins: one of other documents, or to a later version.
func TestMigrateCheckpoints(t *testing.T) {
	again := schema.Upcast(func(p personV3) (personV3, error) { p.N++; return p, nil })
	spec := schema.VersionsSpec{Field: "v"}
	one, two := schema.NewVersions(newPeople(), spec, again), schema.NewVersions(newPeople(), spec, again, again)
	stop := errors.New("stop")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var docs []string
		for i := range 6 {
			docs = append(docs, fmt.Sprintf(`{"_id":"%d","v":%d,"first":"x","n":1}`, i, 1+i%2))
		}
		store(t, db, docs...)
		run := func(v *schema.Versions[personV3, string], of int, stops bool) {
			t.Helper()
			o := model.JobOptions{Checkpoint: "jobs", BatchSize: 2}
			if stops {
				o.Progress = func(model.Progress) error { return stop }
			}
			_, err := v.Migrate(schema.MigrateOptions{Version: of}).Run(context.Background(), db, o)
			if err != nil && !(stops && errors.Is(err, stop)) {
				t.Fatal(err)
			}
		}
		run(one, 0, true) // 0 and 2 are of version 2
		run(two, 1, true) // 4 is of version 3
		run(two, 2, true) // 0 and 1 are
		run(two, 0, false)
		left, err := two.Outdated().All(t.Context(), db)
		if err != nil || len(left) > 0 {
			t.Errorf("outdated: %v, %v", left, err)
		}
	})
}

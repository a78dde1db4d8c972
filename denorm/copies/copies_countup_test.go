package copies_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var revised = embed.NewVersioned(holders, embed.VersionedSpec{Version: "rev"})

// Each write of a copy counts the document's version up once, however often it is run. A
// replacement of what was read before is refused.
func TestCopyCountsUp(t *testing.T) {
	testkit.Parallel(t)
	for _, form := range []struct {
		name, base string
		spec       copies.Spec
	}{
		{"document", "", copies.Spec{KeyPath: "src", Version: "v", VersionTo: "v"}},
		{"document, bare", "", copies.Spec{KeyPath: "src"}},
		{"items", "items.", copies.Spec{KeyPath: "items.id", Version: "v", VersionTo: "items.v"}},
		{"items, bare", "items.", copies.Spec{KeyPath: "items.id"}},
		{
			name: "groups", base: "groups.items.",
			spec: copies.Spec{KeyPath: "groups.items.id", Version: "v", VersionTo: "groups.items.v"},
		},
		{"groups, bare", "groups.items.", copies.Spec{KeyPath: "groups.items.id"}},
		{"listed", "", copies.Spec{Listed: "docs", Version: "v", VersionTo: "v"}},
		{"listed, bare", "", copies.Spec{Listed: "docs"}},
	} {
		form.spec.CountUp = "rev"
		t.Run(form.name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				copyCountsUp(t, db, declareCopies(form.spec, form.base), form.spec, form.base)
			})
		})
	}
}

func copyCountsUp(
	t *testing.T, db *mongo.Database, c *copies.Copy[origin, string, string], spec copies.Spec, base string,
) {
	ctx := t.Context()
	s := origin{ID: "s", Name: "one", Tags: []string{"x"}, V: 1}
	h := holder{ID: "h", Rev: 1, Groups: []group{{Title: "t"}}}
	m := model.New("counted up", c)
	sources, targets := model.NewStore(m, origins), model.NewStore(m, holders)
	if err := testkit.Store(ctx, db, testkit.Docs{"origins": {s}, "holders": {h}}); err != nil {
		t.Fatal(err)
	}
	counts := func(name string, do func() error) {
		t.Helper()
		for run := range 2 {
			before, err := holders.ByID("h").One(ctx, db)
			if err := errors.Join(err, do()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			after, err := holders.ByID("h").One(ctx, db)
			if want := before.Rev + 1 - int64(run); err != nil || after.Rev != want {
				t.Errorf("%s, run %d: version %d, want %d, %v", name, run, after.Rev, want, err)
			}
			if _, err := revised.Update("h", before.Rev, nil, bson.NilObjectID).Run(ctx, db); run == 0 &&
				!errors.Is(err, embed.ErrVersion) {
				t.Errorf("%s: a write in the version that was read before gives %v", name, err)
			} else if run == 1 && err == nil { // it was the newest: no more than counted up
				if _, err := db.Collection("holders").
					UpdateByID(ctx, "h", bson.D{testkit.E("$inc", bson.D{testkit.E("rev", -1)})}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	plan := func(p model.Plan) func() error { return func() error { return testkit.Exec(ctx, db, p) } }
	rename := func(name string) {
		t.Helper()
		s.Name, s.V = name, s.V+1
		testkit.MustExec(t, db,
			model.NewPlan(origins.Update("s", bson.D{
				testkit.E("$set", bson.D{testkit.E("name", s.Name), testkit.E("v", s.V)}),
			})))
	}
	run := func(c model.Action) func() error {
		return func() error { _, err := c.Change().Run(ctx, db); return err }
	}
	relate := func(name string, list []held) {
		src := ""
		if len(list) > 0 {
			src, s.Docs = "s", []string{"h"}
		} else {
			s.Docs = nil
		}
		if spec.Listed != "" {
			counts(name, run(sources.Set("s", bson.D{testkit.E("docs", s.Docs)})))
			return
		}
		counts(name, run(targets.Edit("h", func(h *holder) error {
			switch base {
			case "":
				h.Src = src
			case "items.":
				h.Items = list
			default:
				h.Groups[0].Items = list
			}
			return nil
		})))
	}
	relate("the first copy", []held{{ID: "s", Note: "n"}})
	counts("a change of the source", run(sources.Set("s", bson.D{testkit.E("name", "two")})))
	s.V++
	rename("three")
	counts("Propagate", plan(c.Propagate(&s)))
	rename("four")
	counts("Refresh", func() error { _, _, err := c.Refresh("s").Run(ctx, db); return err })
	rename("five")
	counts("Rebuild", func() error { return testkit.RunJob(ctx, db, c.Rebuild()) })
	if spec.Listed == "" {
		rename("six")
		counts("PropagateJob", func() error { return testkit.RunJob(ctx, db, c.PropagateJob(&s)) })
	}
	rename("seven")
	check := c.Checks()[0]
	found, err := check.All(ctx, db)
	if err != nil || len(found) != 1 {
		t.Fatalf("the check finds %v, %v", found, err)
	}
	counts("Mend", plan(check.Mend(found)))
	relate("no copy", nil)
}

package copies_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// looseDocs are documents whose fields are not known.
var (
	looseDocs   = model.NewCollection[bson.D, any]("holders")
	looseGroups = copies.New(origins, looseDocs, copies.Spec{
		KeyPath: "groups.items.id", Fields: []copies.Field{{From: "name", To: "groups.items.name"}},
		Version: "v", VersionTo: "groups.items.v", Lists: []string{"groups.items", "groups"},
	})
)

// Ragged documents, in which what should be an array is missing, null, a scalar or holds scalars, don't stop a
// propagation.
func TestCopyRagged(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		s := origin{ID: "s", Name: "new", V: 2}
		item := bson.D{testkit.E("id", "s"), testkit.E("name", "old")}
		ragged := []any{
			bson.D{testkit.E("_id", "1")},
			bson.D{testkit.E("_id", "2"), testkit.E("groups", nil)},
			bson.D{
				testkit.E("_id", "3"),
				testkit.E("groups", bson.A{
					bson.D{}, "x", bson.D{testkit.E("items", nil)}, bson.D{testkit.E("items", "s")},
					bson.D{testkit.E("items", bson.A{"s", nil, item, 7})},
				}),
			},
			bson.D{
				testkit.E("_id", "4"),
				testkit.E("groups", bson.A{
					nil,
					bson.D{
						testkit.E("items", bson.A{bson.D{testkit.E("id", nil)}, bson.D{testkit.E("id", "t")}, item}),
					},
				}),
			},
		}
		want := bson.D{testkit.E("id", "s"), testkit.E("name", "new"), testkit.E("v", int64(2))}
		after := []any{
			ragged[0], ragged[1],
			bson.D{
				testkit.E("_id", "3"),
				testkit.E("groups", bson.A{
					bson.D{}, "x", bson.D{testkit.E("items", nil)}, bson.D{testkit.E("items", "s")},
					bson.D{testkit.E("items", bson.A{"s", nil, want, 7})},
				}),
			},
			bson.D{
				testkit.E("_id", "4"),
				testkit.E("groups", bson.A{
					nil,
					bson.D{
						testkit.E("items", bson.A{bson.D{testkit.E("id", nil)}, bson.D{testkit.E("id", "t")}, want}),
					},
				}),
			},
		}
		for name, run := range map[string]func() error{
			"propagate": func() error { return testkit.Exec(t.Context(), db, looseGroups.Propagate(&s)) },
			"job": func() error {
				_, err := looseGroups.PropagateJob(&s).Run(t.Context(), db, model.JobOptions{})
				return err
			},
			"repair": func() error {
				checks := looseGroups.Checks()
				gone, err := checks[1].In(bson.D{testkit.E("groups.items.id", "s")}).All(t.Context(), db)
				if err != nil {
					return err
				}
				for _, f := range gone {
					if testkit.Detail[struct{ Src string }](t, f).Src != "t" {
						t.Errorf("found %v", f)
					}
				}
				return testkit.MendedByJobs(checks[0].In(bson.D{testkit.E("groups.items.id", "s")}))(t.Context(), db)
			},
		} {
			testkit.Seed(t, db, testkit.Docs{"origins": {s}, "holders": ragged})
			if err := run(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			testkit.WantDocs(t, db, testkit.Docs{"holders": after})
		}
	})
}

// A value that a source doesn't have, or has as null, arrives as that.
func TestCopyNothing(t *testing.T) {
	testkit.Parallel(t)
	loose := model.NewCollection[bson.D, any]("origins")
	c := copies.New(loose, looseDocs, copies.Spec{KeyPath: "src", Fields: []copies.Field{{From: "x", To: "x"}}})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, x := range []bson.D{
			{}, {testkit.E("x", nil)}, {testkit.E("x", bson.A{})}, {testkit.E("x", bson.D{})},
			{testkit.E("x", bson.Regex{Pattern: "a"})}, {testkit.E("x", "$y")},
		} {
			s := append(bson.D{testkit.E("_id", 1)}, x...)
			testkit.Seed(t, db, testkit.Docs{"origins": {s}, "holders": {
				bson.D{testkit.E("_id", 1), testkit.E("src", 1)},
				bson.D{testkit.E("_id", 2), testkit.E("src", 1), testkit.E("x", nil)},
				bson.D{testkit.E("_id", 3), testkit.E("src", 1), testkit.E("x", "y")},
			}})
			if err := testkit.Exec(t.Context(), db, c.Propagate(&s)); err != nil {
				t.Fatal(err)
			}
			copyOf := func(id int) bson.D { return append(bson.D{testkit.E("_id", id), testkit.E("src", 1)}, x...) }
			testkit.WantDocs(t, db, testkit.Docs{"holders": {copyOf(1), copyOf(2), copyOf(3)}})
			if found, err := testkit.FoundBy(t.Context(), db, c.Checks()); err != nil || len(found) > 0 {
				t.Errorf("%v: drift %v, %v", x, found, err)
			}
			if r, err := c.Propagate(&s).Run(t.Context(), db); err != nil || r.Modified() != 0 {
				t.Errorf("%v: run again: %d documents, %v", x, r.Modified(), err)
			}
		}
	})
}

// What Fold leaves, Unfolded explains; what it deletes, its copies tell whole.
func TestCopyFold(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range copyForms {
			listed := []string{}
			testkit.Seed(t, db, testkit.Docs{"origins": nil, "holders": nil})
			var p model.Plan
			for i, s := range []origin{
				{ID: "fine", Name: "a"}, {ID: "lonely"}, {ID: "stale", Name: "x"}, {ID: "more", Name: "a", Note: "own"},
			} {
				if s.ID != "lonely" {
					h := holder{ID: fmt.Sprint("h", i), Src: s.ID, Name: "a", Items: []held{{ID: s.ID, Name: "a"}}}
					h.Groups = []group{{Title: "x"}, {Items: []held{{ID: s.ID, Name: "a"}}}}
					s.Docs = []string{h.ID}
					p.Steps = append(p.Steps, holders.Insert(h))
				}
				p.Steps = append(p.Steps, origins.Insert(s))
			}
			testkit.MustExec(t, db, p)
			drop := []string{"info", "docs", "at"}
			left, err := f.c.Unfolded(drop...).All(t.Context(), db)
			if err != nil {
				t.Fatal(f.name, err)
			}
			for _, u := range left {
				listed = append(listed, u.String())
			}
			want := []string{
				"origins 'lonely': no document holds a copy of it", "origins 'more': its fields note aren't copied",
				"origins 'stale': a copy has other values than the source",
			}
			if strings.Join(listed, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: unfolded %q", f.name, listed)
			}
			for _, o := range []model.JobOptions{{DryRun: true}, {}, {}} {
				if _, err := f.c.Fold(drop...).Run(t.Context(), db, o); err != nil {
					t.Fatal(err)
				}
				sources, _ := world(t, db)
				if want := map[bool]int{true: 4, false: 3}[o.DryRun]; len(sources) != want {
					t.Errorf("%s: %d sources, want %d", f.name, len(sources), want)
				}
			}
		}
	})
}

// A job over many copies reads and writes only what is to be changed, tells how far it is, and goes on where it
// stopped.
func TestCopyPropagateJob(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var hs []holder
		for i := range 25 {
			hs = append(hs, holder{ID: fmt.Sprintf("h%02d", i), Src: "s", Name: "old", V: int64(i % 5)})
		}
		s := origin{ID: "s", Name: "new", V: 4}
		testkit.MustExec(t, db, holders.InsertMany(hs))
		job := ofDocument.PropagateJob(&s)
		job.Stages[0].BatchSize = 6
		stop := errors.New("stop")
		p, err := job.Run(t.Context(), db, model.JobOptions{
			Checkpoint: "jobs",
			Progress:   func(p model.Progress) error { return stop },
		})
		if !errors.Is(err, stop) || p.Modified != 6 {
			t.Errorf("%+v, %v", p, err)
		}
		p, err = job.Run(t.Context(), db, model.JobOptions{Checkpoint: "jobs"})
		if err != nil || p.Modified != 14 || p.Documents != 14 {
			t.Errorf("%+v, %v", p, err)
		}
		n, err := holders.Find(bson.D{testkit.E("name", "new"), testkit.E("v", 4)}).Count(t.Context(), db)
		if err != nil || n != 20 {
			t.Errorf("%d copies, %v", n, err)
		}
		if _, err := ofListed.PropagateJob(&s).Run(t.Context(), db, model.JobOptions{}); err == nil {
			t.Error("a job over listed documents was not refused")
		}
	})
}

// A list of more ids than a command holds is reached by several.
func TestCopyManyListed(t *testing.T) {
	testkit.Parallel(t)
	s := origin{ID: "s", Name: "b", V: 1}
	for i := range 20_001 {
		s.Docs = append(s.Docs, fmt.Sprint("h", i%20_001))
	}
	if p := ofListed.Propagate(&s); len(p.Steps) != 3 {
		t.Errorf("%d steps", len(p.Steps))
	}
	s.Docs = []string{"h", "h"}
	if p := ofListed.Propagate(&s); !strings.Contains(p.String(), "{$in: ['h']}") {
		t.Error(p)
	}
	s.Docs = nil
	if p := ofListed.Propagate(&s); len(p.Steps) != 0 || p.Err() != nil {
		t.Error(p)
	}
}

// What each operation costs, and which index serves it.
func TestCopyCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		s := origin{ID: "s", Name: "a"}
		var hs []holder
		for i := range 40 {
			h := holder{ID: fmt.Sprint(i), Src: fmt.Sprint(i % 20), Items: []held{{ID: fmt.Sprint(i % 20)}}}
			if i < 3 {
				h.Src, h.Items, h.Groups = "s", []held{{ID: "s"}}, []group{{Items: []held{{ID: "s"}}}}
			}
			hs = append(hs, h)
		}
		testkit.MustExec(t, db, model.NewPlan(origins.Insert(s)), holders.InsertMany(hs))
		run := func(p model.Plan) func() error {
			return func() error { return testkit.Exec(context.Background(), db, p) }
		}
		sources := model.NewStore(model.New("items", inItems), origins)
		set := func(field, value string) func() error {
			return func() error {
				_, _, err := sources.Set("s", bson.D{testkit.E(field, value)}).Run(t.Context(), db)
				return err
			}
		}
		modeltest.WantCost(t, monitor, model.Cost{Commands: 4, Written: 5, Returned: 1}, set("name", "b"))
		s.Name, s.V = "b", 1
		modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Written: 1, Returned: 1}, set("note", "x"))
		modeltest.WantCost(t, monitor, model.Cost{Commands: 1}, run(inItems.Propagate(&s)))
		modeltest.WantCost(t, monitor, model.Cost{Commands: 1, Written: 3}, run(ofDocument.Propagate(&s)))
		modeltest.WantCost(t, monitor, model.Cost{Commands: 2, Written: 3, Returned: 1}, func() error {
			_, _, err := inGroups.Refresh("s").Run(t.Context(), db)
			return err
		})
	}, monitor)
}

// A propagation finds the copies of its source by the index, and only those.
func TestCopyIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var hs []holder
		for i := range 3000 {
			id := fmt.Sprint("s", i)
			hs = append(hs, holder{
				ID: fmt.Sprint(i), Src: id, Items: []held{{ID: id}, {ID: "t" + id}},
				Groups: []group{{Items: []held{{ID: id}}}},
			})
		}
		testkit.MustExec(t, db, holders.InsertMany(hs))
		if err := model.New("test", ofDocument, inItems, inGroups).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, f := range copyForms[:6] {
			update := f.c.Propagate(&origin{ID: "s77", Name: "z", V: 9}).Steps[0].(model.Write)
			filter := update.Model.(*mongo.UpdateManyModel).Filter.(bson.D)
			t.Run(f.name, func(t *testing.T) {
				modeltest.WantIndexed(t, db, holders.Find(filter), f.c.Indexes()[0].Name)
			})
			job := f.c.PropagateJob(&origin{ID: "s77", Name: "z", V: 9})
			t.Run(f.name+" job", func(t *testing.T) {
				modeltest.WantIndexed(t, db,
					holders.Find(job.Stages[0].Filter).Sorted(bson.D{testkit.E("_id", 1)}), f.c.Indexes()[0].Name)
			})
		}
	})
}

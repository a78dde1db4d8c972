package convert_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// convertScopes are scopes of requests, by the number of the request.
var convertScopes = map[string]func(request int) model.Scope{
	"tenant": func(int) model.Scope { return model.Scope{Tenant: bson.D{{Key: "tenant", Value: "a"}}} },
	"insert": func(n int) model.Scope { return model.Scope{Insert: bson.D{{Key: "by", Value: n}}} },
	"set":    func(n int) model.Scope { return model.Scope{Set: bson.D{{Key: "at", Value: n}}} },
	"delete": func(n int) model.Scope { return model.Scope{Delete: bson.D{{Key: "gone", Value: n + 1}}} },
	"all": func(n int) model.Scope {
		return model.Scope{
			Tenant: bson.D{{Key: "tenant", Value: "a"}}, Insert: bson.D{{Key: "by", Value: n}},
			Set: bson.D{{Key: "at", Value: n}}, Delete: bson.D{{Key: "gone", Value: n + 1}},
		}
	},
}

// Under each part of a scope, a second run of a job that copies nodes writes nothing. A node that went comes back, and
// so does a node that
// was deleted in the target.
func TestConvertScoped(t *testing.T) {
	tenancy.Differs(t, "the test has scopes of its own")
	testkit.Parallel(t)
	form := convertForms[0]
	for name, scope := range convertScopes {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			request := 0
			next := func() model.DB { request++; return scope(request).On(db) }
			done := func(_ model.Result, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			from := pathstest.Kinds[0]
			for _, to := range pathstest.Kinds[1:] {
				for _, k := range []pathstest.Kind{from, to} {
					k.Clear(t, db)
					if err := model.New("test", k.Tree).Indexes().Ensure(t.Context(), next()); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := db.Collection(form.Name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
				done(from.Tree.Load(pathstest.NodesOf(pathstest.Parse("a(b(c) d) e"))).Run(t.Context(), next()))
				if _, err := model.NewPlan(
					form.Docs.Insert(pathstest.Article{ID: "p"}),
				).Run(t.Context(), next()); err != nil {
					t.Fatal(err)
				}
				absorb := paths.Absorb(from.Tree, form.Tree, "p", convertRemark, paths.AbsorbSpec[string]{Delete: true})
				into := paths.ConvertInto(from.Tree, to.Tree, convertCopy, paths.IntoSpec[string]{Delete: true})
				extract := paths.Extract(form.Tree, "p", to.Tree, convertBack, paths.IntoSpec[string]{Delete: true})
				run := func(job model.Job, writes int64) {
					t.Helper()
					dry, err := job.Run(t.Context(), next(), model.JobOptions{DryRun: true})
					// whose fields depend on the node
					others := writes > 0 && dry.Writes > writes && (to.Name == "nested" || to.Name == "children")
					if err != nil || dry.Writes != writes && !others {
						t.Errorf("%s: %s to %s: %+v, %v, want %d writes", name, job.Name, to.Name, dry, err, writes)
					}
					if p, err := job.Run(
						t.Context(), next(), model.JobOptions{BatchSize: 2},
					); err != nil || p.Modified != dry.Writes {
						t.Fatalf("%s: %s to %s: %+v, %v, want %d writes", name, job.Name, to.Name, p, err, dry.Writes)
					}
				}
				run(into, 5)
				run(into, 0)
				done(absorb.Run(t.Context(), next()))
				run(extract, 0)
				done(form.Tree.Delete("p", "b", paths.Subtree).Run(t.Context(), next()))
				run(extract, 2)
				done(absorb.Run(t.Context(), next()))
				run(extract, 2)
				run(extract, 0)
				run(into, 0)
				done(to.Tree.Delete("d", paths.Restrict).Run(t.Context(), next()))
				run(into, 1)
				run(into, 0)
				if problems, err := pathstest.Inspect(t.Context(), next(), to.Tree); err != nil || len(problems) > 0 {
					t.Errorf("%s: %s: %v, %v", name, to.Name, problems, err)
				}
			}
		})
	}
}

// An _id of another tenant's document is taken, however often the job runs.
func TestConvertTakenElsewhere(t *testing.T) {
	tenancy.Differs(t, "the test has scopes of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		from, to := pathstest.Kinds[0], pathstest.Kinds[1]
		to.Ensure(t, db)
		tenant := func(name string) model.DB { return model.Scope{Tenant: bson.D{{Key: "tenant", Value: name}}}.On(db) }
		if _, err := to.Tree.Load(
			pathstest.NodesOf(pathstest.Parse("b")),
		).Run(t.Context(), tenant("other")); err != nil {
			t.Fatal(err)
		}
		if _, err := from.Tree.Load(
			pathstest.NodesOf(pathstest.Parse("a(b)")),
		).Run(t.Context(), tenant("mine")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := paths.ConvertInto(
				from.Tree, to.Tree, convertCopy, paths.IntoSpec[string]{},
			).Run(t.Context(), tenant("mine"), model.JobOptions{})
			if !errors.Is(err, model.ErrTaken) || errors.Is(err, model.ErrStale) {
				t.Errorf("%v, want ErrTaken", err)
			}
		}
	})
}

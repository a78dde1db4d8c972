package paths_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
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

// Under each part of a scope, a second run of a job that copies nodes writes nothing. A node that went comes back, and so does a node that
// was deleted in the target.
func TestConvertScoped(t *testing.T) {
	tenancy.Differs(t, "the test has scopes of its own")
	parallel(t)
	form := convertForms[0]
	for name, scope := range convertScopes {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			request := 0
			next := func() model.DB { request++; return scope(request).On(db) }
			done := func(_ any, _ model.Result, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			from := kinds[0]
			for _, to := range kinds[1:] {
				for _, k := range []kind{from, to} {
					k.convertClear(t, db)
					if err := model.New("test", k.tree).Indexes().Ensure(t.Context(), next()); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := db.Collection(form.name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
				done(from.tree.Load(nodesOf(parse("a(b(c) d) e"))).Run(t.Context(), next()))
				if _, err := model.NewPlan(form.docs.Insert(article{ID: "p"})).Run(t.Context(), next()); err != nil {
					t.Fatal(err)
				}
				absorb := paths.Absorb(from.tree, form.tree, "p", convertRemark, paths.AbsorbSpec[string]{Delete: true})
				into := paths.ConvertInto(from.tree, to.tree, convertCopy, paths.IntoSpec[string]{Delete: true})
				extract := paths.Extract(form.tree, "p", to.tree, convertBack, paths.IntoSpec[string]{Delete: true})
				run := func(job model.Job, writes int64) {
					t.Helper()
					dry, err := job.Run(t.Context(), next(), model.JobOptions{DryRun: true})
					others := writes > 0 && dry.Writes > writes && (to.name == "nested" || to.name == "children") // whose fields depend on the node
					if err != nil || dry.Writes != writes && !others {
						t.Errorf("%s: %s to %s: %+v, %v, want %d writes", name, job.Name, to.name, dry, err, writes)
					}
					if p, err := job.Run(t.Context(), next(), model.JobOptions{BatchSize: 2}); err != nil || p.Modified != dry.Writes {
						t.Fatalf("%s: %s to %s: %+v, %v, want %d writes", name, job.Name, to.name, p, err, dry.Writes)
					}
				}
				run(into, 5)
				run(into, 0)
				done(absorb.Run(t.Context(), next()))
				run(extract, 0)
				done(form.tree.Delete("p", "b", paths.Subtree).Run(t.Context(), next()))
				run(extract, 2)
				done(absorb.Run(t.Context(), next()))
				run(extract, 2)
				run(extract, 0)
				run(into, 0)
				done(to.tree.Delete("d", paths.Restrict).Run(t.Context(), next()))
				run(into, 1)
				run(into, 0)
				if problems, err := inspect(t.Context(), next(), to.tree); err != nil || len(problems) > 0 {
					t.Errorf("%s: %s: %v, %v", name, to.name, problems, err)
				}
			}
		})
	}
}

// An _id of another tenant's document is taken, however often the job runs.
func TestConvertTakenElsewhere(t *testing.T) {
	tenancy.Differs(t, "the test has scopes of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		from, to := kinds[0], kinds[1]
		to.ensure(t, db)
		tenant := func(name string) model.DB { return model.Scope{Tenant: bson.D{{Key: "tenant", Value: name}}}.On(db) }
		if _, _, err := to.tree.Load(nodesOf(parse("b"))).Run(t.Context(), tenant("other")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := from.tree.Load(nodesOf(parse("a(b)"))).Run(t.Context(), tenant("mine")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := paths.ConvertInto(from.tree, to.tree, convertCopy, paths.IntoSpec[string]{}).Run(t.Context(), tenant("mine"), model.JobOptions{})
			if !errors.Is(err, model.ErrTaken) || errors.Is(err, model.ErrStale) {
				t.Errorf("%v, want ErrTaken", err)
			}
		}
	})
}

package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// folded creates collections whose default collation ignores case.
func folded(t *testing.T, db *mongo.Database, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := db.CreateCollection(t.Context(), name,
			options.CreateCollection().SetCollation(&options.Collation{Locale: "en", Strength: 2})); err != nil {
			t.Fatal(err)
		}
	}
}

// asked is a handle that knows the default collations of existing collections.
func asked(t *testing.T, db *mongo.Database, names ...string) model.DB {
	t.Helper()
	base := model.Observer{}.On(db)
	for _, name := range names {
		if _, err := model.NewCollection[bson.D, any](name).Find(nil).
			Count(t.Context(), model.Scope{Tenant: d("tenant", "asks")}.On(base)); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// sentApart are the commands other than the question for the collations.
func sentApart(m *mongotest.Monitor) (out []mongotest.Command) {
	for _, c := range m.Commands() {
		if c.Name != "listCollections" {
			out = append(out, c)
		}
	}
	return out
}

// timesAsked is the number of questions for collations.
func timesAsked(m *mongotest.Monitor) (n int) {
	return len(m.Commands()) - len(sentApart(m))
}

// wantFolded tests that an error refuses a collection because of its default collation.
func wantFolded(t *testing.T, how string, err error, collection string) {
	t.Helper()
	var conflict *model.ConflictError
	if !errors.As(err, &conflict) || conflict.Collection != collection ||
		!strings.Contains(err.Error(), "default collation {locale: 'en', strength: 2}") ||
		!strings.Contains(err.Error(), "scope tenant") ||
		!strings.Contains(err.Error(), "create the collection with the simple collation") {
		t.Errorf("%s: %v, want a *ConflictError about %s", how, err, collection)
	}
}

// A scope with a string as tenant doesn't use a collection whose default collation can make two strings equal.
func TestScopeDefaultCollation(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	for name, run := range collatedRuns {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			for _, collation := range []*options.Collation{nil, {Locale: "simple"}, {Locale: "en", Strength: 1}} {
				db := client.Database("folded")
				if err := db.Drop(ctx); err != nil {
					t.Fatal(err)
				}
				folded(t, db, "parts")
				if _, err := db.Collection("parts").
					InsertMany(ctx, []any{d("_id", 1, "tenant", "acme", "x", 1), d("_id", 2, "tenant", "ACME", "x", 1)}); err != nil {
					t.Fatal(err)
				}
				base := model.Observer{}.On(db)
				monitor.Reset()
				for range 2 {
					_, err := run(ctx, model.Scope{Tenant: d("tenant", "acme")}.On(base), collation)
					wantFolded(t, name, err, "parts")
				}
				if sent := sentApart(monitor); len(sent) > 0 {
					t.Errorf("%v was sent", sent)
				}
				_, err := run(ctx, model.Scope{Tenant: d("tenant", 7)}.On(db), collation)
				if errors.As(err, new(*model.ConflictError)) {
					t.Errorf("a tenant that is a number: %v", err)
				}
			}
		})
	}
}

// merged copies a collection into another.
func merged(ctx context.Context, db model.DB, from, into string) error {
	m := mergeInto(from, d("$merge", d("into", into, "whenMatched", "fail")))
	m.Idempotent = true
	_, err := model.NewPlan(m).Run(ctx, db)
	return err
}

// The default collation of each collection that a command uses is asked for.
func TestScopeForeignCollation(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	client := mongotest.NewClient(t)
	pipelines := map[string]func(ctx context.Context, db model.DB) error{}
	read := func(name string, stages ...bson.D) {
		pipelines[name] = func(ctx context.Context, db model.DB) error {
			_, err := anyParts.Aggregate(stages).All(ctx, db)
			return err
		}
		pipelines[name+", counted"] = func(ctx context.Context, db model.DB) error {
			_, err := anyParts.Aggregate(stages).Count(ctx, db)
			return err
		}
	}
	lookup := d("$lookup", d("from", "others", "as", "all", "localField", "x", "foreignField", "x"))
	read("$lookup", lookup)
	read("$lookup with a pipeline", d("$lookup", d("from", "others", "as", "all", "pipeline", mongo.Pipeline{})))
	read("$lookup in a $lookup", d("$lookup", d("from", "parts", "as", "all", "pipeline", mongo.Pipeline{lookup})))
	read("$unionWith", d("$unionWith", "others"))
	read("$unionWith with a pipeline",
		d("$unionWith", d("coll", "parts", "pipeline", mongo.Pipeline{d("$unionWith", "others")})))
	read("$graphLookup",
		d("$graphLookup",
			d("from", "others", "as", "all", "startWith", "$x", "connectFromField", "x", "connectToField", "x")))
	read("$facet", d("$facet", d("a", mongo.Pipeline{lookup})))
	plan := func(name string, steps ...model.Step) {
		pipelines[name] = func(ctx context.Context, db model.DB) error {
			p := model.NewPlan(steps...)
			p.Options.AllowPartial = true
			_, err := p.Run(ctx, db)
			return err
		}
		pipelines[name+", in a transaction"] = func(ctx context.Context, db model.DB) error {
			_, err := model.NewPlan(steps...).RunTx(ctx, db)
			return err
		}
	}
	other := write(&mongo.UpdateManyModel{Filter: d("x", 1), Update: d("$inc", d("n", 1))})
	other.Collection = "others"
	first := write(&mongo.UpdateManyModel{Filter: d("x", 1), Update: d("$inc", d("n", 1))})
	plan("a later write", first, other)
	undo := expectOne(updateOne(d("x", 1), d("$inc", d("n", 1))))
	undo.Reasons = []model.Reason{{If: d("x", 2), Err: errBad, Instead: []model.Step{other}}}
	plan("a reason's Instead", undo)
	pipelines["IfStale"] = func(ctx context.Context, db model.DB) error {
		p := model.NewPlan(first)
		p.IfStale, p.Options.AllowPartial = []model.Step{other}, true
		_, err := p.Run(ctx, db)
		return err
	}
	pipelines["$merge into"] = func(ctx context.Context, db model.DB) error {
		return merged(ctx, db, "parts", "others")
	}
	pipelines["$merge from"] = func(ctx context.Context, db model.DB) error {
		return merged(ctx, db, "others", "parts")
	}
	pipelines["Scope.Plan"] = func(ctx context.Context, _ model.DB) error {
		p := model.Scope{Tenant: d("tenant", "acme")}.Plan(model.NewPlan(first, other))
		p.Options.AllowPartial = true
		_, err := p.Run(ctx, client.Database("foreign"))
		return err
	}
	ctx, db := t.Context(), client.Database("foreign")
	folded(t, db, "others")
	seed := []any{d("_id", 1, "tenant", "acme", "x", 1), d("_id", 2, "tenant", "ACME", "x", 1)}
	for _, name := range []string{"parts", "others"} {
		if _, err := db.Collection(name).InsertMany(ctx, seed); err != nil {
			t.Fatal(err)
		}
	}
	for name, run := range pipelines {
		wantFolded(t, name, run(ctx, model.Scope{Tenant: d("tenant", "acme")}.On(db)), "others")
	}
	n, err := db.Collection("parts").CountDocuments(ctx, d("n", nil))
	if err != nil || n != 2 {
		t.Errorf("%d of 2 documents are unchanged, %v", n, err)
	}
	// The first collection's default decides how a $lookup compares, also in a collection that the scope doesn't hold for.
	inParts := model.Scope{Tenant: d("tenant", "acme"), Collections: []string{"parts"}}.On(db)
	others := model.NewCollection[bson.D, any]("others")
	_, err = others.Aggregate(mongo.Pipeline{
		d("$lookup", d("from", "parts", "as", "all", "pipeline", mongo.Pipeline{})),
	}).All(ctx, inParts)
	wantFolded(t, "the first collection", err, "others")
	if docs, err := others.Find(nil).All(ctx, inParts); err != nil || len(docs) != 2 {
		t.Errorf("outside the scope: %v, %v", docs, err)
	}
	if docs, err := anyParts.Aggregate(mongo.Pipeline{lookup}).All(ctx, inParts); err != nil || len(docs) != 1 {
		t.Errorf("a $lookup outside the scope: %v, %v", docs, err)
	}
}

// The default collation of a collection that exists is asked for once by all handles of a client, also inside
// transactions.
func TestScopeAsksOnce(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if _, err := db.Collection("parts").InsertOne(ctx, d("_id", 1, "tenant", "a")); err != nil {
			t.Fatal(err)
		}
		base := model.New("test", model.Entity(anyParts)).On(db)
		count := func(want int64, on model.DB) {
			t.Helper()
			if n, err := anyParts.Find(nil).Count(ctx, on); err != nil || n != want {
				t.Errorf("%d documents, %v", n, err)
			}
		}
		wantAsked := func(reason string, want int, f func()) {
			t.Helper()
			monitor.Reset()
			f()
			if n := timesAsked(monitor); n != want {
				t.Errorf("%s: asked %d times: %v", reason, n, monitor.Commands())
			}
		}
		wantAsked("no tenant that is a string", 0, func() {
			count(1, base)
			count(0, model.Scope{Tenant: d("tenant", 7)}.On(db))
			count(0, model.Scope{Tenant: d("tenant", bson.NewObjectID())}.On(db))
			count(0, model.Scope{Filter: d("tenant", "b")}.On(db))
			count(1, model.Scope{Tenant: d("tenant", "b"), Collections: []string{"others"}}.On(db))
		})
		wantAsked("scopes of a base", 1, func() {
			for range 3 {
				count(1, tenantOf("a").On(base))
				count(0, tenantOf("b").On(base))
				count(1, model.Scope{Tenant: d("tenant", "a")}.On(model.Observer{}.On(tenantOf("a").On(base))))
				mustRun(t, tenantOf("a").On(base), model.NewPlan(updateOne(d("_id", 1), d("$inc", d("n", 1)))))
			}
		})
		wantAsked("many at once", 0, func() {
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { count(1, tenantOf("a").On(base)) })
			}
			all.Wait()
		})
		wantAsked("the driver's database", 0, func() {
			count(1, tenantOf("a").On(db))
			count(1, tenantOf("a").On(db))
		})
		wantAsked("one tenant of the driver's database", 0, func() {
			own := tenantOf("a").On(db)
			count(1, own)
			count(1, own)
		})
		wantAsked("a collection that isn't there", 3, func() {
			others := model.NewCollection[bson.D, any]("others")
			own := tenantOf("a").On(model.Observer{}.On(db))
			for range 2 {
				if _, err := others.Find(nil).All(ctx, own); err != nil {
					t.Error(err)
				}
			}
			mustRun(t, own, model.NewPlan(others.Insert(d("_id", 1))))
		})
		wantAsked("a collection that was made", 1, func() {
			others := model.NewCollection[bson.D, any]("others")
			own := tenantOf("a").On(model.Observer{}.On(db))
			for range 2 {
				if docs, err := others.Find(nil).All(ctx, own); err != nil || len(docs) != 1 {
					t.Errorf("%v, %v", docs, err)
				}
			}
		})
	}, monitor)
}

// A transaction doesn't send the question, which the server refuses in it.
func TestScopeAsksOutsideTransactions(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		ctx, own := t.Context(), tenantOf("a").On(db)
		if err := db.CreateCollection(ctx, "parts"); err != nil {
			t.Fatal(err)
		}
		err := model.InTx(ctx, own, func(ctx context.Context) error {
			if _, err := insertDoc(d("_id", 1)).Run(ctx, own); err != nil {
				return err
			}
			n, err := anyParts.Find(nil).Count(ctx, own)
			if n != 1 && err == nil {
				err = fmt.Errorf("%d documents", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func asksFor(c mongotest.Command) bool { return c.Name == "listCollections" }

// A user who may not ask is told which privilege is missing.
func TestScopeMayNotAsk(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	for code, want := range map[int32]string{
		13:    "grant the user the action listCollections on the database x",
		11600: "default collations of ['parts']",
	} {
		faults := mongotest.NewFaults()
		faults.From(asksFor, 1, mongotest.Fail(code))
		client := mongotest.NewClient(t, faults)
		_, err := insertDoc(d("_id", 1)).Run(t.Context(), tenantOf("a").On(client.Database("x")))
		var server mongo.ServerError
		if !errors.As(err, &server) || !server.HasErrorCode(int(code)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if n := len(faults.Commands()); n != faults.Count(asksFor) {
			t.Errorf("%v was sent", faults.Commands())
		}
	}
}

// The names of the library's own documents carry the tenant, so their collections count, though no scope holds for
// them.
func TestScopeFoldedNames(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	ctx, db := t.Context(), client.Database("names")
	folded(t, db, "locks", "jobs", "places")
	own := model.Scope{Tenant: d("tenant", "acme"), Collections: []string{"pairs"}}.On(db)
	stream := model.Stream{
		Name: "s", Collection: "parts", Places: "places",
		Plan: func(model.Event) (model.Plan, error) { return model.Plan{}, nil },
	}
	job := model.Job{Name: "each", Stages: []model.Stage{{Collection: "parts", Plan: planOfTwo}}}
	for name, run := range map[string]struct {
		collection string
		run        func() error
	}{
		"a change under a lease": {"locks", func() error { _, _, err := pairOf(lease).Run(ctx, own); return err }},
		"the same, in a transaction": {"locks", func() error {
			return model.InTx(ctx, own, func(ctx context.Context) error { _, _, err := pairOf(lease).Run(ctx, own); return err })
		}},
		"Lease.Last":   {"locks", func() error { _, err := lease.Last(ctx, own); return err }},
		"Lease.Raise":  {"locks", func() error { return lease.Raise(ctx, own, 7) }},
		"Lease.Forget": {"locks", func() error { return lease.Forget(ctx, own) }},
		"Lease.Settled": {"locks", func() error {
			return lease.Settled(ctx, own, func(context.Context) error { return nil })
		}},
		"a checkpoint": {
			collection: "jobs",
			run:        func() error { _, err := job.Run(ctx, own, model.JobOptions{Checkpoint: "jobs"}); return err },
		},
		"a stream's run": {"places", func() error { return stream.Run(ctx, own, model.StreamOptions{Once: true}) }},
	} {
		monitor.Reset()
		wantFolded(t, name, run.run(), run.collection)
		for _, c := range sentApart(monitor) {
			if c.Name != "hello" {
				t.Errorf("%s: sent %s", name, c)
			}
		}
	}
}

// An index in a collection that folds would make two tenants' keys equal.
func TestScopeFoldedIndexes(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	db := mongotest.NewClient(t).Database("indexes")
	folded(t, db, "parts")
	set := model.New("test", wants{unique(ix("a", 1))}).Indexes()
	wantFolded(t, "Ensure", set.Ensure(t.Context(), tenantOf("acme").On(db)), "parts")
	if err := set.Ensure(t.Context(), db); err != nil {
		t.Error(err)
	}
}

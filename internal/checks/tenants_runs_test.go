package checks

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/join"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ids collects what a sequence yields, by a text of each.
func ids[T any](seq iter.Seq2[T, error], text func(T) string) (string, error) {
	var out []string
	for v, err := range seq {
		if err != nil {
			return "", err
		}
		out = append(out, text(v))
	}
	return strings.Join(out, ", "), nil
}

// listed is a list as a sequence.
func listed[T any](list []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func bookID(b tenantBook) string                  { return b.ID }
func placeID(p geofield.Place[tenantBook]) string { return p.Doc.ID }
func findingID(f model.Finding) string            { return f.ID.StringValue() }

// tenantRuns are the operations that take a database, each with what one tenant gets of its two authors' data. They are
// those that go/types finds.
var tenantRuns = map[string]struct {
	run  func(ctx context.Context, db model.DB) (string, error)
	want string // its answer, or "refused"
}{
	"model.Find.All": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(listed(tenantBooks.Find(nil).All(ctx, db)), bookID)
	}, "my 1, my 2"},
	"model.Find.Each": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(tenantBooks.Find(bson.D{{Key: "author", Value: "my author"}}).Each(ctx, db), bookID)
	}, "my 1, my 2"},
	"model.Find.One": {func(ctx context.Context, db model.DB) (string, error) {
		_, err := tenantBooks.ByID("their 1").One(ctx, db)
		return fmt.Sprint(errors.Is(err, model.ErrNotFound)), nil
	}, "true"},
	"model.Find.Page": {func(ctx context.Context, db model.DB) (string, error) {
		page, err := tenantBooks.Find(nil).Sorted(bson.D{{Key: "price", Value: 1}}).Limited(2).Page(ctx, db, "")
		return fmt.Sprint(len(page.Docs), page.HasMore), err
	}, "2 false"},
	"model.Query.Count": {func(ctx context.Context, db model.DB) (string, error) {
		n, err := tenantBooks.Find(nil).Count(ctx, db)
		return fmt.Sprint(n), err
	}, "2"},
	"model.Query.Distinct": {func(ctx context.Context, db model.DB) (string, error) {
		var prices []int32
		err := tenantBooks.Find(nil).Distinct(ctx, db, "price", &prices)
		slices.Sort(prices)
		return fmt.Sprint(prices), err
	}, "[10 20]"},
	"model.Aggregate.All": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(listed(tenantWrites.Load(nil, 0).All(ctx, db)),
			func(l relate.Loaded[tenantAuthor, tenantBook]) string {
				return fmt.Sprint(l.Parent.ID, len(l.Children))
			})
	}, "my author2"},
	"model.Aggregate.Each": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(tenantBooks.Aggregate(mongo.Pipeline{{{Key: "$unionWith", Value: "books"}}}).Each(ctx, db), bookID)
	}, "my 1, my 2, my 1, my 2"},
	"model.Aggregate.One": {func(ctx context.Context, db model.DB) (string, error) {
		sum, err := model.AggregateAs[struct{ Sum int32 }](tenantBooks, mongo.Pipeline{{{
			Key:   "$group",
			Value: bson.D{{Key: "_id", Value: nil}, {Key: "sum", Value: bson.D{{Key: "$sum", Value: "$price"}}}},
		}}}).One(ctx, db)
		return fmt.Sprint(sum.Sum), err
	}, "30"},
	"model.Aggregation.Count": {func(ctx context.Context, db model.DB) (string, error) {
		n, err := tenantTree.Descendants(treeRoot("my root", "a0"), 0).Count(ctx, db)
		return fmt.Sprint(n), err
	}, "1"},
	"model.Modify.Run": {func(ctx context.Context, db model.DB) (string, error) {
		_, err := tenantBooks.Modify(bson.D{{Key: "_id", Value: "their 1"}}, bson.D{{
			Key: "$inc", Value: bson.D{{Key: "price", Value: 1}},
		}}).Run(ctx, db)
		return fmt.Sprint(errors.Is(err, model.ErrNotFound)), nil
	}, "true"},
	"model.Write.Run": {func(ctx context.Context, db model.DB) (string, error) {
		_, err := tenantBooks.Update("their 1", bson.D{{
			Key: "$set", Value: bson.D{{Key: "price", Value: 1}},
		}}).Run(ctx, db)
		return fmt.Sprint(errors.Is(err, model.ErrNotFound)), nil
	}, "true"},
	"model.Plan.Run": {func(ctx context.Context, db model.DB) (string, error) {
		r, err := model.NewPlan(tenantWrites.MoveAll("my author", "x"), tenantBooks.Delete("their 1")).Run(ctx, db)
		return fmt.Sprint(r.Modified()), err
	}, "2"},
	"model.Plan.RunTx": {func(ctx context.Context, db model.DB) (string, error) {
		r, err := model.NewPlan(tenantBooks.Delete("my 1"), tenantBooks.Delete("their 1")).RunTx(ctx, db)
		return fmt.Sprint(r.Modified()), err
	}, "1"},
	"model.InTx": {func(ctx context.Context, db model.DB) (string, error) {
		var n int64
		err := model.InTx(ctx, db, func(ctx context.Context) (err error) {
			n, err = tenantBooks.Find(nil).Count(ctx, db)
			return err
		})
		return fmt.Sprint(n), err
	}, "2"},
	"model.WithTransactions": {func(ctx context.Context, db model.DB) (string, error) {
		tx, err := model.WithTransactions(ctx, db)
		if err != nil {
			return "", err
		}
		r, err := model.NewPlan(tenantBooks.Delete("my 1"), tenantBooks.Delete("their 1")).Run(ctx, tx)
		return fmt.Sprint(r.Modified()), err
	}, "1"},
	"model.WithBulkWrite": {func(ctx context.Context, db model.DB) (string, error) {
		on, err := model.WithBulkWrite(ctx, db, nil)
		if err != nil {
			return "", err
		}
		r, err := model.NewPlan(tenantAuthors.Delete("their author"), tenantBooks.Delete("my 1"),
			tenantBooks.Delete("their 1")).Run(ctx, on)
		return fmt.Sprint(r.Modified()), err
	}, "1"},
	"model.Change.Run": {func(ctx context.Context, db model.DB) (string, error) {
		var read []string
		for _, n := range []string{"my leaf", "their leaf"} {
			_, err := tenantTree.Delete(n, 0).Run(ctx, db)
			read = append(read, fmt.Sprint(err == nil))
		}
		return strings.Join(read, " "), nil
	}, "true false"},
	"model.Change.Plan": {func(ctx context.Context, db model.DB) (string, error) {
		var planned []string
		for _, n := range []string{"my leaf", "their leaf"} {
			_, err := tenantTree.Delete(n, 0).Plan(ctx, db)
			planned = append(planned, fmt.Sprint(err == nil))
		}
		return strings.Join(planned, " "), nil
	}, "true false"},
	"model.Change.Read": {func(ctx context.Context, db model.DB) (string, error) {
		var read []string
		for _, n := range []string{"my leaf", "their leaf"} {
			_, err := tenantTree.Delete(n, 0).Read(ctx, db)
			read = append(read, fmt.Sprint(err == nil))
		}
		return strings.Join(read, " "), nil
	}, "true false"},
	"model.ChangeOf.Run": {func(ctx context.Context, db model.DB) (string, error) {
		var read []string
		for _, id := range []string{"my 1", "their 1"} {
			_, _, err := model.ChangeOf[tenantBook]{
				Read: func(ctx context.Context, db model.DB) (tenantBook, error) {
					return tenantBooks.ByID(id).One(ctx, db)
				},
				Decide: func(tenantBook) (model.Plan, error) { return model.Plan{}, nil },
			}.Run(ctx, db)
			read = append(read, fmt.Sprint(err == nil))
		}
		return strings.Join(read, " "), nil
	}, "true false"},
	"model.Job.Run": {func(ctx context.Context, db model.DB) (string, error) {
		p, err := tenantField.Rebuild().Run(ctx, db, model.JobOptions{Checkpoint: "jobs"})
		return fmt.Sprint(p.Documents), err
	}, "2"},
	"model.Audit.Each": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(model.Audit{Checks: []model.Check{tenantCheck}}.Each(ctx, db), findingID)
	}, "my 1, my 2"},
	"model.Check.All": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(listed(tenantCheck.All(ctx, db)), findingID)
	}, "my 1, my 2"},
	"model.Check.Each": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(tenantCheck.Each(ctx, db), findingID)
	}, "my 1, my 2"},
	"model.Stream.Run": {func(ctx context.Context, db model.DB) (string, error) {
		return "", model.Stream{
			Name: "books", Collection: "books", Places: "places",
			Plan: func(model.Event) (model.Plan, error) { return model.Plan{}, nil },
		}.Run(ctx, db, model.StreamOptions{})
	}, "refused"},
	"model.Lease.Raise": {
		run:  func(ctx context.Context, db model.DB) (string, error) { return "", tenantLease.Raise(ctx, db, 9) },
		want: "",
	},
	"model.Lease.Last": {func(ctx context.Context, db model.DB) (string, error) {
		n, err := tenantLease.Last(ctx, db)
		return fmt.Sprint(n), err
	}, "0"},
	"model.Lease.Forget": {
		run:  func(ctx context.Context, db model.DB) (string, error) { return "", tenantLease.Forget(ctx, db) },
		want: "",
	},
	"model.Lease.Settled": {func(ctx context.Context, db model.DB) (string, error) {
		return "", tenantLease.Settled(ctx, db, func(context.Context) error { return nil })
	}, ""},
	"model.IndexSet.Ensure": {
		run:  func(ctx context.Context, db model.DB) (string, error) { return "", tenantIndexes.Ensure(ctx, db) },
		want: "",
	},
	"model.IndexSet.Diff": {func(ctx context.Context, db model.DB) (string, error) {
		diff, err := tenantIndexes.Diff(ctx, db)
		return fmt.Sprint(len(diff.Missing) == len(tenantIndexes.Needed),
			strings.HasPrefix(diff.Missing[0].Name, "tenant_1_")), err
	}, "true true"},
	"model.Observer.On": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(listed(tenantBooks.Find(nil).All(ctx, model.Observer{}.On(db))), bookID)
	}, "my 1, my 2"},
	"model.Scope.On": {func(ctx context.Context, db model.DB) (string, error) {
		_, err := tenantBooks.Find(nil).All(ctx, model.Scope{Tenant: bson.D{{Key: "tenant", Value: "theirs"}}}.On(db))
		return "", err
	}, "refused"},
	"model.Model.On": {func(ctx context.Context, db model.DB) (string, error) {
		_, err := tenantAuthors.Find(nil).All(ctx, model.New("books", model.Entity(tenantBooks)).On(db))
		return "", err
	}, "refused"},
	"outbox.Relay.Run": {func(ctx context.Context, db model.DB) (got string, err error) {
		for _, id := range []string{"my 1", "their 1"} {
			if _, err = tenantBox.Publish(id, bson.D{{Key: "of", Value: id}}, noon(0), oid(1)).
				Run(ctx, db); errors.Is(err, model.ErrNotFound) {
				got, err = "not theirs, ", nil
			}
		}
		relay := tenantBox.Relay("books", outbox.RelaySpec{Once: true, Parts: 1},
			func(_ context.Context, d outbox.Delivery[string, bson.D]) error {
				got += d.Key
				return nil
			})
		return got, errors.Join(err, relay.Run(ctx, db))
	}, "not theirs, my 1"},
	"advise.Survey.Run": {func(ctx context.Context, db model.DB) (string, error) {
		r, err := tenantSurvey.Run(ctx, db)
		return fmt.Sprint(r.Parents.Of, r.Children.Of), err
	}, "1 2"},
	"advise.SurveyDatabase": {func(ctx context.Context, db model.DB) (string, error) {
		all := model.New("all", tenantSeq, tenantWrites, tenantTree,
			model.Entity(model.NewCollection[bson.D, any]("docmodel.locks")))
		s, err := advise.SurveyDatabase(ctx, all.On(db), advise.SurveySpec{})
		return fmt.Sprint(slices.ContainsFunc(s.Collections, func(c advise.SurveyedCollection) bool {
			return c.Sampled.N > 2
		})), err
	}, "false"},
	"design.Runner.Fill": {func(ctx context.Context, db model.DB) (string, error) {
		return "", smallPrices.Runner().Fill(ctx, db)
	}, ""},
	"design.Runner.Run": {func(ctx context.Context, db model.DB) (string, error) {
		return "", smallPrices.Runner().Run(ctx, db, "list", 1)
	}, ""},
	"keys.Sequence.Allocator": {func(ctx context.Context, db model.DB) (string, error) {
		a := tenantSeq.Allocator(db, 5)
		first, err := a.Next(ctx, "my box")
		return fmt.Sprint(first), err
	}, "2"},
	"join.Join.Load": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(listed(tenantJoin.Load(ctx, db, []tenantAuthor{{
			ID: "my author", Books: []string{"my 1", "their 1"},
		}})),
			func(j join.Joined[tenantAuthor, tenantBook, string]) string {
				return fmt.Sprint(len(j.Children), j.Missing)
			})
	}, "1 [their 1]"},
	"join.Join.Each": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(tenantJoin.Each(ctx, db, tenantAuthors.Find(nil).Each(ctx, db)),
			func(j join.Joined[tenantAuthor, tenantBook, string]) string {
				return fmt.Sprint(j.Parent.ID, len(j.Children), j.Missing)
			})
	}, "my author2 [their 1]"},
	"relate.Loader.Load": {func(ctx context.Context, db model.DB) (string, error) {
		back := join.New(tenantBooks, "author", tenantAuthors, join.Spec{})
		return ids(listed(join.Then(back, tenantWrites.Loader(0)).
			Load(ctx, db, []tenantBook{{ID: "my 1", Author: "my author"}})),
			func(j join.Joined[tenantBook, relate.Loaded[tenantAuthor, tenantBook], string]) string {
				return fmt.Sprint(len(j.Children), len(j.Children[0].Children))
			})
	}, "1 2"},
	"paths.Tree.Dump": {func(ctx context.Context, db model.DB) (string, error) {
		n := 0
		for v, err := range tenantTree.Dump(ctx, db) {
			if err != nil || !strings.HasPrefix(v.Doc.ID, "my") {
				return v.Doc.ID, err
			}
			n++
		}
		return fmt.Sprint(n), nil
	}, "2"},
	"paths.DocumentTree.Dump": {func(ctx context.Context, db model.DB) (string, error) {
		for _, err := range listedComments.Dump(ctx, db, "nobody's post") {
			return fmt.Sprint(errors.Is(err, model.ErrNotFound)), nil
		}
		return "", nil
	}, "true"},
	"paths.Tree.DumpIDs": {func(ctx context.Context, db model.DB) (string, error) {
		n := 0
		for v, err := range tenantTree.DumpIDs(ctx, db) {
			if err != nil || !strings.HasPrefix(v.Doc, "my") {
				return v.Doc, err
			}
			n++
		}
		return fmt.Sprint(n), nil
	}, "2"},
	"paths.Tree.Settled": {func(ctx context.Context, db model.DB) (string, error) {
		var n int64
		err := tenantTree.Settled(ctx, db, func(ctx context.Context) (err error) {
			n, err = tenantTree.Roots().Count(ctx, db)
			return err
		})
		return fmt.Sprint(n), err
	}, "1"},
	"paths.RollUp.Children": {func(ctx context.Context, db model.DB) (string, error) {
		totals, err := tenantRollUp.Children(ctx, db, nil)
		if len(totals) != 1 {
			return fmt.Sprint(len(totals)), err
		}
		return fmt.Sprint(totals[0].ID, totals[0].Nodes, totals[0].Sum), err
	}, "my root2 3"},
	"geofield.Within.All": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(listed(tenantField.Within(tenantCircle).All(ctx, db)), placeID)
	}, "my 1, my 2"},
	"geofield.Within.Each": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(tenantField.Within(tenantCircle).Each(ctx, db), placeID)
	}, "my 1, my 2"},
	"geofield.Within.Count": {func(ctx context.Context, db model.DB) (string, error) {
		n, err := tenantField.Within(tenantCircle).Count(ctx, db)
		return fmt.Sprint(n), err
	}, "2"},
	"geofield.Nearest.All": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(listed(tenantField.Nearest(louvre, geofield.NearestSpec{}, geofield.Mark{},
			10).All(ctx, db)), placeID)
	}, "my 1, my 2"},
	"geofield.Nearest.Each": {func(ctx context.Context, db model.DB) (string, error) {
		return ids(tenantField.Nearest(louvre, geofield.NearestSpec{}, geofield.Mark{}, 10).Each(ctx, db), placeID)
	}, "my 1, my 2"},
	"model.Validation.Ensure": {func(ctx context.Context, db model.DB) (string, error) {
		return "", schema.Of(tenantBooks.Named("others"), schema.Spec{}).Validation().Ensure(ctx, db)
	}, ""},
	"model.Validation.Diff": {func(ctx context.Context, db model.DB) (string, error) {
		_, differs, err := schema.Of(tenantBooks.Named("others"), schema.Spec{}).Validation().Diff(ctx, db)
		return fmt.Sprint(len(differs) > 0), err
	}, "true"},
}

// TestTenantsApart runs each operation for one tenant on two tenants' equal data. It reads, changes, counts and hints
// at nothing of the other's, and sends no command without the tenant.
func TestTenantsApart(t *testing.T) {
	tenancy.Differs(t, "it has tenants of its own")
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	for i, name := range slices.Sorted(maps.Keys(tenantRuns)) {
		r := tenantRuns[name]
		t.Run(name, func(t *testing.T) {
			db := client.Database(fmt.Sprintf("tenants%d", i))
			seedTenants(t, db)
			before := theirs(t, db)
			if len(before) != 7 {
				t.Fatalf("%d documents of theirs", len(before))
			}
			monitor.Reset()
			got, err := r.run(t.Context(), mine.On(db))
			if conflict := (*model.ConflictError)(nil); errors.As(err, &conflict) && r.want == "refused" {
				got, err = "refused", nil
			}
			if err != nil || got != r.want {
				t.Errorf("%s, %v; want %s", got, err, r.want)
			}
			for _, c := range monitor.Commands() {
				if problem := unscoped(c); problem != "" && !describes[c.Name] {
					t.Errorf("%s in\n%s", problem, c)
				}
			}
			wantSame(t, before, theirs(t, db))
		})
	}
}

// describes are the commands that are about a collection, and not about documents.
var describes = map[string]bool{
	"createIndexes": true, "listIndexes": true, "listCollections": true, "create": true, "collMod": true,
}

func wantSame(t *testing.T, before, after map[string]bson.Raw) {
	t.Helper()
	for id, doc := range before {
		if string(after[id]) != string(doc) {
			t.Errorf("their %s was %s and is %s", id, doc, after[id])
		}
	}
	if len(after) != len(before) {
		t.Errorf("they had %d documents and have %d", len(before), len(after))
	}
}

// TestTenantRunsAreAll: every exported function and method that takes a database is run by the test above.
func TestTenantRunsAreAll(t *testing.T) {
	packages, err := loadLibraries()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	note := func(name string, f *types.Func) {
		sig := f.Signature()
		for v := range sig.Params().Variables() {
			if strings.HasSuffix(v.Type().String(), "/model.DB") && f.Exported() {
				found[name] = true
			}
		}
	}
	for _, p := range packages {
		if p.Name() == "modeltest" {
			continue
		}
		for _, name := range p.Scope().Names() {
			switch obj := p.Scope().Lookup(name).(type) {
			case *types.Func:
				note(p.Name()+"."+name, obj)
			case *types.TypeName:
				named, ok := obj.Type().(*types.Named)
				if !ok || !obj.Exported() {
					continue
				}
				for m := range named.Methods() {
					note(p.Name()+"."+name+"."+m.Name(), m)
				}
				if face, ok := named.Underlying().(*types.Interface); ok {
					for m := range face.Methods() {
						note(p.Name()+"."+name+"."+m.Name(), m)
					}
				}
			}
		}
	}
	for name := range found {
		if _, ok := tenantRuns[name]; !ok {
			t.Errorf("%s takes a database: add what one tenant gets of it to tenantRuns", name)
		}
	}
	for name := range tenantRuns {
		if !found[name] {
			t.Errorf("%s takes no database", name)
		}
	}
	if len(found) < 35 {
		t.Errorf("only %d were found", len(found))
	}
}

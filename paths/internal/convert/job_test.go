package convert_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// convertSame fails the test unless the target is what the source is: the nodes, their order and its keys, and what is
// in them.
func convertSame(t testing.TB, db *mongo.Database, from, to pathstest.Kind) {
	t.Helper()
	to.WantWhole(t, db)
	if got, want := pathstest.Shape(to.ReadForest(t, db)), pathstest.Shape(from.ReadForest(t, db)); got != want {
		t.Fatalf("%s to %s:\n got %s\nwant %s", from.Name, to.Name, got, want)
	}
	orders := map[string]string{}
	for doc, err := range from.Docs.Find(nil).Each(t.Context(), db) {
		if err != nil {
			t.Fatal(err)
		}
		orders[doc.ID] = doc.Order + doc.Name
	}
	for doc, err := range to.Docs.Find(nil).Each(t.Context(), db) {
		if err != nil || orders[doc.ID] != doc.Order+doc.Name {
			t.Fatalf(
				"%s to %s: %q has %q and %q, not %q, %v", from.Name, to.Name, doc.ID, doc.Order, doc.Name,
				orders[doc.ID], err,
			)
		}
	}
}

func convertCopy(c pathstest.Category) (pathstest.Category, error) {
	return pathstest.Category{ID: c.ID, Name: c.Name}, nil
}

// changeAtRandom changes a tree at random.
func changeAtRandom(k pathstest.Kind, t testing.TB, db *mongo.Database, r *rand.Rand, steps int) {
	t.Helper()
	f := k.ReadForest(t, db)
	for range steps {
		op, change, want := pathstest.DrawStep(r, f)
		if _, err := change(k).Run(t.Context(), db); !pathstest.SameError(err, want) {
			t.Fatalf("%s: %s: %v, want %v", k.Name, op, err, want)
		}
	}
}

// Every tree becomes a tree of every other representation in another collection, and follows what changes; what is
// equal is not
// written.
func TestConvertInto(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	nodes, rounds := 20, 1
	if pathstest.Full {
		nodes, rounds = 60, 5
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
		}
		for i, from := range pathstest.Kinds {
			for j, to := range pathstest.Kinds {
				if i == j {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				to.Clear(t, db)
				from.StoreNamed(t, db, pathstest.DrawForest(r, nodes))
				c := paths.ConvertInto(from.Tree, to.Tree, convertCopy, paths.IntoSpec[string]{Delete: true})
				options := model.JobOptions{BatchSize: 7}
				done, err := c.Run(t.Context(), db, options)
				if err != nil || done.Documents != int64(nodes) || done.Writes != done.Documents ||
					done.Modified != done.Documents {
					t.Fatalf("%s to %s: %+v, %v", from.Name, to.Name, done, err)
				}
				convertSame(t, db, from, to)
				for range rounds {
					changeAtRandom(from, t, db, r, 8)
					would, err := c.Run(t.Context(), db, model.JobOptions{DryRun: true})
					if err != nil {
						t.Fatal(err)
					}
					done, err := c.Run(t.Context(), db, options)
					if err != nil || done.Documents != would.Documents || done.Writes != would.Writes ||
						done.Modified != done.Writes || would.Modified != 0 {
						t.Fatalf("%s to %s: %+v, %+v, %v", from.Name, to.Name, would, done, err)
					}
					convertSame(t, db, from, to)
					modeltest.WantCost(t, monitor, model.Cost{
						Commands: 2, Returned: 2 * int(done.Documents),
					}, func() error {
						_, err := c.Run(t.Context(), db, options)
						return err
					})
				}
			}
		}
	}, monitor)
}

// What the target has beside stays, behind its siblings; under a node, only what is there is touched.
func TestConvertIntoBeside(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, to := range pathstest.Kinds {
			from := pathstest.Kinds[(i+1)%len(pathstest.Kinds)]
			to.Ensure(t, db)
			run := func(source, target, want string, spec paths.IntoSpec[string]) {
				t.Helper()
				from.Store(t, db, pathstest.Parse(source))
				to.Store(t, db, pathstest.Parse(target))
				c := paths.ConvertInto(from.Tree, to.Tree, convertCopy, spec)
				for range 2 {
					if _, err := c.Run(t.Context(), db, model.JobOptions{}); err != nil {
						t.Fatalf("%s: %s into %s: %v", to.Name, source, target, err)
					}
					if got := pathstest.Shape(to.ReadForest(t, db)); got != want {
						t.Fatalf("%s: %s into %s: %s, want %s", to.Name, source, target, got, want)
					}
					to.WantWhole(t, db)
				}
			}
			top := "t"
			run("a(b c) d", "x a(y b(z))", "a(b(z) c y) d x", paths.IntoSpec[string]{})
			run("a(b c) d", "x a(y b(z))", "a(b c) d", paths.IntoSpec[string]{Delete: true})
			run("a(b c) d", "x(y) t(u(b) a) z", "x(y) t(a(b c) d u) z", paths.IntoSpec[string]{Under: &top})
			run("a(b c) d", "x(y) t(u(b) a) z", "x(y) t(a(b c) d) z", paths.IntoSpec[string]{Under: &top, Delete: true})
			run("b(a)", "a(b)", "b(a)", paths.IntoSpec[string]{})
		}
	})
}

func TestConvertIntoRefuses(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, to := range pathstest.Kinds {
			from := pathstest.Kinds[(i+1)%len(pathstest.Kinds)]
			to.Ensure(t, db)
			bad := errors.New("no")
			top, none, empty := "t", "nobody", ""
			for _, c := range []struct {
				reason, source, target string
				spec                   paths.IntoSpec[string]
				make                   func(pathstest.Category) (pathstest.Category, error)
				want                   error
			}{
				{
					"two become one", "a b", "x", paths.IntoSpec[string]{},
					func(pathstest.Category) (pathstest.Category, error) { return pathstest.Category{ID: "o"}, nil },
					model.ErrTaken,
				},
				{"no such node", "a", "x", paths.IntoSpec[string]{Under: &none}, convertCopy, model.ErrNotFound},
				{"an empty one", "a", "x", paths.IntoSpec[string]{Under: &empty}, convertCopy, nil},
				{"under itself", "a t", "t", paths.IntoSpec[string]{Under: &top}, convertCopy, model.ErrTaken},
				{"elsewhere", "a", "t a", paths.IntoSpec[string]{Under: &top}, convertCopy, model.ErrTaken},
				{"above", "a", "a(t)", paths.IntoSpec[string]{Under: &top}, convertCopy, model.ErrTaken},
				{
					"no _id", "a", "x", paths.IntoSpec[string]{},
					func(pathstest.Category) (pathstest.Category, error) { return pathstest.Category{}, nil }, nil,
				},
				{
					"an error", "a", "x", paths.IntoSpec[string]{},
					func(pathstest.Category) (pathstest.Category, error) { return pathstest.Category{}, bad }, bad,
				},
			} {
				from.Store(t, db, pathstest.Parse(c.source))
				to.Store(t, db, pathstest.Parse(c.target))
				conv := paths.ConvertInto(from.Tree, to.Tree, c.make, c.spec)
				_, err := conv.Run(t.Context(), db, model.JobOptions{})
				var value *model.ValueError
				if c.want == nil && !errors.As(err, &value) || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("%s: %s: %v, want %v", to.Name, c.reason, err, c.want)
				}
				if got := pathstest.Shape(to.ReadForest(t, db)); got != c.target {
					t.Errorf("%s: %s: %s", to.Name, c.reason, got)
				}
			}
		}
		from, to := pathstest.Kinds[0], pathstest.Kinds[1]
		from.Store(t, db, pathstest.Parse("a(b)"))
		if _, err := db.Collection(from.Name).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := paths.ConvertInto(
			from.Tree, to.Tree, convertCopy, paths.IntoSpec[string]{},
		).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, paths.ErrDamaged) {
			t.Errorf("an orphan in the source: %v", err)
		}
		named := paths.NewMaterializedPath(pathstest.Kinds[2].Docs, paths.MaterializedPathSpec{Segment: "name"})
		pathstest.Kinds[2].Clear(t, db)
		from.Store(t, db, pathstest.Parse("a b"))
		same := func(c pathstest.Category) (pathstest.Category, error) {
			return pathstest.Category{ID: c.ID, Name: "same"}, nil
		}
		if _, err := paths.ConvertInto(
			from.Tree, named, same, paths.IntoSpec[string]{},
		).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, paths.ErrSegment) {
			t.Errorf("one segment twice: %v", err)
		}
		if _, err := paths.ConvertInto(
			from.Tree, named,
			func(c pathstest.Category) (pathstest.Category, error) { return pathstest.Category{ID: c.ID}, nil },
			paths.IntoSpec[string]{},
		).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, paths.ErrSegment) {
			t.Errorf("no segment: %v", err)
		}
	})
}

func TestConvertIntoDeclares(t *testing.T) {
	for reason, declare := range map[string]func(){
		"one collection": func() {
			paths.ConvertInto(pathstest.Kinds[0].Tree, pathstest.Kinds[0].Tree, convertCopy, paths.IntoSpec[string]{})
		},
		"no function": func() {
			paths.ConvertInto[pathstest.Category, string, pathstest.Category](
				pathstest.Kinds[0].Tree, pathstest.Kinds[1].Tree, nil, paths.IntoSpec[string]{},
			)
		},
	} {
		func() {
			defer func() {
				var bad *model.DeclarationError
				if err, _ := recover().(error); !errors.As(err, &bad) {
					t.Errorf("%s: %v", reason, err)
				}
			}()
			declare()
		}()
	}
}

// A conversion that dies at any of its writes is brought to its end by the next run.
func TestConvertIntoDies(t *testing.T) {
	testkit.Parallel(t)
	faults := mongotest.NewFaults()
	const begin, end = "a(b(c d(e)) f) g(h) i", "g(h a(x f(c e) d)) b j"
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		cuts := 0
		for j, to := range pathstest.Kinds {
			from, to := pathstest.Kinds[(j+1)%len(pathstest.Kinds)], to.Quick()
			to.Ensure(t, db)
			from.StoreNamed(t, db, pathstest.Parse(end))
			c := paths.ConvertInto(from.Tree, to.Tree, convertCopy, paths.IntoSpec[string]{Delete: true})
			for _, way := range []string{"before", "inside"} {
				step := 4
				if pathstest.Full {
					step = 1
				}
				for cut := 1 + j%step; ; cut += step {
					faults.Reset()
					to.Clear(t, db)
					if _, err := to.Tree.Load(
						pathstest.NodesOf(pathstest.Parse(begin)),
					).Run(t.Context(), db); err != nil {
						t.Fatal(err)
					}
					match := mongotest.Match(mongotest.Writes)
					if way == "before" {
						faults.From(match, cut, mongotest.Fail(96))
					} else {
						match = pathstest.ManyDocuments
						faults.On(match, cut, mongotest.CutInside(1))
					}
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					_, err := c.Run(ctx, db, model.JobOptions{BatchSize: 2})
					cancel()
					died := faults.Count(match) >= cut
					faults.Reset()
					if !died {
						if err != nil {
							t.Fatal(err)
						}
						break
					}
					cuts++
					if _, err := c.Run(t.Context(), db, model.JobOptions{BatchSize: 2}); err != nil {
						t.Fatalf("%s: cut %s write %d: the next run: %v", to.Name, way, cut, err)
					}
					convertSame(t, db, from, to)
				}
			}
		}
		t.Log(cuts, "cuts")
	}, faults,
		mongotest.Settings{Client: options.Client().SetRetryWrites(false).SetRetryReads(false)})
}

// Writers of both trees come in between; another run brings over what they did.
func TestConvertIntoLive(t *testing.T) {
	testkit.Parallel(t)
	step := 16
	if pathstest.Full {
		step = 1
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, to := range pathstest.Kinds {
			from := pathstest.Kinds[(i+1)%len(pathstest.Kinds)]
			to.Ensure(t, db)
			from.Ensure(t, db)
			for at := 1; at < 45; at += step {
				r := rand.New(rand.NewPCG(uint64(at), uint64(i)))
				to.Clear(t, db)
				from.StoreNamed(t, db, pathstest.DrawForest(r, 20))
				calls, nodes := 0, 20
				c := paths.ConvertInto(from.Tree, to.Tree, func(d pathstest.Category) (pathstest.Category, error) {
					if calls++; calls == at {
						changeAtRandom(from, t, db, r, 6)
					}
					if calls == at && at < nodes { // else the conversion has the lease
						changeAtRandom(to, t, db, r, 2)
					}
					return convertCopy(d)
				}, paths.IntoSpec[string]{Delete: true})
				if _, err := c.Run(t.Context(), db, model.JobOptions{BatchSize: 4}); err != nil {
					t.Fatalf("%s to %s, at %d: %v", from.Name, to.Name, at, err)
				}
				to.WantWhole(t, db)
				calls = 1000
				if _, err := c.Run(t.Context(), db, model.JobOptions{BatchSize: 4}); err != nil {
					t.Fatal(err)
				}
				convertSame(t, db, from, to)
			}
		}
	})
}

// What reading, writing and waiting a conversion costs.
func TestConvertIntoCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		from, to := pathstest.Kinds[0], pathstest.Kinds[2]
		to.Ensure(t, db)
		to.Clear(t, db)
		from.Store(t, db, pathstest.Parse("a(b(c d(e)) f) g(h)"))
		c := paths.ConvertInto(from.Tree, to.Tree, convertCopy, paths.IntoSpec[string]{})
		run := func() error { _, err := c.Run(t.Context(), db, model.JobOptions{}); return err }
		if err := run(); err != nil {
			t.Fatal(err)
		}
		if _, err := from.Tree.Move("d", paths.LastChild("g")).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		// Both trees, the lease twice, one update of the two nodes whose paths differ, and the check, which sends a
		// count.
		modeltest.WantCost(t, monitor, model.Cost{Commands: 5 + 3, Written: 2 + 2, Returned: 8 + 8 + 1 + 1}, run)
		if _, err := from.Docs.Update(
			"e", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "E"}}}},
		).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		// The same, and the node whose content differs, which is read again.
		modeltest.WantCost(t, monitor, model.Cost{Commands: 6 + 3, Written: 1 + 2, Returned: 8 + 8 + 1 + 1 + 1}, run)
	}, monitor)
}

package paths_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// convertForest is a random forest, of ids that code could take for something else.
func convertForest(r *rand.Rand, n int) *paths.Forest[string] {
	f := &paths.Forest[string]{}
	for i := 0; f.Len() < n; i++ {
		ref := pick(r, f)
		at := []paths.Place[string]{
			paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref), paths.FirstRoot[string](),
		}[r.IntN(5)]
		_ = f.Insert(hostile[r.IntN(len(hostile))]+fmt.Sprint(i), at)
	}
	return f
}

// convertName is what the content of a node is in tests.
func convertName(id string) string { return "name of " + id }

// convertStore stores a forest, with content.
func (k kind) convertStore(t testing.TB, db *mongo.Database, f *paths.Forest[string]) {
	t.Helper()
	for _, name := range []string{k.name, "docmodel.locks"} {
		if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	docs := nodesOf(f)
	for i := range docs {
		docs[i].Name = convertName(docs[i].ID)
	}
	if _, _, err := k.tree.Load(docs).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

func (k kind) convertClear(t testing.TB, db *mongo.Database) {
	t.Helper()
	if _, err := db.Collection(k.name).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
}

// convertSame fails the test unless the target is what the source is: the nodes, their order and its keys, and what is in them.
func convertSame(t testing.TB, db *mongo.Database, from, to kind) {
	t.Helper()
	to.whole(t, db)
	if got, want := shape(to.stored(t, db)), shape(from.stored(t, db)); got != want {
		t.Fatalf("%s to %s:\n got %s\nwant %s", from.name, to.name, got, want)
	}
	orders := map[string]string{}
	for doc, err := range from.docs.Find(nil).Each(t.Context(), db) {
		if err != nil {
			t.Fatal(err)
		}
		orders[doc.ID] = doc.Order + doc.Name
	}
	for doc, err := range to.docs.Find(nil).Each(t.Context(), db) {
		if err != nil || orders[doc.ID] != doc.Order+doc.Name {
			t.Fatalf("%s to %s: %q has %q and %q, not %q, %v", from.name, to.name, doc.ID, doc.Order, doc.Name, orders[doc.ID], err)
		}
	}
}

func convertCopy(c category) (category, error) { return category{ID: c.ID, Name: c.Name}, nil }

// convertChange changes a tree at random.
func (k kind) convertChange(t testing.TB, db *mongo.Database, r *rand.Rand, steps int) {
	t.Helper()
	f := k.stored(t, db)
	for range steps {
		op, change, want := randomStep(r, f)
		if _, _, err := change(k).Run(t.Context(), db); !sameErr(err, want) {
			t.Fatalf("%s: %s: %v, want %v", k.name, op, err, want)
		}
	}
}

// Every tree becomes a tree of every other representation in another collection, and follows what changes; what is equal is not
// written.
func TestConvertInto(t *testing.T) {
	parallel(t)
	monitor := mongotest.NewMonitor()
	nodes, rounds := 20, 1
	if full {
		nodes, rounds = 60, 5
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
		}
		for i, from := range kinds {
			for j, to := range kinds {
				if i == j {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				to.convertClear(t, db)
				from.convertStore(t, db, convertForest(r, nodes))
				c := paths.ConvertInto(from.tree, to.tree, convertCopy, paths.IntoSpec[string]{Delete: true})
				options := model.JobOptions{BatchSize: 7}
				if done, err := c.Run(t.Context(), db, options); err != nil || done.Documents != int64(nodes) || done.Writes != done.Documents || done.Modified != done.Documents {
					t.Fatalf("%s to %s: %+v, %v", from.name, to.name, done, err)
				}
				convertSame(t, db, from, to)
				for range rounds {
					from.convertChange(t, db, r, 8)
					would, err := c.Run(t.Context(), db, model.JobOptions{DryRun: true})
					if err != nil {
						t.Fatal(err)
					}
					done, err := c.Run(t.Context(), db, options)
					if err != nil || done.Documents != would.Documents || done.Writes != would.Writes || done.Modified != done.Writes || would.Modified != 0 {
						t.Fatalf("%s to %s: %+v, %+v, %v", from.name, to.name, would, done, err)
					}
					convertSame(t, db, from, to)
					modeltest.WantCost(t, monitor, model.Cost{Commands: 2, Returned: 2 * int(done.Documents)}, func() error {
						_, err := c.Run(t.Context(), db, options)
						return err
					})
				}
			}
		}
	}, mongotest.WithMonitor(monitor))
}

// What the target has beside stays, behind its siblings; under a node, only what is there is touched.
func TestConvertIntoBeside(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, to := range kinds {
			from := kinds[(i+1)%len(kinds)]
			to.ensure(t, db)
			run := func(source, target, want string, spec paths.IntoSpec[string]) {
				t.Helper()
				from.store(t, db, parse(source))
				to.store(t, db, parse(target))
				c := paths.ConvertInto(from.tree, to.tree, convertCopy, spec)
				for range 2 {
					if _, err := c.Run(t.Context(), db, model.JobOptions{}); err != nil {
						t.Fatalf("%s: %s into %s: %v", to.name, source, target, err)
					}
					if got := shape(to.stored(t, db)); got != want {
						t.Fatalf("%s: %s into %s: %s, want %s", to.name, source, target, got, want)
					}
					to.whole(t, db)
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
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, to := range kinds {
			from := kinds[(i+1)%len(kinds)]
			to.ensure(t, db)
			bad := errors.New("no")
			top, none, empty := "t", "nobody", ""
			for _, c := range []struct {
				reason, source, target string
				spec                   paths.IntoSpec[string]
				make                   func(category) (category, error)
				want                   error
			}{
				{"two become one", "a b", "x", paths.IntoSpec[string]{}, func(category) (category, error) { return category{ID: "o"}, nil }, model.ErrTaken},
				{"no such node", "a", "x", paths.IntoSpec[string]{Under: &none}, convertCopy, model.ErrNotFound},
				{"an empty one", "a", "x", paths.IntoSpec[string]{Under: &empty}, convertCopy, nil},
				{"under itself", "a t", "t", paths.IntoSpec[string]{Under: &top}, convertCopy, model.ErrTaken},
				{"elsewhere", "a", "t a", paths.IntoSpec[string]{Under: &top}, convertCopy, model.ErrTaken},
				{"above", "a", "a(t)", paths.IntoSpec[string]{Under: &top}, convertCopy, model.ErrTaken},
				{"no _id", "a", "x", paths.IntoSpec[string]{}, func(category) (category, error) { return category{}, nil }, nil},
				{"an error", "a", "x", paths.IntoSpec[string]{}, func(category) (category, error) { return category{}, bad }, bad},
			} {
				from.store(t, db, parse(c.source))
				to.store(t, db, parse(c.target))
				conv := paths.ConvertInto(from.tree, to.tree, c.make, c.spec)
				_, err := conv.Run(t.Context(), db, model.JobOptions{})
				var value *model.ValueError
				if c.want == nil && !errors.As(err, &value) || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("%s: %s: %v, want %v", to.name, c.reason, err, c.want)
				}
				if got := shape(to.stored(t, db)); got != c.target {
					t.Errorf("%s: %s: %s", to.name, c.reason, got)
				}
			}
		}
		from, to := kinds[0], kinds[1]
		from.store(t, db, parse("a(b)"))
		if _, err := db.Collection(from.name).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := paths.ConvertInto(from.tree, to.tree, convertCopy, paths.IntoSpec[string]{}).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, paths.ErrDamaged) {
			t.Errorf("an orphan in the source: %v", err)
		}
		named := paths.NewMaterializedPath(kinds[2].docs, paths.MaterializedPathSpec{Segment: "name"})
		kinds[2].convertClear(t, db)
		from.store(t, db, parse("a b"))
		same := func(c category) (category, error) { return category{ID: c.ID, Name: "same"}, nil }
		if _, err := paths.ConvertInto(from.tree, named, same, paths.IntoSpec[string]{}).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, paths.ErrSegment) {
			t.Errorf("one segment twice: %v", err)
		}
		if _, err := paths.ConvertInto(from.tree, named, func(c category) (category, error) { return category{ID: c.ID}, nil }, paths.IntoSpec[string]{}).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, paths.ErrSegment) {
			t.Errorf("no segment: %v", err)
		}
	})
}

func TestConvertIntoDeclares(t *testing.T) {
	for reason, declare := range map[string]func(){
		"one collection": func() { paths.ConvertInto(kinds[0].tree, kinds[0].tree, convertCopy, paths.IntoSpec[string]{}) },
		"no function": func() {
			paths.ConvertInto[category, string, category](kinds[0].tree, kinds[1].tree, nil, paths.IntoSpec[string]{})
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
	parallel(t)
	faults := mongotest.NewFaults()
	const begin, end = "a(b(c d(e)) f) g(h) i", "g(h a(x f(c e) d)) b j"
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		cuts := 0
		for j, to := range kinds {
			from, to := kinds[(j+1)%len(kinds)], to.quick()
			to.ensure(t, db)
			from.convertStore(t, db, parse(end))
			c := paths.ConvertInto(from.tree, to.tree, convertCopy, paths.IntoSpec[string]{Delete: true})
			for _, way := range []string{"before", "inside"} {
				step := 4
				if full {
					step = 1
				}
				for cut := 1 + j%step; ; cut += step {
					faults.Reset()
					to.convertClear(t, db)
					if _, _, err := to.tree.Load(nodesOf(parse(begin))).Run(t.Context(), db); err != nil {
						t.Fatal(err)
					}
					match := mongotest.Match(mongotest.Writes)
					if way == "before" {
						faults.From(match, cut, mongotest.Fail(96))
					} else {
						match = manyDocuments
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
						t.Fatalf("%s: cut %s write %d: the next run: %v", to.name, way, cut, err)
					}
					convertSame(t, db, from, to)
				}
			}
		}
		t.Log(cuts, "cuts")
	}, mongotest.WithFaults(faults), mongotest.WithClientOptions(options.Client().SetRetryWrites(false).SetRetryReads(false)))
}

// Writers of both trees come in between; another run brings over what they did.
func TestConvertIntoLive(t *testing.T) {
	parallel(t)
	step := 16
	if full {
		step = 1
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, to := range kinds {
			from := kinds[(i+1)%len(kinds)]
			to.ensure(t, db)
			from.ensure(t, db)
			for at := 1; at < 45; at += step {
				r := rand.New(rand.NewPCG(uint64(at), uint64(i)))
				to.convertClear(t, db)
				from.convertStore(t, db, convertForest(r, 20))
				calls, nodes := 0, 20
				c := paths.ConvertInto(from.tree, to.tree, func(d category) (category, error) {
					if calls++; calls == at {
						from.convertChange(t, db, r, 6)
					}
					if calls == at && at < nodes { // else the conversion has the lease
						to.convertChange(t, db, r, 2)
					}
					return convertCopy(d)
				}, paths.IntoSpec[string]{Delete: true})
				if _, err := c.Run(t.Context(), db, model.JobOptions{BatchSize: 4}); err != nil {
					t.Fatalf("%s to %s, at %d: %v", from.name, to.name, at, err)
				}
				to.whole(t, db)
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
		from, to := kinds[0], kinds[2]
		to.ensure(t, db)
		to.convertClear(t, db)
		from.store(t, db, parse("a(b(c d(e)) f) g(h)"))
		c := paths.ConvertInto(from.tree, to.tree, convertCopy, paths.IntoSpec[string]{})
		run := func() error { _, err := c.Run(t.Context(), db, model.JobOptions{}); return err }
		if err := run(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := from.tree.Move("d", paths.LastChild("g")).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		// Both trees, the lease twice, one update of the two nodes whose paths differ, and the check, which sends a count.
		modeltest.WantCost(t, monitor, model.Cost{Commands: 5 + 3, Written: 2 + 2, Returned: 8 + 8 + 1 + 1}, run)
		if _, err := from.docs.Update("e", bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: "E"}}}}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		// The same, and the node whose content differs, which is read again.
		modeltest.WantCost(t, monitor, model.Cost{Commands: 6 + 3, Written: 1 + 2, Returned: 8 + 8 + 1 + 1 + 1}, run)
	}, mongotest.WithMonitor(monitor))
}

package paths_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// cutKinds are all representations: nested sets with gaps, and with numbers that are shifted at once, too.
func cutKinds() []kind {
	out := slices.Clone(kinds)
	for _, k := range nestedKinds[1:] {
		out = append(out, k.kind)
	}
	return out
}

// A cutCase is an operation on a tree that is cut at each of its writes, and then run again.
type cutCase struct {
	seed  func(ctx context.Context, db *mongo.Database, k kind) error
	run   func(ctx context.Context, db *mongo.Database, k kind) error
	stays func(ctx context.Context, db *mongo.Database, k kind) error // what holds after any cut, and at the end; nil for nothing
	want  func(t testing.TB, db *mongo.Database, k kind)

	server string // the representations with which it is run where there is a server
}

// cut runs the case with a representation, in every way that [modeltest.FaultMatrix] knows; three of them on a server.
func (c cutCase) cut(t *testing.T, k kind) {
	t.Helper()
	t.Run(k.name, func(t *testing.T) {
		if onServer && !slices.Contains(strings.Fields(c.server), k.name) {
			t.Skip("server lacks: time for every row of a fault matrix")
		}
		run := func(ctx context.Context, db *mongo.Database) error {
			if err := c.run(ctx, db, k); err != nil {
				return err
			}
			// The lease's number is no part of the matrix.
			_, err := db.Collection("docmodel.locks").UpdateMany(ctx, bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "fence", Value: int64(1000)}}}})
			return err
		}
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Sample: 3,
			Match:  func(c mongotest.Command) bool { return mongotest.Writes(c) && c.Collection == k.name },
			Seed:   func(ctx context.Context, db *mongo.Database) error { return c.seed(ctx, db, k) },
			Run:    run,
			Repair: func(ctx context.Context, db *mongo.Database) error {
				if c.stays != nil {
					if err := c.stays(ctx, db, k); err != nil {
						return fmt.Errorf("after the cut: %w", err)
					}
				}
				past := bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: time.Unix(0, 0)}}}} // the dead writer's lease
				held := bson.D{{Key: "holder", Value: bson.D{{Key: "$exists", Value: true}}}}
				if _, err := db.Collection("docmodel.locks").UpdateMany(ctx, held, past); err != nil {
					return err
				}
				return run(ctx, db)
			},
			Check: func(t testing.TB, db *mongo.Database) { c.want(t, db, k) },
		})
	})
}

// cutWhole fails the test unless the tree has a shape, and the check finds nothing.
func cutWhole(want string) func(t testing.TB, db *mongo.Database, k kind) {
	return func(t testing.TB, db *mongo.Database, k kind) {
		t.Helper()
		if got := shape(k.stored(t, db)); got != want {
			t.Errorf("%s: %s, want %s", k.name, got, want)
		}
		k.whole(t, db)
	}
}

// cutLoad stores a forest.
func cutLoad(notation string, indexes bool) func(ctx context.Context, db *mongo.Database, k kind) error {
	return func(ctx context.Context, db *mongo.Database, k kind) error {
		if indexes {
			if err := model.New("test", k.tree).Indexes().Ensure(ctx, db); err != nil {
				return err
			}
		}
		_, _, err := k.tree.Load(nodesOf(parse(notation))).Run(ctx, db)
		return err
	}
}

// links is the tree of the same documents by their links alone.
func (k kind) links() *paths.Tree[category, string] {
	return paths.NewParentTree(k.docs, paths.TreeSpec{})
}

// cutLinks says that the links make the whole tree of a shape.
func cutLinks(want string) func(ctx context.Context, db *mongo.Database, k kind) error {
	return func(ctx context.Context, db *mongo.Database, k kind) error {
		report, err := inspect(ctx, db, k.links())
		if err != nil || len(report) > 0 {
			return fmt.Errorf("%v, %w", report, err)
		}
		f, err := paths.NewForest(k.links().Dump(ctx, db), func(c category) string { return c.ID })
		if err == nil && shape(f) != want {
			err = fmt.Errorf("the links make %s, not %s", shape(f), want)
		}
		return err
	}
}

// cutKeeps says that nodes are there, whatever else is.
func cutKeeps(ids ...string) func(ctx context.Context, db *mongo.Database, k kind) error {
	return func(ctx context.Context, db *mongo.Database, k kind) error {
		all, err := k.docs.Find(nil).All(ctx, db)
		for _, id := range ids {
			if !slices.ContainsFunc(all, func(c category) bool { return c.ID == id }) && err == nil {
				err = fmt.Errorf("%q is lost", id)
			}
		}
		return err
	}
}

// A load that is cut leaves the first nodes in preorder.
func TestLoadCuts(t *testing.T) {
	parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range cutKinds() {
		cutCase{
			seed: func(ctx context.Context, db *mongo.Database, k kind) error {
				return model.New("test", k.tree).Indexes().Ensure(ctx, db)
			},
			run: cutLoad(all, false),
			stays: func(ctx context.Context, db *mongo.Database, k kind) error {
				got, err := k.docs.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
				for i, c := range got { // the names of the nodes are in preorder
					if want := string(rune('a' + i)); c.ID != want && err == nil {
						err = fmt.Errorf("%q is stored before %q", c.ID, want)
					}
				}
				return err
			},
			want:   cutWhole(all),
			server: "paths gapped",
		}.cut(t, k)
	}
}

// A conversion in place that is cut leaves the tree that it is converted from whole, and goes on when it is run again.
func TestConvertCuts(t *testing.T) {
	parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range cutKinds() {
		if len(k.fields) == 0 {
			continue
		}
		cutCase{
			seed: func(ctx context.Context, db *mongo.Database, k kind) error {
				_, _, err := k.links().Load(nodesOf(parse(all))).Run(ctx, db)
				return err
			},
			run: func(ctx context.Context, db *mongo.Database, k kind) error {
				_, _, err := paths.Convert(k.links(), k.tree).Run(ctx, db)
				return err
			},
			stays:  cutLinks(all),
			want:   cutWhole(all),
			server: "children nested",
		}.cut(t, k)
	}
}

// A drop that is cut leaves the links, and takes away the rest when it is run again.
func TestDropCuts(t *testing.T) {
	parallel(t)
	const all = "a(b(c d(e)) f) g(h)"
	for _, k := range cutKinds() {
		if len(k.fields) == 0 || k.name == "direct" || k.name == "direct gapped" { // which drop the same
			continue
		}
		cutCase{
			seed: cutLoad(all, false),
			run: func(ctx context.Context, db *mongo.Database, k kind) error {
				job := k.tree.Drop(paths.NewParentTree(k.docs, paths.TreeSpec{}))
				job.Stages[0].BatchSize = 3
				_, err := job.Run(ctx, db, model.JobOptions{})
				return err
			},
			stays: cutLinks(all),
			want: func(t testing.TB, db *mongo.Database, k kind) {
				for _, f := range k.fields {
					if n, err := db.Collection(k.name).CountDocuments(t.Context(), bson.D{{Key: f, Value: bson.D{{Key: "$exists", Value: true}}}}); n > 0 || err != nil {
						t.Errorf("%s: %d documents have %s, %v", k.name, n, f, err)
					}
				}
				if err := cutLinks(all)(t.Context(), db, k); err != nil {
					t.Error(err)
				}
			},
			server: "ancestors",
		}.cut(t, k)
	}
}

// Plans that run without a lease are run to their end from any cut, and change nothing when they are run again.
func TestPlanCuts(t *testing.T) {
	parallel(t)
	const begin = "a(b(c d(e)) f) g(h)"
	for _, c := range []struct {
		name, end string
		change    func(*paths.Tree[category, string]) model.Change[any]
	}{
		{"move", "a(b(c) f) g(h d(e))", func(tree *paths.Tree[category, string]) model.Change[any] {
			return tree.Move("d", paths.LastChild("g"))
		}},
		{"insert", "a(b(x c d(e)) f) g(h)", func(tree *paths.Tree[category, string]) model.Change[any] {
			return tree.Insert(category{ID: "x"}, paths.FirstChild("b"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, k := range cutKinds() {
				if c.name == "insert" && (k.fields == nil || k.fields[0] != "left" && k.fields[0] != "children") {
					continue // one document
				}
				var plan model.Plan
				cutCase{
					seed: func(ctx context.Context, db *mongo.Database, k kind) error {
						err := cutLoad(begin, true)(ctx, db, k)
						plan = planned(t, db, c.change(k.tree), 7)
						return err
					},
					run: func(ctx context.Context, db *mongo.Database, _ kind) error {
						_, err := plan.Run(ctx, db)
						return err
					},
					stays:  cutKeeps(strings.Split("abcdefgh", "")...),
					want:   cutWhole(c.end),
					server: "nested",
				}.cut(t, k)
			}
		})
	}
}

// A tree that is taken out of a document, over another one, keeps the nodes of both at each cut.
func TestExtractCuts(t *testing.T) {
	parallel(t)
	const begin, end = "a(b(c d(e)) f) g(h) i", "g(h a(x f(c e) d)) b j"
	form := convertForms[0]
	for _, k := range []kind{kinds[2], kinds[3], kinds[4]} {
		cutCase{
			seed: func(ctx context.Context, db *mongo.Database, k kind) error {
				p := article{ID: "p"}
				f := parse(end)
				for id := range f.All() {
					parent, _, _ := f.Parent(id)
					p.Remarks = append(p.Remarks, remark{ID: id, Parent: parent})
				}
				if _, err := db.Collection(form.name).InsertOne(ctx, p); err != nil {
					return err
				}
				return cutLoad(begin, true)(ctx, db, k)
			},
			run: func(ctx context.Context, db *mongo.Database, k kind) error {
				_, err := paths.Extract(form.tree, "p", k.tree, convertBack, paths.IntoSpec[string]{Delete: true}).Run(ctx, db, model.JobOptions{BatchSize: 6})
				return err
			},
			stays:  cutKeeps(strings.Split("abcdefgh", "")...),
			want:   cutWhole(end),
			server: "paths",
		}.cut(t, k)
	}
}

// A repair of many documents that is cut leaves each as it was or mended, and goes on when it is run again.
func TestDocumentTreeRepairAllCuts(t *testing.T) {
	parallel(t)
	for _, f := range []documentForm{keyedRev, listed} {
		t.Run(f.name, func(t *testing.T) {
			if onServer && f.name != keyedRev.name {
				t.Skip("server lacks: time for every row of a fault matrix")
			}
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 3,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					var all []any
					for i := range 5 {
						all = append(all, article{ID: fmt.Sprint(i), Remarks: []remark{
							{ID: "a", Order: "a0"}, {ID: "b", Parent: "a", Order: "a0"}, {ID: "c", Parent: "gone", Order: "a2"},
						}})
					}
					_, err := db.Collection(f.name).InsertMany(ctx, all)
					return err
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					job := f.tree.Checks()[0].Job()
					job.Stages[0].BatchSize = 3
					_, err := job.Run(ctx, db, model.JobOptions{})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					for p, err := range f.tree.Checks()[0].Each(t.Context(), db) {
						t.Error(p, err)
					}
					for i := range 5 {
						all, err := f.all(t.Context(), db, fmt.Sprint(i))
						if got := documentForest(all); got != "a(b) c" || err != nil {
							t.Errorf("%d: %s, %v", i, got, err)
						}
					}
				},
			})
		})
	}
}

package tree_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const nestedShape = "a(b(c d) e) f(g(h i) j) k"

// A nestedOp is an operation on the tree of nestedShape.
type nestedOp struct {
	name   string
	forest func(*paths.Forest[string]) error
	change func(*paths.Tree[pathstest.Category, string]) model.Change
}

func nestedMove(id string, to paths.Place[string]) nestedOp {
	return nestedOp{fmt.Sprintf("move %s %v", id, to), func(f *paths.Forest[string]) error { return f.Move(id, to) },
		func(t *paths.Tree[pathstest.Category, string]) model.Change { return t.Move(id, to) }}
}

func nestedInsert(to paths.Place[string]) nestedOp {
	return nestedOp{fmt.Sprintf("insert %v", to), func(f *paths.Forest[string]) error { return f.Insert("x", to) },
		func(t *paths.Tree[pathstest.Category, string]) model.Change {
			return t.Insert(pathstest.Category{ID: "x"}, to)
		}}
}

func nestedDelete(id string, mode paths.DeleteMode) nestedOp {
	return nestedOp{fmt.Sprintf(
		"delete %s %v", id, pathstest.ModeName(mode),
	), func(f *paths.Forest[string]) error { return f.Delete(id, mode) },
		func(t *paths.Tree[pathstest.Category, string]) model.Change { return t.Delete(id, mode) }}
}

// nestedTable has moves of a leaf and a branch, from a root and from below, to each kind of place on both sides; and
// the other
// operations.
func nestedTable() (ops []nestedOp) {
	to := func(ref string) []paths.Place[string] {
		return []paths.Place[string]{paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref)}
	}
	ends := []paths.Place[string]{paths.FirstRoot[string](), paths.LastRoot[string]()}
	for _, m := range []struct{ id, left, right string }{
		{"k", "b", "f"}, {"f", "b", "k"}, {"g", "b", "j"}, {"h", "b", "j"}, {"b", "a", "f"},
	} {
		places := append(append(to(m.left), to(m.right)...), ends...)
		for _, p := range places {
			op := nestedMove(m.id, p)
			f := pathstest.Parse(nestedShape)
			if op.forest(f) == nil && pathstest.Shape(f) != pathstest.Shape(pathstest.Parse(nestedShape)) {
				ops = append(ops, op)
			}
		}
	}
	for _, p := range append(append(to("b"), to("k")...), ends...) {
		ops = append(ops, nestedInsert(p))
	}
	for _, mode := range []paths.DeleteMode{paths.Subtree, paths.Promote, paths.Rootify} {
		for _, id := range []string{"a", "b", "f", "g", "k", "h", "d"} {
			ops = append(ops, nestedDelete(id, mode))
		}
	}
	return append(ops, nestedDelete("d", paths.Restrict), nestedDelete("k", paths.Restrict))
}

// after is the tree that an operation leaves.
func (op nestedOp) applyToForest(t testing.TB) *paths.Forest[string] {
	t.Helper()
	f := pathstest.Parse(nestedShape)
	if err := op.forest(f); err != nil {
		t.Fatal(op.name, err)
	}
	return f
}

// plan decides an operation from what is stored, as the change of a number.
func (op nestedOp) plan(t testing.TB, db *mongo.Database, k pathstest.NestedKind, number int64) model.Plan {
	t.Helper()
	c := op.change(k.Tree)
	p, err := c.Plan(runctx.WithFence(t.Context(), number), db)
	if err != nil {
		t.Fatal(op.name, err)
	}
	return p
}

// nestedPart runs a write of many documents on some of those that it matches, in a random order of them; false if it
// matches none.
func nestedPart(t testing.TB, db *mongo.Database, r *rand.Rand, w model.Write) bool {
	t.Helper()
	var filter bson.D
	switch m := w.Model.(type) {
	case *mongo.UpdateManyModel:
		filter = m.Filter.(bson.D)
	case *mongo.DeleteManyModel:
		filter = m.Filter.(bson.D)
	default:
		return false
	}
	var found []struct {
		ID string `bson:"_id"`
	}
	cursor, err := db.Collection(w.Collection).Find(t.Context(), filter)
	if err == nil {
		err = cursor.All(t.Context(), &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return false
	}
	r.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	some := bson.A{}
	for _, f := range found[:r.IntN(len(found)+1)] {
		some = append(some, f.ID)
	}
	filter = bson.D{
		{Key: "$and", Value: bson.A{filter, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: some}}}}}},
	}
	switch m := w.Model.(type) {
	case *mongo.UpdateManyModel:
		w.Model = &mongo.UpdateManyModel{Filter: filter, Update: m.Update}
	case *mongo.DeleteManyModel:
		w.Model = &mongo.DeleteManyModel{Filter: filter}
	}
	if _, err := db.Collection(w.Collection).BulkWrite(t.Context(), []mongo.WriteModel{w.Model}); err != nil {
		t.Fatal(err)
	}
	return true
}

// Plans are cut before each step and inside each, after any of its documents, several times in a row; run to their end
// they leave
// what was wanted, and run again, also after later changes, they change nothing.
func TestNestedSetCuts(t *testing.T) {
	testkit.Parallel(t)
	rounds := 3
	switch {
	case pathstest.Full:
		rounds = 40
	case testkit.Few():
		rounds = 1
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(3, 14))
		ops, cuts := nestedTable(), 0
		for _, k := range pathstest.NestedKinds {
			for _, op := range ops {
				if !pathstest.Full && r.IntN(3) > 0 && k.Name != "dense" {
					continue
				}
				for range rounds {
					k.Seed(t, db, pathstest.Parse(nestedShape))
					p := op.plan(t, db, k, 7)
					if g := p.Guarantee(); g == model.Transactional {
						t.Fatalf("%s: %s: %v\n%s", k.Name, op.name, g, p)
					}
					for range 1 + r.IntN(3) {
						n := r.IntN(len(p.Steps))
						cut := model.NewPlan(p.Steps[:n]...)
						cut.Options.AllowPartial = true
						if _, err := cut.Run(t.Context(), db); err != nil {
							t.Fatalf("%s: %s: cut before step %d: %v\n%s", k.Name, op.name, n, err, p)
						}
						nestedPart(t, db, r, p.Steps[n].(model.Write))
						cuts++
					}
					nestedEnd(k, t, db, p, op)
				}
			}
		}
		t.Log(cuts, "cuts of", len(ops), "operations")
	})
}

// nestedEnd runs a plan to its end, and again after another change.
func nestedEnd(k pathstest.NestedKind, t *testing.T, db *mongo.Database, p model.Plan, op nestedOp) {
	t.Helper()
	want := op.applyToForest(t)
	for range 2 {
		if _, err := p.Run(t.Context(), db); err != nil {
			t.Fatalf("%s: %s: run to its end: %v\n%s", k.Name, op.name, err, p)
		}
		wantNumbers(k, t, db, want, op.name)
	}
	later := nestedInsert(paths.FirstRoot[string]())
	if pathstest.Contains(want, "x") {
		later = nestedMove(want.Roots()[len(want.Roots())-1], paths.FirstRoot[string]())
	}
	if err := later.forest(want); err != nil {
		t.Fatal(err)
	}
	if _, err := later.plan(t, db, k, 8).Run(t.Context(), db); err != nil {
		t.Fatalf("%s: %s after %s: %v", k.Name, later.name, op.name, err)
	}
	for _, s := range p.Steps { // what a slow writer still sends
		switch s.(model.Write).Model.(type) {
		case *mongo.UpdateManyModel, *mongo.DeleteManyModel:
			if _, err := model.NewPlan(s).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantNumbers(k, t, db, want, op.name+", then "+later.name+", then what came late")
}

// A writer dies at each of its commands; the next one finishes what it began, or finds nothing begun.
func TestNestedSetDeadWriter(t *testing.T) {
	testkit.Parallel(t)
	f := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(1, 14))
		cuts, share := 0, 2
		if testkit.Few() {
			share = 5
		}
		for i, op := range nestedTable() {
			if !pathstest.Full && r.IntN(share) > 0 {
				continue
			}
			k := pathstest.NestedKinds[i%len(pathstest.NestedKinds)]
			for n := 1; ; n++ {
				f.Reset()
				k.Seed(t, db, pathstest.Parse(nestedShape))
				f.From(mongotest.Writes, n, mongotest.Fail(96)) // nothing that it sends from here on arrives
				if _, err := op.change(k.Tree).Run(t.Context(), db); err == nil {
					break
				}
				f.Reset()
				cuts++
				nestedNext(k, t, db, op, n)
			}
		}
		t.Log(cuts, "cuts")
	}, f)
}

// nestedNext lets the lease expire, and has the next writer insert a node.
func nestedNext(k pathstest.NestedKind, t *testing.T, db *mongo.Database, op nestedOp, n int) {
	t.Helper()
	past := bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: time.Unix(0, 0)}}}}
	if _, err := db.Collection("docmodel.locks").UpdateMany(t.Context(), bson.D{}, past); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Tree.Insert(
		pathstest.Category{ID: "z"}, paths.FirstRoot[string](),
	).Run(t.Context(), db); err != nil {
		t.Fatalf("%s, cut at write %d: the next writer: %v", op.name, n, err)
	}
	want := pathstest.Parse(nestedShape)
	if was := pathstest.Shape(want); !nestedSame(t, db, k, was) {
		want = op.applyToForest(t)
	}
	if err := want.Insert("z", paths.FirstRoot[string]()); err != nil {
		t.Fatal(err)
	}
	wantNumbers(k, t, db, want, fmt.Sprintf("%s, cut at write %d", op.name, n))
}

// nestedSame reports whether, but for the next writer's node, the tree has a shape.
func nestedSame(t testing.TB, db *mongo.Database, k pathstest.NestedKind, was string) bool {
	t.Helper()
	return pathstest.Shape(k.ReadForest(t, db)) == "z "+was
}

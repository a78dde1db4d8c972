package ondelete_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

func nodeSeed(text string) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { return insertNodes(ctx, db, text) }
}

func deleting(way *relate.OnDelete[node, string], id string) testkit.DBFunc {
	return testkit.Changed(way.Delete(id))
}

func run(w model.Write) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { return testkit.Exec(ctx, db, model.NewPlan(w)) }
}

// update applies an operator to one field of a node.
func update(id, operator, field string, v any) testkit.DBFunc {
	return run(nodes.Update(id, testkit.D(operator, testkit.D(field, v))))
}

// Cut anywhere, a deletion is completed by running it again with the same ids; and what is left in between refers to
// nothing that is gone.
func TestOnDeleteFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		reason, nodes, left string
		way                 *relate.OnDelete[node, string]
	}{
		{"four levels in one command", "a b<a c<b d<c e<b f", "f", relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent)})},
		{"lists pulled between the levels", "a b<a c<b d:a,x,b e:c,b x", "d:x e x", relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)})},
		{"in chunks of one id", "a b<a c<a d<b e:b,c,x x", "e:x x", relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList), ChunkIDs: 1})},
		{"a circle", "a<c b<a c<b d:b e", "d e", relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)})},
		{"what it owns", "a:b,c b c:d d e:d", "e", relate.NewOnDelete(nodes, relate.OnDeleteSpec{Owns: refs(inList), Nullify: refs(inList)})},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: nodeSeed(c.nodes), Run: deleting(c.way, "a"),
				Check: func(t testing.TB, db *mongo.Database) {
					if got := nodesLeft(t, db); got != c.left {
						t.Errorf("left %s, want %s", got, c.left)
					}
				},
			})
		})
	}
}

// After every cut of a deletion without circles, no reference leads nowhere.
func TestOnDeleteCutKeepsReferences(t *testing.T) {
	tenancy.Differs(t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	testkit.Parallel(t)
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList), ChunkIDs: 1})
	lost := slices.Concat(ofParent.Checks(), inList.Checks())
	cuts := 0
	for n := 1; ; n++ {
		f := modeltest.NewFaults()
		whole := false
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			ctx := testkit.MustSeed(t, db, nodeSeed("a b<a c<b d:a,x,b e:c,b x f<a"))
			f.Reset()
			f.From(modeltest.Writes, n, modeltest.Fail(96))
			err := deleting(way, "a")(ctx, db)
			whole = err == nil
			f.Reset()
			if refs := testkit.AllFound(t, db, lost); len(refs) > 0 {
				t.Errorf("before write %d: %v", n, refs)
			}
		}, modeltest.WithFaults(f))
		if whole || t.Failed() {
			break
		}
		cuts++
	}
	if cuts < 5 {
		t.Errorf("cut %d times", cuts)
	}
}

// What others do while a goes: b and c are below it, and o stays.
func TestOnDeleteInterleaved(t *testing.T) {
	testkit.Parallel(t)
	const seed = "a b<a c<b o p:b"
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)})
	insert := func(n node) testkit.DBFunc { return run(nodes.Insert(n)) }
	for _, c := range []struct {
		reason string
		other  testkit.DBFunc
		left   string // after the second run and the mending, in any order: one of these
	}{
		{"the same deletion", deleting(way, "a"), "o p"},
		{"a deletion of a part of it", deleting(way, "b"), "o p"},
		{"a deletion of its own", deleting(way, "o"), "p"},
		{"a document comes under the first", insert(node{ID: "n", Parent: "a"}), "o p"},
		{"a document comes under the second", insert(node{ID: "n", Parent: "b"}), "o p"},
		{"a document moves out", update("b", "$set", "parent", "o"), "o p|b<o c<b o p:b|b<o o p|b<o o p:b"},
		{"a leaf moves out", update("c", "$set", "parent", "o"), "o p|c<o o p"},
		{"a document moves in", update("o", "$set", "parent", "b"), "p"},
		{"a list takes one up", update("o", "$addToSet", "list", "c"), "o p"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			testkit.Parallel(t)
			if !testkit.EveryPair && c.reason == "the same deletion" {
				return // 924 schedules
			}
			seen := map[string]int{}
			match := modeltest.All
			if !testkit.EveryPair || strings.Contains(c.reason, "deletion") {
				match = modeltest.Writes // reads together with the write before: thousands of orders less
			}
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Seed: nodeSeed(seed), Sample: 4, A: deleting(way, "a"), B: c.other, Match: match,
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					if errA != nil || errB != nil && !errors.Is(errB, model.ErrStale) && !errors.Is(errB, model.ErrNotFound) {
						t.Errorf("%v; %v", errA, errB)
					}
					mendNodes(t, db)
					got := nodesLeft(t, db)
					seen[got]++
					for want := range strings.SplitSeq(c.left, "|") {
						if got == want {
							return
						}
					}
					t.Errorf("left %s, want %s", got, c.left)
				},
			})
			t.Logf("left: %v", seen)
		})
	}
}

// mendNodes takes away what refers to nothing: children are deleted, lists pulled from, until nothing is found.
func mendNodes(t testing.TB, db *mongo.Database) {
	t.Helper()
	for range 5 {
		planned, err := testkit.MendAll(context.Background(), db, slices.Concat(ofParent.Checks(), inList.Checks()))
		if err != nil {
			t.Fatal(err)
		}
		if planned == 0 {
			return
		}
	}
	t.Error("still dangling after five times")
}

// A second look at what was deleted finds what came meanwhile, at any depth, and deletes it.
func TestOnDeleteSweep(t *testing.T) {
	testkit.Parallel(t)
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, nodeSeed("a b<a c<b o"))
		reach, _, err := way.Delete("a").Run(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		if err := insertNodes(ctx, db, "m<c n<m p:b,o"); err != nil {
			t.Fatal(err)
		}
		late, result, err := way.Sweep(reach).Run(ctx, db)
		if err != nil || reached(late) != 5 || result.Modified() != 3 {
			t.Errorf("%d reached, %d modified, %v", reached(late), result.Modified(), err)
		}
		if got := nodesLeft(t, db); got != "o p:o" {
			t.Errorf("left %s", got)
		}
	})
}

// A document that was moved out of what was deleted is not there to be swept, nor is what came under it.
func TestOnDeleteSweepMoved(t *testing.T) {
	testkit.Parallel(t)
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)})
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := testkit.MustSeed(t, db, nodeSeed("a b<a c<b o"))
		reach, err := way.Delete("a").Read(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		if err := update("b", "$set", "parent", "o")(ctx, db); err != nil {
			t.Fatal(err)
		}
		plan, err := way.Delete("a").Decide(reach)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if err := insertNodes(ctx, db, "d<b e<a p:b,c"); err != nil {
			t.Fatal(err)
		}
		late, _, err := way.Sweep(reach).Run(ctx, db)
		if err != nil || reached(late) != 3 {
			t.Errorf("%d reached, %v", reached(late), err)
		}
		if got := nodesLeft(t, db); got != "b<o d<b o p:b" {
			t.Errorf("left %s", got)
		}
	})
}

// In a transaction a document that moves out takes its own with it.
func TestOnDeleteTransaction(t *testing.T) {
	testkit.Parallel(t)
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent)})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: true, Seed: nodeSeed("a b<a c<b o"),
		A: func(ctx context.Context, db *mongo.Database) error {
			change := way.Delete("a")
			change.Tx = true
			_, _, err := change.Run(ctx, db)
			return err
		},
		B: update("b", "$set", "parent", "o"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if got := nodesLeft(t, db); got != "o" && got != "b<o c<b o" {
				t.Errorf("left %s; %v, %v", got, errA, errB)
			}
		},
	})
}

// Every query of a reach, and every write of a plan, is served by the declared indexes.
func TestOnDeleteIndexed(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList)})
		if err := model.New("test", way).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		var all []node
		for i := range 4000 {
			all = append(all, node{ID: string(rune(0x4e00 + i)), Parent: string(rune(0x4e00 + i/4)), List: []string{string(rune(0x4e00 + i))}})
		}
		if _, err := nodes.InsertMany(all).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		read := &model.Find[bson.Raw]{Query: model.Query{Collection: "nodes", Filter: bson.D{{Key: "parent", Value: bson.D{{Key: "$in", Value: bson.A{all[900].ID}}}}}}}
		modeltest.WantIndexed(t, db, read, "parent_1")
		reach, err := way.Delete(all[900].ID).Read(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := way.Delete("a").Decide(reach)
		if err != nil || len(plan.Steps) != 4 {
			t.Fatalf("%d steps, %v", len(plan.Steps), err)
		}
		for i, index := range map[int]string{0: "list_1", 2: "list_1", 3: "_id_"} { // step 1 has its choice of _id_ and parent_1
			t.Run(fmt.Sprint("step ", i), func(t *testing.T) { modeltest.WantIndexed(t, db, plan.Steps[i], index) })
		}
	})
}

// A sweep that is cut is completed by running it again with the same reach: it finds what came late, deepest first, and
// leaves what only referred to it.
func TestOnDeleteSweepFaults(t *testing.T) {
	testkit.Parallel(t)
	way := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent), Nullify: refs(inList), ChunkIDs: 1})
	ids := func(name string) []bson.RawValue { return []bson.RawValue{testkit.Raw(name)} }
	// What a deletion of a reached: b below it, and c below b.
	reach := relate.Reach{Levels: []relate.ReachLevel{
		{Collection: "nodes", IDs: ids("a")}, {Depth: 1, Collection: "nodes", IDs: ids("b")}, {Depth: 2, Collection: "nodes", IDs: ids("c")},
	}}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Sample: 5,
		Seed:   nodeSeed("m<c n<m k<a o p:b,o q:n,p"), // they came while a was deleted
		Run:    testkit.Changed(way.Sweep(reach)),
		Check: func(t testing.TB, db *mongo.Database) {
			if got, want := nodesLeft(t, db), "o p:o q:p"; got != want {
				t.Errorf("left %s, want %s", got, want)
			}
		},
	})
}

// What is gone is asked for, and two levels are read; one command deletes the late document.
func TestOnDeleteSweepCost(t *testing.T) {
	testkit.Parallel(t)
	reach := relate.Reach{Levels: []relate.ReachLevel{{Collection: "nodes", IDs: []bson.RawValue{testkit.Raw("a")}}}}
	sweep := relate.NewOnDelete(nodes, relate.OnDeleteSpec{Cascade: refs(ofParent)}).Sweep(reach)
	testkit.WantPrices(t, testkit.Stored(testkit.Docs{"nodes": {node{ID: "b", Parent: "a"}}}), testkit.Does("Sweep", 1+2+1, 1, 1, testkit.Changed(sweep)))
}

package relate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

func nodeSeed(text string) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error { return insertNodes(ctx, db, text) }
}

func deleting(way *relate.OnDelete[node, string], id string) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		_, _, err := way.Delete(id).Run(ctx, db)
		return err
	}
}

// Cut anywhere, a deletion is completed by running it again with the same ids; and what is left in between refers to
// nothing that is gone.
func TestOnDeleteFaults(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		reason, nodes, left string
		way                 *relate.OnDelete[node, string]
	}{
		{"four levels in one command", "a b<a c<b d<c e<b f", "f", relate.NewOnDelete(nodes, relate.Cascade(ofParent))},
		{"lists pulled between the levels", "a b<a c<b d:a,x,b e:c,b x", "d:x e x", relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList))},
		{"in chunks of one id", "a b<a c<a d<b e:b,c,x x", "e:x x", relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList)).Chunk(1)},
		{"a circle", "a<c b<a c<b d:b e", "d e", relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList))},
		{"what it owns", "a:b,c b c:d d e:d", "e", relate.NewOnDelete(nodes, relate.Owns(inList), relate.Nullify(inList))},
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
	parallel(t)
	way := relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList)).Chunk(1)
	lost := []*relate.Dangling[node, string, node, string]{relate.NewDangling(nodes, "parent", nodes), relate.NewDangling(nodes, "list", nodes)}
	cuts := 0
	for n := 1; ; n++ {
		f := modeltest.NewFaults()
		whole := false
		modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
			ctx := mustSeed(t, db, nodeSeed("a b<a c<b d:a,x,b e:c,b x f<a"))
			f.Reset()
			f.From(modeltest.Writes, n, modeltest.Fail(96))
			err := deleting(way, "a")(ctx, db)
			whole = err == nil
			f.Reset()
			for _, d := range lost {
				if refs := allFound(t, db, d.Checks()); len(refs) > 0 {
					t.Errorf("before write %d: %v", n, refs)
				}
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
	parallel(t)
	const seed = "a b<a c<b o p:b"
	way := relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList))
	insert := func(n node) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := nodes.Insert(n).Run(ctx, db)
			return err
		}
	}
	write := func(w model.Write) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error { _, err := w.Run(ctx, db); return err }
	}
	for _, c := range []struct {
		reason string
		other  func(context.Context, *mongo.Database) error
		left   string // after the second run and the mending, in any order: one of these
	}{
		{"the same deletion", deleting(way, "a"), "o p"},
		{"a deletion of a part of it", deleting(way, "b"), "o p"},
		{"a deletion of its own", deleting(way, "o"), "p"},
		{"a document comes under the first", insert(node{ID: "n", Parent: "a"}), "o p"},
		{"a document comes under the second", insert(node{ID: "n", Parent: "b"}), "o p"},
		{"a document moves out", write(ofParent.Move("b", "a", "o")), "o p|b<o c<b o p:b|b<o o p|b<o o p:b"},
		{"a leaf moves out", write(ofParent.Move("c", "b", "o")), "o p|c<o o p"},
		{"a document moves in", write(ofParent.Attach("o", "b")), "p"},
		{"a list takes one up", write(inList.Add("o", "c")), "o p"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			parallel(t)
			if !everyPair && c.reason == "the same deletion" {
				return // 924 schedules
			}
			seen := map[string]int{}
			match := modeltest.All
			if !everyPair || strings.Contains(c.reason, "deletion") {
				match = modeltest.Writes // reads together with the write before: thousands of orders less
			}
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Seed: nodeSeed(seed), OnServer: 4, A: deleting(way, "a"), B: c.other, Match: match,
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					if errA != nil || errB != nil && !errors.Is(errB, model.ErrStale) {
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
	orphans := relate.NewDangling(nodes, "parent", nodes, relate.DanglingSpec{Repair: relate.DeleteReferrers})
	listed := relate.NewDangling(nodes, "list", nodes, relate.DanglingSpec{Repair: relate.DetachIDs})
	for range 5 {
		planned, err := mendAll(context.Background(), db, append(orphans.Checks(), listed.Checks()...))
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
	parallel(t)
	way := relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList))
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := mustSeed(t, db, nodeSeed("a b<a c<b o"))
		reach, _, err := way.Delete("a").Run(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		if err := insertNodes(ctx, db, "m<c n<m p:b,o"); err != nil {
			t.Fatal(err)
		}
		late, result, err := way.Sweep(reach).Run(ctx, db)
		if err != nil || late.Count() != 5 || result.Modified() != 3 {
			t.Errorf("%d reached, %d modified, %v", late.Count(), result.Modified(), err)
		}
		if got := nodesLeft(t, db); got != "o p:o" {
			t.Errorf("left %s", got)
		}
	})
}

// A document that was moved out of what was deleted is not there to be swept, nor is what came under it.
func TestOnDeleteSweepMoved(t *testing.T) {
	parallel(t)
	way := relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList))
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := mustSeed(t, db, nodeSeed("a b<a c<b o"))
		reach, err := way.Reach(ctx, db, "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ofParent.Move("b", "a", "o").Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		plan, err := way.Plan(reach)
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
		if err != nil || late.Count() != 3 {
			t.Errorf("%d reached, %v", late.Count(), err)
		}
		if got := nodesLeft(t, db); got != "b<o d<b o p:b" {
			t.Errorf("left %s", got)
		}
	})
}

// In a transaction a document that moves out takes its own with it.
func TestOnDeleteTransaction(t *testing.T) {
	parallel(t)
	way := relate.NewOnDelete(nodes, relate.Cascade(ofParent))
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: true, Seed: nodeSeed("a b<a c<b o"),
		A: func(ctx context.Context, db *mongo.Database) error {
			change := way.Delete("a")
			change.Tx = true
			_, _, err := change.Run(ctx, db)
			return err
		},
		B: func(ctx context.Context, db *mongo.Database) error {
			_, err := ofParent.Move("b", "a", "o").Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if got := nodesLeft(t, db); got != "o" && got != "b<o c<b o" {
				t.Errorf("left %s; %v, %v", got, errA, errB)
			}
		},
	})
}

// Every query of a reach, and every write of a plan, is served by the declared indexes.
func TestOnDeleteIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		way := relate.NewOnDelete(nodes, relate.Cascade(ofParent), relate.Nullify(inList))
		if err := model.Indexes(way).Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		var all []node
		for i := range 4000 {
			all = append(all, node{ID: string(rune(0x4e00 + i)), Parent: string(rune(0x4e00 + i/4)), List: []string{string(rune(0x4e00 + i))}})
		}
		if _, err := nodes.InsertMany(all).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		read := model.Find[bson.Raw]{Query: model.Query{Collection: "nodes", Filter: bson.D{{Key: "parent", Value: bson.D{{Key: "$in", Value: bson.A{all[900].ID}}}}}}}
		modeltest.WantIndexed(t, db, read, "parent_1")
		reach, err := way.Reach(ctx, db, all[900].ID)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := way.Plan(reach)
		if err != nil || len(plan.Steps) != 4 {
			t.Fatalf("%d steps, %v", len(plan.Steps), err)
		}
		for i, index := range map[int]string{0: "list_1", 2: "list_1", 3: "_id_"} { // step 1 has its choice of _id_ and parent_1
			t.Run(fmt.Sprint("step ", i), func(t *testing.T) { modeltest.WantIndexed(t, db, plan.Steps[i], index) })
		}
	})
}

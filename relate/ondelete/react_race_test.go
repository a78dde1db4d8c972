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
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/ondelete"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

func nodeSeed(text string) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { return insertNodes(ctx, db, text) }
}

// deleting deletes a node. In parts, it is the job with one document in an action.
func deleting(store *model.Store[node, string], id string, inParts bool) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		if inParts {
			_, err := store.DeleteJob(id).Run(ctx, db, model.JobOptions{BatchSize: 1})
			return err
		}
		_, _, err := store.Delete(id).Run(ctx, db)
		return err
	}
}

func run(w model.Write) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error { return testkit.Exec(ctx, db, model.NewPlan(w)) }
}

// update applies an operator to one field of a node.
func update(id, operator, field string, v any) testkit.DBFunc {
	return run(nodes.Update(id, testkit.D(operator, testkit.D(field, v))))
}

// Cut anywhere, a job is completed by running it again with the same ids, and a deletion by running it again.
func TestOnDeleteFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		reason, nodes, left string
		spec                ondelete.Spec
	}{
		{"four levels", "a b<a c<b d<c e<b f", "f", ondelete.Spec{Cascade: refs(ofParent)}},
		{
			"lists pulled between the levels", "a b<a c<b d:a,x,b e:c,b x", "d:x e x",
			ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)},
		},
		{"a circle", "a<c b<a c<b d:b e", "d e", ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)}},
		{"what it owns", "a:b,c b c:d d e:d", "e", ondelete.Spec{Owns: refs(inList), Nullify: refs(inList)}},
	} {
		for _, inParts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in parts %v", c.reason, inParts), func(t *testing.T) {
				remove := deleting(storeOf(c.spec), "a", inParts)
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed: nodeSeed(c.nodes),
					Run: func(ctx context.Context, db *mongo.Database) error {
						if err := remove(ctx, db); !errors.Is(err, model.ErrNotFound) {
							return err
						}
						return nil // the first run deleted it
					},
					Check: func(t testing.TB, db *mongo.Database) {
						if got := nodesLeft(t, db); got != c.left {
							t.Errorf("left %s, want %s", got, c.left)
						}
					},
				})
			})
		}
	}
}

// After every cut of a deletion without circles, no reference leads nowhere.
func TestOnDeleteCutKeepsReferences(t *testing.T) {
	tenancy.Differs(
		t, "a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes",
	)
	testkit.Parallel(t)
	store := storeOf(ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)})
	lost := slices.Concat(ofParent.Checks(), inList.Checks())
	cuts := 0
	for n := 1; ; n++ {
		f := mongotest.NewFaults()
		whole := false
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			ctx := testkit.MustSeed(t, db, nodeSeed("a b<a c<b d:a,x,b e:c,b x f<a"))
			f.Reset()
			f.From(mongotest.Writes, n, mongotest.Fail(96))
			err := deleting(store, "a", n%2 == 0)(ctx, db)
			whole = err == nil
			f.Reset()
			if refs := testkit.AllFound(t, db, lost); len(refs) > 0 {
				t.Errorf("before write %d: %v", n, refs)
			}
		}, f)
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
	store := storeOf(ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)})
	insert := func(n node) testkit.DBFunc { return run(nodes.Insert(n)) }
	for _, c := range []struct {
		reason string
		other  testkit.DBFunc
		left   string // after the mending: one of these
	}{
		{"the same deletion", deleting(store, "a", false), "o p"},
		{"a deletion of a part of it", deleting(store, "b", true), "o p"},
		{"a deletion of its own", deleting(store, "o", false), "p"},
		{"a document comes under the first", insert(node{ID: "n", Parent: "a"}), "o p"},
		{"a document comes under the second", insert(node{ID: "n", Parent: "b"}), "o p"},
		{"a document moves out", update("b", "$set", "parent", "o"), "o p|b<o c<b o p:b|b<o o p|b<o o p:b"},
		{"a leaf moves out", update("c", "$set", "parent", "o"), "o p|c<o o p"},
		{"a document moves in", update("o", "$set", "parent", "b"), "p"},
		{"a list takes one up", update("o", "$addToSet", "list", "c"), "o p"},
	} {
		for _, inParts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in parts %v", c.reason, inParts), func(t *testing.T) {
				testkit.Parallel(t)
				seen := map[string]int{}
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Seed: nodeSeed(seed), Sample: 4, A: deleting(store, "a", inParts), B: c.other, Nested: true,
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						for _, err := range []error{errA, errB} {
							if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) {
								t.Errorf("%v; %v", errA, errB)
							}
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

// In a transaction a document that moves out takes its own with it.
func TestOnDeleteTransaction(t *testing.T) {
	testkit.Parallel(t)
	store := storeOf(ondelete.Spec{Cascade: refs(ofParent)})
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Transactions: true, Seed: nodeSeed("a b<a c<b o"),
		A: func(ctx context.Context, db *mongo.Database) error {
			on, err := model.WithTransactions(ctx, db)
			if err == nil {
				_, _, err = store.Delete("a").Run(ctx, on)
			}
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

// A document with more related documents than an action may write, at each level, is deleted by the job, which a
// counter follows.
func TestDeleteJob(t *testing.T) {
	testkit.Parallel(t)
	store := storeOf(ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)})
	eachWay(t, func(t *testing.T, db *mongo.Database, on model.DB) {
		ctx := t.Context()
		if err := db.Collection("nodes").Drop(ctx); err != nil {
			t.Fatal(err)
		}
		all := []node{{ID: "a"}, {ID: "o", List: []string{"o", "b3"}}, {ID: "x", Parent: "o"}}
		for i := range 1100 {
			all = append(
				all, node{ID: fmt.Sprint("b", i), Parent: "a"}, node{ID: fmt.Sprint("l", i), List: []string{"a", "o"}},
			)
		}
		for i := range 1050 {
			all = append(all, node{ID: fmt.Sprint("c", i), Parent: "b7"})
		}
		if _, err := nodes.InsertMany(all).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if err := model.New(
			"test", ondelete.New(nodes, ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)}),
		).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		_, _, err := store.Delete("a").Run(ctx, on)
		var refused *model.ValueError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "Store.DeleteJob") {
			t.Errorf("a deletion of too many gives %v", err)
		}
		p, err := store.DeleteJob("a").Run(ctx, on, model.JobOptions{DryRun: true})
		if err != nil || p.Documents != 2151 || p.Modified != 0 {
			t.Errorf("a dry run gives %+v, %v", p, err)
		}
		p, err = store.DeleteJob("a", "gone").Run(ctx, on, model.JobOptions{})
		if err != nil || !p.Done {
			t.Errorf("%+v, %v", p, err)
		}
		left, err := nodes.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
		if err != nil || len(left) != 1102 {
			t.Fatalf("%d left, %v", len(left), err)
		}
		for _, n := range left {
			if len(n.List) > 1 || len(n.List) == 1 && n.List[0] != "o" {
				t.Errorf("%+v is left", n)
			}
		}
	})
}

// The fetches of the rules are served by the declared indexes.
func TestOnDeleteIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		way := ondelete.New(nodes, ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)})
		if err := model.New("test", way).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		var all []node
		for i := range 1000 {
			all = append(
				all,
				node{
					ID: string(rune(0x4e00 + i)), Parent: string(rune(0x4e00 + i/4)),
					List: []string{string(rune(0x4e00 + i))},
				},
			)
		}
		if _, err := nodes.InsertMany(all).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, r := range way.Reactions() {
			fetches, err := r.Fetch(model.StoreWrite{Collection: "nodes", Before: testkit.Raw(all[100]).Document()})
			if err != nil || len(fetches) != 2 {
				t.Fatalf("%v, %v", fetches, err)
			}
			for _, f := range fetches {
				q := model.Query{
					Collection: f.Collection,
					Filter:     bson.D{{Key: f.By, Value: bson.D{{Key: "$in", Value: bson.A{f.ID}}}}},
				}
				modeltest.WantIndexed(t, db, &model.Find[bson.Raw]{Query: q}, f.By+"_1")
			}
		}
	})
}

// Outside transactions, a deletion reads each level, and writes its documents one after another.
func TestOnDeletePrices(t *testing.T) {
	testkit.Parallel(t)
	store := storeOf(ondelete.Spec{Cascade: refs(ofParent), Nullify: refs(inList)})
	testkit.WantPricesAnew(t, nodeSeed("a b<a c:a d<o o"),
		testkit.Does("a deletion with references", 1+2+2+4, 4, 3, deleting(store, "a", false)),
		testkit.Does("a deletion of two documents", 1+2+2+2, 2, 2, deleting(store, "o", false)),
		testkit.Does("a job: it reads the _ids first, then what can be done in parts", 3+3+3+1+2+2+2, 2, 3+2+2, func(
			ctx context.Context, db *mongo.Database,
		) error {
			_, err := store.DeleteJob("o").Run(ctx, db, model.JobOptions{})
			return err
		}),
	)
}

package tree_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Between both updates, the nodes whose left number changes are not found, and all others are where they belong.
func TestNestedSetBetweenUpdates(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k, between := pathstest.NestedKinds[0], 0
		for _, op := range nestedTable() {
			k.Seed(t, db, pathstest.Parse(nestedShape))
			p := op.plan(t, db, k, 7)
			turn := slices.IndexFunc(p.Steps, func(s model.Step) bool {
				m, ok := s.(model.Write).Model.(*mongo.UpdateManyModel)
				if !ok {
					return false
				}
				_, turns := m.Update.(bson.Raw)
				_, plain := m.Update.(bson.D)
				return turns || plain
			})
			if turn < 0 {
				continue
			}
			first := model.NewPlan(p.Steps[:turn]...)
			if _, err := first.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			between++
			wantVisible(k, t, db, op)
		}
		t.Log(between, "operations between their updates")
	})
}

// wantVisible compares what is found with the tree that the operation leaves, as far as its nodes can be found.
func wantVisible(k pathstest.NestedKind, t *testing.T, db *mongo.Database, op nestedOp) {
	t.Helper()
	want := op.applyToForest(t)
	all, err := k.Docs.Find(bson.D{{Key: "left", Value: bson.D{{Key: "$gte", Value: 0}}}}).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	visible := map[string]bool{}
	for _, c := range all {
		visible[c.ID] = true
	}
	only := func(list []string) []string {
		return slices.DeleteFunc(list, func(id string) bool { return !visible[id] })
	}
	for _, c := range all {
		below, err := pathstest.IDs(k.Tree.Descendants(&c, 0).All(t.Context(), db))
		if err != nil {
			t.Fatal(err)
		}
		pathstest.MustEqual(t, op.name+": below "+c.ID, below, only(pathstest.Must(want.Descendants(c.ID, 0))))
		above, err := pathstest.IDs(k.Tree.Ancestors(&c).All(t.Context(), db))
		if err != nil {
			t.Fatal(err)
		}
		pathstest.MustEqual(t, op.name+": above "+c.ID, above, only(pathstest.Must(want.Ancestors(c.ID))))
	}
}

// A reader under Settled sees no part of a change, whatever a writer does meanwhile.
func TestNestedSetSettled(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k := pathstest.NestedKinds[0]
		k.Seed(t, db, pathstest.Parse(nestedShape))
		want := map[string]bool{pathstest.Shape(pathstest.Parse(nestedShape)): true}
		moves := []nestedOp{nestedMove("f", paths.FirstRoot[string]()), nestedMove("f", paths.After("a"))}
		want[pathstest.Shape(moves[0].applyToForest(t))] = true
		ctx, stop := context.WithCancel(t.Context())
		var writer sync.WaitGroup
		writer.Go(func() {
			defer stop()
			for i := range 60 {
				if _, err := moves[i%2].change(k.Tree).Run(t.Context(), db); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
		reads, again := 0, 0
		for ctx.Err() == nil {
			var all []pathstest.Category
			runs := 0
			if err := k.Tree.Settled(t.Context(), db, func(ctx context.Context) (err error) {
				runs++
				all, err = k.Docs.Find(nil).Sorted(bson.D{{Key: "left", Value: 1}}).All(ctx, db)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			reads, again = reads+1, again+runs-1
			if got := nestedRead(all); !want[got] {
				t.Fatalf("read %s", got)
			}
		}
		writer.Wait()
		t.Log(reads, "reads,", again, "again")
	})
}

// nestedRead is the shape that numbers say, without the links.
func nestedRead(sorted []pathstest.Category) string {
	s, last := "", 0
	var open []pathstest.Category
	for i, c := range sorted {
		if c.Left < 1 {
			return fmt.Sprint(c.ID, " is negative")
		}
		for len(open) > 0 && open[len(open)-1].Right < c.Left {
			open = open[:len(open)-1]
		}
		switch {
		case i == 0:
		case len(open) > last:
			s += "("
		default:
			for range last - len(open) {
				s += ")"
			}
			s += " "
		}
		last = len(open)
		open = append(open, c)
		s += c.ID
	}
	for range last {
		s += ")"
	}
	return s
}

// Settled runs a read again when a change ends in between, waits for what was left half done, and returns the read's
// error.
func TestNestedSetSettledAgain(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		k := pathstest.NestedKinds[0]
		k.Seed(t, db, pathstest.Parse(nestedShape))
		runs := 0
		read := func(ctx context.Context) error {
			if runs++; runs == 1 {
				_, err := k.Tree.Move("f", paths.FirstRoot[string]()).Run(ctx, db)
				return errors.Join(err, errors.New("what is read beside a change doesn't count"))
			}
			return nil
		}
		if err := k.Tree.Settled(t.Context(), db, read); err != nil || runs != 2 {
			t.Errorf("read %d times: %v", runs, err)
		}
		broken := errors.New("broken")
		if err := k.Tree.Settled(
			t.Context(), db, func(context.Context) error { return broken },
		); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		impatient := k.Declare(k.Docs, paths.TreeSpec{Wait: 30 * time.Millisecond})
		left := func(set bson.D) {
			if _, err := db.Collection("docmodel.locks").UpdateOne(
				t.Context(), bson.D{{Key: "_id", Value: k.Name}}, bson.D{{Key: "$set", Value: set}},
			); err != nil {
				t.Fatal(err)
			}
		}
		never := func(context.Context) error { t.Error("was read"); return nil }
		left(bson.D{{Key: "holder", Value: bson.NewObjectID()}, {Key: "until", Value: time.Now().Add(time.Hour)}})
		if err := impatient.Settled(t.Context(), db, never); !errors.Is(err, model.ErrLeased) {
			t.Errorf("while a writer is at work: %v", err)
		}
		left(bson.D{{Key: "until", Value: time.Unix(0, 0)}})
		if err := impatient.Settled(t.Context(), db, func(context.Context) error { return nil }); err != nil {
			t.Errorf("after one that began nothing: %v", err)
		}
		left(bson.D{{Key: "intent", Value: bson.D{{Key: "fence", Value: int64(1)}}}})
		if err := impatient.Settled(t.Context(), db, never); !errors.Is(err, model.ErrLeased) {
			t.Errorf("with a change half done: %v", err)
		}
	})
}

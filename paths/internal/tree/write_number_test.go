package tree_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// renewals are the commands that extend a lease.
func renewals(c mongotest.Command) bool {
	list, ok := c.Body.Lookup("updates").ArrayOK()
	if !ok || c.Collection != "docmodel.locks" {
		return false
	}
	_, err := list.Index(0).Document().LookupErr("u", "$set", "until")
	return err == nil
}

func respread(k pathstest.Kind) pathstest.Runner { return k.Tree.Rebalance(nil) }

// runLate holds a write of one change back until its lease has run out and others were made, of
// which those that are refused don't count. It reports whether there was such a write.
func runLate(
	k pathstest.Kind, t *testing.T, db *mongo.Database, faults *mongotest.Faults, write int, slow pathstest.Change,
	others ...pathstest.Change,
) bool {
	t.Helper()
	faults.Reset()
	gate := mongotest.NewGate()
	defer gate.Open()
	match := mongotest.Both(mongotest.Writes, mongotest.On(k.Name))
	// as of a process that stands still
	faults.On(match, write, mongotest.Hold(gate)).From(renewals, 1, mongotest.Fail(96))
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		_, err := slow(k).Run(t.Context(), db)
		done <- err
	}()
	for faults.Count(match) < write {
		select {
		case <-ended:
			return false
		case <-time.After(time.Millisecond):
		}
	}
	for _, c := range others {
		if _, err := c(k).Run(t.Context(), db); err != nil && !isRefused(err) {
			t.Fatalf("%s: another change: %v", k.Name, err)
		}
	}
	gate.Open()
	if err := <-done; err != nil && !isRefused(err) && !errors.Is(err, model.ErrStale) && !errors.Is(
		err, model.ErrNotFound,
	) && !mongo.IsDuplicateKeyError(err) {
		t.Fatalf("%s: the late one: %v", k.Name, err)
	}
	return true
}

// refused reports whether a change can't be made of a tree.
func isRefused(err error) bool {
	for _, kind := range []error{
		paths.ErrCycle, model.ErrTaken, paths.ErrHasChildren, model.ErrNotFound, paths.ErrSegment,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// Two moves that would make a cycle, of which the first arrives when its lease has run out and
// the second was made.
func TestLateMoveMakesNoCycle(t *testing.T) {
	testkit.Parallel(t)
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.CutKinds() {
			k = k.Quick()
			k.Ensure(t, db)
			k.Store(t, db, pathstest.Parse("a b"))
			if !runLate(
				k, t, db, faults, 1, pathstest.MoveNode("a", paths.LastChild("b")),
				pathstest.MoveNode("b", paths.LastChild("a")),
			) {
				t.Fatal("it wasn't late")
			}
			k.WantWhole(t, db)
			if got := pathstest.Shape(k.ReadForest(t, db)); got != "b(a)" {
				t.Errorf("%s: %s", k.Name, got)
			}
		}
	}, faults)
}

// Each write of a change arrives when the change's lease has run out, and others have changed the
// tree. It is whole, and has every node that nobody deleted. Each pair of changes is tried with a quarter
// of the representations, and with all of them where DOCMODEL_FULL is set.
func TestLateWrites(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	testkit.Parallel(t)
	const begin = "a(b c) d(e) f"
	slow := map[string]pathstest.Change{
		"move to a node":         pathstest.MoveNode("a", paths.LastChild("f")),
		"move to another":        pathstest.MoveNode("f", paths.LastChild("d")),
		"move beside":            pathstest.MoveNode("f", paths.Before("d")),
		"move beside a child":    pathstest.MoveNode("c", paths.Before("b")),
		"insert a root":          pathstest.InsertNode("x", paths.LastRoot[string]()),
		"insert a child":         pathstest.InsertNode("x", paths.FirstChild("f")),
		"delete a leaf":          pathstest.DeleteNode("f", paths.Restrict),
		"delete a subtree":       pathstest.DeleteNode("d", paths.Subtree),
		"delete with promotion":  pathstest.DeleteNode("a", paths.Promote),
		"delete with rootifying": pathstest.DeleteNode("d", paths.Rootify),
		"rebalance":              respread,
	}
	others := map[string][]pathstest.Change{
		"below": {pathstest.MoveNode("f", paths.LastChild("c"))},
		"above": {pathstest.MoveNode(
			"d", paths.FirstRoot[string](),
		), pathstest.MoveNode("a", paths.LastChild("e"))},
		"a child more": {pathstest.InsertNode("y", paths.FirstChild("f")), pathstest.InsertNode(
			"z", paths.LastRoot[string](),
		)},
		"without it": {pathstest.DeleteNode("f", paths.Restrict), pathstest.DeleteNode("d", paths.Promote)},
		"there and back": {pathstest.MoveNode("f", paths.FirstChild("b")), pathstest.MoveNode(
			"f", paths.LastRoot[string](),
		)},
		"back, and above": {pathstest.MoveNode("f", paths.FirstChild("b")), pathstest.MoveNode(
			"f", paths.LastRoot[string](),
		), pathstest.MoveNode("d", paths.LastChild("f"))},
		"a node between": {pathstest.InsertNode(
			"y", paths.Before("d"),
		), pathstest.InsertNode("z", paths.After("d")), respread},
		"all under one": {pathstest.MoveNode("a", paths.LastChild("f")), pathstest.MoveNode(
			"d", paths.FirstChild("f"),
		), pathstest.MoveNode("x", paths.LastChild("b"))},
		"deleted, then stored": {pathstest.DeleteNode("d", paths.Subtree), pathstest.InsertNode(
			"d", paths.LastChild("f"),
		), pathstest.InsertNode("e", paths.LastChild("d"))},
	}
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		n, cases := 0, 0
		for i, k := range pathstest.CutKinds() {
			k = k.Quick()
			k.Ensure(t, db)
			for _, name := range slices.Sorted(maps.Keys(slow)) {
				writes := math.MaxInt
				for _, what := range slices.Sorted(maps.Keys(others)) {
					if n++; !testkit.EveryPair && (n+i)%4 > 0 || testkit.Few() && n%16 > 0 {
						continue
					}
					for write := 1; write <= writes; write++ {
						k.Store(t, db, pathstest.Parse(begin))
						if !runLate(k, t, db, faults, write, slow[name], others[what]...) {
							writes = write - 1
							break
						}
						cases++
						where := fmt.Sprintf("%s: %s, write %d late, %s", k.Name, name, write, what)
						report, err := pathstest.Inspect(t.Context(), db, k.Tree)
						if err != nil || len(report) > 0 {
							t.Errorf("%s: %v, %v", where, report, err)
							_, _ = pathstest.MendTree(k.Tree).Run(t.Context(), db)
							continue
						}
						f := k.ReadForest(t, db)
						for _, id := range []string{"b", "c"} { // which nobody deletes
							if !pathstest.Contains(f, id) {
								t.Errorf("%s: %s is lost: %s", where, id, pathstest.Shape(f))
							}
						}
					}
				}
			}
		}
		t.Log(cases, "late writes")
	}, faults)
}

// Totals that were computed before those that are stored don't come back.
func TestLateTotals(t *testing.T) {
	testkit.Parallel(t)
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		faults.Reset()
		k := pathstest.Kinds[0].Quick()
		totals := paths.NewRollUp[int64](k.Tree, "items", "total")
		k.Store(t, db, pathstest.Parse("a(b)"))
		set := func(n int64) {
			t.Helper()
			if _, err := db.Collection(k.Name).UpdateOne(
				t.Context(), bson.D{{Key: "_id", Value: "b"}},
				bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: n}}}},
			); err != nil {
				t.Fatal(err)
			}
		}
		set(1)
		gate := mongotest.NewGate()
		defer gate.Open()
		faults.On(mongotest.Both(mongotest.Named("update"), mongotest.On(k.Name), func(c mongotest.Command) bool {
			_, err := c.Body.Lookup("updates").Array().Index(0).Document().LookupErr("u", "$set", "total")
			return err == nil
		}), 1, mongotest.Hold(gate)).From(renewals, 1, mongotest.Fail(96))
		done := make(chan error, 1)
		go func() { _, err := totals.Store().Run(t.Context(), db); done <- err }()
		if _, err := gate.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		set(5)
		if _, err := totals.Store().Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		gate.Open()
		if err := <-done; err != nil {
			t.Error(err)
		}
		got, err := k.Docs.ByID("a").One(t.Context(), db)
		if err != nil || got.Total == nil || got.Total.Sum != 5 {
			t.Errorf("%+v, %v", got.Total, err)
		}
	}, faults)
}

// The first change of a tree makes the lock document, and asks for the greatest number of a change.
func TestFirstChangeCost(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		const asked, inserted, lease = 2, 1, 7
		modeltest.WantCost(t, monitor, model.Cost{
			Commands: asked + inserted + lease, Written: 1 + 4, Returned: 1,
		}, func() error {
			_, err := pathstest.Kinds[0].Tree.Insert(
				pathstest.Category{ID: "x"}, paths.LastRoot[string](),
			).Run(t.Context(), db)
			return err
		})
	}, monitor)
}

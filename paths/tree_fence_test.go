package paths_test

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

// changed are changes of a tree that one writer makes.
type changed func(kind) runner

func moved(id string, to paths.Place[string]) changed {
	return func(k kind) runner { return k.tree.Move(id, to) }
}

func deleted(id string, mode paths.DeleteMode) changed {
	return func(k kind) runner { return k.tree.Delete(id, mode) }
}

func added(id string, at paths.Place[string]) changed {
	return func(k kind) runner {
		return k.tree.Insert(category{ID: id, Name: id}, at)
	}
}

func respread(k kind) runner { return k.tree.Rebalance(nil) }

// late holds a write of one change back until its lease has run out and others were made, of
// which those that are refused don't count. It reports whether there was such a write.
func (k kind) late(t *testing.T, db *mongo.Database, faults *mongotest.Faults, write int, slow changed, others ...changed) bool {
	t.Helper()
	faults.Reset()
	gate := mongotest.NewGate()
	defer gate.Open()
	match := mongotest.Both(mongotest.Writes, mongotest.On(k.name))
	faults.On(match, write, mongotest.Hold(gate)).From(renewals, 1, mongotest.Fail(96)) // as of a process that stands still
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		_, _, err := slow(k).Run(t.Context(), db)
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
		if _, _, err := c(k).Run(t.Context(), db); err != nil && !refused(err) {
			t.Fatalf("%s: another change: %v", k.name, err)
		}
	}
	gate.Open()
	if err := <-done; err != nil && !refused(err) && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) && !mongo.IsDuplicateKeyError(err) {
		t.Fatalf("%s: the late one: %v", k.name, err)
	}
	return true
}

// refused reports whether a change can't be made of a tree.
func refused(err error) bool {
	for _, kind := range []error{paths.ErrCycle, model.ErrTaken, paths.ErrHasChildren, model.ErrNotFound, paths.ErrSegment} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// Two moves that would make a cycle, of which the first arrives when its lease has run out and
// the second was made.
func TestLateMoveMakesNoCycle(t *testing.T) {
	parallel(t)
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range cutKinds() {
			k = k.quick()
			k.ensure(t, db)
			k.store(t, db, parse("a b"))
			if !k.late(t, db, faults, 1, moved("a", paths.LastChild("b")), moved("b", paths.LastChild("a"))) {
				t.Fatal("it wasn't late")
			}
			k.whole(t, db)
			if got := shape(k.stored(t, db)); got != "b(a)" {
				t.Errorf("%s: %s", k.name, got)
			}
		}
	}, mongotest.WithFaults(faults))
}

// Each write of a change arrives when the change's lease has run out, and others have changed the
// tree. It is whole, and has every node that nobody deleted. Each pair of changes is tried with a quarter
// of the representations, and with all of them where DOCMODEL_FULL is set.
func TestLateWrites(t *testing.T) {
	tenancy.Differs(t, "an _id that was deleted stays taken")
	parallel(t)
	const begin = "a(b c) d(e) f"
	slow := map[string]changed{
		"move to a node":         moved("a", paths.LastChild("f")),
		"move to another":        moved("f", paths.LastChild("d")),
		"move beside":            moved("f", paths.Before("d")),
		"move beside a child":    moved("c", paths.Before("b")),
		"insert a root":          added("x", paths.LastRoot[string]()),
		"insert a child":         added("x", paths.FirstChild("f")),
		"delete a leaf":          deleted("f", paths.Restrict),
		"delete a subtree":       deleted("d", paths.Subtree),
		"delete with promotion":  deleted("a", paths.Promote),
		"delete with rootifying": deleted("d", paths.Rootify),
		"rebalance":              respread,
	}
	others := map[string][]changed{
		"below":                {moved("f", paths.LastChild("c"))},
		"above":                {moved("d", paths.FirstRoot[string]()), moved("a", paths.LastChild("e"))},
		"a child more":         {added("y", paths.FirstChild("f")), added("z", paths.LastRoot[string]())},
		"without it":           {deleted("f", paths.Restrict), deleted("d", paths.Promote)},
		"there and back":       {moved("f", paths.FirstChild("b")), moved("f", paths.LastRoot[string]())},
		"back, and above":      {moved("f", paths.FirstChild("b")), moved("f", paths.LastRoot[string]()), moved("d", paths.LastChild("f"))},
		"a node between":       {added("y", paths.Before("d")), added("z", paths.After("d")), respread},
		"all under one":        {moved("a", paths.LastChild("f")), moved("d", paths.FirstChild("f")), moved("x", paths.LastChild("b"))},
		"deleted, then stored": {deleted("d", paths.Subtree), added("d", paths.LastChild("f")), added("e", paths.LastChild("d"))},
	}
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		n, cases := 0, 0
		for i, k := range cutKinds() {
			k = k.quick()
			k.ensure(t, db)
			for _, name := range slices.Sorted(maps.Keys(slow)) {
				writes := math.MaxInt
				for _, what := range slices.Sorted(maps.Keys(others)) {
					if n++; !every && (n+i)%4 > 0 || few() && n%16 > 0 {
						continue
					}
					for write := 1; write <= writes; write++ {
						k.store(t, db, parse(begin))
						if !k.late(t, db, faults, write, slow[name], others[what]...) {
							writes = write - 1
							break
						}
						cases++
						where := fmt.Sprintf("%s: %s, write %d late, %s", k.name, name, write, what)
						report, err := inspect(t.Context(), db, k.tree)
						if err != nil || len(report) > 0 {
							t.Errorf("%s: %v, %v", where, report, err)
							_, _, _ = mends(k.tree).Run(t.Context(), db)
							continue
						}
						f := k.stored(t, db)
						for _, id := range []string{"b", "c"} { // which nobody deletes
							if !f.Has(id) {
								t.Errorf("%s: %s is lost: %s", where, id, shape(f))
							}
						}
					}
				}
			}
		}
		t.Log(cases, "late writes")
	}, mongotest.WithFaults(faults))
}

// Totals that were computed before those that are stored don't come back.
func TestLateTotals(t *testing.T) {
	parallel(t)
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		faults.Reset()
		k := kinds[0].quick()
		totals := paths.NewRollUp[int64](k.tree, "items", "total")
		k.store(t, db, parse("a(b)"))
		set := func(n int64) {
			t.Helper()
			if _, err := db.Collection(k.name).UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "b"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "items", Value: n}}}}); err != nil {
				t.Fatal(err)
			}
		}
		set(1)
		gate := mongotest.NewGate()
		defer gate.Open()
		faults.On(mongotest.Both(mongotest.Named("update"), mongotest.On(k.name), func(c mongotest.Command) bool {
			_, err := c.Body.Lookup("updates").Array().Index(0).Document().LookupErr("u", "$set", "total")
			return err == nil
		}), 1, mongotest.Hold(gate)).From(renewals, 1, mongotest.Fail(96))
		done := make(chan error, 1)
		go func() { _, _, err := totals.Store().Run(t.Context(), db); done <- err }()
		if _, err := gate.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		set(5)
		if _, _, err := totals.Store().Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		gate.Open()
		if err := <-done; err != nil {
			t.Error(err)
		}
		got, err := k.docs.ByID("a").One(t.Context(), db)
		if err != nil || got.Total == nil || got.Total.Sum != 5 {
			t.Errorf("%+v, %v", got.Total, err)
		}
	}, mongotest.WithFaults(faults))
}

// The first change of a tree makes the lock document, and asks for the greatest number of a change.
func TestFirstChangeCost(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		const asked, inserted, lease = 2, 1, 7
		modeltest.WantCost(t, monitor, model.Cost{Commands: asked + inserted + lease, Written: 1 + 4, Returned: 1}, func() error {
			_, _, err := kinds[0].tree.Insert(category{ID: "x"}, paths.LastRoot[string]()).Run(t.Context(), db)
			return err
		})
	}, mongotest.WithMonitor(monitor))
}

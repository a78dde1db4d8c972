// The whole repair, as a fault matrix: it is cut at each write, and run again.

package tree_test

import (
	"context"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// cutDamage is an orphan, a cycle, siblings without an order among some that have one, and fields that must be parked:
// two nodes have
// each other's.
func cutDamage(k pathstest.Kind, ctx context.Context, db *mongo.Database) error {
	set := func(id, field string, v any) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: field, Value: v}} }
	sets := []bson.D{
		set("e", "parent", "nobody"), set("i", "parent", "j"), set("f", "order", "a0"),
		set("h", "order", ""), set("k", "order", "a0"), set("l", "order", "a0V"), set("m", "order", "a1"),
	}
	swap := func(field string) error {
		var values [2]any
		for i, id := range []string{"c", "d"} {
			doc, err := db.Collection(k.Name).FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Raw()
			if err != nil {
				return err
			}
			values[i] = doc.Lookup(field)
		}
		sets = append(sets, set("c", field, "neither"), set("d", field, values[0]), set("c", field, values[1]))
		return nil
	}
	var err error
	switch {
	case len(k.Fields) == 0:
	case k.Fields[0] == "ancestors":
		sets = append(sets, set("c", "ancestors", []string{"d", "c"}))
	case k.Fields[0] == "children":
		sets = append(sets, set("a", "children", []string{"f", "nobody"}), set("d", "children", nil))
	default:
		err = swap(k.Fields[0])
	}
	if err != nil {
		return err
	}
	return k.SetFields(ctx, db, sets...)
}

// A repair that is cut keeps every node, and the next one comes to the same tree: siblings whose keys were sound stay
// in their order.
func TestRepairCuts(t *testing.T) {
	testkit.Parallel(t)
	const begin, end = "a(b(c d(e)) f) g(h k l m) i(j)", "a(b(c d) f) g(h k l m) e i(j)"
	for _, k := range pathstest.CutKinds() {
		pathstest.Cut{
			Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				if err := pathstest.LoadShape(begin, true)(ctx, db, k); err != nil {
					return err
				}
				return cutDamage(k, ctx, db)
			},
			Run: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
				_, err := pathstest.MendTree(k.Tree).Run(ctx, db)
				return err
			},
			Stays:  pathstest.KeepIDs(strings.Split("abcdefghijklm", "")...),
			Want:   pathstest.WantShape(end),
			Server: "nested paths",
		}.Test(t, k)
	}
}

// An adoption keeps the order of roots that have one, wherever it is cut; those without come after them.
func TestAdoptRootsCuts(t *testing.T) {
	testkit.Parallel(t)
	pathstest.Cut{
		Seed: func(ctx context.Context, db *mongo.Database, k pathstest.Kind) error {
			if err := listsOnly(
				ctx, db, map[string]any{"a": []string{"z"}, "b": nil, "c": nil, "d": nil, "e": nil, "z": nil},
			); err != nil {
				return err
			}
			set := func(id, order string) bson.D {
				return bson.D{
					{Key: "_id", Value: id}, {Key: "order", Value: order},
				}
			}
			return k.SetFields(ctx, db, set("e", "a0"), set("d", "a0V"), set("c", "a0V"), set("b", "a0W"))
		},
		Run: func(ctx context.Context, db *mongo.Database, _ pathstest.Kind) error {
			_, err := childTree.Adopt().Run(ctx, db)
			return err
		},
		Stays: pathstest.KeepIDs(strings.Split("abcdez", "")...),
		Want:  pathstest.WantShape("e c d b a(z)"),
	}.Test(t, childKind)
}

// A repair that was only slow, and comes after another and after changes of its nodes, changes nothing of theirs.
func TestRepairComesLate(t *testing.T) {
	testkit.Parallel(t)
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		for i, k := range pathstest.CutKinds() {
			if testkit.Few() && i%3 > 0 {
				continue
			}
			k = k.Quick()
			k.Ensure(t, db)
			k.Store(t, db, pathstest.Parse("a(b(c d(e)) f) g(h k l m) i(j)"))
			if err := cutDamage(k, t.Context(), db); err != nil {
				t.Fatal(err)
			}
			mend := func(k pathstest.Kind) pathstest.Runner { return pathstest.MendTree(k.Tree) }
			if !runLate(k, t, db, faults, 1, mend, mend,
				pathstest.MoveNode("e", paths.FirstChild("c")), pathstest.MoveNode("i", paths.LastChild("a")),
				pathstest.MoveNode("h", paths.LastChild("g")), pathstest.DeleteNode("f", paths.Subtree)) {
				t.Fatal("it wasn't late")
			}
			if got, want := pathstest.Shape(k.ReadForest(t, db)), "a(b(c(e) d) i(j)) g(k l m h)"; got != want {
				t.Errorf("%s: %s, want %s", k.Name, got, want)
			}
			k.WantWhole(t, db)
		}
	}, faults)
}

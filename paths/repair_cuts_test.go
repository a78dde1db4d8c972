package paths_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// cutSet sets fields of nodes past the tree, one after the other.
func (k kind) cutSet(ctx context.Context, db *mongo.Database, sets ...bson.D) error {
	for _, s := range sets {
		if _, err := db.Collection(k.name).UpdateOne(ctx, s[:1], bson.D{{Key: "$set", Value: s[1:]}}); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	return nil
}

// cutDamage is an orphan, a cycle, siblings without an order among some that have one, and fields that must be parked: two nodes have
// each other's.
func (k kind) cutDamage(ctx context.Context, db *mongo.Database) error {
	set := func(id, field string, v any) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: field, Value: v}} }
	sets := []bson.D{
		set("e", "parent", "nobody"), set("i", "parent", "j"), set("f", "order", "a0"),
		set("h", "order", ""), set("k", "order", "a0"), set("l", "order", "a0V"), set("m", "order", "a1"),
	}
	swap := func(field string) error {
		var values [2]any
		for i, id := range []string{"c", "d"} {
			doc, err := db.Collection(k.name).FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Raw()
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
	case len(k.fields) == 0:
	case k.fields[0] == "ancestors":
		sets = append(sets, set("c", "ancestors", []string{"d", "c"}))
	case k.fields[0] == "children":
		sets = append(sets, set("a", "children", []string{"f", "nobody"}), set("d", "children", nil))
	default:
		err = swap(k.fields[0])
	}
	if err != nil {
		return err
	}
	return k.cutSet(ctx, db, sets...)
}

// A repair that is cut keeps every node, and the next one comes to the same tree: siblings whose keys were sound stay in their order.
func TestRepairCuts(t *testing.T) {
	parallel(t)
	const begin, end = "a(b(c d(e)) f) g(h k l m) i(j)", "a(b(c d) f) g(h k l m) e i(j)"
	for _, k := range cutKinds() {
		cutCase{
			seed: func(ctx context.Context, db *mongo.Database, k kind) error {
				if err := cutLoad(begin, true)(ctx, db, k); err != nil {
					return err
				}
				return k.cutDamage(ctx, db)
			},
			run: func(ctx context.Context, db *mongo.Database, k kind) error {
				_, _, err := mends(k.tree).Run(ctx, db)
				return err
			},
			stays:  cutKeeps(strings.Split("abcdefghijklm", "")...),
			want:   cutWhole(end),
			server: "nested paths",
		}.cut(t, k)
	}
}

// An adoption keeps the order of roots that have one, wherever it is cut; those without come after them.
func TestAdoptRootsCuts(t *testing.T) {
	parallel(t)
	cutCase{
		seed: func(ctx context.Context, db *mongo.Database, k kind) error {
			if err := listsOnly(ctx, db, map[string]any{"a": []string{"z"}, "b": nil, "c": nil, "d": nil, "e": nil, "z": nil}); err != nil {
				return err
			}
			set := func(id, order string) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: "order", Value: order}} }
			return k.cutSet(ctx, db, set("e", "a0"), set("d", "a0V"), set("c", "a0V"), set("b", "a0W"))
		},
		run: func(ctx context.Context, db *mongo.Database, _ kind) error {
			_, _, err := childTree.Adopt().Run(ctx, db)
			return err
		},
		stays: cutKeeps(strings.Split("abcdez", "")...),
		want:  cutWhole("e c d b a(z)"),
	}.cut(t, childKind)
}

// A repair that was only slow, and comes after another and after changes of its nodes, changes nothing of theirs.
func TestRepairComesLate(t *testing.T) {
	parallel(t)
	faults := mongotest.NewFaults()
	testkit.Waits(t, func(t *testing.T, db *mongo.Database) {
		for i, k := range cutKinds() {
			if few() && i%3 > 0 {
				continue
			}
			k = k.quick()
			k.ensure(t, db)
			k.store(t, db, parse("a(b(c d(e)) f) g(h k l m) i(j)"))
			if err := k.cutDamage(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if !k.late(t, db, faults, 1, func(k kind) runner { return mends(k.tree) }, func(k kind) runner { return mends(k.tree) },
				moved("e", paths.FirstChild("c")), moved("i", paths.LastChild("a")), moved("h", paths.LastChild("g")), deleted("f", paths.Subtree)) {
				t.Fatal("it wasn't late")
			}
			if got, want := shape(k.stored(t, db)), "a(b(c(e) d) i(j)) g(k l m h)"; got != want {
				t.Errorf("%s: %s, want %s", k.name, got, want)
			}
			k.whole(t, db)
		}
	}, mongotest.WithFaults(faults))
}

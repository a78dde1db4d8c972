package tree_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listsOnly stores nodes that have their lists alone; of leaves only some have one.
func listsOnly(ctx context.Context, db *mongo.Database, lists map[string]any) error {
	for _, name := range []string{childKind.Name, "docmodel.locks"} {
		if _, err := db.Collection(name).DeleteMany(ctx, bson.D{}); err != nil {
			return err
		}
	}
	var docs []bson.D
	for id, children := range lists {
		d := bson.D{{Key: "_id", Value: id}, {Key: "name", Value: "of " + id}}
		if children != nil {
			d = append(d, bson.E{Key: "children", Value: children})
		}
		docs = append(docs, d)
	}
	_, err := db.Collection(childKind.Name).InsertMany(ctx, docs)
	return err
}

// Lists of any tree become its links, whole but for what the lists say twice or in vain; run again, it writes nothing.
func TestAdopt(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		childKind.Ensure(t, db)
		for seed := range 12 {
			r := rand.New(rand.NewPCG(uint64(seed), 17))
			f := &paths.Forest[string]{}
			for i := range 40 {
				at := paths.LastRoot[string]()
				if i > 2 {
					at = paths.FirstChild(fmt.Sprint("n", 10+r.IntN(min(i, 3+10*(seed%3)))))
				}
				_ = f.Insert(fmt.Sprint("n", 10+i), at)
			}
			lists, noise := map[string]any{}, 0
			for id := range f.All() {
				children := pathstest.Must(f.Children(id))
				switch {
				case len(children) == 0 && r.IntN(2) == 0:
					lists[id] = nil
					continue
				case len(children) > 0 && r.IntN(5) == 0:
					children = slices.Insert(append(children, children[0]), 1, "nobody")
					noise++
				}
				lists[id] = append([]string{}, children...)
			}
			if err := listsOnly(t.Context(), db, lists); err != nil {
				t.Fatal(err)
			}
			adopt := childTree.Adopt()
			before, err := childTree.CheckLists().All(t.Context(), db)
			if err != nil || len(before) != noise {
				t.Fatal(before, err)
			}
			if result, err := adopt.Run(t.Context(), db); err != nil || len(result.Steps) != 40 {
				t.Fatal(result, err)
			}
			if got := pathstest.Shape(childKind.ReadForest(t, db)); got != pathstest.Shape(f) {
				t.Fatalf("seed %d:\n got %s\nwant %s", seed, got, pathstest.Shape(f))
			}
			if result, err := adopt.Run(t.Context(), db); err != nil || len(result.Steps) != 0 {
				t.Fatal(result, err)
			}
			report, err := pathstest.Inspect(t.Context(), db, childKind.Tree)
			if err != nil || len(report) != noise {
				t.Fatalf("seed %d: %v, %v, want %d problems", seed, report, err, noise)
			}
			if _, err := pathstest.MendTree(childKind.Tree).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			childKind.WantWhole(t, db)
			none := bson.D{{Key: "parent", Value: bson.D{{Key: "$exists", Value: false}}}}
			if n, err := db.Collection(childKind.Name).CountDocuments(t.Context(), none); err != nil || n > 0 {
				t.Errorf("%d nodes have no parent field, %v", n, err)
			}
			if n := childDoc(t, db, "n10"); n.Name != "of n10" {
				t.Error(n)
			}
		}
		// Other code goes on writing lists: adopted again, a moved node is where it is now, and writes little.
		if err := listsOnly(
			t.Context(), db, map[string]any{"a": []string{"b", "c"}, "b": []string{}, "c": nil, "d": []string{}},
		); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"a(b c) d", "a(b) d(c)"} {
			result, err := childTree.Adopt().Run(t.Context(), db)
			if got := pathstest.Shape(
				childKind.ReadForest(t, db),
			); err != nil || got != want || i == 1 && len(result.Steps) != 1 {
				t.Fatal(got, len(result.Steps), err)
			}
			childSet(t, db, "a", bson.D{{Key: "children", Value: []string{"b"}}})
			childSet(t, db, "d", bson.D{{Key: "children", Value: []string{"c"}}})
		}
		childKind.WantWhole(t, db)
	})
}

// Adopted lists go on to every other representation.
func TestAdoptConvert(t *testing.T) {
	testkit.Parallel(t)
	array := paths.NewAncestorArray(childKind.Docs, paths.AncestorArraySpec{})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := listsOnly(
			t.Context(), db, map[string]any{"a": []string{"c", "b"}, "c": []string{"d"}, "b": nil, "d": nil},
		); err != nil {
			t.Fatal(err)
		}
		for _, c := range []model.Change{childTree.Adopt(), paths.Convert(childKind.Tree, array)} {
			if _, err := c.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		converted := childKind
		converted.Tree = array
		got, err := pathstest.IDs(converted.ReadBelow(t.Context(), db, "a", 0))
		if err != nil {
			t.Fatal(err)
		}
		pathstest.MustEqual(t, "below", got, []string{"c", "d", "b"})
	})
}

// What no person but the owner can decide is told, and nothing is written.
func TestAdoptRefuses(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for name, c := range map[string]struct {
			lists map[string]any
			want  []string
		}{
			"two parents": {map[string]any{"a": []string{"c"}, "b": []string{"c", "d"}, "c": nil, "d": nil}, []string{
				"'c' is a child of two nodes: the children of 'a' and of 'b' name it",
			}},
			"three": {map[string]any{"a": []string{"d"}, "b": []string{"d"}, "c": []string{"d"}, "d": nil},
				[]string{
					"'d' is a child of two nodes: the children of 'a' and of 'b' name it",
					"'d' is a child of two nodes: the children of 'a' and of 'c' name it",
				}},
			"itself": {map[string]any{"a": []string{"a"}, "b": nil}, []string{
				"'a' is its own ancestor: children is 'a'",
			}},
			"a cycle": {map[string]any{
				"a": []string{"b"}, "b": []string{"c", "d"}, "c": []string{"a"}, "d": nil,
			}, []string{"'a' is its own ancestor: children is 'c'"}},
			"no list": {map[string]any{"a": "b", "b": []string{}}, []string{
				"'a' isn't a list of nodes: children is 'b'",
			}},
			"all others": {map[string]any{"a": []string{"b", "x"}, "b": []string{"b"}}, []string{
				"'b' is a child of two nodes: the children of 'a' and of 'b' name it",
			}},
		} {
			if err := listsOnly(t.Context(), db, c.lists); err != nil {
				t.Fatal(err)
			}
			_, err := childTree.Adopt().Run(t.Context(), db)
			if !errors.Is(err, paths.ErrDamaged) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			report, errReport := childTree.CheckLists().All(t.Context(), db)
			if errReport != nil {
				t.Error(name, errReport)
			}
			var got []string
			first := ""
			for _, p := range report {
				if slices.Contains([]string{"twoParents", "cycle", "notAList"}, pathstest.ReadKind(p)) {
					got = append(got, model.Shell(p.ID)+" "+p.Problem)
					first = cmp.Or(first, p.String())
				}
			}
			pathstest.MustEqual(t, name, got, c.want)
			if more := fmt.Sprintf(
				"and %d more", len(got)-1,
			); !strings.Contains(err.Error(), first) || len(got) > 1 != strings.HasSuffix(err.Error(), more) {
				t.Errorf("%s: %v", name, err)
			}
			if n, err := db.Collection(childKind.Name).CountDocuments(
				t.Context(), bson.D{{Key: "change", Value: bson.D{{Key: "$exists", Value: true}}}},
			); err != nil || n > 0 {
				t.Errorf("%s: %d documents were written, %v", name, n, err)
			}
		}
		// A link that the lists contradict is told of, and follows them.
		childKind.Store(t, db, pathstest.Parse("a(b) c"))
		childSet(t, db, "b", bson.D{{Key: "parent", Value: "c"}})
		report, err := childTree.CheckLists().All(t.Context(), db)
		if err != nil || len(report) != 1 ||
			model.Shell(report[0].ID)+" "+report[0].Problem != "'b' has a wrong parent: 'c', not 'a'" {
			t.Error(report, err)
		}
		if _, err := childTree.Adopt().Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		childKind.WantWhole(t, db)
	})
}

// An adoption that is cut at any write goes on where it was.
func TestAdoptCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return listsOnly(
				ctx, db, map[string]any{"a": []string{"c", "b"}, "b": nil, "c": []string{"d", "e"}, "d": nil, "e": nil},
			)
		},
		Match: func(c mongotest.Command) bool { return mongotest.Writes(c) && c.Collection == childKind.Name },
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := childKind.Declare(
				childKind.Docs, paths.TreeSpec{For: 300 * time.Millisecond, Wait: 10 * time.Second},
			).Adopt().Run(ctx, db)
			if err == nil { // the lease's number is no part of the matrix
				_, err = db.Collection("docmodel.locks").UpdateMany(
					ctx, bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "fence", Value: int64(1000)}}}},
				)
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			if got := pathstest.Shape(childKind.ReadForest(t, db)); got != "a(c(d e) b)" {
				t.Error(got)
			}
			childKind.WantWhole(t, db)
		},
	})
}

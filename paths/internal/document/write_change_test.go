package document_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// documentStep is a random operation, done to the plain tree.
func documentStep(
	r *rand.Rand, f *paths.Forest[string],
) (name string, change func(*pathstest.Remarks) model.Change, want error) {
	ref := pathstest.PickID(r, f)
	place := []paths.Place[string]{
		paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref), paths.FirstRoot[string](),
		paths.LastRoot[string](),
	}[r.IntN(6)]
	id := pathstest.PickID(r, f)
	grow := 45
	if f.Len() > 40 {
		grow = 25
	}
	switch n := r.IntN(100); {
	case n < grow:
		id := pathstest.Hostile[r.IntN(len(pathstest.Hostile))]
		if r.IntN(8) > 0 {
			id += fmt.Sprint(r.IntN(1000))
		}
		want = f.Insert(id, place)
		return fmt.Sprintf("insert %q %v", id, place), func(t *pathstest.Remarks) model.Change {
			return t.Insert("p", pathstest.Remark{ID: id, Text: "of " + id, Parent: "else", Order: "else"}, place)
		}, want
	case n < 80:
		want = f.Move(id, place)
		return fmt.Sprintf(
			"move %q %v", id, place,
		), func(t *pathstest.Remarks) model.Change { return t.Move("p", id, place) }, want
	case n < 90:
		if !pathstest.Contains(f, id) {
			want = model.ErrNotFound
		}
		return fmt.Sprintf("set %q", id), func(t *pathstest.Remarks) model.Change {
			if n%2 == 0 {
				return t.Replace("p", pathstest.Remark{ID: id, Text: "of " + id, Likes: n})
			}
			return t.Set("p", id, bson.D{{Key: "likes", Value: n}})
		}, want
	}
	mode := paths.DeleteMode(r.IntN(4))
	want = f.Delete(id, mode)
	return fmt.Sprintf(
		"delete %q %v", id, pathstest.ModeName(mode),
	), func(t *pathstest.Remarks) model.Change { return t.Delete("p", id, mode) }, want
}

// Random operations leave each form as they leave the plain tree, with the same errors; every query gives the same, and
// the check
// finds nothing.
func TestDocumentTreeLockstep(t *testing.T) {
	testkit.Parallel(t)
	steps := 250
	switch {
	case pathstest.Full:
		steps = 1500
	case testkit.Few():
		steps = 100
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range pathstest.DocumentForms {
			f.Start(t, db)
		}
		r := rand.New(rand.NewPCG(uint64(steps), 11))
		forest := &paths.Forest[string]{}
		for i := range steps {
			op, change, want := documentStep(r, forest)
			for _, f := range pathstest.DocumentForms {
				if _, err := change(f.Tree).Run(t.Context(), db); !pathstest.SameError(err, want) {
					t.Fatalf("step %d, %s: %s: %v, want %v\nof %s", i, f.Name, op, err, want, pathstest.Shape(forest))
				}
				if got := f.Shape(t, db); got != pathstest.Shape(forest) {
					t.Fatalf("step %d, %s: %s\n got %s\nwant %s", i, f.Name, op, got, pathstest.Shape(forest))
				}
				if i%10 == 0 {
					compareForms(f, t, db, forest, pathstest.PickID(r, forest), pathstest.PickID(r, forest))
				}
			}
		}
	})
}

// compareForms reads what is stored.
func compareForms(
	f pathstest.DocumentForm, t *testing.T, db *mongo.Database, forest *paths.Forest[string], id, other string,
) {
	t.Helper()
	if problems, err := pathstest.DamageList(t.Context(), db, f.Tree, "p"); err != nil || len(problems) > 0 {
		t.Fatalf("%s: %v, %v", f.Name, problems, err)
	}
	if !pathstest.Contains(forest, id) || !pathstest.Contains(forest, other) {
		return
	}
	ctx := t.Context()
	got, err := f.ReadForest(ctx, db, "p")
	if err != nil {
		t.Fatal(f.Name, err)
	}
	all, err := f.ReadAll(ctx, db, "p")
	if err != nil || pathstest.DocumentForest(all) != pathstest.Shape(forest) ||
		pathstest.Shape(got) != pathstest.Shape(forest) {
		t.Fatalf(
			"%s: %s, %s, %v, want %s", f.Name, pathstest.DocumentForest(all), pathstest.Shape(got), err,
			pathstest.Shape(forest),
		)
	}
	for _, v := range all {
		if r := v.Doc; r.Text != "of "+r.ID {
			t.Errorf("%s: %q has the text %q", f.Name, r.ID, r.Text)
		}
	}
}

// What goes wrong says what it is, and writes nothing.
func TestDocumentTreeErrors(t *testing.T) {
	testkit.Parallel(t)
	var value *model.ValueError
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range pathstest.DocumentForms {
			f.Grow(t, db, "a(b(c) d) e")
			tree := f.Tree
			for _, test := range []struct {
				reason string
				change model.Change
				want   error
			}{
				{
					"an owner that isn't there", tree.Insert("q", pathstest.Remark{ID: "x"}, paths.LastRoot[string]()),
					model.ErrNotFound,
				},
				{
					"a node that is there", tree.Insert("p", pathstest.Remark{ID: "c"}, paths.LastRoot[string]()),
					model.ErrTaken,
				},
				{"under none", tree.Insert("p", pathstest.Remark{ID: "x"}, paths.LastChild("z")), model.ErrNotFound},
				{"beside none", tree.Insert("p", pathstest.Remark{ID: "x"}, paths.After("z")), model.ErrNotFound},
				{"under itself", tree.Move("p", "b", paths.FirstChild("b")), paths.ErrCycle},
				{"under what is below it", tree.Move("p", "a", paths.LastChild("c")), paths.ErrCycle},
				{"beside what is below it", tree.Move("p", "a", paths.Before("c")), paths.ErrCycle},
				{"to none", tree.Move("p", "a", paths.Before("z")), model.ErrNotFound},
				{"of none", tree.Move("p", "z", paths.Before("a")), model.ErrNotFound},
				{"with children", tree.Delete("p", "b", paths.Restrict), paths.ErrHasChildren},
				{"deleting none", tree.Delete("p", "z", paths.Subtree), model.ErrNotFound},
				{"setting none", tree.Set("p", "z", bson.D{{Key: "text", Value: "x"}}), model.ErrNotFound},
				{"replacing none", tree.Replace("p", pathstest.Remark{ID: "z"}), model.ErrNotFound},
				{"a wrong mode", tree.Delete("p", "b", 9), nil},
				{"no id", tree.Insert("p", pathstest.Remark{}, paths.LastRoot[string]()), nil},
				{"an empty id", tree.Move("p", "", paths.LastRoot[string]()), nil},
				{"an empty owner", tree.Move("", "a", paths.LastRoot[string]()), nil},
				{"an empty place", tree.Move("p", "a", paths.After("")), nil},
				{"no fields", tree.Set("p", "a", nil), nil},
				{"is empty: give an id", tree.Set("p", "a", bson.D{{Key: "id", Value: "x"}}), nil},
				{"a field that isn't there", tree.Set("p", "a", bson.D{{Key: "txet", Value: "x"}}), nil},
				{"an operator", tree.Set("p", "a", bson.D{{Key: "$text", Value: "x"}}), nil},
				{
					"a field twice", tree.Set("p", "a", bson.D{{Key: "text", Value: "x"}, {Key: "text", Value: "y"}}),
					nil,
				},
			} {
				_, err := test.change.Run(t.Context(), db)
				if test.want == nil && !errors.As(err, &value) || test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("%s: %s: %v, want %v", f.Name, test.reason, err, test.want)
				}
			}
			if got := f.Shape(t, db); got != "a(b(c) d) e" {
				t.Errorf("%s: %s", f.Name, got)
			}
			if result, err := tree.Move(
				"p", "b", paths.After("b"),
			).Run(t.Context(), db); err != nil || len(result.Batches) > 0 {
				t.Errorf("%s: beside itself: %v, %v", f.Name, result, err)
			}
		}
	})
}

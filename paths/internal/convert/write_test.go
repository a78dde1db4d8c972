package convert_test

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
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// convertForms are forms of trees in documents, in collections that no other tree has.
var convertForms = []pathstest.DocumentForm{
	pathstest.DocumentFormOf("convertListed", paths.DocumentTreeSpec{Revision: "rev"}),
	pathstest.DocumentFormOf("convertKeyed", paths.DocumentTreeSpec{Order: "order"}),
	pathstest.DocumentFormOf("convertNested", paths.DocumentTreeSpec{Nested: "below"}),
}

func convertRemark(c pathstest.Category) (pathstest.Remark, error) {
	return pathstest.Remark{ID: c.ID, Text: c.Name}, nil
}
func convertBack(r pathstest.Remark) (pathstest.Category, error) {
	return pathstest.Category{ID: r.ID, Name: r.Text}, nil
}

// Trees go into a document and come back, the same in each form and representation.
func TestConvertRoundTrip(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range pathstest.Kinds {
			k.Ensure(t, db)
		}
		for i, from := range pathstest.Kinds {
			for j, form := range convertForms {
				if !pathstest.Full && j != i%len(convertForms) {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 77))
				form.Start(t, db)
				from.StoreNamed(t, db, pathstest.DrawForest(r, 25))
				into := paths.Absorb(from.Tree, form.Tree, "p", convertRemark, paths.AbsorbSpec[string]{Delete: true})
				to := pathstest.Kinds[(i+1)%len(pathstest.Kinds)]
				to.Clear(t, db)
				back := paths.Extract(form.Tree, "p", to.Tree, convertBack, paths.IntoSpec[string]{Delete: true})
				again := paths.ConvertInto(to.Tree, from.Tree, convertCopy, paths.IntoSpec[string]{Delete: true})
				for round := range 2 {
					if result, err := into.Run(t.Context(), db); err != nil || result.Modified() != 1 {
						t.Fatalf("%s into %s: %v, %v", from.Name, form.Name, result, err)
					}
					if result, err := into.Run(t.Context(), db); err != nil || len(result.Batches) > 0 {
						t.Fatalf("%s into %s again: %v, %v", from.Name, form.Name, result, err)
					}
					if got, want := form.Shape(t, db), pathstest.Shape(from.ReadForest(t, db)); got != want {
						t.Fatalf("%s into %s: %s, want %s", from.Name, form.Name, got, want)
					}
					if problems, err := pathstest.DamageList(
						t.Context(), db, form.Tree, "p",
					); err != nil || len(problems) > 0 {
						t.Fatal(problems, err)
					}
					if _, err := back.Run(t.Context(), db, model.JobOptions{BatchSize: 9}); err != nil {
						t.Fatalf("%s to %s: %v", form.Name, to.Name, err)
					}
					if done, err := back.Run(
						t.Context(), db, model.JobOptions{BatchSize: 9},
					); err != nil || done.Writes > 0 {
						t.Fatalf("%s to %s again: %+v, %v", form.Name, to.Name, done, err)
					}
					to.WantWhole(t, db)
					if form.Spec.Order != "" {
						convertSame(t, db, from, to)
					} else if got, want := pathstest.Shape(to.ReadForest(t, db)), pathstest.Shape(
						from.ReadForest(t, db),
					); got != want {
						t.Fatalf("%s to %s: %s, want %s", form.Name, to.Name, got, want)
					}
					if done, err := again.Run(
						t.Context(), db, model.JobOptions{DryRun: true},
					); err != nil || form.Spec.Order != "" && done.Writes > 0 {
						t.Fatalf("%s back to %s: %+v, %v", to.Name, from.Name, done, err)
					}
					if round == 0 {
						changeAtRandom(from, t, db, r, 10)
					}
				}
			}
		}
		for _, a := range convertForms {
			for _, b := range convertForms {
				if a.Name == b.Name {
					continue
				}
				a.Grow(t, db, "a(b(c d(e)) f) g(h)")
				b.Start(t, db)
				keep := func(r pathstest.Remark) (pathstest.Remark, error) {
					return pathstest.Remark{ID: r.ID, Text: r.Text}, nil
				}
				for n := range 2 {
					result, err := paths.ConvertDocument(
						a.Tree, "p", b.Tree, "p", keep, paths.AbsorbSpec[string]{},
					).Run(t.Context(), db)
					if err != nil || int(result.Modified()) != 1-n || b.Shape(t, db) != a.Shape(t, db) {
						t.Fatalf("%s to %s: %v, %s, %v", a.Name, b.Name, result, b.Shape(t, db), err)
					}
				}
			}
		}
	})
}

// What doesn't fit is refused, and nothing is written.
func TestConvertDocumentRefuses(t *testing.T) {
	testkit.Parallel(t)
	small := paths.NewDocumentTree[pathstest.Remark, string](
		pathstest.FlatForm.Docs, "remarks", paths.DocumentTreeSpec{Max: 3},
	)
	bytes := paths.NewDocumentTree[pathstest.Remark, string](
		pathstest.FlatForm.Docs, "remarks", paths.DocumentTreeSpec{MaxBytes: 150},
	)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		from := pathstest.Kinds[1]
		from.StoreNamed(t, db, pathstest.Parse("a(b(c) d)"))
		pathstest.FlatForm.Grow(t, db, "a(z)")
		b, none := "b", "none"
		for _, c := range []struct {
			reason string
			to     *pathstest.Remarks
			owner  string
			spec   paths.AbsorbSpec[string]
			make   func(pathstest.Category) (pathstest.Remark, error)
			want   error
		}{
			{"a node that would go", pathstest.FlatForm.Tree, "p", paths.AbsorbSpec[string]{}, convertRemark, nil},
			{"too many", small, "p", paths.AbsorbSpec[string]{Delete: true}, convertRemark, model.ErrFull},
			{"too large", bytes, "p", paths.AbsorbSpec[string]{Delete: true}, convertRemark, model.ErrFull},
			{"no owner", pathstest.FlatForm.Tree, "q", paths.AbsorbSpec[string]{}, convertRemark, model.ErrNotFound},
			{
				"no top", pathstest.FlatForm.Tree, "p", paths.AbsorbSpec[string]{Top: &none}, convertRemark,
				model.ErrNotFound,
			},
			{
				"one id", pathstest.FlatForm.Tree, "p", paths.AbsorbSpec[string]{},
				func(pathstest.Category) (pathstest.Remark, error) { return pathstest.Remark{ID: "o"}, nil },
				model.ErrTaken,
			},
			{"no function", pathstest.FlatForm.Tree, "p", paths.AbsorbSpec[string]{}, nil, nil},
			{
				"no id", pathstest.FlatForm.Tree, "p", paths.AbsorbSpec[string]{},
				func(pathstest.Category) (pathstest.Remark, error) { return pathstest.Remark{}, nil }, nil,
			},
		} {
			_, err := paths.Absorb(from.Tree, c.to, c.owner, c.make, c.spec).Run(t.Context(), db)
			var value *model.ValueError
			if c.want == nil && !errors.As(err, &value) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.reason, err, c.want)
			}
			if got := pathstest.FlatForm.Shape(t, db); got != "a(z)" {
				t.Errorf("%s: %s", c.reason, got)
			}
		}
		if _, err := paths.Absorb(
			from.Tree, pathstest.FlatForm.Tree, "p", convertRemark, paths.AbsorbSpec[string]{Top: &b, Delete: true},
		).Run(t.Context(), db); err != nil || pathstest.FlatForm.Shape(t, db) != "b(c)" {
			t.Errorf("a subtree: %s, %v", pathstest.FlatForm.Shape(t, db), err)
		}
		deep := &paths.Forest[string]{}
		for i := range 60 {
			at := paths.LastRoot[string]()
			if i > 0 {
				at = paths.LastChild(fmt.Sprint("n", i-1))
			}
			_ = deep.Insert(fmt.Sprint("n", i), at)
		}
		from.Store(t, db, deep)
		convertForms[2].Start(t, db)
		if _, err := paths.Absorb(
			from.Tree, convertForms[2].Tree, "p", convertRemark, paths.AbsorbSpec[string]{},
		).Run(t.Context(), db); !errors.Is(err, model.ErrFull) {
			t.Errorf("too deep: %v", err)
		}
		if _, err := paths.Extract(
			pathstest.FlatForm.Tree, "q", from.Tree, convertBack, paths.IntoSpec[string]{},
		).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("no owner: %v", err)
		}
	})
}

// Where the source has no order keys, those that are stored stay: a new node among them is one write.
func TestExtractKeepsKeys(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		form, to := convertForms[0], pathstest.Kinds[1]
		form.Grow(t, db, "a(b c d) e")
		to.Clear(t, db)
		c := paths.Extract(form.Tree, "p", to.Tree, convertBack, paths.IntoSpec[string]{})
		for _, step := range []struct {
			change model.Change
			writes int64
			want   string
		}{
			{model.Change{}, 5, "a(b c d) e"},
			{form.Tree.Insert("p", pathstest.Remark{ID: "x"}, paths.FirstChild("a")), 1, "a(x b c d) e"},
			{form.Tree.Insert("p", pathstest.Remark{ID: "y"}, paths.Before("c")), 1, "a(x b y c d) e"},
			{form.Tree.Move("p", "d", paths.FirstChild("a")), 1, "a(d x b y c) e"},
		} {
			if step.change.Name != "" {
				if _, err := step.change.Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			done, err := c.Run(t.Context(), db, model.JobOptions{})
			if err != nil || done.Modified != step.writes || pathstest.Shape(to.ReadForest(t, db)) != step.want {
				t.Fatalf("%s: %s, %+v, %v", step.want, pathstest.Shape(to.ReadForest(t, db)), done, err)
			}
			to.WantWhole(t, db)
		}
	})
}

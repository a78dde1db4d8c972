package paths_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// convertForms are forms of trees in documents, in collections that no other tree has.
var convertForms = []documentForm{
	documentFormOf("convertListed", paths.DocumentTreeSpec{Revision: "rev"}), documentFormOf("convertKeyed", paths.DocumentTreeSpec{Order: "order"}),
	documentFormOf("convertNested", paths.DocumentTreeSpec{Nested: "below"}),
}

func convertRemark(c category) (remark, error) { return remark{ID: c.ID, Text: c.Name}, nil }
func convertBack(r remark) (category, error)   { return category{ID: r.ID, Name: r.Text}, nil }

// Trees go into a document and come back, the same in each form and representation.
func TestConvertRoundTrip(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, k := range kinds {
			k.ensure(t, db)
		}
		for i, from := range kinds {
			for j, form := range convertForms {
				if !full && j != i%len(convertForms) {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 77))
				form.start(t, db)
				from.convertStore(t, db, convertForest(r, 25))
				into := paths.Absorb(from.tree, form.tree, "p", convertRemark, paths.AbsorbSpec[string]{Delete: true})
				to := kinds[(i+1)%len(kinds)]
				to.convertClear(t, db)
				back := paths.Extract(form.tree, "p", to.tree, convertBack, paths.IntoSpec[string]{Delete: true})
				again := paths.ConvertInto(to.tree, from.tree, convertCopy, paths.IntoSpec[string]{Delete: true})
				for round := range 2 {
					if _, result, err := into.Run(t.Context(), db); err != nil || result.Modified() != 1 {
						t.Fatalf("%s into %s: %v, %v", from.name, form.name, result, err)
					}
					if _, result, err := into.Run(t.Context(), db); err != nil || len(result.Batches) > 0 {
						t.Fatalf("%s into %s again: %v, %v", from.name, form.name, result, err)
					}
					if got, want := form.shape(t, db), shape(from.stored(t, db)); got != want {
						t.Fatalf("%s into %s: %s, want %s", from.name, form.name, got, want)
					}
					if problems, err := damage(t.Context(), db, form.tree, "p"); err != nil || len(problems) > 0 {
						t.Fatal(problems, err)
					}
					if _, err := back.Run(t.Context(), db, model.JobOptions{BatchSize: 9}); err != nil {
						t.Fatalf("%s to %s: %v", form.name, to.name, err)
					}
					if done, err := back.Run(t.Context(), db, model.JobOptions{BatchSize: 9}); err != nil || done.Writes > 0 {
						t.Fatalf("%s to %s again: %+v, %v", form.name, to.name, done, err)
					}
					to.whole(t, db)
					if form.spec.Order != "" {
						convertSame(t, db, from, to)
					} else if got, want := shape(to.stored(t, db)), shape(from.stored(t, db)); got != want {
						t.Fatalf("%s to %s: %s, want %s", form.name, to.name, got, want)
					}
					if done, err := again.Run(t.Context(), db, model.JobOptions{DryRun: true}); err != nil || form.spec.Order != "" && done.Writes > 0 {
						t.Fatalf("%s back to %s: %+v, %v", to.name, from.name, done, err)
					}
					if round == 0 {
						from.convertChange(t, db, r, 10)
					}
				}
			}
		}
		for _, a := range convertForms {
			for _, b := range convertForms {
				if a.name == b.name {
					continue
				}
				a.grow(t, db, "a(b(c d(e)) f) g(h)")
				b.start(t, db)
				keep := func(r remark) (remark, error) { return remark{ID: r.ID, Text: r.Text}, nil }
				for n := range 2 {
					_, result, err := paths.ConvertDocument(a.tree, "p", b.tree, "p", keep, paths.AbsorbSpec[string]{}).Run(t.Context(), db)
					if err != nil || int(result.Modified()) != 1-n || b.shape(t, db) != a.shape(t, db) {
						t.Fatalf("%s to %s: %v, %s, %v", a.name, b.name, result, b.shape(t, db), err)
					}
				}
			}
		}
	})
}

// What doesn't fit is refused, and nothing is written.
func TestConvertDocumentRefuses(t *testing.T) {
	parallel(t)
	small := paths.NewDocumentTree[remark, string](listed.docs, "remarks", paths.DocumentTreeSpec{Max: 3})
	bytes := paths.NewDocumentTree[remark, string](listed.docs, "remarks", paths.DocumentTreeSpec{MaxBytes: 150})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		from := kinds[1]
		from.convertStore(t, db, parse("a(b(c) d)"))
		listed.grow(t, db, "a(z)")
		b, none := "b", "none"
		for _, c := range []struct {
			reason string
			to     *remarks
			owner  string
			spec   paths.AbsorbSpec[string]
			make   func(category) (remark, error)
			want   error
		}{
			{"a node that would go", listed.tree, "p", paths.AbsorbSpec[string]{}, convertRemark, nil},
			{"too many", small, "p", paths.AbsorbSpec[string]{Delete: true}, convertRemark, model.ErrFull},
			{"too large", bytes, "p", paths.AbsorbSpec[string]{Delete: true}, convertRemark, model.ErrFull},
			{"no owner", listed.tree, "q", paths.AbsorbSpec[string]{}, convertRemark, model.ErrNotFound},
			{"no top", listed.tree, "p", paths.AbsorbSpec[string]{Top: &none}, convertRemark, model.ErrNotFound},
			{"one id", listed.tree, "p", paths.AbsorbSpec[string]{}, func(category) (remark, error) { return remark{ID: "o"}, nil }, model.ErrTaken},
			{"no function", listed.tree, "p", paths.AbsorbSpec[string]{}, nil, nil},
			{"no id", listed.tree, "p", paths.AbsorbSpec[string]{}, func(category) (remark, error) { return remark{}, nil }, nil},
		} {
			_, _, err := paths.Absorb(from.tree, c.to, c.owner, c.make, c.spec).Run(t.Context(), db)
			var value *model.ValueError
			if c.want == nil && !errors.As(err, &value) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.reason, err, c.want)
			}
			if got := listed.shape(t, db); got != "a(z)" {
				t.Errorf("%s: %s", c.reason, got)
			}
		}
		if _, _, err := paths.Absorb(from.tree, listed.tree, "p", convertRemark, paths.AbsorbSpec[string]{Top: &b, Delete: true}).Run(t.Context(), db); err != nil || listed.shape(t, db) != "b(c)" {
			t.Errorf("a subtree: %s, %v", listed.shape(t, db), err)
		}
		deep := &paths.Forest[string]{}
		for i := range 60 {
			at := paths.LastRoot[string]()
			if i > 0 {
				at = paths.LastChild(fmt.Sprint("n", i-1))
			}
			_ = deep.Insert(fmt.Sprint("n", i), at)
		}
		from.store(t, db, deep)
		convertForms[2].start(t, db)
		if _, _, err := paths.Absorb(from.tree, convertForms[2].tree, "p", convertRemark, paths.AbsorbSpec[string]{}).Run(t.Context(), db); !errors.Is(err, model.ErrFull) {
			t.Errorf("too deep: %v", err)
		}
		if _, err := paths.Extract(listed.tree, "q", from.tree, convertBack, paths.IntoSpec[string]{}).Run(t.Context(), db, model.JobOptions{}); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("no owner: %v", err)
		}
	})
}

// Where the source has no order keys, those that are stored stay: a new node among them is one write.
func TestExtractKeepsKeys(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		form, to := convertForms[0], kinds[1]
		form.grow(t, db, "a(b c d) e")
		to.convertClear(t, db)
		c := paths.Extract(form.tree, "p", to.tree, convertBack, paths.IntoSpec[string]{})
		for _, step := range []struct {
			change model.Change[any]
			writes int64
			want   string
		}{
			{model.Change[any]{}, 5, "a(b c d) e"},
			{form.tree.Insert("p", remark{ID: "x"}, paths.FirstChild("a")), 1, "a(x b c d) e"},
			{form.tree.Insert("p", remark{ID: "y"}, paths.Before("c")), 1, "a(x b y c d) e"},
			{form.tree.Move("p", "d", paths.FirstChild("a")), 1, "a(d x b y c) e"},
		} {
			if step.change.Read != nil {
				if _, _, err := step.change.Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			done, err := c.Run(t.Context(), db, model.JobOptions{})
			if err != nil || done.Modified != step.writes || shape(to.stored(t, db)) != step.want {
				t.Fatalf("%s: %s, %+v, %v", step.want, shape(to.stored(t, db)), done, err)
			}
			to.whole(t, db)
		}
	})
}

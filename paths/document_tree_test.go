package paths_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Articles with remarks, in each form.
type (
	article struct {
		ID      string   `bson:"_id"`
		Rev     int64    `bson:"rev"`
		Remarks []remark `bson:"remarks,omitempty"`
	}
	remark struct {
		ID     string   `bson:"id"`
		Parent string   `bson:"parent,omitempty"`
		Order  string   `bson:"order,omitempty"`
		Text   string   `bson:"text,omitempty"`
		Likes  int      `bson:"likes,omitempty"`
		Below  []remark `bson:"below,omitempty"`
	}
	remarks = paths.DocumentTree[remark, string, string]
)

// A documentForm is a form of the tree, in a collection of its own.
type documentForm struct {
	name string
	docs *model.Collection[article, string]
	tree *remarks
	spec paths.DocumentTreeSpec
}

var (
	listed    = documentFormOf("listed", paths.DocumentTreeSpec{})
	listedRev = documentFormOf("listedRev", paths.DocumentTreeSpec{Revision: "rev"})
	keyed     = documentFormOf("keyed", paths.DocumentTreeSpec{Order: "order"})
	keyedRev  = documentFormOf("keyedRev", paths.DocumentTreeSpec{Order: "order", Revision: "rev"})
	nested    = documentFormOf("nested", paths.DocumentTreeSpec{Nested: "below"})
	nestedRev = documentFormOf("nestedRev", paths.DocumentTreeSpec{Nested: "below", Revision: "rev"})

	documentForms = []documentForm{listed, listedRev, keyed, keyedRev, nested, nestedRev}
)

func documentFormOf(name string, spec paths.DocumentTreeSpec) documentForm {
	c := model.NewCollection[article, string](name)
	return documentForm{name, c, paths.NewDocumentTree[remark, string](c, "remarks", spec), spec}
}

// start stores an article without remarks.
func (f documentForm) start(t testing.TB, db *mongo.Database, more ...remark) {
	t.Helper()
	if _, err := db.Collection(f.name).DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection(f.name).InsertOne(t.Context(), article{ID: "p", Remarks: more}); err != nil {
		t.Fatal(err)
	}
}

// documentForest is what the stored tree is.
func documentForest(visits []paths.Visit[remark]) string {
	var b strings.Builder
	depth := -1
	for i, v := range visits {
		switch {
		case v.Depth > depth && i > 0:
			b.WriteString("(")
		case i > 0:
			b.WriteString(strings.Repeat(")", depth-v.Depth) + " ")
		}
		depth = v.Depth
		b.WriteString(v.Doc.ID)
	}
	return b.String() + strings.Repeat(")", max(depth, 0))
}

func (f documentForm) shape(t testing.TB, db *mongo.Database) string {
	t.Helper()
	all, err := f.all(t.Context(), db, "p")
	if err != nil {
		t.Fatal(err)
	}
	return documentForest(all)
}

// all reads an article's remarks, in preorder.
func (f documentForm) all(ctx context.Context, db *mongo.Database, owner string) (out []paths.Visit[remark], err error) {
	doc, err := f.docs.ByID(owner).One(ctx, db)
	if err != nil {
		return nil, err
	}
	for v, err := range f.tree.Arrange(doc.Remarks) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// forest is what an article's remarks make.
func (f documentForm) forest(ctx context.Context, db *mongo.Database, owner string) (*paths.Forest[string], error) {
	doc, err := f.docs.ByID(owner).One(ctx, db)
	if err != nil {
		return nil, err
	}
	return paths.NewForest(f.tree.Arrange(doc.Remarks), func(r remark) string { return r.ID })
}

// grow makes a tree of a small notation: a(b c(d)).
func (f documentForm) grow(t testing.TB, db *mongo.Database, notation string) {
	t.Helper()
	f.start(t, db)
	parents := []string{}
	last := ""
	for token := range strings.FieldsSeq(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(notation)) {
		switch token {
		case "(":
			parents = append(parents, last)
		case ")":
			parents = parents[:len(parents)-1]
		default:
			at := paths.LastRoot[string]()
			if len(parents) > 0 {
				at = paths.LastChild(parents[len(parents)-1])
			}
			last = token
			if _, _, err := f.tree.Insert("p", remark{ID: token}, at).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// documentStep is a random operation, done to the plain tree.
func documentStep(r *rand.Rand, f *paths.Forest[string]) (name string, change func(*remarks) model.Change[any], want error) {
	ref := pick(r, f)
	place := []paths.Place[string]{
		paths.FirstChild(ref), paths.LastChild(ref), paths.Before(ref), paths.After(ref), paths.FirstRoot[string](), paths.LastRoot[string](),
	}[r.IntN(6)]
	id := pick(r, f)
	grow := 45
	if f.Len() > 40 {
		grow = 25
	}
	switch n := r.IntN(100); {
	case n < grow:
		id := hostile[r.IntN(len(hostile))]
		if r.IntN(8) > 0 {
			id += fmt.Sprint(r.IntN(1000))
		}
		want = f.Insert(id, place)
		return fmt.Sprintf("insert %q %v", id, place), func(t *remarks) model.Change[any] {
			return t.Insert("p", remark{ID: id, Text: "of " + id, Parent: "else", Order: "else"}, place)
		}, want
	case n < 80:
		want = f.Move(id, place)
		return fmt.Sprintf("move %q %v", id, place), func(t *remarks) model.Change[any] { return t.Move("p", id, place) }, want
	case n < 90:
		if !f.Has(id) {
			want = model.ErrNotFound
		}
		return fmt.Sprintf("set %q", id), func(t *remarks) model.Change[any] {
			if n%2 == 0 {
				return t.Replace("p", remark{ID: id, Text: "of " + id, Likes: n})
			}
			return t.Set("p", id, bson.D{{Key: "likes", Value: n}})
		}, want
	}
	mode := paths.DeleteMode(r.IntN(4))
	want = f.Delete(id, mode)
	return fmt.Sprintf("delete %q %v", id, modeName(mode)), func(t *remarks) model.Change[any] { return t.Delete("p", id, mode) }, want
}

// Random operations leave each form as they leave the plain tree, with the same errors; every query gives the same, and the check
// finds nothing.
func TestDocumentTreeLockstep(t *testing.T) {
	parallel(t)
	steps := 250
	switch {
	case full:
		steps = 1500
	case few():
		steps = 100
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range documentForms {
			f.start(t, db)
		}
		r := rand.New(rand.NewPCG(uint64(steps), 11))
		forest := &paths.Forest[string]{}
		for i := range steps {
			op, change, want := documentStep(r, forest)
			for _, f := range documentForms {
				if _, _, err := change(f.tree).Run(t.Context(), db); !sameErr(err, want) {
					t.Fatalf("step %d, %s: %s: %v, want %v\nof %s", i, f.name, op, err, want, shape(forest))
				}
				if got := f.shape(t, db); got != shape(forest) {
					t.Fatalf("step %d, %s: %s\n got %s\nwant %s", i, f.name, op, got, shape(forest))
				}
				if i%10 == 0 {
					f.compare(t, db, forest, pick(r, forest), pick(r, forest))
				}
			}
		}
	})
}

// compare reads what is stored.
func (f documentForm) compare(t *testing.T, db *mongo.Database, forest *paths.Forest[string], id, other string) {
	t.Helper()
	if problems, err := damage(t.Context(), db, f.tree, "p"); err != nil || len(problems) > 0 {
		t.Fatalf("%s: %v, %v", f.name, problems, err)
	}
	if !forest.Has(id) || !forest.Has(other) {
		return
	}
	ctx := t.Context()
	got, err := f.forest(ctx, db, "p")
	if err != nil {
		t.Fatal(f.name, err)
	}
	all, err := f.all(ctx, db, "p")
	if err != nil || documentForest(all) != shape(forest) || shape(got) != shape(forest) {
		t.Fatalf("%s: %s, %s, %v, want %s", f.name, documentForest(all), shape(got), err, shape(forest))
	}
	for _, v := range all {
		if r := v.Doc; r.Text != "of "+r.ID {
			t.Errorf("%s: %q has the text %q", f.name, r.ID, r.Text)
		}
	}
}

// What goes wrong says what it is, and writes nothing.
func TestDocumentTreeErrors(t *testing.T) {
	parallel(t)
	var value *model.ValueError
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range documentForms {
			f.grow(t, db, "a(b(c) d) e")
			tree := f.tree
			for _, test := range []struct {
				reason string
				change model.Change[any]
				want   error
			}{
				{"an owner that isn't there", tree.Insert("q", remark{ID: "x"}, paths.LastRoot[string]()), model.ErrNotFound},
				{"a node that is there", tree.Insert("p", remark{ID: "c"}, paths.LastRoot[string]()), model.ErrTaken},
				{"under none", tree.Insert("p", remark{ID: "x"}, paths.LastChild("z")), model.ErrNotFound},
				{"beside none", tree.Insert("p", remark{ID: "x"}, paths.After("z")), model.ErrNotFound},
				{"under itself", tree.Move("p", "b", paths.FirstChild("b")), paths.ErrCycle},
				{"under what is below it", tree.Move("p", "a", paths.LastChild("c")), paths.ErrCycle},
				{"beside what is below it", tree.Move("p", "a", paths.Before("c")), paths.ErrCycle},
				{"to none", tree.Move("p", "a", paths.Before("z")), model.ErrNotFound},
				{"of none", tree.Move("p", "z", paths.Before("a")), model.ErrNotFound},
				{"with children", tree.Delete("p", "b", paths.Restrict), paths.ErrHasChildren},
				{"deleting none", tree.Delete("p", "z", paths.Subtree), model.ErrNotFound},
				{"setting none", tree.Set("p", "z", bson.D{{Key: "text", Value: "x"}}), model.ErrNotFound},
				{"replacing none", tree.Replace("p", remark{ID: "z"}), model.ErrNotFound},
				{"a wrong mode", tree.Delete("p", "b", 9), nil},
				{"no id", tree.Insert("p", remark{}, paths.LastRoot[string]()), nil},
				{"an empty id", tree.Move("p", "", paths.LastRoot[string]()), nil},
				{"an empty owner", tree.Move("", "a", paths.LastRoot[string]()), nil},
				{"an empty place", tree.Move("p", "a", paths.After("")), nil},
				{"no fields", tree.Set("p", "a", nil), nil},
				{"is empty: give an id", tree.Set("p", "a", bson.D{{Key: "id", Value: "x"}}), nil},
				{"a field that isn't there", tree.Set("p", "a", bson.D{{Key: "txet", Value: "x"}}), nil},
				{"an operator", tree.Set("p", "a", bson.D{{Key: "$text", Value: "x"}}), nil},
				{"a field twice", tree.Set("p", "a", bson.D{{Key: "text", Value: "x"}, {Key: "text", Value: "y"}}), nil},
			} {
				_, _, err := test.change.Run(t.Context(), db)
				if test.want == nil && !errors.As(err, &value) || test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("%s: %s: %v, want %v", f.name, test.reason, err, test.want)
				}
			}
			if got := f.shape(t, db); got != "a(b(c) d) e" {
				t.Errorf("%s: %s", f.name, got)
			}
			if _, result, err := tree.Move("p", "b", paths.After("b")).Run(t.Context(), db); err != nil || len(result.Batches) > 0 {
				t.Errorf("%s: beside itself: %v, %v", f.name, result, err)
			}
		}
	})
}

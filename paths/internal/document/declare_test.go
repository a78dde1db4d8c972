package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A wrong declaration says what is wrong.
func TestDocumentTreeDeclarations(t *testing.T) {
	testkit.Parallel(t)
	of := func(path string, s paths.DocumentTreeSpec) func() {
		return func() { paths.NewDocumentTree[pathstest.Remark, string](pathstest.FlatForm.Docs, path, s) }
	}
	for want, declare := range map[string]func(){
		"stores no field":  of("comments", paths.DocumentTreeSpec{}),
		"not an array":     of("rev", paths.DocumentTreeSpec{}),
		"crosses 2 arrays": of("remarks.below", paths.DocumentTreeSpec{}),
		"the list holds": func() {
			paths.NewDocumentTree[pathstest.Article, string](
				pathstest.FlatForm.Docs, "remarks", paths.DocumentTreeSpec{},
			)
		},
		"isn't of type int64": func() {
			paths.NewDocumentTree[pathstest.Remark, int64](pathstest.FlatForm.Docs, "remarks", paths.DocumentTreeSpec{})
		},
		"ID:":                  of("remarks", paths.DocumentTreeSpec{ID: "key"}),
		"Parent:":              of("remarks", paths.DocumentTreeSpec{Parent: "a.b"}),
		"isn't of type string": of("remarks", paths.DocumentTreeSpec{Order: "likes"}),
		"\"id\" is given for two fields of the tree": of("remarks", paths.DocumentTreeSpec{Parent: "id"}),
		"a nested tree can't have Parent and Order": of(
			"remarks", paths.DocumentTreeSpec{Parent: "parent", Nested: "below"},
		),
		"Nested \"text\"":      of("remarks", paths.DocumentTreeSpec{Nested: "text"}),
		"Max is -1":            of("remarks", paths.DocumentTreeSpec{Max: -1}),
		"MaxBytes is 16777216": of("remarks", paths.DocumentTreeSpec{MaxBytes: 16 << 20}),
		"Revision: ":           of("remarks", paths.DocumentTreeSpec{Revision: "version"}),
		"is in the list":       of("remarks", paths.DocumentTreeSpec{Revision: "remarks.likes"}),
		"or is the _id":        of("remarks", paths.DocumentTreeSpec{Revision: "_id"}),
	} {
		func() {
			defer func() {
				bad, ok := recover().(*model.DeclarationError)
				if !ok || !strings.Contains(bad.Problem, want) || bad.Remedy == "" || bad.Place == "" {
					t.Errorf("%q: %v", want, bad)
				}
			}()
			declare()
		}()
	}
}

type (
	plainRemark struct { // its zero parent is stored as ""
		ID     string `bson:"id"`
		Parent string `bson:"parent"`
	}
	plainArticle struct {
		ID      string        `bson:"_id"`
		Remarks []plainRemark `bson:"remarks,omitempty"`
		Numbers []struct {
			ID     int64 `bson:"id"`
			Parent int64 `bson:"parent"`
		} `bson:"numbers,omitempty"`
	}
)

// A parent that is an empty string is none, whoever stored it.
func TestDocumentTreeEmptyParents(t *testing.T) {
	testkit.Parallel(t)
	docs := model.NewCollection[plainArticle, string]("plain")
	tree := paths.NewDocumentTree[plainRemark, string](docs, "remarks", paths.DocumentTreeSpec{})
	func() {
		defer func() {
			if bad, ok := recover().(*model.DeclarationError); !ok || !strings.Contains(bad.Problem, "could be an id") {
				t.Error("a root's parent of 0 is taken for one", bad)
			}
		}()
		paths.NewDocumentTree[struct {
			ID     int64 `bson:"id"`
			Parent int64 `bson:"parent"`
		}, int64](docs, "numbers", paths.DocumentTreeSpec{})
	}()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, err := docs.Insert(
			plainArticle{ID: "p", Remarks: []plainRemark{{ID: "a"}, {ID: "b", Parent: "a"}}},
		).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, c := range []model.Change{
			tree.Insert("p", plainRemark{ID: "c"}, paths.Before("a")), tree.Move("p", "b", paths.After("a")),
			tree.Replace("p", plainRemark{ID: "a"}), tree.Insert("p", plainRemark{ID: "d"}, paths.After("a")),
			tree.Repair("p"),
		} {
			if _, err := c.Run(t.Context(), db); err != nil {
				t.Error(err)
			}
		}
		doc, err := docs.ByID("p").One(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for v, err := range tree.Arrange(doc.Remarks) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, v.Doc.ID)
		}
		if found, err := tree.Checks()[0].All(t.Context(), db); err != nil || len(found) > 0 {
			t.Error(err, found)
		}
		pathstest.MustEqual(t, "roots", got, []string{"c", "a", "d", "b"})
	})
}

// Ids of any type that BSON compares for equality do: documents that look like conditions, and numbers whatever their
// size.
func TestDocumentTreeIDs(t *testing.T) {
	testkit.Parallel(t)
	owners := model.NewCollection[bson.D, any]("loose")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, spec := range []paths.DocumentTreeSpec{{}, {Order: "order"}, {Nested: "below"}, {Revision: "meta.rev"}} {
			tree := paths.NewDocumentTree[bson.D, any](owners, "meta.nodes", spec)
			owner := any(bson.D{{Key: "n", Value: i}})
			if _, err := db.Collection("loose").InsertOne(t.Context(), bson.D{{Key: "_id", Value: owner}}); err != nil {
				t.Fatal(err)
			}
			ids := []any{
				int64(7), 8.5, true, bson.D{{Key: "a", Value: bson.D{{Key: "b", Value: 1}}}}, bson.ObjectID{1}, "7",
				bson.DateTime(1),
			}
			run := func(c model.Change) error {
				_, err := c.Run(t.Context(), db)
				return err
			}
			at := paths.FirstRoot[any]()
			for n, id := range ids {
				if err := run(
					tree.Insert(owner, bson.D{{Key: "id", Value: id}, {Key: "n", Value: n}}, at),
				); err != nil {
					t.Fatal(spec, id, err)
				}
				at = paths.LastChild(id)
			}
			for n, id := range ids {
				err := run(tree.Insert(owner, bson.D{{Key: "id", Value: id}}, paths.LastRoot[any]()))
				pathstest.WantDocumentError(t, "twice", err, model.ErrTaken)
				if all := looseNodes(t, db, tree, owner); len(all) != len(ids) || all[n].Depth != n {
					t.Errorf("%v: %v: %v", spec, id, all)
				}
				if err := run(tree.Set(owner, id, bson.D{{Key: "seen", Value: n}})); err != nil {
					t.Error(spec, id, err)
				}
			}
			pathstest.WantDocumentError(
				t, "an equal number", run(tree.Insert(owner, bson.D{{Key: "id", Value: int32(7)}}, at)), model.ErrTaken,
			)
			pathstest.WantDocumentError(
				t, "under an equal number",
				run(tree.Insert(owner, bson.D{{Key: "id", Value: "x"}}, paths.LastChild[any](7.0))), nil,
			)
			if err := run(tree.Move(owner, ids[3], paths.Before(ids[1]))); err != nil {
				t.Error(err)
			}
			for _, id := range ids[1:] {
				if err := run(tree.Delete(owner, id, paths.Promote)); err != nil {
					t.Error(spec, id, err)
				}
			}
			all := looseNodes(t, db, tree, owner)
			problems, err := pathstest.DamageList(t.Context(), db, tree, owner)
			if err != nil || len(all) != 2 || len(problems) > 0 {
				t.Errorf("%v: %v, %v, %v", spec, all, problems, err)
			}
			for _, bad := range []any{nil, "", bson.A{1}, bson.Regex{Pattern: "a"}, bson.ObjectID{}, bson.D{}} {
				pathstest.WantDocumentError(
					t, fmt.Sprint(bad), run(tree.Insert(owner, bson.D{{Key: "id", Value: bad}}, paths.LastRoot[any]())),
					pathstest.ErrDocument,
				)
				pathstest.WantDocumentError(
					t, fmt.Sprint(bad), run(tree.Move(owner, bad, paths.LastRoot[any]())), pathstest.ErrDocument,
				)
			}
			pathstest.WantDocumentError(
				t, "a name",
				run(
					tree.Insert(
						owner, bson.D{{Key: "id", Value: 1}, {Key: "a", Value: bson.D{{Key: "$x", Value: 1}}}}, at,
					),
				),
				pathstest.ErrDocument,
			)
		}
	})
}

// looseNodes reads an owner's nodes, in preorder.
func looseNodes(
	t *testing.T, db *mongo.Database, tree *paths.DocumentTree[bson.D, any, any], owner any,
) (out []paths.Visit[bson.D]) {
	t.Helper()
	var doc struct {
		Meta struct{ Nodes []bson.D }
	}
	if err := db.Collection("loose").FindOne(t.Context(), bson.D{{Key: "_id", Value: owner}}).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for v, err := range tree.Arrange(doc.Meta.Nodes) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// Keys that inserts at one place have made long are made short again.
func TestDocumentTreeLongKeys(t *testing.T) {
	testkit.Alone(t)
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		pathstest.KeyedForm.Grow(t, db, "a(x y) b")
		want := []string{"y"}
		for i := range 350 {
			id := fmt.Sprint("n", i)
			if _, err := pathstest.KeyedForm.Tree.Insert(
				"p", pathstest.Remark{ID: id}, paths.After("x"),
			).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			want = append([]string{id}, want...)
		}
		all, err := pathstest.KeyedForm.ReadAll(t.Context(), db, "p")
		problems, errCheck := pathstest.DamageList(t.Context(), db, pathstest.KeyedForm.Tree, "p")
		if err != nil || errCheck != nil || len(problems) > 0 {
			t.Fatal(err, errCheck, problems)
		}
		var got []string
		for _, v := range all {
			c := v.Doc
			if v.Depth != 1 {
				continue
			}
			if got = append(got, c.ID); len(c.Order) > 48 {
				t.Errorf("%s has the key %q", c.ID, c.Order)
			}
		}
		pathstest.MustEqual(t, "children", got, append([]string{"x"}, want...))
	})
}

// A plan that was decided by a list that another writer has changed since writes nothing, and neither does one that is
// run again. A
// deletion that is run again doesn't know whether it was this one: it is stale, so that a Change reads that the node is
// gone.
func TestDocumentTreeStale(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range pathstest.DocumentForms {
			ops := map[string]model.Change{
				"before":  f.Tree.Insert("p", pathstest.Remark{ID: "x"}, paths.Before("d")),
				"move":    f.Tree.Move("p", "d", paths.LastRoot[string]()),
				"subtree": f.Tree.Delete("p", "a", paths.Subtree),
				"promote": f.Tree.Delete("p", "a", paths.Promote),
				"replace": f.Tree.Replace("p", pathstest.Remark{ID: "d", Text: "new"}),
			}
			for name, c := range ops {
				f.Grow(t, db, "a(b(c) d) e")
				plan, err := c.Plan(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Tree.Move("p", "d", paths.FirstChild("e")).Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				before := f.ReadDocument(t, db)
				if _, err := plan.Run(t.Context(), db); !errors.Is(err, model.ErrStale) ||
					f.ReadDocument(t, db) != before {
					t.Errorf("%s: %s: %v: %s", f.Name, name, err, f.ReadDocument(t, db))
				}
				f.Grow(t, db, "a(b(c) d) e")
				for _, want := range []model.Status{model.Applied, model.Already} {
					if want == model.Applied {
						plan, _ = c.Plan(t.Context(), db)
					}
					before := f.ReadDocument(t, db)
					result, err := plan.Run(t.Context(), db)
					if deletes := name == "subtree" || name == "promote"; deletes && want == model.Already {
						if !errors.Is(err, model.ErrStale) || f.ReadDocument(t, db) != before {
							t.Errorf("%s: %s again: %v, %v", f.Name, name, result, err)
						}
					} else if err != nil || result.Steps[0].Status != want && name != "replace" {
						t.Errorf("%s: %s: %v, %v, want %v", f.Name, name, result, err, want)
					}
				}
			}
		}
	})
}

// A replacement overwrites a field that was set since it was decided, but with a revision it is told.
func TestDocumentTreeReplaceStale(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for f, want := range map[pathstest.DocumentForm]error{
			pathstest.FlatForm: nil, pathstest.FlatRevForm: model.ErrStale, pathstest.KeyedRevForm: model.ErrStale,
			pathstest.NestedForm: model.ErrStale,
		} {
			f.Grow(t, db, "a(b)")
			c := f.Tree.Replace("p", pathstest.Remark{ID: "b", Text: "whole"})
			plan, err := c.Plan(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Tree.Set("p", "b", bson.D{{Key: "likes", Value: 3}}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			_, err = plan.Run(t.Context(), db)
			pathstest.WantDocumentError(t, f.Name, err, want)
		}
	})
}

package document_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	listedFew   = pathstest.DocumentFormOf("few", paths.DocumentTreeSpec{Max: 3})
	keyedFew    = pathstest.DocumentFormOf("few", paths.DocumentTreeSpec{Max: 3, Order: "order"})
	nestedFew   = pathstest.DocumentFormOf("few", paths.DocumentTreeSpec{Max: 3, Nested: "below"})
	listedSmall = pathstest.DocumentFormOf("small", paths.DocumentTreeSpec{MaxBytes: 300})
	keyedSmall  = pathstest.DocumentFormOf("small", paths.DocumentTreeSpec{MaxBytes: 300, Order: "order"})
	nestedSmall = pathstest.DocumentFormOf("small", paths.DocumentTreeSpec{MaxBytes: 300, Nested: "below"})
)

// What is written without reading.
func TestDocumentTreeWrites(t *testing.T) {
	testkit.Parallel(t)
	text := func(s string) bson.D { return bson.D{{Key: "text", Value: s}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []pathstest.DocumentForm{pathstest.FlatForm, pathstest.FlatRevForm} {
			tree := f.Tree
			for _, test := range []struct {
				reason string
				write  model.Write
				want   string // "" means as before
				err    error
				again  model.Status
			}{
				{
					"push under a node", tree.Push("p", pathstest.Remark{ID: "x"}, paths.LastChild("b")),
					"a(b(c x) d) e", nil, model.Already,
				},
				{
					"push before its children", tree.Push("p", pathstest.Remark{ID: "x"}, paths.FirstChild("a")),
					"a(x b(c) d) e", nil, model.Already,
				},
				{
					"push a root", tree.Push("p", pathstest.Remark{ID: "x"}, paths.LastRoot[string]()), "a(b(c) d) e x",
					nil, model.Already,
				},
				{
					"push the first root", tree.Push("p", pathstest.Remark{ID: "x"}, paths.FirstRoot[string]()),
					"x a(b(c) d) e", nil, model.Already,
				},
				{
					"push one that is there", tree.Push("p", pathstest.Remark{ID: "c"}, paths.LastChild("a")), "",
					model.ErrTaken, 0,
				},
				{
					"push under none", tree.Push("p", pathstest.Remark{ID: "x"}, paths.LastChild("z")), "",
					model.ErrNotFound, 0,
				},
				{
					"push to no owner", tree.Push("q", pathstest.Remark{ID: "x"}, paths.LastChild("z")), "",
					model.ErrNotFound, 0,
				},
				{
					"push beside", tree.Push("p", pathstest.Remark{ID: "x"}, paths.After("a")), "",
					pathstest.ErrDocument, 0,
				},
				{"pull a leaf", tree.Pull("p", "c"), "a(b d) e", nil, model.NotSent},
				{"pull none", tree.Pull("p", "z"), "", model.ErrNotFound, 0},
				{"pull one with children", tree.Pull("p", "b"), "", paths.ErrHasChildren, 0},
				{"pull from no owner", tree.Pull("q", "b"), "", model.ErrNotFound, 0},
				{"patch", tree.Patch("p", "c", text("new")), "a(b(c) d) e", nil, model.Applied},
				{"patch none", tree.Patch("p", "z", text("new")), "", model.ErrNotFound, 0},
				{"patch in no owner", tree.Patch("q", "c", text("new")), "", model.ErrNotFound, 0},
				{
					"patch what ties it", tree.Patch("p", "c", bson.D{{Key: "parent", Value: "e"}}), "",
					pathstest.ErrDocument, 0,
				},
			} {
				f.Grow(t, db, "a(b(c) d) e")
				_, err := test.write.Run(t.Context(), db)
				pathstest.WantDocumentError(t, test.reason, err, test.err)
				want := test.want
				if want == "" {
					want = "a(b(c) d) e"
				}
				if got := f.Shape(t, db); got != want {
					t.Errorf("%s: %s: %s, want %s", f.Name, test.reason, got, want)
				}
				if test.err != nil {
					continue
				}
				result, err := test.write.Run(t.Context(), db)
				if gone := test.again == model.NotSent; gone != errors.Is(
					err, model.ErrNotFound,
				) || !gone && err != nil || result.Steps[0].Status != test.again || f.Shape(t, db) != want {
					t.Errorf("%s: %s again: %v, %v, %s", f.Name, test.reason, err, result, f.Shape(t, db))
				}
			}
		}
		for _, w := range []model.Write{
			pathstest.NestedForm.Tree.Push("p", pathstest.Remark{ID: "x"}, paths.LastRoot[string]()),
			pathstest.NestedForm.Tree.Pull("p", "x"), pathstest.NestedForm.Tree.Patch("p", "x", text("y")),
			pathstest.KeyedForm.Tree.Push("p", pathstest.Remark{ID: "x"}, paths.LastRoot[string]()),
		} {
			_, err := w.Run(t.Context(), db)
			pathstest.WantDocumentError(t, w.String(), err, pathstest.ErrDocument)
		}
		_, err := pathstest.NestedForm.Tree.Insert(
			"p", pathstest.Remark{ID: "x", Below: []pathstest.Remark{{ID: "y"}}}, paths.LastRoot[string](),
		).Run(t.Context(), db)
		pathstest.WantDocumentError(t, "a node with children", err, pathstest.ErrDocument)
	})
}

// A whole tree is loaded into an owner that has none, from nodes in any order.
func TestDocumentTreeLoad(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		flat := []pathstest.Remark{
			{ID: "c", Parent: "b"}, {ID: "b", Parent: "a"}, {ID: "d", Parent: "a"}, {ID: "a"}, {ID: "e"},
		}
		for _, f := range pathstest.DocumentForms {
			list := flat
			if f.Spec.Nested != "" {
				list = []pathstest.Remark{
					{ID: "a", Below: []pathstest.Remark{{ID: "b", Below: []pathstest.Remark{{ID: "c"}}}, {ID: "d"}}},
					{ID: "e"},
				}
			}
			f.Start(t, db)
			for _, want := range []model.Status{model.Applied, model.Already} {
				result, err := f.Tree.Load("p", list).Run(t.Context(), db)
				if err != nil || result.Steps[0].Status != want || f.Shape(t, db) != "a(b(c) d) e" {
					t.Errorf("%s: %v, %v: %s", f.Name, result, err, f.Shape(t, db))
				}
			}
			if problems, err := pathstest.DamageList(t.Context(), db, f.Tree, "p"); err != nil || len(problems) > 0 {
				t.Errorf("%s: %v, %v", f.Name, problems, err)
			}
			_, err := f.Tree.Load("p", list[:1]).Run(t.Context(), db)
			if f.Spec.Nested != "" {
				pathstest.WantDocumentError(t, "over another", err, model.ErrTaken)
			}
			_, err = f.Tree.Load("p", list[len(list)-1:]).Run(t.Context(), db)
			pathstest.WantDocumentError(t, "over another", err, model.ErrTaken)
			_, err = f.Tree.Load("q", list).Run(t.Context(), db)
			pathstest.WantDocumentError(t, "in no owner", err, model.ErrNotFound)
		}
		for reason, test := range map[string]struct {
			list []pathstest.Remark
			want error
		}{
			"an id twice": {[]pathstest.Remark{{ID: "a"}, {ID: "a"}}, model.ErrTaken},
			"an orphan":   {[]pathstest.Remark{{ID: "a", Parent: "z"}}, model.ErrNotFound},
			"a cycle":     {[]pathstest.Remark{{ID: "a", Parent: "a"}}, paths.ErrCycle},
			"no id":       {[]pathstest.Remark{{}}, pathstest.ErrDocument},
			"too many":    {[]pathstest.Remark{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}, model.ErrFull},
		} {
			listedFew.Start(t, db)
			_, err := listedFew.Tree.Load("p", test.list).Run(t.Context(), db)
			pathstest.WantDocumentError(t, reason, err, test.want)
		}
		listedFew.Start(t, db)
		if _, err := listedFew.Tree.Load("p", nil).Run(t.Context(), db); err != nil || listedFew.Shape(t, db) != "" {
			t.Error(err)
		}
	})
}

// A tree doesn't outgrow its bounds, whatever writes it; what makes it no larger passes.
func TestDocumentTreeBounds(t *testing.T) {
	testkit.Parallel(t)
	long := strings.Repeat("x", 100)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		run := func(s interface {
			Run(context.Context, model.DB) (model.Result, error)
		}) error {
			_, err := s.Run(t.Context(), db)
			return err
		}
		change := func(c model.Change) error {
			_, err := c.Run(t.Context(), db)
			return err
		}
		for _, f := range []pathstest.DocumentForm{listedFew, keyedFew, nestedFew} {
			f.Grow(t, db, "a(b c)")
			for _, at := range []paths.Place[string]{
				paths.LastRoot[string](), paths.FirstChild("a"), paths.Before("b"),
			} {
				pathstest.WantDocumentError(
					t, "insert", change(f.Tree.Insert("p", pathstest.Remark{ID: "x"}, at)), model.ErrFull,
				)
			}
			pathstest.WantDocumentError(t, "move", change(f.Tree.Move("p", "c", paths.FirstRoot[string]())), nil)
			pathstest.WantDocumentError(t, "delete", change(f.Tree.Delete("p", "c", paths.Restrict)), nil)
			pathstest.WantDocumentError(
				t, "insert", change(f.Tree.Insert("p", pathstest.Remark{ID: "x"}, paths.LastRoot[string]())), nil,
			)
			if got := f.Shape(t, db); got != "a(b) x" {
				t.Errorf("%s: %s", f.Name, got)
			}
		}
		listedFew.Grow(t, db, "a(b c)")
		pathstest.WantDocumentError(
			t, "push", run(listedFew.Tree.Push("p", pathstest.Remark{ID: "x"}, paths.LastRoot[string]())),
			model.ErrFull,
		)
		pathstest.WantDocumentError(
			t, "push one that is there",
			run(listedFew.Tree.Push("p", pathstest.Remark{ID: "b"}, paths.LastRoot[string]())), model.ErrTaken,
		)
		for _, f := range []pathstest.DocumentForm{listedSmall, keyedSmall, nestedSmall} {
			f.Grow(t, db, "a(b)")
			pathstest.WantDocumentError(t, "set", change(f.Tree.Set("p", "b", bson.D{{Key: "text", Value: long}})), nil)
			pathstest.WantDocumentError(
				t, "insert",
				change(f.Tree.Insert("p", pathstest.Remark{ID: "x", Text: long}, paths.LastRoot[string]())),
				model.ErrFull,
			)
			pathstest.WantDocumentError(
				t, "set", change(f.Tree.Set("p", "a", bson.D{{Key: "text", Value: long}})), model.ErrFull,
			)
			pathstest.WantDocumentError(
				t, "set by another as long",
				change(f.Tree.Set("p", "b", bson.D{{Key: "text", Value: strings.ToUpper(long)}})), nil,
			)
			pathstest.WantDocumentError(
				t, "replace", change(f.Tree.Replace("p", pathstest.Remark{ID: "a", Text: long})), model.ErrFull,
			)
			pathstest.WantDocumentError(
				t, "replace by a shorter", change(f.Tree.Replace("p", pathstest.Remark{ID: "b", Text: "short"})), nil,
			)
			pathstest.WantDocumentError(
				t, "insert", change(f.Tree.Insert("p", pathstest.Remark{ID: "x"}, paths.LastRoot[string]())), nil,
			)
			pathstest.WantDocumentError(
				t, "more than any document",
				change(
					f.Tree.Insert(
						"p", pathstest.Remark{ID: "y", Text: strings.Repeat(long, 1000)}, paths.LastRoot[string](),
					),
				),
				model.ErrFull,
			)
		}
		listedSmall.Grow(t, db, "a(b)")
		pathstest.WantDocumentError(
			t, "push",
			run(listedSmall.Tree.Push("p", pathstest.Remark{ID: "y", Text: long + long}, paths.LastRoot[string]())),
			model.ErrFull,
		)
		pathstest.WantDocumentError(
			t, "patch", run(listedSmall.Tree.Patch("p", "b", bson.D{{Key: "text", Value: long + long}})), model.ErrFull,
		)
	})
}

// A nested tree is as deep as MongoDB lets it be.
func TestDocumentTreeDepth(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		top := pathstest.Remark{ID: "49"}
		for i := 48; i > 0; i-- {
			top = pathstest.Remark{ID: fmt.Sprint(i), Below: []pathstest.Remark{top}}
		}
		pathstest.NestedForm.Start(t, db, top)
		_, err := pathstest.NestedForm.Tree.Insert(
			"p", pathstest.Remark{ID: "x"}, paths.FirstChild("48"),
		).Run(t.Context(), db)
		pathstest.WantDocumentError(t, "49 levels", err, nil)
		_, err = pathstest.NestedForm.Tree.Insert(
			"p", pathstest.Remark{ID: "y"}, paths.FirstChild("49"),
		).Run(t.Context(), db)
		pathstest.WantDocumentError(t, "50 levels", err, model.ErrFull)
	})
}

// What each operation costs is what its documentation says.
func TestDocumentTreeCosts(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	wrote, asked := model.Cost{Commands: 2, Written: 1, Returned: 1}, model.Cost{Commands: 1, Returned: 1}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, f := range pathstest.DocumentForms {
			for _, test := range []struct {
				reason string
				change model.Change
				want   model.Cost
			}{
				{"insert", f.Tree.Insert("p", pathstest.Remark{ID: "x"}, paths.After("b")), wrote},
				{"move", f.Tree.Move("p", "b", paths.LastRoot[string]()), wrote},
				{"move beside itself", f.Tree.Move("p", "b", paths.After("b")), asked},
				{"delete a leaf", f.Tree.Delete("p", "c", paths.Restrict), wrote},
				{"delete a subtree", f.Tree.Delete("p", "a", paths.Subtree), wrote},
				{"promote", f.Tree.Delete("p", "a", paths.Promote), wrote},
				{"rootify", f.Tree.Delete("p", "a", paths.Rootify), wrote},
				{"set", f.Tree.Set("p", "c", bson.D{{Key: "text", Value: "x"}}), wrote},
				{"replace", f.Tree.Replace("p", pathstest.Remark{ID: "c", Text: "x"}), wrote},
				{"repair what is whole", f.Tree.Repair("p"), asked},
				{"insert what is there", f.Tree.Insert("p", pathstest.Remark{ID: "b"}, paths.After("b")), asked},
			} {
				f.Grow(t, db, "a(b(c) d) e")
				modeltest.WantCost(t, m, test.want, func() error {
					_, err := test.change.Run(ctx, db)
					if errors.Is(err, model.ErrTaken) {
						err = nil
					}
					return err
				})
			}
			for _, read := range []func() error{
				func() error { _, err := f.ReadAll(ctx, db, "p"); return err },
				func() error { _, err := pathstest.DamageList(ctx, db, f.Tree, "p"); return err },
			} {
				f.Grow(t, db, "a(b(c) d) e")
				modeltest.WantCost(t, m, asked, read)
			}
		}
		for _, w := range []model.Write{
			pathstest.FlatForm.Tree.Push("p", pathstest.Remark{ID: "x"}, paths.LastChild("b")),
			pathstest.FlatForm.Tree.Patch("p", "c", bson.D{{Key: "text", Value: "x"}}),
			pathstest.FlatForm.Tree.Pull("p", "c"),
		} {
			pathstest.FlatForm.Grow(t, db, "a(b(c) d) e")
			modeltest.WantCost(
				t, m, model.Cost{Commands: 1, Written: 1}, func() error { _, err := w.Run(ctx, db); return err },
			)
		}
	}, m)
}

// Owners are found by _id, among thousands.
func TestDocumentTreeIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 4000 {
			list = append(
				list,
				pathstest.Article{
					ID: fmt.Sprint("p", i), Remarks: []pathstest.Remark{{ID: "a"}, {ID: "b", Parent: "a"}},
				},
			)
		}
		if _, err := db.Collection("listed").InsertMany(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, w := range []model.Write{
			pathstest.FlatForm.Tree.Push("p7", pathstest.Remark{ID: "x"}, paths.LastChild("b")),
			pathstest.FlatForm.Tree.Patch("p7", "b", bson.D{{Key: "text", Value: "x"}}),
			pathstest.FlatForm.Tree.Pull("p7", "b"),
		} {
			modeltest.WantIndexed(t, db, w, model.IDIndex)
		}
	})
}

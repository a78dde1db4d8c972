package paths_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	listedFew   = documentFormOf("few", paths.DocumentTreeSpec{Max: 3})
	keyedFew    = documentFormOf("few", paths.DocumentTreeSpec{Max: 3, Order: "order"})
	nestedFew   = documentFormOf("few", paths.DocumentTreeSpec{Max: 3, Nested: "below"})
	listedSmall = documentFormOf("small", paths.DocumentTreeSpec{MaxBytes: 300})
	keyedSmall  = documentFormOf("small", paths.DocumentTreeSpec{MaxBytes: 300, Order: "order"})
	nestedSmall = documentFormOf("small", paths.DocumentTreeSpec{MaxBytes: 300, Nested: "below"})
)

// What is written without reading.
func TestDocumentTreeWrites(t *testing.T) {
	parallel(t)
	text := func(s string) bson.D { return bson.D{{Key: "text", Value: s}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []documentForm{listed, listedRev} {
			tree := f.tree
			for _, test := range []struct {
				reason string
				write  model.Write
				want   string // "" means as before
				err    error
				again  model.Status
			}{
				{"push under a node", tree.Push("p", remark{ID: "x"}, paths.LastChild("b")), "a(b(c x) d) e", nil, model.Already},
				{"push before its children", tree.Push("p", remark{ID: "x"}, paths.FirstChild("a")), "a(x b(c) d) e", nil, model.Already},
				{"push a root", tree.Push("p", remark{ID: "x"}, paths.LastRoot[string]()), "a(b(c) d) e x", nil, model.Already},
				{"push the first root", tree.Push("p", remark{ID: "x"}, paths.FirstRoot[string]()), "x a(b(c) d) e", nil, model.Already},
				{"push one that is there", tree.Push("p", remark{ID: "c"}, paths.LastChild("a")), "", model.ErrTaken, 0},
				{"push under none", tree.Push("p", remark{ID: "x"}, paths.LastChild("z")), "", model.ErrNotFound, 0},
				{"push to no owner", tree.Push("q", remark{ID: "x"}, paths.LastChild("z")), "", model.ErrNotFound, 0},
				{"push beside", tree.Push("p", remark{ID: "x"}, paths.After("a")), "", errDocument, 0},
				{"pull a leaf", tree.Pull("p", "c"), "a(b d) e", nil, model.NotSent},
				{"pull none", tree.Pull("p", "z"), "", model.ErrNotFound, 0},
				{"pull one with children", tree.Pull("p", "b"), "", paths.ErrHasChildren, 0},
				{"pull from no owner", tree.Pull("q", "b"), "", model.ErrNotFound, 0},
				{"patch", tree.Patch("p", "c", text("new")), "a(b(c) d) e", nil, model.Applied},
				{"patch none", tree.Patch("p", "z", text("new")), "", model.ErrNotFound, 0},
				{"patch in no owner", tree.Patch("q", "c", text("new")), "", model.ErrNotFound, 0},
				{"patch what ties it", tree.Patch("p", "c", bson.D{{Key: "parent", Value: "e"}}), "", errDocument, 0},
			} {
				f.grow(t, db, "a(b(c) d) e")
				_, err := test.write.Run(t.Context(), db)
				wantDocumentError(t, test.reason, err, test.err)
				want := test.want
				if want == "" {
					want = "a(b(c) d) e"
				}
				if got := f.shape(t, db); got != want {
					t.Errorf("%s: %s: %s, want %s", f.name, test.reason, got, want)
				}
				if test.err != nil {
					continue
				}
				result, err := test.write.Run(t.Context(), db)
				if gone := test.again == model.NotSent; gone != errors.Is(err, model.ErrNotFound) || !gone && err != nil || result.Steps[0].Status != test.again || f.shape(t, db) != want {
					t.Errorf("%s: %s again: %v, %v, %s", f.name, test.reason, err, result, f.shape(t, db))
				}
			}
		}
		for _, w := range []model.Write{
			nested.tree.Push("p", remark{ID: "x"}, paths.LastRoot[string]()), nested.tree.Pull("p", "x"), nested.tree.Patch("p", "x", text("y")),
			keyed.tree.Push("p", remark{ID: "x"}, paths.LastRoot[string]()),
		} {
			_, err := w.Run(t.Context(), db)
			wantDocumentError(t, w.String(), err, errDocument)
		}
		_, _, err := nested.tree.Insert("p", remark{ID: "x", Below: []remark{{ID: "y"}}}, paths.LastRoot[string]()).Run(t.Context(), db)
		wantDocumentError(t, "a node with children", err, errDocument)
	})
}

// A whole tree is loaded into an owner that has none, from nodes in any order.
func TestDocumentTreeLoad(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		flat := []remark{{ID: "c", Parent: "b"}, {ID: "b", Parent: "a"}, {ID: "d", Parent: "a"}, {ID: "a"}, {ID: "e"}}
		for _, f := range documentForms {
			list := flat
			if f.spec.Nested != "" {
				list = []remark{{ID: "a", Below: []remark{{ID: "b", Below: []remark{{ID: "c"}}}, {ID: "d"}}}, {ID: "e"}}
			}
			f.start(t, db)
			for _, want := range []model.Status{model.Applied, model.Already} {
				result, err := f.tree.Load("p", list).Run(t.Context(), db)
				if err != nil || result.Steps[0].Status != want || f.shape(t, db) != "a(b(c) d) e" {
					t.Errorf("%s: %v, %v: %s", f.name, result, err, f.shape(t, db))
				}
			}
			if problems, err := damage(t.Context(), db, f.tree, "p"); err != nil || len(problems) > 0 {
				t.Errorf("%s: %v, %v", f.name, problems, err)
			}
			_, err := f.tree.Load("p", list[:1]).Run(t.Context(), db)
			if f.spec.Nested != "" {
				wantDocumentError(t, "over another", err, model.ErrTaken)
			}
			_, err = f.tree.Load("p", list[len(list)-1:]).Run(t.Context(), db)
			wantDocumentError(t, "over another", err, model.ErrTaken)
			_, err = f.tree.Load("q", list).Run(t.Context(), db)
			wantDocumentError(t, "in no owner", err, model.ErrNotFound)
		}
		for reason, test := range map[string]struct {
			list []remark
			want error
		}{
			"an id twice": {[]remark{{ID: "a"}, {ID: "a"}}, model.ErrTaken}, "an orphan": {[]remark{{ID: "a", Parent: "z"}}, model.ErrNotFound},
			"a cycle": {[]remark{{ID: "a", Parent: "a"}}, paths.ErrCycle}, "no id": {[]remark{{}}, errDocument},
			"too many": {[]remark{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}, model.ErrFull},
		} {
			listedFew.start(t, db)
			_, err := listedFew.tree.Load("p", test.list).Run(t.Context(), db)
			wantDocumentError(t, reason, err, test.want)
		}
		listedFew.start(t, db)
		if _, err := listedFew.tree.Load("p", nil).Run(t.Context(), db); err != nil || listedFew.shape(t, db) != "" {
			t.Error(err)
		}
	})
}

var errDocument = errors.New("a *model.ValueError")

func wantDocumentError(t *testing.T, reason string, err, want error) {
	t.Helper()
	var value *model.ValueError
	if ok := want == errDocument && errors.As(err, &value) || errors.Is(err, want); !ok {
		t.Errorf("%s: %v, want %v", reason, err, want)
	}
}

// A tree doesn't outgrow its bounds, whatever writes it; what makes it no larger passes.
func TestDocumentTreeBounds(t *testing.T) {
	parallel(t)
	long := strings.Repeat("x", 100)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		run := func(s interface {
			Run(context.Context, model.DB) (model.Result, error)
		}) error {
			_, err := s.Run(t.Context(), db)
			return err
		}
		change := func(c model.Change[any]) error {
			_, _, err := c.Run(t.Context(), db)
			return err
		}
		for _, f := range []documentForm{listedFew, keyedFew, nestedFew} {
			f.grow(t, db, "a(b c)")
			for _, at := range []paths.Place[string]{paths.LastRoot[string](), paths.FirstChild("a"), paths.Before("b")} {
				wantDocumentError(t, "insert", change(f.tree.Insert("p", remark{ID: "x"}, at)), model.ErrFull)
			}
			wantDocumentError(t, "move", change(f.tree.Move("p", "c", paths.FirstRoot[string]())), nil)
			wantDocumentError(t, "delete", change(f.tree.Delete("p", "c", paths.Restrict)), nil)
			wantDocumentError(t, "insert", change(f.tree.Insert("p", remark{ID: "x"}, paths.LastRoot[string]())), nil)
			if got := f.shape(t, db); got != "a(b) x" {
				t.Errorf("%s: %s", f.name, got)
			}
		}
		listedFew.grow(t, db, "a(b c)")
		wantDocumentError(t, "push", run(listedFew.tree.Push("p", remark{ID: "x"}, paths.LastRoot[string]())), model.ErrFull)
		wantDocumentError(t, "push one that is there", run(listedFew.tree.Push("p", remark{ID: "b"}, paths.LastRoot[string]())), model.ErrTaken)
		for _, f := range []documentForm{listedSmall, keyedSmall, nestedSmall} {
			f.grow(t, db, "a(b)")
			wantDocumentError(t, "set", change(f.tree.Set("p", "b", bson.D{{Key: "text", Value: long}})), nil)
			wantDocumentError(t, "insert", change(f.tree.Insert("p", remark{ID: "x", Text: long}, paths.LastRoot[string]())), model.ErrFull)
			wantDocumentError(t, "set", change(f.tree.Set("p", "a", bson.D{{Key: "text", Value: long}})), model.ErrFull)
			wantDocumentError(t, "set by another as long", change(f.tree.Set("p", "b", bson.D{{Key: "text", Value: strings.ToUpper(long)}})), nil)
			wantDocumentError(t, "replace", change(f.tree.Replace("p", remark{ID: "a", Text: long})), model.ErrFull)
			wantDocumentError(t, "replace by a shorter", change(f.tree.Replace("p", remark{ID: "b", Text: "short"})), nil)
			wantDocumentError(t, "insert", change(f.tree.Insert("p", remark{ID: "x"}, paths.LastRoot[string]())), nil)
			wantDocumentError(t, "more than any document", change(f.tree.Insert("p", remark{ID: "y", Text: strings.Repeat(long, 1000)}, paths.LastRoot[string]())), model.ErrFull)
		}
		listedSmall.grow(t, db, "a(b)")
		wantDocumentError(t, "push", run(listedSmall.tree.Push("p", remark{ID: "y", Text: long + long}, paths.LastRoot[string]())), model.ErrFull)
		wantDocumentError(t, "patch", run(listedSmall.tree.Patch("p", "b", bson.D{{Key: "text", Value: long + long}})), model.ErrFull)
	})
}

// A nested tree is as deep as MongoDB lets it be.
func TestDocumentTreeDepth(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		top := remark{ID: "49"}
		for i := 48; i > 0; i-- {
			top = remark{ID: fmt.Sprint(i), Below: []remark{top}}
		}
		nested.start(t, db, top)
		_, _, err := nested.tree.Insert("p", remark{ID: "x"}, paths.FirstChild("48")).Run(t.Context(), db)
		wantDocumentError(t, "49 levels", err, nil)
		_, _, err = nested.tree.Insert("p", remark{ID: "y"}, paths.FirstChild("49")).Run(t.Context(), db)
		wantDocumentError(t, "50 levels", err, model.ErrFull)
	})
}

// 32 writers at one document lose nothing.
func TestDocumentTreeRace(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range documentForms {
			f.grow(t, db, "root(a b c d)")
			var all sync.WaitGroup
			for w := range 32 {
				all.Go(func() {
					me := fmt.Sprintf("w%02d", w)
					under := string("abcd"[w%4])
					for _, c := range []model.Change[any]{
						f.tree.Insert("p", remark{ID: me, Text: me}, paths.LastChild(under)),
						f.tree.Insert("p", remark{ID: me + "gone"}, paths.FirstChild(me)),
						f.tree.Move("p", me, paths.FirstChild(string("abcd"[(w+1)%4]))),
						f.tree.Set("p", me, bson.D{{Key: "likes", Value: w + 1}}),
						f.tree.Delete("p", me+"gone", paths.Restrict),
					} {
						if _, _, err := c.Run(t.Context(), db); err != nil {
							t.Errorf("%s: %s: %v", f.name, me, err)
							return
						}
					}
				})
			}
			all.Wait()
			visits, err := f.all(t.Context(), db, "p")
			problems, errCheck := damage(t.Context(), db, f.tree, "p")
			if err != nil || errCheck != nil || len(problems) > 0 {
				t.Fatalf("%s: %v, %v, %v", f.name, err, errCheck, problems)
			}
			n := 0
			for _, v := range visits {
				if strings.HasPrefix(v.Doc.ID, "w") {
					n++
					if v.Depth != 2 || fmt.Sprintf("w%02d", v.Doc.Likes-1) != v.Doc.ID || v.Doc.Text != v.Doc.ID {
						t.Errorf("%s: %+v", f.name, v)
					}
				}
			}
			if n != 32 || len(visits) != 37 {
				t.Errorf("%s: %d nodes: %s", f.name, n, documentForest(visits))
			}
		}
	})
}

// Movers that would make a cycle together never do.
func TestDocumentTreeMovers(t *testing.T) {
	parallel(t)
	ids := strings.Split("abcdefgh", "")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range documentForms {
			f.grow(t, db, strings.Join(ids, " "))
			var all sync.WaitGroup
			for w := range 16 {
				all.Go(func() {
					for i := range 4 {
						c := f.tree.Move("p", ids[(w+i)%8], paths.LastChild(ids[(w*3+i*5+1)%8]))
						if _, _, err := c.Run(t.Context(), db); err != nil && !errors.Is(err, paths.ErrCycle) {
							t.Errorf("%s: %v", f.name, err)
						}
					}
				})
			}
			all.Wait()
			visits, err := f.all(t.Context(), db, "p")
			var got []string
			for _, v := range visits {
				got = append(got, v.Doc.ID)
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(got, ids) {
				t.Errorf("%s: %v, %v", f.name, got, err)
			}
		}
	})
}

// What each operation costs is what its documentation says.
func TestDocumentTreeCosts(t *testing.T) {
	parallel(t)
	m := mongotest.NewMonitor()
	wrote, asked := model.Cost{Commands: 2, Written: 1, Returned: 1}, model.Cost{Commands: 1, Returned: 1}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, f := range documentForms {
			for _, test := range []struct {
				reason string
				change model.Change[any]
				want   model.Cost
			}{
				{"insert", f.tree.Insert("p", remark{ID: "x"}, paths.After("b")), wrote},
				{"move", f.tree.Move("p", "b", paths.LastRoot[string]()), wrote},
				{"move beside itself", f.tree.Move("p", "b", paths.After("b")), asked},
				{"delete a leaf", f.tree.Delete("p", "c", paths.Restrict), wrote},
				{"delete a subtree", f.tree.Delete("p", "a", paths.Subtree), wrote},
				{"promote", f.tree.Delete("p", "a", paths.Promote), wrote},
				{"rootify", f.tree.Delete("p", "a", paths.Rootify), wrote},
				{"set", f.tree.Set("p", "c", bson.D{{Key: "text", Value: "x"}}), wrote},
				{"replace", f.tree.Replace("p", remark{ID: "c", Text: "x"}), wrote},
				{"repair what is whole", f.tree.Repair("p"), asked},
				{"insert what is there", f.tree.Insert("p", remark{ID: "b"}, paths.After("b")), asked},
			} {
				f.grow(t, db, "a(b(c) d) e")
				modeltest.WantCost(t, m, test.want, func() error {
					_, _, err := test.change.Run(ctx, db)
					if errors.Is(err, model.ErrTaken) {
						err = nil
					}
					return err
				})
			}
			for _, read := range []func() error{
				func() error { _, err := f.all(ctx, db, "p"); return err },
				func() error { _, err := damage(ctx, db, f.tree, "p"); return err },
			} {
				f.grow(t, db, "a(b(c) d) e")
				modeltest.WantCost(t, m, asked, read)
			}
		}
		for _, w := range []model.Write{
			listed.tree.Push("p", remark{ID: "x"}, paths.LastChild("b")), listed.tree.Patch("p", "c", bson.D{{Key: "text", Value: "x"}}), listed.tree.Pull("p", "c"),
		} {
			listed.grow(t, db, "a(b(c) d) e")
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 1}, func() error { _, err := w.Run(ctx, db); return err })
		}
	}, mongotest.WithMonitor(m))
}

// Owners are found by _id, among thousands.
func TestDocumentTreeIndexed(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 4000 {
			list = append(list, article{ID: fmt.Sprint("p", i), Remarks: []remark{{ID: "a"}, {ID: "b", Parent: "a"}}})
		}
		if _, err := db.Collection("listed").InsertMany(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, w := range []model.Write{
			listed.tree.Push("p7", remark{ID: "x"}, paths.LastChild("b")), listed.tree.Patch("p7", "b", bson.D{{Key: "text", Value: "x"}}), listed.tree.Pull("p7", "b"),
		} {
			modeltest.WantIndexed(t, db, w, model.IDIndex)
		}
	})
}

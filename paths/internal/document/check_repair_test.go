package document_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// What each kind of damage is called, what the server sees of it, and what becomes of it.
func TestDocumentTreeRepair(t *testing.T) {
	testkit.Parallel(t)
	n := func(id, parent, order string) pathstest.Remark {
		return pathstest.Remark{ID: id, Parent: parent, Order: order, Text: id + parent}
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason string
			form   pathstest.DocumentForm
			list   []pathstest.Remark
			want   string // the problems: where, and of which kind
			fresh  []string
			mended string // "" if the repair is refused
		}{
			{"whole", pathstest.FlatForm, []pathstest.Remark{n("b", "a", ""), n("a", "", "")}, "", nil, "a(b)"},
			{
				"an orphan and what is below it", pathstest.FlatForm,
				[]pathstest.Remark{n("b", "z", ""), n("c", "b", ""), n("a", "", "")}, "0:orphan", nil, "a b(c)",
			},
			{
				"its own parent", pathstest.FlatForm,
				[]pathstest.Remark{n("a", "", ""), n("b", "b", ""), n("c", "b", "")}, "1:cycle", nil, "a b(c)",
			},
			{
				"a cycle of three, and what hangs on it", pathstest.FlatForm,
				[]pathstest.Remark{n("x", "b", ""), n("c", "b", ""), n("b", "d", ""), n("d", "c", ""), n("a", "", "")},
				"2:cycle", nil, "a b(x c(d))",
			},
			{
				"two cycles", pathstest.FlatForm,
				[]pathstest.Remark{n("a", "b", ""), n("b", "a", ""), n("d", "c", ""), n("c", "d", "")},
				"0:cycle 3:cycle", nil, "a(b) c(d)",
			},
			{
				"the same twice", pathstest.FlatForm,
				[]pathstest.Remark{n("a", "", ""), n("b", "a", ""), n("b", "a", "")}, "2:duplicate", nil, "a(b)",
			},
			{
				"another by the same id", pathstest.FlatForm,
				[]pathstest.Remark{n("a", "", ""), n("b", "a", ""), n("b", "", ""), n("c", "b", "")}, "2:duplicate",
				nil, "",
			},
			{
				"another by the same id, which gets a new one", pathstest.FlatForm,
				[]pathstest.Remark{n("a", "", ""), n("b", "a", ""), n("b", "", ""), n("c", "b", "")}, "2:duplicate",
				[]string{"e"}, "a(b(c)) e",
			},
			{
				"the new one is taken", pathstest.FlatForm,
				[]pathstest.Remark{n("a", "", ""), n("b", "a", ""), n("b", "", "")}, "2:duplicate", []string{"a"}, "",
			},
			{
				"the new one is an orphan's parent, and its child", pathstest.FlatForm,
				[]pathstest.Remark{n("a", "e", ""), n("b", "", ""), n("b", "a", "")}, "0:orphan 2:duplicate",
				[]string{"e"}, "b a(e)",
			},
			{
				"keys that are equal", pathstest.KeyedForm,
				[]pathstest.Remark{n("a", "", "a0"), n("b", "", "a0"), n("c", "", "a1")}, "1:order", nil, "a b c",
			},
			{
				"no keys, beside those that are right", pathstest.KeyedForm,
				[]pathstest.Remark{n("a", "", ""), n("b", "", "a1"), n("c", "b", "a1"), n("d", "b", "a0")}, "0:order",
				nil, "a b(d c)",
			},
			{
				"an orphan before a root without a key", pathstest.KeyedForm,
				[]pathstest.Remark{n("b", "z", "a0"), n("a", "", "")}, "0:orphan 1:order", nil, "a b",
			},
			{
				"a cycle before roots without keys", pathstest.KeyedForm,
				[]pathstest.Remark{n("c", "b", ""), n("b", "c", "a1"), n("a", "", ""), n("d", "", "")},
				"1:cycle 2:order 3:order", nil, "a d b(c)",
			},
			{
				"an orphan's key before those of the roots", pathstest.KeyedRevForm,
				[]pathstest.Remark{n("b", "z", ""), n("a", "", "a5"), n("d", "", "a4")}, "0:orphan", nil, "d a b",
			},
			{
				"the second of an id has the lesser key", pathstest.KeyedForm,
				[]pathstest.Remark{n("b", "a", "a1"), n("a", "", "a0"), n("b", "c", "a0"), n("c", "", "a1")},
				"2:duplicate", []string{"e"}, "a(b) c(e)",
			},
			{
				"an orphan's key among the roots'", pathstest.KeyedForm,
				[]pathstest.Remark{n("a", "", "a1"), n("b", "z", "a0"), n("c", "", "a2")}, "1:orphan", nil, "a c b",
			},
			{
				"a long list of keys that are none", pathstest.KeyedForm,
				[]pathstest.Remark{n("a", "", "~"), n("b", "", "x x"), n("c", "", "a0")}, "0:order 1:order", nil,
				"c b a",
			},
			{
				"nested, the same twice", pathstest.NestedForm,
				[]pathstest.Remark{{ID: "a", Below: []pathstest.Remark{{ID: "b"}}}, {ID: "b"}}, "1:duplicate", nil,
				"a(b)",
			},
			{
				"nested, another", pathstest.NestedForm,
				[]pathstest.Remark{
					{ID: "a", Below: []pathstest.Remark{{ID: "b"}, {ID: "a", Below: []pathstest.Remark{{ID: "c"}}}}},
				},
				"0.below.1:duplicate", []string{"x"}, "a(b x(c))",
			},
			{
				"nested, another without an id for it", pathstest.NestedForm,
				[]pathstest.Remark{{ID: "a", Below: []pathstest.Remark{{ID: "a", Text: "x"}}}}, "0.below.0:duplicate",
				nil, "",
			},
		} {
			test.form.Start(t, db, test.list...)
			got, err := pathstest.DamageList(t.Context(), db, test.form.Tree, "p")
			if strings.Join(got, " ") != test.want || err != nil {
				t.Errorf("%s: %v, %v", test.reason, got, err)
			}
			before := test.form.ReadDocument(t, db)
			result, err := test.form.Tree.Repair("p", test.fresh...).Run(t.Context(), db)
			if test.mended == "" {
				pathstest.WantDocumentError(t, test.reason, err, model.ErrTaken)
				if after := test.form.ReadDocument(t, db); after != before {
					t.Errorf("%s: %s", test.reason, after)
				}
				continue
			}
			after, errAfter := pathstest.DamageList(t.Context(), db, test.form.Tree, "p")
			if shape := test.form.Shape(t, db); err != nil || errAfter != nil || len(after) > 0 ||
				shape != test.mended || result.Modified() > 1 {
				t.Errorf("%s: %v, %v, %v: %s, want %s", test.reason, err, errAfter, after, shape, test.mended)
			}
		}
	})
}

// Random damage is found whole, and mended; what is right stays, and no text is lost. A second repair writes nothing.
func TestDocumentTreeRepairRandom(t *testing.T) {
	testkit.Parallel(t)
	rounds := 60
	if pathstest.Full {
		rounds = 2000
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(7, uint64(rounds)))
		for round := range rounds {
			f := []pathstest.DocumentForm{
				pathstest.FlatForm, pathstest.FlatRevForm, pathstest.KeyedForm, pathstest.KeyedRevForm,
			}[round%4]
			list := randomRemarks(r)
			f.Start(t, db, list...)
			var fresh []string
			for i := range list {
				fresh = append(fresh, fmt.Sprint("fresh", i))
			}
			if _, err := f.Tree.Repair("p", fresh...).Run(t.Context(), db); err != nil {
				t.Fatalf("%s: %v: %v", f.Name, err, list)
			}
			if problems, err := pathstest.DamageList(t.Context(), db, f.Tree, "p"); err != nil || len(problems) > 0 {
				t.Fatalf("%s: %v, %v after %v", f.Name, problems, err, list)
			}
			visits, err := f.ReadAll(t.Context(), db, "p")
			if err != nil || !slices.Equal(textsOf(visits), textsIn(list)) {
				t.Fatalf("%s: %v, %v, want %v", f.Name, textsOf(visits), err, textsIn(list))
			}
			wantRepaired(t, f.Name, list, walkOf(t, f, list), visits)
			before := f.ReadDocument(t, db)
			if result, err := f.Tree.Repair("p").Run(t.Context(), db); err != nil || len(result.Batches) > 0 ||
				f.ReadDocument(t, db) != before {
				t.Fatalf("%s: a second repair: %v, %v", f.Name, result, err)
			}
		}
	})
}

// walkOf is how a list of remarks is read.
func walkOf(t *testing.T, f pathstest.DocumentForm, list []pathstest.Remark) (out []paths.Visit[pathstest.Remark]) {
	t.Helper()
	for v, err := range f.Tree.Arrange(list) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// wantRepaired compares how a list is read before and after a repair: nodes that had a place keep it and their order,
// and no node that
// had none comes before the last root that was one.
func wantRepaired(t *testing.T, what string, list []pathstest.Remark, before, after []paths.Visit[pathstest.Remark]) {
	t.Helper()
	had, roots := map[string]bool{}, 0
	for _, v := range before {
		if had[v.Doc.ID] = true; v.Depth == 0 {
			roots++
		}
	}
	type place struct {
		id    string
		depth int
	}
	var was, is []place
	for _, v := range before {
		was = append(was, place{v.Doc.ID, v.Depth})
	}
	for _, v := range after {
		if had[v.Doc.ID] {
			is = append(is, place{v.Doc.ID, v.Depth})
		}
		if v.Depth == 0 && !strings.HasPrefix(v.Doc.ID, "fresh") { // which may be the second root of an id
			if roots--; roots >= 0 && !had[v.Doc.ID] {
				t.Fatalf("%s: %s has become a root before others: %v after %v", what, v.Doc.ID, after, list)
			}
		}
	}
	if !slices.Equal(was, is) {
		t.Fatalf("%s: %v is read as %v after the repair, as %v before", what, list, is, was)
	}
}

// randomRemarks is a list with every kind of damage, and texts that differ unless the nodes are the same.
func randomRemarks(r *rand.Rand) []pathstest.Remark {
	list := make([]pathstest.Remark, r.IntN(12)+1)
	for i := range list {
		n := pathstest.Remark{
			ID: fmt.Sprint("n", r.IntN(14)), Text: fmt.Sprint("t", i), Order: paths.Spread(8)[r.IntN(8)],
		}
		if r.IntN(4) > 0 {
			n.Parent = fmt.Sprint("n", r.IntN(14))
		}
		if r.IntN(6) == 0 {
			n.Order = ""
		}
		if i > 0 && r.IntN(5) == 0 {
			n = list[r.IntN(i)]
		}
		list[i] = n
	}
	return list
}

func textsOf(visits []paths.Visit[pathstest.Remark]) []string {
	var out []string
	for _, v := range visits {
		out = append(out, v.Doc.Text)
	}
	slices.Sort(out)
	return out
}

// textsIn are the texts of a list, each once.
func textsIn(list []pathstest.Remark) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.Text)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What is no node stays where it is, and doesn't keep the others from being changed; a nested tree has to be mended by
// hand.
func TestDocumentTreeStrangers(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []pathstest.DocumentForm{pathstest.FlatForm, pathstest.KeyedForm, pathstest.NestedForm} {
			if _, err := db.Collection(f.Name).InsertMany(t.Context(), []any{
				bson.D{
					{Key: "_id", Value: "p"},
					{
						Key: "remarks",
						Value: bson.A{
							"text", bson.D{{Key: "text", Value: "no id"}},
							bson.D{{Key: "id", Value: "a"}, {Key: "order", Value: "a0"}},
						},
					},
				},
				bson.D{{Key: "_id", Value: "q"}, {Key: "remarks", Value: "none"}},
				bson.D{{Key: "_id", Value: "r"}}, bson.D{{Key: "_id", Value: "s"}, {Key: "remarks", Value: nil}},
			}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for f, err := range f.Tree.Checks()[0].Each(t.Context(), db) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, model.Shell(f.ID)+": "+f.Problem)
			}
			slices.Sort(got)
			pathstest.MustEqual(
				t, f.Name, got,
				[]string{"'p': remarks.0 isn't a node; remarks.1 isn't a node", "'q': remarks isn't a list of nodes"},
			)
			_, err := f.Tree.Insert("q", pathstest.Remark{ID: "x"}, paths.LastRoot[string]()).Run(t.Context(), db)
			pathstest.WantDocumentError(t, "no list", err, paths.ErrDamaged)
			_, err = f.Tree.Insert("p", pathstest.Remark{ID: "x"}, paths.FirstChild("a")).Run(t.Context(), db)
			if f.Spec.Nested != "" {
				pathstest.WantDocumentError(t, "nested", err, paths.ErrDamaged)
				continue
			}
			for _, c := range []model.Change{
				f.Tree.Insert("p", pathstest.Remark{ID: "y"}, paths.FirstChild("a")),
				f.Tree.Move("p", "x", paths.Before("a")), f.Tree.Delete("p", "a", paths.Promote), f.Tree.Repair("p"),
			} {
				if _, err := c.Run(t.Context(), db); err != nil {
					t.Error(err)
				}
			}
			var stored struct{ Remarks []bson.RawValue } // which no article can be decoded from
			if err := db.Collection(f.Name).FindOne(
				t.Context(), bson.D{{Key: "_id", Value: "p"}},
			).Decode(&stored); err != nil {
				t.Fatal(err)
			}
			var left []pathstest.Remark
			for _, v := range stored.Remarks {
				var r pathstest.Remark
				if v.Unmarshal(&r) == nil && r.ID != "" {
					left = append(left, r)
				}
			}
			shown := ""
			for v, err := range f.Tree.Arrange(left) {
				if shown += v.Doc.ID; err != nil || v.Depth > 0 {
					t.Error(f.Name, v, err)
				}
			}
			if shown != "xy" {
				t.Error(f.Name, shown)
			}
			if problems, err := pathstest.DamageList(t.Context(), db, f.Tree, "p"); err != nil || len(problems) != 2 {
				t.Error(problems, err)
			}
		}
	})
}

// The job mends all but different nodes with one id.
func TestDocumentTreeRepairAll(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range []pathstest.DocumentForm{pathstest.FlatForm, pathstest.KeyedRevForm} {
			var list []any
			for i := range 20 {
				a := pathstest.Article{
					ID:      fmt.Sprint(i),
					Remarks: []pathstest.Remark{{ID: "a", Order: "a0"}, {ID: "b", Parent: "a", Order: "a0"}},
				}
				switch i {
				case 3:
					a.Remarks = append(a.Remarks, pathstest.Remark{ID: "c", Parent: "z", Order: "a2"})
				case 5:
					a.Remarks = append(a.Remarks, pathstest.Remark{ID: "b", Text: "other", Order: "a2"})
				}
				list = append(list, a)
			}
			list = append(list, bson.D{{Key: "_id", Value: "q"}, {Key: "remarks", Value: "none"}})
			if _, err := db.Collection(f.Name).InsertMany(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			for _, writes := range []int64{1, 0} {
				p, err := f.Tree.Checks()[0].Job().Run(t.Context(), db, model.JobOptions{})
				if err != nil || p.Writes != writes || p.Modified != writes || p.Documents != 21 {
					t.Errorf("%s: %+v, %v", f.Name, p, err)
				}
			}
			for owner, want := range map[string][]string{
				"5": {"2:duplicate"}, "q": {"remarks:notAList"}, "3": nil, "4": nil,
			} {
				got, err := pathstest.DamageList(t.Context(), db, f.Tree, owner)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %s is left with %v, %v", f.Name, owner, got, err)
				}
			}
		}
	})
}

package columns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	openSheets = model.NewCollection[bson.D, any]("sheets")
	sheets     = denorm.NewColumns(openSheets, "flat", denorm.ColumnsSpec{Escape: true})
	strictOnes = denorm.NewColumns(openSheets, "flat", denorm.ColumnsSpec{})
	otherForms = []*denorm.Columns[bson.D, any]{
		sheets, denorm.NewColumns(openSheets, "flat", denorm.ColumnsSpec{Escape: true, Typed: true, Separator: "_"}),
		denorm.NewColumns(openSheets, "flat", denorm.ColumnsSpec{
			Escape: true, WholeArrays: true, Separator: "|", Refuse: "é$.",
		}),
	}
)

// columnsRandom is a random document with names of every kind.
func columnsRandom(r *rand.Rand, depth int) bson.D {
	names := []string{
		"a", "b", "", "a/b", "a.b", "$a", "#0", "#", "%", "%41", "é", "\U0001f9e9", "_id",
		"x!int", "a_b", "a,b:`c`", "0", "|", " ", "\xff",
	}
	d := bson.D{}
	for range r.IntN(5) {
		name := names[r.IntN(len(names))]
		if slices.ContainsFunc(d, func(e bson.E) bool { return e.Key == name }) {
			continue
		}
		d = append(d, e(name, columnsValue(r, depth)))
	}
	return d
}

func columnsValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(6); {
	case depth == 0 || n < 3:
		return testkit.RandomValue(r, 0)
	case n < 5:
		return columnsRandom(r, depth-1)
	}
	a := bson.A{}
	for range r.IntN(4) {
		a = append(a, columnsValue(r, depth-1))
	}
	return a
}

// Whatever a document holds, it comes back byte for byte.
func TestColumnsThereAndBack(t *testing.T) {
	parallel(t)
	r := rand.New(rand.NewPCG(11, 3))
	for range 2000 {
		d := columnsRandom(r, 4)
		for i, x := range otherForms {
			flat, err := x.Flatten(d)
			if err != nil {
				t.Fatal(d, err)
			}
			back, err := x.Back(flat)
			if err != nil || !bytes.Equal(marshal(back), marshal(d)) {
				t.Fatalf("form %d: %v\ncame back from %v\nas %v, %v", i, d, flat, back, err)
			}
			elems, err := flat.Elements()
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, el := range elems {
				if seen[el.Key()] || i == 0 && el.Key() != "_id" && strings.ContainsAny(el.Key(), ":`,;{}()=\n\t.$") {
					t.Fatalf("form %d: column %q of %v", i, el.Key(), d)
				}
				seen[el.Key()] = true
			}
		}
	}
}

func FuzzColumnsBack(f *testing.F) {
	for seed := range uint64(8) {
		flat, err := sheets.Flatten(columnsRandom(rand.New(rand.NewPCG(seed, 3)), 3))
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(flat))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if bson.Raw(b).Validate() != nil {
			return
		}
		for _, x := range otherForms {
			if d, err := x.Back(b); err == nil { // a flat document, or what can be read as one
				flat, err := x.Flatten(d)
				if err != nil {
					continue // too much of it, or with a name twice
				}
				again, err := x.Back(flat)
				if err != nil || !bytes.Equal(marshal(again), marshal(d)) {
					t.Errorf("%v came back as %v, %v", d, again, err)
				}
			}
		}
		var d bson.D
		if bson.Unmarshal(b, &d) != nil {
			return
		}
		if flat, err := sheets.Flatten(d); err == nil {
			if again, err := sheets.Back(flat); err != nil || !bytes.Equal(marshal(again), marshal(d)) {
				t.Errorf("%v came back as %v, %v", d, again, err)
			}
		}
	})
}

func TestColumnsNames(t *testing.T) {
	parallel(t)
	d := bson.D{
		e("_id", bson.D{e("a", 1)}), e("to", bson.D{e("city", "Rome"), e("", nil)}),
		e("l", bson.A{1, bson.D{e("x/y", true)}, bson.A{}}),
		e("#n", bson.D{}),
	}
	for i, want := range []string{
		"{_id: {a: 1}, 'to/city': 'Rome', 'to/%': null, 'l/#0': 1, 'l/#1/x%2Fy': true, 'l/#2': [], '%23n': {}}",
		"{_id: {a: 1}, 'to_city!string': 'Rome', 'to_%!null': null, 'l_#0!int': 1, 'l_#1_x/y!bool': true, " +
			"'l_#2!array': [], '%23n!object': {}}",
		"{_id: {a: 1}, 'to|city': 'Rome', 'to|%': null, l: [1, {'x/y': true}, []], '%23n': {}}",
	} {
		flat, err := otherForms[i].Flatten(d)
		if got := model.Shell(flat); err != nil || got != want {
			t.Errorf("form %d: %s, want %s, %v", i, got, want, err)
		}
	}
	for _, c := range []struct {
		path []any
		want string
	}{
		{[]any{"_id"}, "_id"}, {[]any{"l", 1, "x/y"}, "l/#1/x%2Fy"}, {[]any{"", "#n"}, "%/%23n"},
		{nil, ""}, {[]any{1}, ""}, {[]any{"a", -1}, ""}, {[]any{"a", 1.5}, ""}, {[]any{"a.b"}, ""},
	} {
		got, err := strictOnes.Column(c.path...)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v is %q, want %q, %v", c.path, got, c.want, err)
		}
	}
}

// problems are the errors that Flatten joins.
func problems(_ bson.Raw, err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// All that an analytical store would leave out is listed, each with its path.
func TestColumnsProblems(t *testing.T) {
	parallel(t)
	small := denorm.NewColumns(openSheets, "flat", denorm.ColumnsSpec{MaxProperties: 6, MaxDepth: 3})
	deep := bson.D{e("d", 1)}
	for range 2 {
		deep = bson.D{e("c", deep)}
	}
	for _, c := range []struct {
		d    bson.D
		want []string
	}{
		{bson.D{e("a", 1), e("b", bson.A{1, 2, 3})}, nil},
		{
			d:    bson.D{e("a", 1), e("b", bson.A{1, 2, 3, 4}), e("c", 1)},
			want: []string{"document: has more than 6 properties, the MaxProperties of the spec: 7"},
		},
		{bson.D{e("x", deep)}, []string{"x.c.c.d: is nested deeper than 3 levels"}},
		{bson.D{e("a,b", bson.D{e("$x", 1), e("ok", 1)}), e("l", bson.A{bson.D{e("p.q", 1)}})}, []string{
			"a,b: the name contains a character of ColumnsSpec.Refuse: rename the field, or set Escape",
			"a,b.$x: the name contains a character of ColumnsSpec.Refuse: rename the field, or set Escape",
			"l[0].p.q: the name contains a character of ColumnsSpec.Refuse: rename the field, or set Escape"}},
		{bson.D{e("a", bson.D{e("x", 1)}), e("a", bson.D{e("y", 1)})}, []string{"a: occurs twice in its document"}},
	} {
		var got []string
		for _, p := range problems(small.Flatten(c.d)) {
			wantError(t, p, errRefused)
			got = append(got, strings.TrimPrefix(p.Error(), "docmodel: sheets: "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.d, got, c.want)
		}
	}
	thousand := bson.D{}
	for i := range 1001 {
		thousand = append(thousand, e(fmt.Sprint("f", i), i))
	}
	if p := problems(strictOnes.Flatten(thousand[:1000])); p != nil {
		t.Errorf("1000 properties: %v", p)
	}
	if p := problems(strictOnes.Flatten(thousand)); len(p) != 1 {
		t.Errorf("1001 properties: %v", p)
	}
	if p := problems(strictOnes.Flatten(bson.D{e("f", func() {})})); len(p) != 1 {
		t.Errorf("what can't be encoded: %v", p)
	}
}

func TestColumnsBackRefuses(t *testing.T) {
	parallel(t)
	for _, d := range []bson.D{
		{e("#0", 1)}, {e("a/#0", 1), e("a/b", 1)}, {e("a/b", 1), e("a/#0", 1)}, {e("a", 1), e("a/b", 1)},
		{e("a/b", 1), e("a", 1)}, {e("a", 1), e("a", 1)}, {e("a", 1), e("%61", 1)}, {e("a/#1", 1)},
		{e("a/#0", 1), e("a/#00", 1)}, {e("a/#x", 1)}, {e("a//b", 1)}, {e("a/", 1)}, {e("a%2", 1)}, {e("a%zz", 1)},
		{e("a%00", 1)}, {e(strings.Repeat("a/", 300)+"a", 1)},
	} {
		_, err := sheets.Back(marshal(d))
		if err == nil {
			t.Errorf("%.80v is taken", d)
			continue
		}
		wantError(t, err, errRefused)
	}
	for _, d := range []bson.D{{e("a", 1)}, {e("a!string", 1)}} {
		_, err := otherForms[1].Back(marshal(d))
		wantError(t, err, errRefused)
	}
	moved, err := sheets.Back(marshal(bson.D{e("a/#1", 2), e("b", 0), e("a/#0", 1)}))
	if err != nil || fmt.Sprint(moved) != `{"a":[{"$numberInt":"1"},{"$numberInt":"2"}],"b":{"$numberInt":"0"}}` {
		t.Errorf("columns in another order: %v, %v", moved, err)
	}
}

func TestColumnsStore(t *testing.T) {
	parallel(t)
	doc := bson.D{e("_id", "s"), e("to", bson.D{e("city", "Rome")})}
	flat := docs{"flat": {bson.D{e("_id", "s"), e("to/city", "Rome")}}}
	runWriteCases(t, []writeCase{
		{
			Reason: "a new one", Before: docs{"flat": {}}, Write: strictOnes.Store(doc),
			After: flat, Status: model.Applied,
			Again: model.Applied,
		},
		{
			Reason: "in the place of another",
			Before: docs{"flat": {bson.D{e("_id", "s"), e("old", 1)}}},
			Write:  strictOnes.Store(doc), After: flat, Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "deleted", Before: flat, Write: strictOnes.Delete("s"),
			After: docs{"flat": {}}, Status: model.Applied,
			Again: model.Applied,
		},
		{Reason: "no _id", Before: flat, Write: strictOnes.Store(bson.D{e("a", 1)}), Err: errRefused},
		{
			Reason: "a refused name", Before: flat,
			Write: strictOnes.Store(bson.D{e("_id", "s"), e("a,b", 1)}),
			Err:   errRefused,
		},
		{
			Reason: "a name that a flat document can't have", Before: flat,
			Write: denorm.NewColumns(openSheets, "flat", denorm.ColumnsSpec{Refuse: ","}).
				Store(bson.D{e("_id", "s"), e("a.b", 1)}),
			Err: errRefused,
		},
		{Reason: "no _id to delete", Before: flat, Write: strictOnes.Delete(nil), Err: errRefused},
	})
}

func TestColumnsFill(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	parallel(t)
	source := docs{
		"sheets": {
			bson.D{e("_id", "a"), e("x", bson.D{e("y", 1)})}, bson.D{e("_id", "b"), e("x", bson.A{"1", 2})},
			bson.D{e("_id", "c"), e("x", 3)},
		},
	}
	flat := docs{
		"flat": {
			bson.D{e("_id", "a"), e("x/y", 1)},
			bson.D{e("_id", "b"), e("x/#0", "1"), e("x/#1", 2)},
			bson.D{e("_id", "c"), e("x", 3)},
		},
	}
	fill := func(ctx context.Context, db *mongo.Database) error {
		_, err := strictOnes.Rebuild(nil).Run(ctx, db, model.JobOptions{})
		if err != nil {
			return err
		}
		return checkJob(strictOnes.Checks()[0])(ctx, db)
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(store(ctx, db, source),
				store(ctx, db, docs{
					"flat": {bson.D{e("_id", "a"), e("x", 1)}, bson.D{e("_id", "gone")}, bson.D{e("_id", 7)}},
				}))
		},
		Run:   fill,
		Check: func(t testing.TB, db *mongo.Database) { wantDocs(t, db, flat) },
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, flat)
		uses, err := strictOnes.Survey().All(t.Context(), db)
		if got, want := fmt.Sprint(uses),
			"[{_id string 3} {x int 1} {x/#0 string 1} {x/#1 int 1} {x/y int 1}]"; err != nil || got != want {
			t.Errorf("survey %s, want %s, %v", got, want, err)
		}
		seed(t, db, docs{"sheets": {bson.D{e("_id", "a"), e("x", bson.D{e("y:z", 1)})}}})
		if _, said := findingsOf(t, db, strictOnes.Checks()[0]); !slices.Equal(said, []string{
			"flat 'b': its document doesn't exist", "flat 'c': its document doesn't exist",
		}) {
			t.Errorf("found %q", said)
		}
		wantError(t, fill(t.Context(), db), errRefused)
		some := strictOnes.Rebuild(bson.D{e("_id", "z")})
		if _, err := some.Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Errorf("a document that the filter leaves out: %v", err)
		}
	})
	wantDistinctChecks(t, strictOnes.Checks(), 1)
	wantRefusedFindings(t, strictOnes.Checks()...)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w := strictOnes.Store(bson.D{e("_id", "a")})
		modeltest.WantCost(t, m, w.Cost(), func() error {
			_, err := w.Run(t.Context(), db)
			return err
		})
		modeltest.WantIndexed(t, db, w, model.IDIndex)
	}, mongotest.WithMonitor(m))
}

func TestColumnsDeclarations(t *testing.T) {
	parallel(t)
	declare := func(spec denorm.ColumnsSpec) func() {
		return func() { denorm.NewColumns(openSheets, "flat", spec) }
	}
	for reason, f := range map[string]func(){
		"the documents' collection": func() { denorm.NewColumns(openSheets, "sheets", denorm.ColumnsSpec{}) },
		"no name":                   func() { denorm.NewColumns(openSheets, "", denorm.ColumnsSpec{}) },
		"a letter":                  declare(denorm.ColumnsSpec{Separator: "x"}),
		"a dot":                     declare(denorm.ColumnsSpec{Separator: "."}),
		"two characters":            declare(denorm.ColumnsSpec{Separator: "//"}),
		"a mark":                    declare(denorm.ColumnsSpec{Separator: "#"}),
		"letters":                   declare(denorm.ColumnsSpec{Refuse: "a"}),
		"marks":                     declare(denorm.ColumnsSpec{Refuse: "%"}),
		"a limit below 0":           declare(denorm.ColumnsSpec{MaxProperties: -1}),
		"a depth below 0":           declare(denorm.ColumnsSpec{MaxDepth: -1}),
		"a great depth":             declare(denorm.ColumnsSpec{MaxDepth: 201}),
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := panicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestColumnsPrices(t *testing.T) {
	parallel(t)
	const comparesFields = "the scope's fields are fields of the documents that it lists"
	sheet := func(id string) bson.D { return bson.D{e("_id", id), e("x", bson.D{e("y", 1)})} }
	testkit.WantPrices(t,
		testkit.Stored(docs{
			"sheets": {sheet("a"), sheet("b")},
			"flat":   {bson.D{e("_id", "gone")}, bson.D{e("_id", "z")}},
		}),
		testkit.Does("Rebuild", 4, 2, 2, inBatchesOf(500, strictOnes.Rebuild(nil))),
		testkit.Reads("Survey", 2, strictOnes.Survey()).Differs(comparesFields),
		testkit.Reads("Checks", 2, strictOnes.Checks()[0].Find()),
		testkit.Mending(1, 2, strictOnes.Checks()[0]),
		testkit.Writes("Delete", 1, 1, model.NewPlan(strictOnes.Delete("a"))),
	)
}

// Each write finds its document by _id.
func TestColumnsWritesIndexed(t *testing.T) {
	parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"flat": {bson.D{e("_id", "gone")}}})
		wantStepsIndexed(t, db, "Columns", model.IDIndex, model.NewPlan(strictOnes.Delete("gone")))
		wantStepsIndexed(t, db, "Columns.Checks", model.IDIndex, mended(t, db, strictOnes.Checks())...)
	})
}

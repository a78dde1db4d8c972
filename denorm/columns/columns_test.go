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

	"github.com/docmodel/docmodel/denorm/columns"
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
	sheets     = columns.New(openSheets, "flat", columns.Spec{Escape: true})
	strictOnes = columns.New(openSheets, "flat", columns.Spec{})
	otherForms = []*columns.Columns[bson.D, any]{
		sheets, columns.New(openSheets, "flat", columns.Spec{Escape: true, Typed: true, Separator: "_"}),
		columns.New(openSheets, "flat", columns.Spec{
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
		d = append(d, testkit.E(name, columnsValue(r, depth)))
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
	testkit.Parallel(t)
	r := rand.New(rand.NewPCG(11, 3))
	for range 2000 {
		d := columnsRandom(r, 4)
		for i, x := range otherForms {
			flat, err := x.Flatten(d)
			if err != nil {
				t.Fatal(d, err)
			}
			back, err := x.Back(flat)
			if err != nil || !bytes.Equal(testkit.Marshal(back), testkit.Marshal(d)) {
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
				if err != nil || !bytes.Equal(testkit.Marshal(again), testkit.Marshal(d)) {
					t.Errorf("%v came back as %v, %v", d, again, err)
				}
			}
		}
		var d bson.D
		if bson.Unmarshal(b, &d) != nil {
			return
		}
		if flat, err := sheets.Flatten(d); err == nil {
			if again, err := sheets.Back(flat); err != nil || !bytes.Equal(testkit.Marshal(again), testkit.Marshal(d)) {
				t.Errorf("%v came back as %v, %v", d, again, err)
			}
		}
	})
}

func TestColumnsNames(t *testing.T) {
	testkit.Parallel(t)
	d := bson.D{
		testkit.E("_id", bson.D{testkit.E("a", 1)}),
		testkit.E("to", bson.D{testkit.E("city", "Rome"), testkit.E("", nil)}),
		testkit.E("l", bson.A{1, bson.D{testkit.E("x/y", true)}, bson.A{}}),
		testkit.E("#n", bson.D{}),
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
	testkit.Parallel(t)
	small := columns.New(openSheets, "flat", columns.Spec{MaxProperties: 6, MaxDepth: 3})
	deep := bson.D{testkit.E("d", 1)}
	for range 2 {
		deep = bson.D{testkit.E("c", deep)}
	}
	for _, c := range []struct {
		d    bson.D
		want []string
	}{
		{bson.D{testkit.E("a", 1), testkit.E("b", bson.A{1, 2, 3})}, nil},
		{
			d:    bson.D{testkit.E("a", 1), testkit.E("b", bson.A{1, 2, 3, 4}), testkit.E("c", 1)},
			want: []string{"document: has more than 6 properties, the MaxProperties of the spec: 7"},
		},
		{bson.D{testkit.E("x", deep)}, []string{"x.c.c.d: is nested deeper than 3 levels"}},
		{
			d: bson.D{
				testkit.E("a,b", bson.D{testkit.E("$x", 1), testkit.E("ok", 1)}),
				testkit.E("l", bson.A{bson.D{testkit.E("p.q", 1)}}),
			},
			want: []string{
				"a,b: the name contains a character of columns.Spec.Refuse: rename the field, or set Escape",
				"a,b.$x: the name contains a character of columns.Spec.Refuse: rename the field, or set Escape",
				"l[0].p.q: the name contains a character of columns.Spec.Refuse: rename the field, or set Escape"},
		},
		{
			d:    bson.D{testkit.E("a", bson.D{testkit.E("x", 1)}), testkit.E("a", bson.D{testkit.E("y", 1)})},
			want: []string{"a: occurs twice in its document"},
		},
	} {
		var got []string
		for _, p := range problems(small.Flatten(c.d)) {
			testkit.WantError(t, p, testkit.ErrRefused)
			got = append(got, strings.TrimPrefix(p.Error(), "docmodel: sheets: "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.d, got, c.want)
		}
	}
	thousand := bson.D{}
	for i := range 1001 {
		thousand = append(thousand, testkit.E(fmt.Sprint("f", i), i))
	}
	if p := problems(strictOnes.Flatten(thousand[:1000])); p != nil {
		t.Errorf("1000 properties: %v", p)
	}
	if p := problems(strictOnes.Flatten(thousand)); len(p) != 1 {
		t.Errorf("1001 properties: %v", p)
	}
	if p := problems(strictOnes.Flatten(bson.D{testkit.E("f", func() {})})); len(p) != 1 {
		t.Errorf("what can't be encoded: %v", p)
	}
}

func TestColumnsBackRefuses(t *testing.T) {
	testkit.Parallel(t)
	for _, d := range []bson.D{
		{testkit.E("#0", 1)}, {testkit.E("a/#0", 1), testkit.E("a/b", 1)}, {testkit.E("a/b", 1), testkit.E("a/#0", 1)},
		{testkit.E("a", 1), testkit.E("a/b", 1)}, {testkit.E("a/b", 1), testkit.E("a", 1)},
		{testkit.E("a", 1), testkit.E("a", 1)}, {testkit.E("a", 1), testkit.E("%61", 1)}, {testkit.E("a/#1", 1)},
		{testkit.E("a/#0", 1), testkit.E("a/#00", 1)}, {testkit.E("a/#x", 1)}, {testkit.E("a//b", 1)},
		{testkit.E("a/", 1)}, {testkit.E("a%2", 1)}, {testkit.E("a%zz", 1)}, {testkit.E("a%00", 1)},
		{testkit.E(strings.Repeat("a/", 300)+"a", 1)},
	} {
		_, err := sheets.Back(testkit.Marshal(d))
		if err == nil {
			t.Errorf("%.80v is taken", d)
			continue
		}
		testkit.WantError(t, err, testkit.ErrRefused)
	}
	for _, d := range []bson.D{{testkit.E("a", 1)}, {testkit.E("a!string", 1)}} {
		_, err := otherForms[1].Back(testkit.Marshal(d))
		testkit.WantError(t, err, testkit.ErrRefused)
	}
	moved, err := sheets.Back(testkit.Marshal(bson.D{testkit.E("a/#1", 2), testkit.E("b", 0), testkit.E("a/#0", 1)}))
	if err != nil || fmt.Sprint(moved) != `{"a":[{"$numberInt":"1"},{"$numberInt":"2"}],"b":{"$numberInt":"0"}}` {
		t.Errorf("columns in another order: %v, %v", moved, err)
	}
}

func TestColumnsStore(t *testing.T) {
	testkit.Parallel(t)
	doc := bson.D{testkit.E("_id", "s"), testkit.E("to", bson.D{testkit.E("city", "Rome")})}
	flat := testkit.Docs{"flat": {bson.D{testkit.E("_id", "s"), testkit.E("to/city", "Rome")}}}
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "a new one", Before: testkit.Docs{"flat": {}}, Write: strictOnes.Store(doc),
			After: flat, Status: model.Applied,
			Again: model.Applied,
		},
		{
			Reason: "in the place of another",
			Before: testkit.Docs{"flat": {bson.D{testkit.E("_id", "s"), testkit.E("old", 1)}}},
			Write:  strictOnes.Store(doc), After: flat, Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "deleted", Before: flat, Write: strictOnes.Delete("s"),
			After: testkit.Docs{"flat": {}}, Status: model.Applied,
			Again: model.Applied,
		},
		{Reason: "no _id", Before: flat, Write: strictOnes.Store(bson.D{testkit.E("a", 1)}), Err: testkit.ErrRefused},
		{
			Reason: "a refused name", Before: flat,
			Write: strictOnes.Store(bson.D{testkit.E("_id", "s"), testkit.E("a,b", 1)}),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "a name that a flat document can't have", Before: flat,
			Write: columns.New(openSheets, "flat", columns.Spec{Refuse: ","}).
				Store(bson.D{testkit.E("_id", "s"), testkit.E("a.b", 1)}),
			Err: testkit.ErrRefused,
		},
		{Reason: "no _id to delete", Before: flat, Write: strictOnes.Delete(nil), Err: testkit.ErrRefused},
	})
}

func TestColumnsFill(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	testkit.Parallel(t)
	source := testkit.Docs{
		"sheets": {
			bson.D{testkit.E("_id", "a"), testkit.E("x", bson.D{testkit.E("y", 1)})},
			bson.D{testkit.E("_id", "b"), testkit.E("x", bson.A{"1", 2})},
			bson.D{testkit.E("_id", "c"), testkit.E("x", 3)},
		},
	}
	flat := testkit.Docs{
		"flat": {
			bson.D{testkit.E("_id", "a"), testkit.E("x/y", 1)},
			bson.D{testkit.E("_id", "b"), testkit.E("x/#0", "1"), testkit.E("x/#1", 2)},
			bson.D{testkit.E("_id", "c"), testkit.E("x", 3)},
		},
	}
	fill := func(ctx context.Context, db *mongo.Database) error {
		_, err := strictOnes.Rebuild(nil).Run(ctx, db, model.JobOptions{})
		if err != nil {
			return err
		}
		return testkit.CheckJob(strictOnes.Checks()[0])(ctx, db)
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(testkit.Store(ctx, db, source),
				testkit.Store(ctx, db, testkit.Docs{
					"flat": {
						bson.D{testkit.E("_id", "a"), testkit.E("x", 1)}, bson.D{testkit.E("_id", "gone")},
						bson.D{testkit.E("_id", 7)},
					},
				}))
		},
		Run:   fill,
		Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, flat) },
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, flat)
		uses, err := strictOnes.Survey().All(t.Context(), db)
		if got, want := fmt.Sprint(uses),
			"[{_id string 3} {x int 1} {x/#0 string 1} {x/#1 int 1} {x/y int 1}]"; err != nil || got != want {
			t.Errorf("survey %s, want %s, %v", got, want, err)
		}
		testkit.Seed(t, db, testkit.Docs{
			"sheets": {bson.D{testkit.E("_id", "a"), testkit.E("x", bson.D{testkit.E("y:z", 1)})}},
		})
		if _, said := testkit.FindingsOf(t, db, strictOnes.Checks()[0]); !slices.Equal(said, []string{
			"flat 'b': its document doesn't exist", "flat 'c': its document doesn't exist",
		}) {
			t.Errorf("found %q", said)
		}
		testkit.WantError(t, fill(t.Context(), db), testkit.ErrRefused)
		some := strictOnes.Rebuild(bson.D{testkit.E("_id", "z")})
		if _, err := some.Run(t.Context(), db, model.JobOptions{}); err != nil {
			t.Errorf("a document that the filter leaves out: %v", err)
		}
	})
	testkit.WantDistinctChecks(t, strictOnes.Checks(), 1)
	testkit.WantRefusedFindings(t, strictOnes.Checks()...)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		w := strictOnes.Store(bson.D{testkit.E("_id", "a")})
		modeltest.WantCost(t, m, w.Cost(), func() error {
			_, err := w.Run(t.Context(), db)
			return err
		})
		modeltest.WantIndexed(t, db, w, model.IDIndex)
	}, m)
}

func TestColumnsDeclarations(t *testing.T) {
	testkit.Parallel(t)
	declare := func(spec columns.Spec) func() {
		return func() { columns.New(openSheets, "flat", spec) }
	}
	for reason, f := range map[string]func(){
		"the documents' collection": func() { columns.New(openSheets, "sheets", columns.Spec{}) },
		"no name":                   func() { columns.New(openSheets, "", columns.Spec{}) },
		"a letter":                  declare(columns.Spec{Separator: "x"}),
		"a dot":                     declare(columns.Spec{Separator: "."}),
		"two characters":            declare(columns.Spec{Separator: "//"}),
		"a mark":                    declare(columns.Spec{Separator: "#"}),
		"letters":                   declare(columns.Spec{Refuse: "a"}),
		"marks":                     declare(columns.Spec{Refuse: "%"}),
		"a limit below 0":           declare(columns.Spec{MaxProperties: -1}),
		"a depth below 0":           declare(columns.Spec{MaxDepth: -1}),
		"a great depth":             declare(columns.Spec{MaxDepth: 201}),
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestColumnsPrices(t *testing.T) {
	testkit.Parallel(t)
	const comparesFields = "the scope's fields are fields of the documents that it lists"
	sheet := func(id string) bson.D { return bson.D{testkit.E("_id", id), testkit.E("x", bson.D{testkit.E("y", 1)})} }
	testkit.WantPrices(t,
		testkit.Stored(testkit.Docs{
			"sheets": {sheet("a"), sheet("b")},
			"flat":   {bson.D{testkit.E("_id", "gone")}, bson.D{testkit.E("_id", "z")}},
		}),
		testkit.Does("Rebuild", 4, 2, 2, testkit.InBatchesOf(500, strictOnes.Rebuild(nil))),
		testkit.Reads("Survey", 2, strictOnes.Survey()).Differs(comparesFields),
		testkit.Reads("Checks", 2, strictOnes.Checks()[0].Find()),
		testkit.Mending(1, 2, strictOnes.Checks()[0]),
		testkit.Writes("Delete", 1, 1, model.NewPlan(strictOnes.Delete("a"))),
	)
}

// Each write finds its document by _id.
func TestColumnsWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"flat": {bson.D{testkit.E("_id", "gone")}}})
		testkit.WantStepsIndexed(t, db, "Columns", model.IDIndex, model.NewPlan(strictOnes.Delete("gone")))
		testkit.WantStepsIndexed(t, db, "Columns.Checks", model.IDIndex, testkit.Mended(t, db, strictOnes.Checks())...)
	})
}

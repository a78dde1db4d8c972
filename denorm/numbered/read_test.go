package numbered_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// numberedDocument is a random document whose skills and langs are lists, null, empty or missing.
func numberedDocument(r *rand.Rand) bson.D {
	d := bson.D{testkit.E("_id", fmt.Sprint("r", r.IntN(1e9)))}
	list := func(name string, element func() any) {
		switch r.IntN(6) {
		case 0:
			d = append(d, testkit.E(name, nil))
		case 1:
		default:
			a := bson.A{}
			for range r.IntN(4) {
				a = append(a, element())
			}
			d = append(d, testkit.E(name, a))
		}
	}
	d = append(d, testkit.E("x", testkit.RandomValue(r, 2)))
	list("skills", func() any {
		el := bson.D{}
		for _, f := range []string{"skill", "level"} {
			if r.IntN(4) > 0 {
				el = append(el, testkit.E(f, testkit.RandomValue(r, 2)))
			}
		}
		return el
	})
	list("langs", func() any { return testkit.RandomValue(r, 1) })
	return append(d, testkit.E("y", testkit.RandomValue(r, 2)))
}

// Whatever a document holds, it comes back byte for byte: from the library and from the server.
func TestNumberedThereAndBack(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(7, 7))
		for range 300 {
			d := numberedDocument(r)
			for _, x := range []*numbered.Numbered[bson.D, any]{numberedAny, numberedAnyValues} {
				flat, err := x.Flatten(d)
				if err != nil {
					t.Fatal(err)
				}
				back, err := x.Back(flat)
				if err != nil || !bytes.Equal(testkit.Marshal(back), testkit.Marshal(d)) {
					t.Fatalf("%v came back as %v, %v", d, back, err)
				}
			}
		}
		testkit.Seed(t, db, testkit.Docs{"resumes": {}})
		var want []any
		for range 60 {
			d := numberedDocument(r)
			want = append(want, d)
			if _, err := numberedAny.Insert(d).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, func(a, b any) int {
			return bytes.Compare([]byte(a.(bson.D)[0].Value.(string)), []byte(b.(bson.D)[0].Value.(string)))
		})
		wantNumberedSound(t, db, numberedAny)
		got, err := numberedAny.Documents(&model.Find[bson.Raw]{
			Query: model.Query{Sort: bson.D{testkit.E("_id", 1)}},
		}).All(t.Context(), db)
		if err != nil || len(got) != len(want) {
			t.Fatal(len(got), err)
		}
		for i := range got {
			if diff := mongotest.Diff(want[i], got[i]); diff != "" {
				t.Errorf("document %d:\n%s", i, diff)
			}
		}
	})
}

func FuzzNumberedBack(f *testing.F) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		flat, err := numberedAny.Flatten(numberedDocument(r))
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(flat))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if bson.Raw(b).Validate() != nil {
			return
		}
		d, err := numberedAny.Back(b)
		if err != nil {
			return
		}
		flat, err := numberedAny.Flatten(d)
		if err != nil {
			return // it was nested already, with what can't be flat
		}
		again, err := numberedAny.Back(flat)
		if err != nil || !bytes.Equal(testkit.Marshal(again), testkit.Marshal(d)) {
			t.Errorf("%v came back as %v, %v", d, again, err)
		}
	})
}

// What other code left is found, all of it, and mended without losing a field.
func TestNumberedRepair(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantDistinctChecks(t, slices.Concat(levelFields.Checks(), numberedLangs.Checks()), 4)
	testkit.WantRefusedFindings(t, levelFields.Checks()...)
	d := func(id string, fields ...bson.E) bson.D { return append(bson.D{testkit.E("_id", id)}, fields...) }
	damaged := testkit.Docs{"resumes": {
		d("a", testkit.E("skills", 1), testkit.E("skill_2", "Math")), d("b", testkit.E("skill_1", "Math")),
		d("c", testkit.E("skills", "two"), testkit.E("level_1", "Poor")), d("d", testkit.E("skills", 2.5)),
		d("e", testkit.E("skills", nil), testkit.E("skill_3", 1)), d("f", testkit.E("skills", bson.A{})),
		d("g", testkit.E("skills", 9)), d("h", testkit.E("skills", -1)),
		d("ok1", testkit.E("skills", 2.0), testkit.E("skill_1", 1)), d("ok2"), d("ok3", testkit.E("skills", nil)),
		d("ok4", testkit.E("skills", int64(0))),
	}}
	mended := testkit.Docs{"resumes": {
		d("a", testkit.E("skills", 2), testkit.E("skill_2", "Math")),
		d("b", testkit.E("skill_1", "Math"), testkit.E("skills", 1)),
		d("c", testkit.E("skills", 1), testkit.E("level_1", "Poor")), d("d", testkit.E("skills", 0)),
		d("e", testkit.E("skills", 3), testkit.E("skill_3", 1)), damaged["resumes"][5], damaged["resumes"][6],
		d("h", testkit.E("skills", 0)), damaged["resumes"][8], damaged["resumes"][9],
		damaged["resumes"][10], damaged["resumes"][11],
	}}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed:  func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, damaged) },
		Run:   testkit.CheckJob(levelFields.Checks()[0]),
		Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, mended) },
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, damaged)
		var got []string
		for _, c := range levelFields.Checks() {
			found, said := testkit.FindingsOf(t, db, c)
			got = append(got, said...)
			for _, f := range found {
				raw :=
					bson.Raw(testkit.Marshal(damaged["resumes"][slices.IndexFunc(damaged["resumes"], func(d any) bool {
						return d.(bson.D)[0].Value == f.ID.StringValue()
					})].(bson.D)))
				if _, err := levelFields.Back(raw); err == nil && raw.Lookup("skills").Type != bson.TypeArray {
					t.Errorf("%s is taken back", raw)
				}
			}
		}
		if want := []string{
			"resumes 'a': has the count 1, but its last numbered field has the number 2",
			"resumes 'b': has no count, but its last numbered field has the number 1",
			"resumes 'c': has the count 'two', but its last numbered field has the number 1",
			"resumes 'd': has the count 2.5, but its last numbered field has the number 0",
			"resumes 'e': has the count null, but its last numbered field has the number 3",
			"resumes 'h': has the count -1, but its last numbered field has the number 0",
			"resumes 'f': holds an array, but its last numbered field has the number 0",
			"resumes 'g': has the count 9, but its last numbered field has the number 0",
		}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if levelFields.Checks()[1].Job().Err == nil {
			t.Error("a job mends lists that aren't flat")
		}
		// What no list counts fails no query.
		testkit.Seed(t, db, testkit.Docs{"resumes": {
			d("a", testkit.E("skills", math.NaN()), testkit.E("skill_1", "Go")),
			d("b", testkit.E("skills", math.Inf(1)), testkit.E("skill_1", "Go")),
			d("c", testkit.E("skills", -5), testkit.E("skill_1", "Go")),
			d("d", testkit.E("skills", 1.5), testkit.E("skill_1", "Go")),
		}})
		query := levelFields.Equal(bson.D{testkit.E("skill", "Go")}).Sorted(bson.D{testkit.E("_id", 1)})
		odd, err := levelFields.Documents(query).All(t.Context(), db)
		if err != nil || len(odd) != 4 || len(odd[0].Skills) != 0 || len(odd[1].Skills) != 3 ||
			len(odd[2].Skills) != 0 ||
			len(odd[3].Skills) != 1 {
			t.Errorf("odd counts: %v, %v", odd, err)
		}
		testkit.Seed(t, db, testkit.Docs{
			"resumes": {
				d("a", testkit.E("langs", 2), testkit.E("langs-1", "en")),
				d("b", testkit.E("langs", 0), testkit.E("langs-1", "en")),
				d("c", testkit.E("langs", 1), testkit.E("langs-1", nil)),
			},
		})
		plain := numberedLangs.Checks()[0]
		if found, said := testkit.FindingsOf(t, db, plain); len(found) != 2 {
			t.Errorf("found %q", said)
		}
		if err := testkit.CheckJob(plain)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantNumberedSound(t, db, numberedLangs)
	})
}

// Nested documents become flat in place, and nested again.
func TestNumberedConvert(t *testing.T) {
	testkit.Parallel(t)
	nested := testkit.Docs{"resumes": {
		cv{ID: "a", Name: "Ann", Skills: []levelDoc{{"Math", "Poor"}, {"Poetry", "Good"}}},
		cv{ID: "b", Skills: []levelDoc{{}}}, bson.D{testkit.E("_id", "c"), testkit.E("skills", bson.A{})},
		bson.D{testkit.E("_id", "d"), testkit.E("skills", nil)}, cv{ID: "e"},
	}}
	convert := func(ctx context.Context, db *mongo.Database) error {
		_, err := levelFields.Convert().Run(ctx, db, model.JobOptions{})
		return err
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, nested) },
		Run:  convert,
		Check: func(t testing.TB, db *mongo.Database) {
			testkit.WantDocs(t, db, testkit.Docs{"resumes": {
				bson.D{
					testkit.E("_id", "a"), testkit.E("name", "Ann"), testkit.E("skills", 2),
					testkit.E("skill_1", "Math"), testkit.E("level_1", "Poor"), testkit.E("skill_2", "Poetry"),
					testkit.E("level_2", "Good"),
				},
				bson.D{testkit.E("_id", "b"), testkit.E("skills", 1)},
				bson.D{testkit.E("_id", "c"), testkit.E("skills", 0)}, nested["resumes"][3], nested["resumes"][4],
			}})
		},
	})
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(testkit.Store(ctx, db, nested), convert(ctx, db))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := levelFields.Restore().Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, nested) },
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"resumes": {cv{ID: "a", Skills: make([]levelDoc, 4)}}})
		testkit.WantError(t, convert(t.Context(), db), testkit.ErrRefused)
		testkit.Seed(t, db, testkit.Docs{"resumes": {bson.D{testkit.E("_id", "a"), testkit.E("skills", bson.A{1})}}})
		testkit.WantError(t, convert(t.Context(), db), testkit.ErrRefused)
	})
}

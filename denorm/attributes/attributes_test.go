package attributes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/denorm/attributes"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	spec struct {
		K    string `bson:"k"`
		V    any    `bson:"v"`
		Unit string `bson:"unit,omitempty"`
	}
	good struct {
		ID    string `bson:"_id"`
		Specs []spec `bson:"specs,omitempty"`
	}
)

var (
	goods = model.NewCollection[good, string]("goods")
	specs = attributes.New(goods, "specs", attributes.Spec{})
)

func makeGoods(list ...spec) testkit.Docs { return testkit.Docs{"goods": {good{"g", list}}} }

// attrs are the attributes of a name, a value, a name, a value.
var attrs = testkit.D

func TestAttributesWrites(t *testing.T) {
	testkit.Parallel(t)
	red := spec{K: "color", V: "red"}
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "the first attribute", Before: makeGoods(), Write: specs.Set("g", attrs("color", "red")),
			After: makeGoods(red), Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "one more comes last", Before: makeGoods(red), Write: specs.Set("g", attrs("size", 5)),
			After: makeGoods(red, spec{K: "size", V: 5}), Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "one that is there changes where it stands, and keeps what is beside it",
			Before: makeGoods(spec{K: "size", V: 4, Unit: "cm"}, red),
			Write:  specs.Set("g", attrs("size", 5)),

			After:  makeGoods(spec{K: "size", V: 5, Unit: "cm"}, red),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "some that are there and some that aren't",
			Before: makeGoods(red, spec{K: "size", V: 4}),
			Write:  specs.Set("g", attrs("width", 1.5, "size", nil, "tags", bson.A{"a", "$b"})),

			After:  makeGoods(red, spec{K: "size"}, spec{K: "width", V: 1.5}, spec{K: "tags", V: bson.A{"a", "$b"}}),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "a list that is stored as null",
			Before: testkit.Docs{"goods": {bson.D{{Key: "_id", Value: "g"}, {Key: "specs", Value: nil}}}},
			Write:  specs.Set("g", attrs("color", "red")),
			After:  makeGoods(red), Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "an owner that isn't there", Before: testkit.Docs{"goods": {}},
			Write: specs.Set("g", attrs("color", "red")),
			Err:   model.ErrNotFound,
		},
		{Reason: "no attribute", Before: makeGoods(red), Write: specs.Set("g", nil), Err: testkit.ErrRefused},
		{Reason: "an empty name", Before: makeGoods(red), Write: specs.Set("g", attrs("", 1)), Err: testkit.ErrRefused},
		{
			Reason: "a name twice", Before: makeGoods(red), Write: specs.Set("g", attrs("a", 1, "a", 2)),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "an empty owner", Before: makeGoods(red), Write: specs.Set("", attrs("a", 1)),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "a value that can't be stored", Before: makeGoods(red),
			Write: specs.Set("g", attrs("a", func() {})),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "a value with a name that can't be stored",
			Before: makeGoods(red),
			Write:  specs.Set("g", attrs("a", bson.D{{Key: "$x", Value: 1}})),
			Err:    testkit.ErrRefused,
		},
		{
			Reason: "taken off", Before: makeGoods(red, spec{K: "size", V: 4}),
			Write: specs.Unset("g", "color", "none"), After: makeGoods(spec{K: "size", V: 4}),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "taken off where it isn't", Before: makeGoods(red),
			Write: specs.Unset("g", "size"), Status: model.Applied,
			Again: model.Applied,
		},
		{
			Reason: "taken off an owner that isn't there", Before: testkit.Docs{"goods": {}},
			Write: specs.Unset("g", "size"),
			Err:   model.ErrNotFound,
		},
		{Reason: "nothing to take off", Before: makeGoods(red), Write: specs.Unset("g"), Err: testkit.ErrRefused},
		{
			Reason: "an empty name to take off", Before: makeGoods(red), Write: specs.Unset("g", ""),
			Err: testkit.ErrRefused,
		},
	})
}

// Names and values that look like commands stay data.
func TestAttributesHostile(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, s := range []string{"$where", "a.b", "$specs", "$$this", "^.*", "é\x00"} {
			testkit.Seed(t, db, makeGoods(spec{K: "x", V: 1}))
			for range 2 {
				if _, err := specs.Set("g", attrs(s, s, s+"2", bson.D{{Key: "in", Value: s}})).
					Run(t.Context(), db); err != nil {
					t.Fatal(s, err)
				}
			}
			testkit.WantDocs(t, db,
				makeGoods(spec{K: "x", V: 1}, spec{K: s, V: s}, spec{K: s + "2", V: bson.D{{Key: "in", Value: s}}}))
			if found, err := specs.Equal(s, s).All(t.Context(), db); err != nil || len(found) != 1 {
				t.Errorf("%s: found %d, %v", s, len(found), err)
			}
			if _, err := specs.Unset("g", s, s+"2").Run(t.Context(), db); err != nil {
				t.Fatal(s, err)
			}
			testkit.WantDocs(t, db, makeGoods(spec{K: "x", V: 1}))
		}
	})
}

func TestAttributesReads(t *testing.T) {
	testkit.Parallel(t)
	d := func(op string, v any) bson.D { return bson.D{{Key: op, Value: v}} }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"goods": {
			good{"a", []spec{{K: "size", V: 5}, {K: "width", V: 9}, {K: "color", V: "red"}}},
			good{"b", []spec{{K: "size", V: 9}, {K: "width", V: 5}, {K: "tags", V: bson.A{"x", "y"}}}},
			good{"c", []spec{{K: "size", V: "5"}, {K: "none", V: nil}}}, good{ID: "d"},
		}})
		for _, test := range []struct {
			reason string
			query  *model.Find[good]
			want   []string
		}{
			{"by name and value, not by another's value", specs.Equal("size", 5), []string{"a"}},
			{"by a value that is an array", specs.Equal("tags", bson.A{"x", "y"}), []string{"b"}},
			{"by null", specs.Equal("none", nil), []string{"c"}},
			{"by range", specs.Match("size", d("$gte", 6)), []string{"b"}},
			{
				reason: "by several attributes",
				query:  specs.Match("size", d("$gte", 5)).Where(specs.Match("width", d("$lt", 6)).Filter),
				want:   []string{"b"},
			},
			{"by name alone", specs.Has("size"), []string{"a", "b", "c"}},
			{"by what nobody has", specs.Has("weight"), []string{}},
		} {
			t.Run(test.reason, func(t *testing.T) {
				list, err := test.query.Sorted(bson.D{{Key: "_id", Value: 1}}).All(t.Context(), db)
				got := []string{}
				for _, g := range list {
					got = append(got, g.ID)
				}
				if err != nil || !slices.Equal(got, test.want) {
					t.Errorf("got %v, want %v, %v", got, test.want, err)
				}
			})
		}
		uses, err := specs.Survey().All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(uses),
			"[{color string 1} {none null 1} {size int 2} {size string 1} {tags array 1} {width int 2}]"; got != want {
			t.Errorf("survey\n%s, want\n%s", got, want)
		}
	})
	for reason, err := range map[string]error{
		"an empty name": specs.Equal("", 1).Err, "an empty name to have": specs.Has("").Err,
		"an empty condition":            specs.Match("a", nil).Err,
		"a condition without operators": specs.Match("a", bson.D{{Key: "b", Value: 1}}).Err,
		"a value that can't be stored":  specs.Equal("a", func() {}).Err,
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, err, testkit.ErrRefused) })
	}
}

// Whatever is set and taken off in whatever order, the list is the map that the same makes, in the order of first
// setting.
func TestAttributesLockstep(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		random := rand.New(rand.NewPCG(5, 6))
		testkit.Seed(t, db, makeGoods())
		var want []spec
		for range 60 {
			name := string(rune('a' + random.IntN(6)))
			i := slices.IndexFunc(want, func(s spec) bool { return s.K == name })
			w := specs.Unset("g", name)
			switch v := random.Int32N(100); {
			case random.IntN(3) == 0:
				want = slices.DeleteFunc(want, func(s spec) bool { return s.K == name })
			case i >= 0:
				w, want[i].V = specs.Set("g", attrs(name, v)), v
			default:
				w, want = specs.Set("g", attrs(name, v)), append(want, spec{K: name, V: v})
			}
			if _, err := w.Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			got, err := goods.ByID("g").One(t.Context(), db)
			if err != nil || fmt.Sprint(got.Specs) != fmt.Sprint(want) {
				t.Fatalf("got %v, want %v, %v", got.Specs, want, err)
			}
		}
	})
}

// Thirty-two that set at once: every name is there once.
func TestAttributesConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, makeGoods())
		errs := make([]error, 32)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() {
				_, errs[n] = specs.Set("g", attrs("shared", n, fmt.Sprint("own", n), n)).Run(t.Context(), db)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		repeated, err := specs.Checks()[0].All(t.Context(), db)
		got, err2 := goods.ByID("g").One(t.Context(), db)
		if err := errors.Join(err, err2); err != nil || len(repeated) != 0 || len(got.Specs) != len(errs)+1 {
			t.Errorf("%d attributes, repeated %v, %v", len(got.Specs), repeated, err)
		}
	})
}

// Names that other code repeated are found, all of them, and the first of each stays.
func TestAttributesRepair(t *testing.T) {
	testkit.Parallel(t)
	nameless := bson.D{{Key: "v", Value: 1}}
	damaged := testkit.Docs{"goods": {
		good{"a", []spec{{K: "x", V: 1}, {K: "y", V: 2}, {K: "x", V: 3}, {K: "x", V: 4}, {K: "y", V: 5}}},
		good{"b", []spec{{K: "x", V: 1}, {K: "y", V: 1}}},
		bson.D{
			{Key: "_id", Value: "c"},
			{Key: "specs", Value: bson.A{nameless, spec{K: "z", V: 1}, nameless, spec{K: "z", V: 2}}},
		},
	}}
	mended := testkit.Docs{"goods": {
		good{"a", []spec{{K: "x", V: 1}, {K: "y", V: 2}}}, damaged["goods"][1],
		bson.D{{Key: "_id", Value: "c"}, {Key: "specs", Value: bson.A{nameless, spec{K: "z", V: 1}, nameless}}},
	}}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, damaged) },
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := specs.Checks()[0].Job().Run(ctx, db, model.JobOptions{})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, mended) },
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, damaged)
		check := specs.Checks()[0]
		found, err := check.All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(found),
			`[goods 'a': holds "x" 3 times goods 'a': holds "y" 2 times goods 'c': holds "z" 2 times]`; got != want {
			t.Errorf("found %s, want %s", got, want)
		}
		if c := check.Mend(found).Cost(); c.Commands != 2 && c.Commands != 1 {
			t.Errorf("%d commands for two documents", c.Commands)
		}
	})
	check := specs.Checks()[0]
	for reason, f := range map[string]model.Finding{
		"without an id":    {Check: check.Name, Detail: testkit.Marshal(bson.D{testkit.E("name", "x")})},
		"without a detail": {Check: check.Name},
		"of another check": {
			Check:  "goods.specs",
			Detail: testkit.Marshal(bson.D{testkit.E("id", "a"), testkit.E("name", "x")}),
		},
	} {
		if _, err := check.Mend([]model.Finding{f}).Run(t.Context(), nil); !errors.As(err, new(*model.ValueError)) {
			t.Errorf("a finding %s is taken: %v", reason, err)
		}
	}
}

func TestAttributesFaults(t *testing.T) {
	testkit.Parallel(t)
	for reason, c := range map[string]struct {
		w     model.Write
		after testkit.Docs
	}{
		"Set": {specs.Set("g", attrs("a", 2, "b", 3)), makeGoods(spec{K: "a", V: 2}, spec{K: "b", V: 3})},
		"Unset": {
			w:     specs.Unset("g", "a"),
			after: testkit.Docs{"goods": {bson.D{{Key: "_id", Value: "g"}, {Key: "specs", Value: bson.A{}}}}},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return testkit.Store(ctx, db, makeGoods(spec{K: "a", V: 1}))
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := c.w.Run(ctx, db)
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, c.after) },
			})
		})
	}
}

func TestAttributesCostsAndIndex(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 4000 {
			list = append(list, good{fmt.Sprint("g", i), []spec{{K: fmt.Sprint("k", i%50), V: i}, {K: "all", V: i}}})
		}
		testkit.Seed(t, db, testkit.Docs{"goods": list})
		if err := model.New("test", specs).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		index := "specs.k_1_specs.v_1"
		for _, test := range []struct {
			reason string
			query  any
			index  string
		}{
			{"Equal", specs.Equal("k7", 7), index},
			{"Match", specs.Match("k7", bson.D{{Key: "$lt", Value: 60}}), index}, {"Has", specs.Has("k7"), index},
			{"Set", specs.Set("g7", attrs("k7", 1)), model.IDIndex},
			{"Unset", specs.Unset("g7", "k7"), model.IDIndex},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, test.index) })
		}
		for reason, w := range map[string]model.Write{
			"Set": specs.Set("g9", attrs("k7", 1)), "Unset": specs.Unset("g11", "k11"),
		} {
			t.Run(reason+" costs", func(t *testing.T) {
				modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 1}, func() error {
					_, err := w.Run(t.Context(), db)
					return err
				})
				modeltest.WantCost(t, m, w.Cost(), func() error {
					_, err := w.Run(t.Context(), db)
					return err
				})
			})
		}
	}, m)
}

func TestAttributesDeclarations(t *testing.T) {
	testkit.Parallel(t)
	type numbers struct {
		ID    string `bson:"_id"`
		Specs []struct {
			K int    `bson:"k"`
			V string `bson:"v"`
		} `bson:"specs,omitempty"`
		Tops []int64 `bson:"tops,omitempty"`
	}
	numbered := model.NewCollection[numbers, string]("numbered")
	for reason, declare := range map[string]func(){
		"no such path":    func() { attributes.New(goods, "spex", attributes.Spec{}) },
		"no array":        func() { attributes.New(goods, "_id", attributes.Spec{}) },
		"no such name":    func() { attributes.New(goods, "specs", attributes.Spec{Name: "key"}) },
		"no such value":   func() { attributes.New(goods, "specs", attributes.Spec{Value: "val"}) },
		"no string":       func() { attributes.New(numbered, "specs", attributes.Spec{}) },
		"a dotted name":   func() { attributes.New(goods, "specs", attributes.Spec{Name: "k.k"}) },
		"one field":       func() { attributes.New(goods, "specs", attributes.Spec{Name: "k", Value: "k"}) },
		"elements of ids": func() { attributes.New(numbered, "tops", attributes.Spec{}) },
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Remedy == "" {
					t.Errorf("panicked with %v", d)
				}
			}()
			declare()
		})
	}
}

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestAttributesPrices(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantPrices(t,
		testkit.Stored(testkit.Docs{
			"goods": {
				good{"a", []spec{{K: "x", V: 1}, {K: "x", V: 3}, {K: "y", V: 5}, {K: "y", V: 6}}},
				good{"b", []spec{{K: "x", V: "1"}, {K: "x", V: 1}}},
			},
		}),
		testkit.Reads("Equal", 2, specs.Equal("x", 1)),
		testkit.Reads("Match", 1, specs.Match("y", bson.D{testkit.E("$gt", 5)})),
		testkit.Reads("Has", 2, specs.Has("x")),
		testkit.Reads("Survey", 3, specs.Survey()).
			Differs("the scope's fields are fields of the documents that it lists"),
		testkit.Reads("Checks", 3, specs.Checks()[0].Find()), testkit.Mending(1, 2, specs.Checks()[0]),
	)
}

// Mending finds its documents by _id.
func TestAttributesMendIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, makeGoods(spec{K: "x", V: 1}, spec{K: "x", V: 2}))
		testkit.WantStepsIndexed(t, db, "Attributes.Checks", model.IDIndex, testkit.Mended(t, db, specs.Checks())...)
	})
}

package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// bucketCost is an operation on five notes in two buckets, and its price: what its value says, if it says any, and
// exactly.
type bucketCost struct {
	reason string
	said   model.Cost
	run    func(context.Context, *mongo.Database) error
	want   model.Cost
}

// What each operation costs is what its documentation says, and where its value says a price, that.
func TestBucketCosts(t *testing.T) {
	testkit.Parallel(t)
	noon := time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)
	type run = func(context.Context, *mongo.Database) error
	write := func(w model.Write) run {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := w.Run(ctx, db)
			return err
		}
	}
	find := func(f *model.Find[noteDoc]) run {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := f.All(ctx, db)
			return err
		}
	}
	unsaid := model.Cost{}
	tests := []bucketCost{
		{"Append", unsaid, appending(plain, "q", makeNote("x")), model.Cost{Commands: 2, Written: 1}},
		{
			reason: "Append with room", said: unsaid, run: appending(plain, "p", makeNote("x")),
			want: model.Cost{Commands: 2, Written: 1, Returned: 1},
		},
		{
			reason: "Append with a Key", said: unsaid, run: appending(byKey, "p", makeNote("x")),
			want: model.Cost{Commands: 2, Written: 1, Returned: 1},
		},
		{"Append of what is there", unsaid, appending(byKey, "p", makeNote("0")), model.Cost{Commands: 2, Returned: 4}},
		{
			reason: "Append that closes a bucket", said: unsaid, run: appending(budgeted, "p", ofSize("x", 120)),
			want: model.Cost{Commands: 3, Written: 2, Returned: 1},
		},
		{
			reason: "AppendTo", said: plain.AppendTo("p", 1, makeNote("x")).Cost(),
			run:  write(plain.AppendTo("p", 1, makeNote("x"))),
			want: model.Cost{Commands: 1, Written: 1},
		},
		{
			reason: "AppendTo of what is there", said: unsaid, run: write(byKey.AppendTo("p", 0, makeNote("0"))),
			want: model.Cost{Commands: 2, Returned: 1},
		},
		{
			reason: "AppendTo a full bucket", said: unsaid, run: full(byKey.AppendTo("p", 0, makeNote("x"))),
			want: model.Cost{Commands: 3, Returned: 1},
		},
		{"Page", plain.Page("p", 0).Cost(), find(plain.Page("p", 0)), model.Cost{Commands: 1, Returned: 1}},
		{"Oldest", plain.Oldest("p").Cost(), find(plain.Oldest("p")), model.Cost{Commands: 1, Returned: 2}},
		{
			reason: "Newest", said: plain.Newest("p").Cost(), run: find(plain.Newest("p").Limited(1).After()),
			want: model.Cost{Commands: 1, Returned: 1},
		},
		{
			reason: "Between", said: daily.Between("p", noon, noon.Add(1)).Cost(),
			run: find(daily.Between("p", noon, noon.Add(1))), want: model.Cost{Commands: 1},
		},
		{
			reason: "Holding", said: byKey.Holding("p", "0").Cost(), run: find(byKey.Holding("p", "0")),
			want: model.Cost{Commands: 1, Returned: 1},
		},
		{"Elements", plain.Elements("p").Cost(), func(ctx context.Context, db *mongo.Database) error {
			_, err := plain.Elements("p").All(ctx, db)
			return err
		}, model.Cost{Commands: 1, Returned: 5}},
		{"Totals", added.Totals("p").Cost(), func(ctx context.Context, db *mongo.Database) error {
			_, err := added.Totals("p").All(ctx, db)
			return err
		}, model.Cost{Commands: 1, Returned: 1}},
	}
	for _, c := range plain.Checks() {
		tests = append(tests, bucketCost{c.Name, c.Find().Cost(), func(ctx context.Context, db *mongo.Database) error {
			_, err := c.All(ctx, db)
			return err
		}, model.Cost{Commands: 1}})
	}
	// The _ids of a batch, its findings, and two to read the end.
	tests = append(tests, bucketCost{
		reason: "a job that finds nothing", said: unsaid, run: testkit.CheckJob(plain.Checks()[0]),
		want: model.Cost{Commands: 4, Returned: 2},
	})
	checkBucketCosts(t, tests)
}

func checkBucketCosts(t *testing.T, tests []bucketCost) {
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) {
				for _, want := range []model.Cost{test.want, test.said} {
					if want.Commands == 0 {
						continue
					}
					empty(t, db)
					for i := range 5 {
						appendAll(t, db, plain, "p", makeNote(fmt.Sprint(i)))
					}
					modeltest.WantCost(t, m, want, func() error { return test.run(t.Context(), db) })
				}
			})
		}
	}, m)
}

// full is a write that must find its bucket full.
func full(w model.Write) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		if _, err := w.Run(ctx, db); !errors.Is(err, model.ErrFull) {
			return fmt.Errorf("gave %v, want ErrFull", err)
		}
		return nil
	}
}

// Buckets are found by _id and elements by the index on their key, among thousands.
func TestBucketIndexed(t *testing.T) {
	testkit.Parallel(t)
	noon := time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 4000 {
			key := fmt.Sprint("k", i)
			list = append(list, noteDoc{
				ID: key + "#0000000000", Key: key, N: 2,
				Items: []note{makeNote(fmt.Sprint("a", i)), makeNote("b")},
			})
		}
		if err := testkit.Store(t.Context(), db, testkit.Docs{"notes": list}); err != nil {
			t.Fatal(err)
		}
		if err := testkit.CreateIndexes(t.Context(), db, byKey); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			reason, index string
			query         any
		}{
			{"Page", model.IDIndex, plain.Page("k77", 0)},
			{"Oldest", model.IDIndex, plain.Oldest("k77").Limited(2).After()},
			{"Newest", model.IDIndex, plain.Newest("k77").Limited(2).After("k77#0000000005")},
			{"Between", model.IDIndex, daily.Between("k77", noon, noon.Add(1))},
			{"Elements", model.IDIndex, plain.Elements("k77")},
			{"Totals", model.IDIndex, added.Totals("k77")},
			{"Holding", "key_1_items.id_1", byKey.Holding("k77", "a77")},
			{"AppendTo", model.IDIndex, byKey.AppendTo("k77", 0, makeNote("x"))},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, test.index) })
		}
	})
}

type size int64

// Keys may be numbers and ObjectIDs as well: their buckets don't mix.
func TestBucketKeyTypes(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		eachKey(t, db, []size{-12, -1, 0, 1, 12, 1 << 40}, "")
		eachKey(t, db, []bson.ObjectID{{11: 1}, {11: 2}}, bson.NilObjectID.Hex())
	})
}

func eachKey[K comparable](t *testing.T, db *mongo.Database, keys []K, empty string) {
	buckets := model.NewCollection[bucket.Doc[K, note], string]("keyed")
	b := bucket.New(buckets, bucket.Spec{Max: 1, ElementKey: "id"})
	testkit.Seed(t, db, testkit.Docs{"keyed": {}})
	for range 2 {
		for _, key := range keys {
			for _, id := range []string{"a", "b"} {
				if _, err := b.Append(key, makeNote(id)).Run(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	all, err := buckets.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(t.Context(), db)
	if err != nil || len(all) != 2*len(keys) {
		t.Fatal(all, err)
	}
	for i, d := range all {
		if d.Key != keys[i/2] || d.Items[0].ID != []string{"a", "b"}[i%2] {
			t.Errorf("%d: %s is of %v", i, d.ID, d.Key)
		}
	}
	if got, err := b.Holding(keys[0], "b").One(t.Context(), db); err != nil || got.Key != keys[0] || got.Seq != 1 {
		t.Errorf("holding: %v, %v", got, err)
	}
	if got, err := b.Elements(keys[1]).All(t.Context(), db); err != nil || len(got) != 2 {
		t.Errorf("elements: %v, %v", got, err)
	}
	var zero K
	wantRefusal := error(nil)
	if empty != "" {
		wantRefusal = testkit.ErrRefused
	}
	testkit.WantError(t, b.Oldest(zero).Err, wantRefusal)
}

// A mistake in a declaration panics with what is wrong, where, and what to do.
func TestBucketDeclarations(t *testing.T) {
	testkit.Parallel(t)
	type spec = bucket.Spec
	of := func(s spec) func() { return func() { bucket.New(notes, s) } }
	for _, test := range []struct {
		reason          string
		declare         func()
		problem, remedy string
	}{
		{"no Max", of(spec{}), "Max is 0", "give 1 or more"},
		{"a negative Max", of(spec{Max: -1}), "Max is -1", "give 1 or more"},
		{"negative bytes", of(spec{Max: 1, MaxBytes: -1}), "MaxBytes is -1", "15 MiB"},
		{
			reason: "more bytes than a document has room for", declare: of(spec{Max: 1, MaxBytes: 16 << 20}),
			problem: "MaxBytes is 16777216", remedy: "15 MiB",
		},
		{"another Period", of(spec{Max: 1, Period: 9, At: "at"}), "Period is 9", "denorm.Daily"},
		{
			reason: "a Period without a time", declare: of(spec{Max: 1, Period: denorm.Daily}),
			problem: "Period and At belong together", remedy: "give both, or leave both out",
		},
		{
			reason: "a time without a Period", declare: of(spec{Max: 1, At: "at"}),
			problem: "Period and At belong together",
			remedy:  "give both, or leave both out",
		},
		{"Location is given without a Period", of(spec{Max: 1, Location: time.UTC}), "a Location", "Period"},
		{"a time that elements don't have", of(spec{Max: 1, Period: denorm.Daily, At: "time"}), `"time"`, "bson tags"},
		{"a time that is none", of(spec{Max: 1, Period: denorm.Daily, At: "id"}), "At", "time.Time"},
		{"a key that elements don't have", of(spec{Max: 1, ElementKey: "_id"}), `"_id"`, "bson tags"},
		{
			reason: "a key with several values", declare: of(spec{Max: 1, ElementKey: "tags"}),
			problem: "several values",
			remedy:  "name a field that isn't in an array",
		},
		{"a total that elements don't have", of(spec{Max: 1, Totals: []string{"m"}}), `"m"`, "bson tags"},
		{"a total of text", of(spec{Max: 1, Totals: []string{"id"}}), `Totals "id" is of type string`, "integer"},
		{
			reason: "a total of a list", declare: of(spec{Max: 1, Totals: []string{"tags"}}), problem: "several values",
			remedy: "name a field that isn't in an array",
		},
		{"a total twice", of(spec{Max: 1, Totals: []string{"n", "n"}}), "twice", "once"},
		{
			reason:  "no collection",
			declare: func() { bucket.New(&model.Collection[noteDoc, string]{}, spec{Max: 1}) },
			problem: "zero Collection", remedy: "NewCollection",
		},
		{"elements that are scalars", func() {
			bucket.New(model.NewCollection[bucket.Doc[string, float64], string]("x"), spec{Max: 1})
		}, ", which isn't stored as a document", "struct"},
		{"elements that are times", func() {
			bucket.New(model.NewCollection[bucket.Doc[string, time.Time], string]("x"), spec{Max: 1})
		}, ", which isn't stored as a document", "struct"},
		{"elements that are lists", func() {
			bucket.New(model.NewCollection[bucket.Doc[string, []note], string]("x"), spec{Max: 1})
		}, ", which isn't stored as a document", "struct"},
		{"keys that are documents", func() {
			bucket.New(model.NewCollection[bucket.Doc[note, note], string]("x"), spec{Max: 1})
		}, ", which can't be part of an _id", "string"},
		{"keys that are floats", func() {
			bucket.New(model.NewCollection[bucket.Doc[float64, note], string]("x"), spec{Max: 1})
		}, ", which can't be part of an _id", "string"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := panicOf(test.declare); !errors.As(err, &d) {
				t.Fatalf("panicked with %v, want a *model.DeclarationError", err)
			}
			if !strings.Contains(d.Problem, test.problem) || d.Place == "" || !strings.Contains(d.Remedy, test.remedy) {
				t.Errorf("%v\nwant %q, remedy %q", d, test.problem, test.remedy)
			}
		})
	}
	totals := []string{"n"}
	b := bucket.New(notes, spec{Max: 1, Totals: totals})
	totals[0] = "x"
	if got := b.AppendTo("p", 0, makeNumbered("a", 1, 1)).String(); !strings.Contains(got, "totals.n.sum") {
		t.Errorf("the declaration changed with the caller's spec: %s", got)
	}
}

// What finds and counts anew buckets that were miscounted costs what its value says.
func TestBucketPrices(t *testing.T) {
	testkit.Parallel(t)
	wrong := bucketDoc(0, []note{makeNumbered("a", 5, 0.5)}, bson.E{Key: "n", Value: 0})
	testkit.WantPrices(t, testkit.Stored(testkit.Docs{"notes": {wrong}}),
		testkit.Reads("Checks", 1, added.Checks()[0].Find()),
		testkit.Mending(1, 1, added.Checks()[0]))
}

func panicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

package bounded_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// many are boards within the bound, at it, and over it.
var many = testkit.Docs{"boards": {
	board{ID: "a"}, board{ID: "b", Posts: posts("a1")}, board{ID: "c", Posts: posts("c3", "a1", "b2")},
	board{ID: "d", Posts: posts("c3", "a1", "d4", "b2")}, board{ID: "e", Posts: posts("a9", "e5", "b8", "d6", "c7")},
	bson.D{{Key: "_id", Value: "f"}, {Key: "posts", Value: nil}},
	bson.D{{Key: "_id", Value: "g"}, {Key: "posts", Value: "no list"}},
}}

// makeTrimmed are the same, with what the two that are over the bound keep.
func makeTrimmed(d, e []post) testkit.Docs {
	list := slices.Clone(many["boards"])
	list[3], list[4] = board{ID: "d", Posts: d}, board{ID: "e", Posts: e}
	return testkit.Docs{"boards": list}
}

func TestBoundedTrim(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantDistinctChecks(t, last.Checks(), 1)
	testkit.WantRefusedFindings(t, last.Checks()...)
	found := []string{"boards 'd': holds 4 elements", "boards 'e': holds 5 elements"}
	for _, c := range []struct {
		reason string
		before testkit.Docs
		b      *bounded.Bounded[board, string]
		found  []string
		after  testkit.Docs
	}{
		{"to the last", many, last, found, makeTrimmed(posts("a1", "d4", "b2"), posts("b8", "d6", "c7"))},
		{"to the first", many, first, found, makeTrimmed(posts("c3", "a1", "d4"), posts("a9", "e5", "b8"))},
		{
			reason: "to the greatest; arrays within the bound are not even sorted",
			before: many, b: newest, found: found,
			after: makeTrimmed(posts("b2", "c3", "d4"), posts("c7", "b8", "a9")),
		},
		{"to the top", many, topmost, found, makeTrimmed(posts("d4", "c3", "b2"), posts("a9", "b8", "c7"))},
		{"with nothing over the bound", makeBoard("a1"), last, nil, makeBoard("a1")},
		{
			reason: "with a document in the array's place",
			before: testkit.Docs{
				"boards": {bson.D{testkit.E("_id", "b"), testkit.E("posts", bson.D{testkit.E("3", 1)})}},
			},
			b: last, found: nil,
			after: testkit.Docs{
				"boards": {bson.D{testkit.E("_id", "b"), testkit.E("posts", bson.D{testkit.E("3", 1)})}},
			},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.Seed(t, db, c.before)
				check := c.b.Checks()[0]
				list, said := testkit.FindingsOf(t, db, check)
				if !slices.Equal(said, c.found) {
					t.Errorf("found %q, want %q", said, c.found)
				}
				for range 2 { // what was found once may be mended twice
					testkit.MustExec(t, db, check.Mend(list))
					testkit.WantDocs(t, db, c.after)
				}
				if _, left := testkit.FindingsOf(t, db, check); len(left) > 0 {
					t.Errorf("left %q", left)
				}
			})
		})
	}
}

func TestBoundedRemove(t *testing.T) {
	testkit.Parallel(t)
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "by key", Before: makeBoard("a1", "b2", "c3"),
			Write: lastKey.Remove("b", "a", "c"), After: makeBoard("b2"), Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "a key that isn't there is passed over", Before: makeBoard("a1"), Write: lastKey.Remove("b", "x"),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "every element of the key", Before: makeBoard("a1", "b2", "a3"), Write: lastKey.Remove("b", "a"),
			After: makeBoard("b2"), Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "from a document without the array", Before: makeBoard(), Write: lastKey.Remove("b", "a"),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "from a missing owner", Before: testkit.Docs{"boards": {}}, Write: lastKey.Remove("b", "a"),
			Err: model.ErrNotFound,
		},
		{Reason: "no key", Before: makeBoard("a1"), Write: lastKey.Remove("b"), Err: testkit.ErrRefused},
		{Reason: "a nil key", Before: makeBoard("a1"), Write: lastKey.Remove("b", nil), Err: testkit.ErrRefused},
		{Reason: "without a Key", Before: makeBoard("a1"), Write: last.Remove("b", "a"), Err: testkit.ErrRefused},
	})
}

func TestBoundedReads(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{
			"boards": append(slices.Clone(many["boards"][:5]), board{
				ID: "h", Name: "n", Posts: posts("a1", "b2", "c3"),
			}),
		})
		for n, want := range map[int][]post{
			1: posts("a1"), 2: posts("a1", "b2"), -1: posts("c3"), -2: posts("b2", "c3"), 9: posts("a1", "b2", "c3"),
			-9: posts("a1", "b2", "c3"),
		} {
			got, err := last.Slice("h", n).One(t.Context(), db)
			if err != nil || got.Name != "n" || !slices.Equal(got.Posts, want) {
				t.Errorf("slice %d: %v, %v; want %v", n, got, err, want)
			}
		}
		_, err := last.Slice("nobody", 1).One(t.Context(), db)
		testkit.WantError(t, err, model.ErrNotFound)
		for _, f := range []*model.Find[board]{last.Slice("h", 0), last.Slice("", 1)} {
			_, err = f.One(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		}
	})
}

// Every write that can be run again, cut anywhere, ends right.
func TestBoundedFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		name   string
		before testkit.Docs
		write  model.Write
		after  testkit.Docs
	}{
		{
			name: "Push of one with a key", before: makeBoard("a1", "b2", "c3"),
			write: lastKey.Push("b", elements("d4")...),
			after: makeBoard("b2", "c3", "d4"),
		},
		{
			name: "Push of more than the bound", before: makeBoard("a1"),
			write: lastKey.Push("b", elements("b2", "c3", "d4", "e5")...),
			after: makeBoard("c3", "d4", "e5"),
		},
		{
			name: "Push of more than fit first", before: makeBoard("a1", "b2"),
			write: firstKey.Push("b", elements("c3", "d4")...), after: makeBoard("a1", "b2", "c3"),
		},
		{
			name: "Push of what sorts too low", before: makeBoard("a4", "b5"),
			write: newKey.Push("b", elements("c1", "d9")...),
			after: makeBoard("a4", "b5", "d9"),
		},
		{
			name: "Push to the top", before: makeBoard("a5", "b4"), write: topKey.Push("b", elements("c1", "d9")...),
			after: makeBoard("d9", "a5", "b4"),
		},
		{"Remove", makeBoard("a1", "b2", "c3"), lastKey.Remove("b", "a", "c"), makeBoard("b2")},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, c.before) },
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := c.write.Run(ctx, db)
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocs(t, db, c.after) },
			})
		})
	}
	t.Run("Checks", func(t *testing.T) {
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Seed: func(ctx context.Context, db *mongo.Database) error { return testkit.Store(ctx, db, many) },
			Run:  testkit.CheckJob(newest.Checks()[0]),
			Check: func(t testing.TB, db *mongo.Database) {
				testkit.WantDocs(t, db, makeTrimmed(posts("b2", "c3", "d4"), posts("c7", "b8", "a9")))
			},
		})
	})
}

// Without a Key a push that is run again adds its elements again, as its documentation says.
func TestBoundedPushAgain(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, makeBoard("a1"))
		for range 2 {
			if _, err := last.Push("b", elements("b2")...).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		testkit.WantDocs(t, db, makeBoard("a1", "b2", "b2"))
	})
}

// Two pushes at once: both are there, whatever the order.
func TestBoundedPushMeetsPush(t *testing.T) {
	testkit.Parallel(t)
	push := func(notation string) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := newKey.Push("b", elements(notation)...).Run(ctx, db)
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match: testkit.Interleaved,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return testkit.Store(ctx, db, makeBoard("a1", "b2", "c3"))
		},
		A: push("d9"),
		B: push("e5"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if err := errors.Join(errA, errB); err != nil {
				t.Error(err)
			}
			testkit.WantDocs(t, db, makeBoard("c3", "e5", "d9"))
		},
	})
}

// A mistake in a declaration panics with what is wrong, where, and what to do.
func TestBoundedDeclarations(t *testing.T) {
	testkit.Parallel(t)
	type nullBoard struct {
		ID    string `bson:"_id"`
		Posts []post `bson:"posts"`
		Rows  []struct {
			Posts []post `bson:"posts,omitempty"`
		} `bson:"rows,omitempty"`
		Maps []bson.M `bson:"maps,omitempty"`
	}
	nulls := model.NewCollection[nullBoard, string]("nullBoards")
	by := func(d ...bson.E) bounded.Spec { return bounded.Spec{Max: 3, By: d} }
	for _, test := range []struct {
		reason              string
		declare             func()
		problem, at, remedy string
	}{
		{"no bound", func() { newBounded(bounded.Spec{}) }, "Max is 0", "boards.posts", "give 1 or more"},
		{
			reason:  "a negative bound",
			declare: func() { newBounded(bounded.Spec{Max: -1}) },
			problem: "Max is -1", at: "boards.posts", remedy: "give 1 or more",
		},
		{
			reason:  "an array that isn't there",
			declare: func() { bounded.New(boards, "post", by()) },
			problem: `did you mean "posts"`, at: "boards", remedy: "bson tags",
		},
		{"no array", func() { bounded.New(boards, "name", by()) }, "not an array", "boards", "slice"},
		{
			reason:  "a nil array that is stored as null",
			declare: func() { bounded.New(nulls, "posts", by()) },
			problem: "null", at: "nullBoards", remedy: "omitempty",
		},
		{
			reason:  "an array within an array",
			declare: func() { bounded.New(nulls, "rows.posts", by()) },
			problem: "crosses 2 arrays", at: "nullBoards", remedy: "array",
		},
		{
			reason:  "an order by what elements don't have",
			declare: func() { newBounded(by(bson.E{Key: "time", Value: 1})) },
			problem: `"time"`, at: "boards", remedy: "bson tags",
		},
		{
			reason:  "an order by neither 1 nor -1",
			declare: func() { newBounded(by(bson.E{Key: "n", Value: 2})) },
			problem: "sorts n by 2", at: "boards.posts", remedy: "1 or -1",
		},
		{
			reason:  "a direction as text",
			declare: func() { newBounded(by(bson.E{Key: "n", Value: "1"})) },
			problem: "sorts n by '1'", at: "boards.posts", remedy: "1 or -1",
		},
		{
			reason:  "an order by a field twice",
			declare: func() { newBounded(by(bson.E{Key: "n", Value: 1}, bson.E{Key: "n", Value: -1})) },
			problem: "twice", at: "boards.posts", remedy: "once",
		},
		{
			reason:  "an order by the element and a field",
			declare: func() { newBounded(by(bson.E{Key: "", Value: 1}, bson.E{Key: "n", Value: 1})) },
			problem: "both fields of an element and the element itself",
			at:      "boards.posts", remedy: "only",
		},
		{
			reason:  "an order by an operator",
			declare: func() { bounded.New(nulls, "maps", by(bson.E{Key: "$n", Value: 1})) },
			problem: "dollar", at: "nullBoards", remedy: "path",
		},
		{
			reason:  "a key that elements don't have",
			declare: func() { newBounded(bounded.Spec{Max: 1, Key: "_id"}) },
			problem: `"_id"`, at: "boards", remedy: "bson tags",
		},
		{
			reason:  "a key of scalars",
			declare: func() { bounded.New(boards, "stats.tops", bounded.Spec{Max: 1, Key: "id"}) },
			problem: `no field "id"`, at: "boards", remedy: "bson tags",
		},
		{
			reason:  "a key that is created",
			declare: func() { newBounded(bounded.Spec{Max: 1, Key: "id", Create: true}) },
			problem: "Create with a Key", at: "boards", remedy: "owners",
		},
		{
			reason:  "no collection",
			declare: func() { bounded.New(&model.Collection[board, string]{}, "posts", by()) },
			problem: "zero Collection", at: "posts", remedy: "NewCollection",
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := testkit.PanicOf(test.declare)
			var d *model.DeclarationError
			if !errors.As(err, &d) {
				t.Fatalf("panicked with %v, want a *model.DeclarationError", err)
			}
			if !strings.Contains(d.Problem, test.problem) || !strings.Contains(d.Place, test.at) ||
				!strings.Contains(d.Remedy, test.remedy) {
				t.Errorf("%v\nwant %q at %q, remedy %q", d, test.problem, test.at, test.remedy)
			}
		})
	}
	spec := bounded.Spec{Max: 3, By: slices.Clone(byN)}
	b := newBounded(spec)
	spec.By[0].Value = -1
	if got := b.Checks()[0].Mend([]model.Finding{{
		Check: "boards.posts: oversized arrays", Detail: testkit.Marshal(bson.D{testkit.E("_id", "b")}),
	}}).String(); !strings.Contains(got, "$sort: {n: 1, id: 1}") {
		t.Errorf("the declaration changed with the caller's spec: %s", got)
	}
}

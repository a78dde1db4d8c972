package bounded_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestBoundedPush(t *testing.T) {
	testkit.Parallel(t)
	none := testkit.Docs{"boards": {}}
	creatingTops := bounded.New(boards, "stats.tops", bounded.Spec{
		Max: 2, First: true, By: bson.D{{Key: "", Value: -1}}, Create: true,
	})
	scored := func(n ...int64) testkit.Docs {
		return testkit.Docs{"boards": {board{ID: "b", Stats: &scores{Tops: n}}}}
	}
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "to a document without the array", Before: makeBoard(), Write: last.Push("b", elements("a1")...),
			After: makeBoard("a1"), Status: model.Applied,
		},
		{
			Reason: "below the bound nothing is dropped", Before: makeBoard("a1"),
			Write: last.Push("b", elements("b2", "c3")...), After: makeBoard("a1", "b2", "c3"), Status: model.Applied,
		},
		{
			Reason: "the last stay", Before: makeBoard("a1", "b2", "c3"), Write: last.Push("b", elements("d4")...),
			After: makeBoard("b2", "c3", "d4"), Status: model.Applied,
		},
		{
			Reason: "more than the bound at once: the last of them stay",
			Before: makeBoard("a1"),
			Write:  last.Push("b", elements("b2", "c3", "d4", "e5")...),
			After:  makeBoard("c3", "d4", "e5"), Status: model.Applied,
		},
		{
			Reason: "the first stay", Before: makeBoard("a1", "b2"), Write: first.Push("b", elements("c3", "d4")...),
			After: makeBoard("a1", "b2", "c3"), Status: model.Applied,
		},
		{
			Reason: "a full array keeps its first", Before: makeBoard("a1", "b2", "c3"),
			Write: first.Push("b", elements("d4")...), Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "sorted, the greatest stay last", Before: makeBoard("b3", "a9"),
			Write: newest.Push("b", elements("c5", "d1")...), After: makeBoard("b3", "c5", "a9"), Status: model.Applied,
		},
		{
			Reason: "what sorts lowest is dropped though it came last",
			Before: makeBoard("b3", "c5", "a9"), Write: newest.Push("b", elements("d1")...), Status: model.Applied,
			Again: model.Applied,
		},
		{
			Reason: "a tie is broken by the next field", Before: makeBoard("a3", "b3"),
			Write: newest.Push("b", elements("d3", "c3")...), After: makeBoard("b3", "c3", "d3"), Status: model.Applied,
		},
		{
			Reason: "the top stay first", Before: makeBoard("a9", "b3"),
			Write: topmost.Push("b", elements("c5", "d1")...),
			After: makeBoard("a9", "c5", "b3"), Status: model.Applied,
		},
		{
			Reason: "an unsorted array is sorted by a push", Before: makeBoard("a2", "b1"),
			Write: newest.Push("b", elements("c3")...), After: makeBoard("b1", "a2", "c3"), Status: model.Applied,
		},
		{
			Reason: "an array over the bound is cut by a push",
			Before: makeBoard("a1", "b2", "c3", "d4", "e5"), Write: last.Push("b", elements("f6")...),
			After: makeBoard("d4", "e5", "f6"), Status: model.Applied,
		},
		{
			Reason: "by pointer", Before: makeBoard(), Write: last.Push("b", &post{"a", 1}), After: makeBoard("a1"),
			Status: model.Applied,
		},
		{
			Reason: "scalars, below a field that isn't there",
			Before: makeBoard(), Write: tops.Push("b", int64(5)), After: scored(5), Status: model.Applied,
		},
		{
			Reason: "the top scalars", Before: scored(5, 3),
			Write: tops.Push("b", int64(4), int64(9)), After: scored(9, 5),
			Status: model.Applied,
		},
		{
			Reason: "equal scalars are elements of their own",
			Before: scored(5), Write: tops.Push("b", int64(5)), After: scored(5, 5), Status: model.Applied,
		},
		{
			Reason: "a missing owner is told", Before: none, Write: last.Push("b", elements("a1")...),
			Err: model.ErrNotFound,
		},

		{Reason: "no element", Before: makeBoard("a1"), Write: last.Push("b"), Err: testkit.ErrRefused},
		{Reason: "no owner", Before: makeBoard("a1"), Write: last.Push("", elements("a1")...), Err: testkit.ErrRefused},
		{Reason: "nil", Before: makeBoard("a1"), Write: last.Push("b", nil), Err: testkit.ErrRefused},
		{
			Reason: "a nil pointer", Before: makeBoard("a1"), Write: last.Push("b", (*post)(nil)),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "an element of another type", Before: makeBoard("a1"), Write: last.Push("b", "a"),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "a list of elements is not spread", Before: makeBoard("a1"), Write: last.Push("b", posts("b2")),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "a number of another type", Before: makeBoard("a1"), Write: tops.Push("b", 5),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "a bad one among others: none is pushed", Before: makeBoard("a1"),
			Write: last.Push("b", post{"b", 2}, bson.D{}), Err: testkit.ErrRefused,
		},

		{
			Reason: "an owner is created", Before: none,
			Write: creating.Push("b", elements("a1", "b2", "c3", "d4")...),
			After: makeBoard("b2", "c3", "d4"), Status: model.Applied,
		},
		{
			Reason: "an owner that is there isn't", Before: makeBoard("a1"),
			Write: creating.Push("b", elements("b2")...), After: makeBoard("a1", "b2"), Status: model.Applied,
		},
		{
			Reason: "an owner is created around a nested array",
			Before: none,
			Write:  creatingTops.Push("b", int64(1), int64(3), int64(2)),
			After:  scored(3, 2), Status: model.Applied,
		},
	})
}

// With a Key, a push that is run again is recognized by what it left.
func TestBoundedPushWithKey(t *testing.T) {
	testkit.Parallel(t)
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "one", Before: makeBoard("a1"), Write: lastKey.Push("b", elements("b2")...),
			After: makeBoard("a1", "b2"), Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "several", Before: makeBoard("a1"),
			Write: lastKey.Push("b", elements("b2", "c3")...),
			After: makeBoard("a1", "b2", "c3"), Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "the same key with other fields is the same element",
			Before: makeBoard("a1"), Write: lastKey.Push("b", elements("a9")...),
			Status: model.Already, Again: model.Already,
		},
		{
			Reason: "a missing owner is told from a known key",
			Before: testkit.Docs{"boards": {}}, Write: lastKey.Push("b", elements("a1")...), Err: model.ErrNotFound,
		},
		{
			Reason: "some keys are known, some aren't, and there is room",
			Before: makeBoard("a1"),
			Write:  lastKey.Push("b", elements("a1", "b2")...),
			Err:    model.ErrStale,
		},
		{
			Reason: "what was dropped long ago is new", Before: makeBoard("b2", "c3", "d4"),
			Write: lastKey.Push("b", elements("a1")...), After: makeBoard("c3", "d4", "a1"), Status: model.Applied,
			Again: model.Already,
		},
		{
			Reason: "more than the bound: those that stay are recognized",
			Before: makeBoard("a1"),
			Write:  lastKey.Push("b", elements("b2", "c3", "d4", "e5")...),
			After:  makeBoard("c3", "d4", "e5"), Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "the first that fit are recognized", Before: makeBoard("a1", "b2"),
			Write: firstKey.Push("b", elements("c3", "d4")...),
			After: makeBoard("a1", "b2", "c3"), Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "a full array keeps its first, again and again",
			Before: makeBoard("a1", "b2", "c3"),
			Write:  firstKey.Push("b", elements("d4", "e5")...),
			Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "some of the first are known, and there is room",
			Before: makeBoard("a1"),
			Write:  firstKey.Push("b", elements("a1", "b2")...),
			Err:    model.ErrStale,
		},
		{
			Reason: "what sorts too low is recognized by being absent",
			Before: makeBoard("a4", "b5"), Write: newKey.Push("b", elements("c1", "d9")...),
			After: makeBoard("a4", "b5", "d9"), Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "by the second field too", Before: makeBoard("b4", "c5"),
			Write: newKey.Push("b", elements("a4", "d9")...), After: makeBoard("b4", "c5", "d9"),
			Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "more than the bound, sorted", Before: makeBoard(),
			Write: newKey.Push("b", elements("e1", "d2", "c3", "b4", "a5")...),
			After: makeBoard("c3", "b4", "a5"), Status: model.Applied, Again: model.Already,
		},
		{
			Reason: "some sorted keys are known, and another would stay",
			Before: makeBoard("a4", "b5", "c6"), Write: newKey.Push("b", elements("a4", "d9")...), Err: model.ErrStale,
		},
		{
			Reason: "some sorted keys are known, and there is room",
			Before: makeBoard("a4"), Write: newKey.Push("b", elements("a4", "d1")...), Err: model.ErrStale,
		},
		{
			Reason: "the top that stay are recognized", Before: makeBoard("a5", "b4"),
			Write: topKey.Push("b", elements("c1", "d9")...), After: makeBoard("d9", "a5", "b4"), Status: model.Applied,
			Again: model.Already,
		},
		{
			Reason: "the same key twice", Before: makeBoard(),
			Write: lastKey.Push("b", elements("a1", "a2")...),
			Err:   testkit.ErrRefused,
		},
	})
}

// Elements of any form are checked for what can't be a key, and for names that can't be stored.
func TestBoundedOpenElements(t *testing.T) {
	testkit.Parallel(t)
	logs := bounded.New(model.NewCollection[bson.M, string]("boards"), "posts",
		bounded.Spec{Max: 3, Key: "at.id"})
	key := func(id any) bson.M { return bson.M{"at": bson.M{"id": id}} }
	for reason, w := range map[string]model.Write{
		"no key":                   logs.Push("b", bson.M{"a": 1}),
		"null":                     logs.Push("b", key(nil)),
		"a pattern":                logs.Push("b", key(bson.Regex{Pattern: "."})),
		"a list":                   logs.Push("b", key(bson.A{"a"})),
		"undefined":                logs.Push("b", key(bson.Undefined{})),
		"no document":              logs.Push("b", 5),
		"an operator":              logs.Push("b", bson.M{"$each": bson.A{}, "at": bson.M{"id": 1}}),
		"an operator further down": logs.Push("b", bson.M{"at": bson.M{"id": 1, "in": bson.A{bson.M{"$slice": 1}}}}),
		"a list of documents": logs.Push("b", bson.M{
			"at": bson.M{"id": 1}, "in": []bson.D{{{Key: "a.b", Value: 1}}},
		}),
		"a name with a dot":        logs.Push("b", bson.M{"at": bson.M{"id": 1}, "a.b": 1}),
		"a removal of null":        logs.Remove("b", nil),
		"a removal by pattern":     logs.Remove("b", bson.Regex{Pattern: "."}),
		"one by a pattern's bytes": logs.Remove("b", bson.RawValue{Type: bson.TypeRegex, Value: []byte(".\x00\x00")}),
		"a removal of a list":      logs.Remove("b", bson.A{"a"}),
	} {
		t.Run(reason, func(t *testing.T) { testkit.WantError(t, w.Err, testkit.ErrRefused) })
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.Seed(t, db, testkit.Docs{"boards": {bson.M{"_id": "b"}}})
		for _, id := range []any{"a", 5, bson.D{{Key: "x", Value: "y"}}, "$where"} {
			if _, err := logs.Push("b", key(id)).Run(t.Context(), db); err != nil {
				t.Fatalf("key %v: %v", id, err)
			}
			if result, err := logs.Push("b", key(id)).Run(t.Context(), db); err != nil || !result.Already() {
				t.Errorf("key %v again: %v, %v", id, result, err)
			}
		}
		if _, err := logs.Remove("b", "$where", int64(5)).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantDocs(t, db, testkit.Docs{
			"boards": {bson.M{"_id": "b", "posts": bson.A{key(bson.D{{Key: "x", Value: "y"}})}}},
		})
	})
}

// PushWith is what Merge makes of the push and the other update, byte for byte, or as much refused.
func TestBoundedPushWith(t *testing.T) {
	boards := boards.Unchecked()
	testkit.Parallel(t)
	inc := func(path string) bson.E { return bson.E{Key: "$inc", Value: bson.D{{Key: path, Value: int64(1)}}} }
	set := func(path string, v any) bson.E { return bson.E{Key: "$set", Value: bson.D{{Key: path, Value: v}}} }
	list := []string{"a"}
	creatingUnchecked := bounded.New(boards, "posts", bounded.Spec{Max: 3, Create: true})
	for _, with := range []bson.D{
		{inc("n")}, {inc("n"), set("name", "x")}, {set("name", "x"), inc("stats.n")}, {inc("n"), inc("m")},
		{inc("n"), set("n", 1)}, {inc("stats.n"), set("stats.m", 1)},
		{inc("stats"), set("stats.m", 1)}, {set("posts", nil)}, {set("posts.0", nil)}, {set("postscript", 1)},
		{{Key: "$set", Value: bson.D{{Key: "a", Value: list}, {Key: "b", Value: list}}}},
		{{Key: "$push", Value: bson.D{{Key: "other", Value: 1}}}},
		{{Key: "$push", Value: bson.D{{Key: "posts", Value: 1}}}},
		{{Key: "$rename", Value: bson.D{{Key: "a", Value: "posts"}}}}, {{Key: "$set", Value: bson.D{}}},
		{{Key: "$set", Value: map[string]any{"a": 1}}}, {{Key: "set", Value: bson.D{{Key: "a", Value: 1}}}},
		{{Key: "$set", Value: 7}},
		{
			inc("a"), set("b", 1),
			{Key: "$max", Value: bson.D{{Key: "c", Value: 1}, {Key: "d", Value: 2}, {Key: "e", Value: 3}}},
			{Key: "$min", Value: bson.D{{Key: "f", Value: 1}}},
		},
	} {
		for _, b := range []*bounded.Bounded[board, string]{
			bounded.New(boards, "posts", bounded.Spec{Max: 3}),
			bounded.New(boards, "posts", bounded.Spec{Max: 3, By: byN}),
			bounded.New(boards, "posts", bounded.Spec{Max: 3, Key: "id", By: byNTop, First: true}),
			creatingUnchecked,
		} {
			for _, elements := range [][]any{{post{ID: "a"}}, {post{ID: "a"}, &post{ID: "b"}}} {
				update := boards.Update("b", with)
				if m, ok := update.Model.(*mongo.UpdateOneModel); ok && b == creatingUnchecked {
					m.SetUpsert(true)
				}
				got, want := b.PushWith("b", with, elements...), model.Merge(b.Push("b", elements...), update)
				if want.Err == nil {
					want.Done = b.Push("b", elements...).Done // which holds for the whole write
				}
				if (got.Err == nil) != (want.Err == nil) || got.String() != want.String() ||
					got.Expect != want.Expect ||
					mongotest.Diff(want.Done, got.Done) != "" {
					t.Errorf("%v:\n got %v\nwant %v", with, got, want)
				}
			}
		}
	}
	w := bounded.New(boards, "posts", bounded.Spec{Max: 3}).
		PushWith("b", bson.D{set("a", list)}, post{ID: "a"})
	list[0] = "changed"
	if text := w.String(); !strings.Contains(text, "['a']") {
		t.Errorf("the write changed with the caller's list: %s", text)
	}
	for _, with := range []bson.D{nil, {set("nmae", "x")}, {set("name", 1)}, {inc("name")}} {
		if w := last.PushWith("b", with, post{ID: "a"}); w.Err == nil {
			t.Errorf("%v was accepted", with)
		}
	}
}

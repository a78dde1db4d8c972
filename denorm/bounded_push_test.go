package denorm_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestBoundedPush(t *testing.T) {
	parallel(t)
	none := docs{"boards": {}}
	scored := func(n ...int64) docs { return docs{"boards": {board{ID: "b", Stats: &scores{Tops: n}}}} }
	runWriteCases(t, []writeCase{
		{reason: "to a document without the array", before: with(), write: last.Push("b", elements("a1")...), after: with("a1"), status: model.Applied},
		{reason: "below the bound nothing is dropped", before: with("a1"), write: last.Push("b", elements("b2", "c3")...), after: with("a1", "b2", "c3"), status: model.Applied},
		{reason: "the last stay", before: with("a1", "b2", "c3"), write: last.Push("b", elements("d4")...), after: with("b2", "c3", "d4"), status: model.Applied},
		{reason: "more than the bound at once: the last of them stay", before: with("a1"), write: last.Push("b", elements("b2", "c3", "d4", "e5")...), after: with("c3", "d4", "e5"), status: model.Applied},
		{reason: "the first stay", before: with("a1", "b2"), write: first.Push("b", elements("c3", "d4")...), after: with("a1", "b2", "c3"), status: model.Applied},
		{reason: "a full array keeps its first", before: with("a1", "b2", "c3"), write: first.Push("b", elements("d4")...), status: model.Applied, again: model.Applied},
		{reason: "sorted, the greatest stay last", before: with("b3", "a9"), write: newest.Push("b", elements("c5", "d1")...), after: with("b3", "c5", "a9"), status: model.Applied},
		{reason: "what sorts lowest is dropped though it came last", before: with("b3", "c5", "a9"), write: newest.Push("b", elements("d1")...), status: model.Applied, again: model.Applied},
		{reason: "a tie is broken by the next field", before: with("a3", "b3"), write: newest.Push("b", elements("d3", "c3")...), after: with("b3", "c3", "d3"), status: model.Applied},
		{reason: "the top stay first", before: with("a9", "b3"), write: topmost.Push("b", elements("c5", "d1")...), after: with("a9", "c5", "b3"), status: model.Applied},
		{reason: "an unsorted array is sorted by a push", before: with("a2", "b1"), write: newest.Push("b", elements("c3")...), after: with("b1", "a2", "c3"), status: model.Applied},
		{reason: "an array over the bound is cut by a push", before: with("a1", "b2", "c3", "d4", "e5"), write: last.Push("b", elements("f6")...), after: with("d4", "e5", "f6"), status: model.Applied},
		{reason: "by pointer", before: with(), write: last.Push("b", &post{"a", 1}), after: with("a1"), status: model.Applied},
		{reason: "scalars, below a field that isn't there", before: with(), write: tops.Push("b", int64(5)), after: scored(5), status: model.Applied},
		{reason: "the top scalars", before: scored(5, 3), write: tops.Push("b", int64(4), int64(9)), after: scored(9, 5), status: model.Applied},
		{reason: "equal scalars are elements of their own", before: scored(5), write: tops.Push("b", int64(5)), after: scored(5, 5), status: model.Applied},
		{reason: "a missing owner is told", before: none, write: last.Push("b", elements("a1")...), err: model.ErrStale},

		{reason: "no element", before: with("a1"), write: last.Push("b"), err: errRefused},
		{reason: "no owner", before: with("a1"), write: last.Push("", elements("a1")...), err: errRefused},
		{reason: "nil", before: with("a1"), write: last.Push("b", nil), err: errRefused},
		{reason: "a nil pointer", before: with("a1"), write: last.Push("b", (*post)(nil)), err: errRefused},
		{reason: "an element of another type", before: with("a1"), write: last.Push("b", "a"), err: errRefused},
		{reason: "a list of elements is not spread", before: with("a1"), write: last.Push("b", posts("b2")), err: errRefused},
		{reason: "a number of another type", before: with("a1"), write: tops.Push("b", 5), err: errRefused},
		{reason: "a bad one among others: none is pushed", before: with("a1"), write: last.Push("b", post{"b", 2}, bson.D{}), err: errRefused},

		{reason: "an owner is created", before: none, write: last.PushOrCreate("b", elements("a1", "b2", "c3", "d4")...), after: with("b2", "c3", "d4"), status: model.Applied},
		{reason: "an owner that is there isn't", before: with("a1"), write: last.PushOrCreate("b", elements("b2")...), after: with("a1", "b2"), status: model.Applied},
		{reason: "an owner is created around a nested array", before: none, write: tops.PushOrCreate("b", int64(1), int64(3), int64(2)), after: scored(3, 2), status: model.Applied},
		{reason: "with a key none is created", before: none, write: lastKey.PushOrCreate("b", elements("a1")...), err: errRefused},
	})
}

// With a Key, a push that is run again is recognized by what it left.
func TestBoundedPushWithKey(t *testing.T) {
	parallel(t)
	runWriteCases(t, []writeCase{
		{reason: "one", before: with("a1"), write: lastKey.Push("b", elements("b2")...), after: with("a1", "b2"), status: model.Applied, again: model.Already},
		{reason: "several", before: with("a1"), write: lastKey.Push("b", elements("b2", "c3")...), after: with("a1", "b2", "c3"), status: model.Applied, again: model.Already},
		{reason: "the same key with other fields is the same element", before: with("a1"), write: lastKey.Push("b", elements("a9")...), status: model.Already, again: model.Already},
		{reason: "a missing owner is told from a known key", before: docs{"boards": {}}, write: lastKey.Push("b", elements("a1")...), err: model.ErrStale},
		{reason: "some keys are known, some aren't, and there is room", before: with("a1"), write: lastKey.Push("b", elements("a1", "b2")...), err: model.ErrStale},
		{reason: "what was dropped long ago is new", before: with("b2", "c3", "d4"), write: lastKey.Push("b", elements("a1")...), after: with("c3", "d4", "a1"), status: model.Applied, again: model.Already},
		{reason: "more than the bound: those that stay are recognized", before: with("a1"), write: lastKey.Push("b", elements("b2", "c3", "d4", "e5")...), after: with("c3", "d4", "e5"), status: model.Applied, again: model.Already},
		{reason: "the first that fit are recognized", before: with("a1", "b2"), write: firstKey.Push("b", elements("c3", "d4")...), after: with("a1", "b2", "c3"), status: model.Applied, again: model.Already},
		{reason: "a full array keeps its first, again and again", before: with("a1", "b2", "c3"), write: firstKey.Push("b", elements("d4", "e5")...), status: model.Applied, again: model.Applied},
		{reason: "some of the first are known, and there is room", before: with("a1"), write: firstKey.Push("b", elements("a1", "b2")...), err: model.ErrStale},
		{reason: "what sorts too low is recognized by being absent", before: with("a4", "b5"), write: newKey.Push("b", elements("c1", "d9")...), after: with("a4", "b5", "d9"), status: model.Applied, again: model.Already},
		{reason: "by the second field too", before: with("b4", "c5"), write: newKey.Push("b", elements("a4", "d9")...), after: with("b4", "c5", "d9"), status: model.Applied, again: model.Already},
		{reason: "more than the bound, sorted", before: with(), write: newKey.Push("b", elements("e1", "d2", "c3", "b4", "a5")...), after: with("c3", "b4", "a5"), status: model.Applied, again: model.Already},
		{reason: "some sorted keys are known, and another would stay", before: with("a4", "b5", "c6"), write: newKey.Push("b", elements("a4", "d9")...), err: model.ErrStale},
		{reason: "some sorted keys are known, and there is room", before: with("a4"), write: newKey.Push("b", elements("a4", "d1")...), err: model.ErrStale},
		{reason: "the top that stay are recognized", before: with("a5", "b4"), write: topKey.Push("b", elements("c1", "d9")...), after: with("d9", "a5", "b4"), status: model.Applied, again: model.Already},
		{reason: "the same key twice", before: with(), write: lastKey.Push("b", elements("a1", "a2")...), err: errRefused},
	})
}

// Elements of any form are checked for what can't be a key, and for names that can't be stored.
func TestBoundedOpenElements(t *testing.T) {
	parallel(t)
	logs := denorm.NewBounded(model.NewCollection[bson.M, string]("boards"), "posts", denorm.BoundedSpec{Max: 3, Key: "at.id"})
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
		"a list of documents":      logs.Push("b", bson.M{"at": bson.M{"id": 1}, "in": []bson.D{{{Key: "a.b", Value: 1}}}}),
		"a name with a dot":        logs.Push("b", bson.M{"at": bson.M{"id": 1}, "a.b": 1}),
		"a removal of null":        logs.Remove("b", nil),
		"a removal by pattern":     logs.Remove("b", bson.Regex{Pattern: "."}),
		"one by a pattern's bytes": logs.Remove("b", bson.RawValue{Type: bson.TypeRegex, Value: []byte(".\x00\x00")}),
		"a removal of a list":      logs.Remove("b", bson.A{"a"}),
	} {
		t.Run(reason, func(t *testing.T) { wantError(t, w.Err, errRefused) })
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, docs{"boards": {bson.M{"_id": "b"}}})
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
		wantDocs(t, db, docs{"boards": {bson.M{"_id": "b", "posts": bson.A{key(bson.D{{Key: "x", Value: "y"}})}}}})
	})
}

// PushWith is what Merge makes of the push and the other update, byte for byte, or as much refused.
func TestBoundedPushWith(t *testing.T) {
	parallel(t)
	inc := func(path string) bson.E { return bson.E{Key: "$inc", Value: bson.D{{Key: path, Value: int64(1)}}} }
	set := func(path string, v any) bson.E { return bson.E{Key: "$set", Value: bson.D{{Key: path, Value: v}}} }
	list := []string{"a"}
	for _, with := range []bson.D{
		{inc("n")}, {inc("n"), set("name", "x")}, {set("name", "x"), inc("stats.n")}, {inc("n"), inc("m")}, {inc("n"), set("n", 1)},
		{inc("stats.n"), set("stats.m", 1)}, {inc("stats"), set("stats.m", 1)}, {set("posts", nil)}, {set("posts.0", nil)}, {set("postscript", 1)},
		{{Key: "$set", Value: bson.D{{Key: "a", Value: list}, {Key: "b", Value: list}}}}, {{Key: "$push", Value: bson.D{{Key: "other", Value: 1}}}},
		{{Key: "$push", Value: bson.D{{Key: "posts", Value: 1}}}}, {{Key: "$rename", Value: bson.D{{Key: "a", Value: "posts"}}}}, {{Key: "$set", Value: bson.D{}}},
		{{Key: "$set", Value: map[string]any{"a": 1}}}, {{Key: "set", Value: bson.D{{Key: "a", Value: 1}}}}, {{Key: "$set", Value: 7}},
		{inc("a"), set("b", 1), {Key: "$max", Value: bson.D{{Key: "c", Value: 1}, {Key: "d", Value: 2}, {Key: "e", Value: 3}}}, {Key: "$min", Value: bson.D{{Key: "f", Value: 1}}}},
	} {
		for _, b := range []*denorm.Bounded[board, string]{last, newest, topKey} {
			for _, elements := range [][]any{{post{ID: "a"}}, {post{ID: "a"}, &post{ID: "b"}}} {
				got, want := b.PushWith("b", with, elements...), model.Merge(b.Push("b", elements...), boards.Update("b", with))
				if want.Err == nil {
					want.Done = b.Push("b", elements...).Done // which holds for the whole write
				}
				if (got.Err == nil) != (want.Err == nil) || got.String() != want.String() || got.Expect != want.Expect ||
					modeltest.Diff(want.Done, got.Done) != "" {
					t.Errorf("%v:\n got %v\nwant %v", with, got, want)
				}
			}
		}
	}
	w := last.PushWith("b", bson.D{set("a", list)}, post{ID: "a"})
	list[0] = "changed"
	if text := w.String(); !strings.Contains(text, "['a']") {
		t.Errorf("the write changed with the caller's list: %s", text)
	}
	if w := last.PushWith("b", nil, post{ID: "a"}); w.Err == nil {
		t.Error("no operator was accepted")
	}
}

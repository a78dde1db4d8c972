package parentref_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// Server a has seven entries, three of them at the same time; b has one, c none; one entry's server isn't there, one
// has
// none.
var log = testkit.Docs{
	"servers": {server{ID: "a", Rack: "r1"}, server{ID: "b", Rack: "r1"}, server{ID: "c", Rack: "r2"}},
	"entries": {
		entry{1, "a", timeAt(5)}, entry{2, "a", timeAt(3)}, entry{3, "a", timeAt(3)}, entry{4, "a", timeAt(3)},
		entry{5, "a", timeAt(9)},
		entry{6, "a", timeAt(1)}, entry{7, "a", timeAt(2)}, entry{8, "b", timeAt(4)}, entry{9, "nobody", timeAt(4)},
		entry{10, "", timeAt(4)},
	},
}

func entryID(e entry) int { return e.ID }

func TestParentRefReads(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, log)
		t.Run("children come newest first, equal times by _id", func(t *testing.T) {
			testkit.WantList(
				t, testkit.IDsOf(testkit.All(t, db, writes.Children("a")), entryID), []int{5, 1, 4, 3, 2, 7, 6},
			)
			testkit.WantList(
				t, testkit.IDsOf(testkit.All(t, db, ordered.Children("a")), entryID), []int{7, 6, 5, 4, 3, 2, 1},
			)
			testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, writes.Children("c")), entryID), nil)
		})
		t.Run("the newest few", func(t *testing.T) {
			testkit.WantList(
				t, testkit.IDsOf(testkit.All(t, db, writes.Children("a").Limited(3)), entryID), []int{5, 1, 4},
			)
			testkit.WantList(
				t, testkit.IDsOf(testkit.All(t, db, writes.Children("a").Limited(99)), entryID),
				[]int{5, 1, 4, 3, 2, 7, 6},
			)
		})
		t.Run("a count of one parent", func(t *testing.T) {
			if n, err := writes.Children("a").Count(t.Context(), db); n != 7 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		})
		t.Run("what is refused", func(t *testing.T) {
			for _, f := range []*model.Find[entry]{
				writes.Children(""), writes.Children("a").Limited(-1), writes.Children("").Limited(1),
			} {
				_, err := f.All(t.Context(), db)
				testkit.WantError(t, err, testkit.ErrRefused)
			}
			_, err := writes.Load(nil, -1).All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
			_, err = writes.Counts().All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
			_, err = writes.Counts("a", "").All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		})
	})
}

// Page after page gives each child once, in order, whatever the pages' size, and while others write.
func TestParentRefPages(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, log)
		for _, size := range []int64{1, 2, 3, 7, 8} {
			var got []int
			page := writes.Children("a").Limited(size)
			for range 20 {
				list := testkit.All(t, db, page)
				got = append(got, testkit.IDsOf(list, entryID)...)
				if len(list) == 0 {
					break
				}
				last := list[len(list)-1]
				page = writes.Children("a").Limited(size).After(last.At, last.ID)
			}
			testkit.WantList(t, got, []int{5, 1, 4, 3, 2, 7, 6})
		}
		first := testkit.All(t, db, ordered.Children("a").Limited(2))
		if _, err := model.NewPlan(entries.Insert(entry{99, "a", timeAt(99)})).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		testkit.WantList(
			t, testkit.IDsOf(testkit.All(t, db, ordered.Children("a").Limited(3).After(first[1].ID)), entryID),
			[]int{5, 4, 3},
		)
		_, err := writes.Children("a").Limited(3).After(timeAt(3)).All(t.Context(), db)
		testkit.WantError(t, err, testkit.ErrRefused)
	})
}

func TestParentRefJoins(t *testing.T) {
	tenancy.Differs(t, "it joins in a pipeline of its own, which nothing puts under the scope")
	testkit.Parallel(t)
	type loaded = relate.Loaded[server, entry]
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, log)
		load := func(a *model.Aggregate[loaded]) map[string][]int {
			out := map[string][]int{}
			for _, l := range testkit.All(t, db, a) {
				out[l.Parent.ID] = testkit.IDsOf(l.Children, entryID)
			}
			return out
		}
		t.Run("each parent's own newest", func(t *testing.T) {
			want := map[string][]int{"a": {5, 1}, "b": {8}, "c": {}}
			if diff := mongotest.Diff(want, load(writes.Load(nil, 2))); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("all children of the parents that match", func(t *testing.T) {
			want := map[string][]int{"a": {5, 1, 4, 3, 2, 7, 6}, "b": {8}}
			if diff := mongotest.Diff(want, load(writes.Load(bson.D{{Key: "rack", Value: "r1"}}, 0))); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("counts come by id, and none for a parent without children", func(t *testing.T) {
			got := testkit.All(t, db, writes.Counts("c", "b", "a", "b"))
			if diff := mongotest.Diff([]relate.Count[string]{{ID: "a", N: 7}, {ID: "b", N: 1}}, got); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("the stage joins in a pipeline of one's own", func(t *testing.T) {
			for n, want := range map[int64][]int{0: {5, 1, 4, 3, 2, 7, 6}, 3: {5, 1, 4}, -1: {5, 1, 4, 3, 2, 7, 6}} {
				cur, err := db.Collection("servers").Aggregate(t.Context(), mongo.Pipeline{
					{{Key: "$match", Value: bson.D{{Key: "_id", Value: "a"}}}}, writes.Lookup("latest", n),
				})
				if err != nil {
					t.Fatal(err)
				}
				var got []struct {
					Latest []entry `bson:"latest"`
				}
				if err := cur.All(t.Context(), &got); err != nil || len(got) != 1 {
					t.Fatal(err, got)
				}
				testkit.WantList(t, testkit.IDsOf(got[0].Latest, entryID), want)
			}
		})
	})
}

// int32 1 and int64 1 are one id, as they are to the server.
func TestParentRefSameID(t *testing.T) {
	testkit.Parallel(t)
	type numbered struct {
		ID    any `bson:"_id"`
		Owner any `bson:"owner,omitempty"`
	}
	owners, items := model.NewCollection[numbered, any]("owners"), model.NewCollection[numbered, any]("items")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(
			t, db, testkit.Docs{"owners": {numbered{ID: int64(1)}}, "items": {numbered{ID: "i", Owner: int64(1)}}},
		)
		loaded, err := parentref.New(
			items, "owner", owners, parentref.Spec{},
		).Loader(0).Load(t.Context(), db, []numbered{{ID: int32(1)}})
		if err != nil || len(loaded) != 1 || len(loaded[0].Children) != 1 {
			t.Errorf("children of a parent in hand: %v, %v", loaded, err)
		}
	})
}

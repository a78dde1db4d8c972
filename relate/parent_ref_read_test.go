package relate_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// Server a has seven entries, three of them at the same time; b has one, c none; one entry's server isn't there, one has
// none.
var log = docs{
	"servers": {server{ID: "a", Rack: "r1"}, server{ID: "b", Rack: "r1"}, server{ID: "c", Rack: "r2"}},
	"entries": {
		entry{1, "a", at(5)}, entry{2, "a", at(3)}, entry{3, "a", at(3)}, entry{4, "a", at(3)}, entry{5, "a", at(9)},
		entry{6, "a", at(1)}, entry{7, "a", at(2)}, entry{8, "b", at(4)}, entry{9, "nobody", at(4)}, entry{10, "", at(4)},
	},
}

func entryID(e entry) int { return e.ID }

func TestParentRefReads(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, log)
		t.Run("children come newest first, equal times by _id", func(t *testing.T) {
			wantIDs(t, idsOf(all(t, db, writes.Children("a")), entryID), []int{5, 1, 4, 3, 2, 7, 6})
			wantIDs(t, idsOf(all(t, db, ordered.Children("a")), entryID), []int{7, 6, 5, 4, 3, 2, 1})
			wantIDs(t, idsOf(all(t, db, writes.Children("c")), entryID), nil)
		})
		t.Run("the newest few", func(t *testing.T) {
			wantIDs(t, idsOf(all(t, db, writes.Newest("a", 3)), entryID), []int{5, 1, 4})
			wantIDs(t, idsOf(all(t, db, writes.Newest("a", 99)), entryID), []int{5, 1, 4, 3, 2, 7, 6})
		})
		t.Run("a count of one parent", func(t *testing.T) {
			if n, err := writes.Children("a").Count(t.Context(), db); n != 7 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		})
		t.Run("the parent of a child", func(t *testing.T) {
			s, err := writes.Parent(&entry{Server: "b"}).One(t.Context(), db)
			if s.Rack != "r1" || err != nil {
				t.Errorf("%v, %v", s, err)
			}
			if _, err = writes.Parent(&entry{Server: "nobody"}).One(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
				t.Errorf("error %v, want ErrNotFound", err)
			}
		})
		t.Run("what is refused", func(t *testing.T) {
			for _, f := range []model.Find[entry]{writes.Children(""), writes.Newest("a", 0), writes.Newest("a", -1), writes.Newest("", 1)} {
				_, err := f.All(t.Context(), db)
				wantError(t, err, errRefused)
			}
			for _, f := range []model.Find[server]{writes.Parent(nil), writes.Parent(&entry{ID: 1})} {
				_, err := f.All(t.Context(), db)
				wantError(t, err, errRefused)
			}
			_, err := writes.Load(nil, -1).All(t.Context(), db)
			wantError(t, err, errRefused)
			_, err = writes.Counts().All(t.Context(), db)
			wantError(t, err, errRefused)
			_, err = writes.Counts("a", "").All(t.Context(), db)
			wantError(t, err, errRefused)
		})
	})
	if id, ok := writes.ParentID(&entry{Server: "a"}); id != "a" || !ok {
		t.Errorf("ParentID gave %q, %v", id, ok)
	}
	for _, e := range []*entry{nil, {}} {
		if id, ok := writes.ParentID(e); id != "" || ok {
			t.Errorf("ParentID of %v gave %q, %v", e, id, ok)
		}
	}
}

// Page after page gives each child once, in order, whatever the pages' size, and while others write.
func TestParentRefPages(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, log)
		for _, size := range []int64{1, 2, 3, 7, 8} {
			var got []int
			page := writes.Newest("a", size)
			for range 20 {
				list := all(t, db, page)
				got = append(got, idsOf(list, entryID)...)
				if len(list) == 0 {
					break
				}
				last := list[len(list)-1]
				page = writes.Newest("a", size).After(last.At, last.ID)
			}
			wantIDs(t, got, []int{5, 1, 4, 3, 2, 7, 6})
		}
		first := all(t, db, ordered.Newest("a", 2))
		if _, err := one(entries.Insert(entry{99, "a", at(99)})).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, idsOf(all(t, db, ordered.Newest("a", 3).After(first[1].ID)), entryID), []int{5, 4, 3})
		_, err := writes.Newest("a", 3).After(at(3)).All(t.Context(), db)
		wantError(t, err, errRefused)
	})
}

func TestParentRefJoins(t *testing.T) {
	tenancy.Differs(t, "it joins in a pipeline of its own, which nothing puts under the policy")
	parallel(t)
	type loaded = relate.Loaded[server, entry]
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db, log)
		load := func(a model.Aggregate[loaded]) map[string][]int {
			out := map[string][]int{}
			for _, l := range all(t, db, a) {
				out[l.Parent.ID] = idsOf(l.Children, entryID)
			}
			return out
		}
		t.Run("each parent's own newest", func(t *testing.T) {
			want := map[string][]int{"a": {5, 1}, "b": {8}, "c": {}}
			if diff := modeltest.Diff(want, load(writes.Load(nil, 2))); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("all children of the parents that match", func(t *testing.T) {
			want := map[string][]int{"a": {5, 1, 4, 3, 2, 7, 6}, "b": {8}}
			if diff := modeltest.Diff(want, load(writes.Load(bson.D{{Key: "rack", Value: "r1"}}, 0))); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("children with their parent, nil where the reference is missing or leads nowhere", func(t *testing.T) {
			got := map[int]string{}
			for _, c := range all(t, db, writes.LoadParents(bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: 7}}}})) {
				got[c.Child.ID] = "nil"
				if c.Parent != nil {
					got[c.Child.ID] = c.Parent.ID + " in " + c.Parent.Rack
				}
			}
			want := map[int]string{7: "a in r1", 8: "b in r1", 9: "nil", 10: "nil"}
			if diff := modeltest.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if n := len(all(t, db, writes.LoadParents(nil))); n != 10 {
				t.Errorf("a filter of nil gave %d of 10", n)
			}
		})
		t.Run("counts come by id, and none for a parent without children", func(t *testing.T) {
			got := all(t, db, writes.Counts("c", "b", "a", "b"))
			if diff := modeltest.Diff([]relate.ParentCount[string]{{Parent: "a", N: 7}, {Parent: "b", N: 1}}, got); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("the stage joins in a pipeline of one's own", func(t *testing.T) {
			for n, want := range map[int64][]int{0: {5, 1, 4, 3, 2, 7, 6}, 3: {5, 1, 4}, -1: {5, 1, 4, 3, 2, 7, 6}} {
				cur, err := db.Collection("servers").Aggregate(t.Context(), mongo.Pipeline{
					{{Key: "$match", Value: bson.D{{Key: "_id", Value: "a"}}}}, writes.Lookup(n, "latest"),
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
				wantIDs(t, idsOf(got[0].Latest, entryID), want)
			}
		})
	})
}

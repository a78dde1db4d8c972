package relate_test

import (
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// Children by a parent's id, and by one $lookup, come in stored order.
func TestChildRefsStoredOrder(t *testing.T) {
	tenancy.Differs(t, "the fields of the policy are fields of the documents that it compares or lists")
	parallel(t)
	tests := []struct {
		reason string
		parent any // the stored document of g
		want   []string
	}{
		{"in stored order, not in that of their ids", gadget{ID: "g", Screws: []string{"c", "a", "b"}}, []string{"c", "a", "b"}},
		{"duplicates are kept", gadget{ID: "g", Screws: []string{"b", "a", "b"}}, []string{"b", "a", "b"}},
		{"an id that leads nowhere is passed over", gadget{ID: "g", Screws: []string{"b", "nobody", "a"}}, []string{"b", "a"}},
		{"only ids that lead nowhere", gadget{ID: "g", Screws: []string{"nobody"}}, nil},
		{"no list", gadget{ID: "g"}, nil},
		{"an empty list", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{}}}, nil},
		{"a list that is null", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: nil}}, nil},
		{"a null among the ids", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{"a", nil, "b"}}}, []string{"a", "b"}},
		{"an id of another type", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{1, "b"}}}, []string{"b"}},
	}
	id := func(s screw) string { return s.ID }
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) {
				seed(t, db, docs{
					"gadgets": {test.parent, gadget{ID: "other", Screws: []string{"a"}}},
					"screws":  {screw{ID: "a", Size: 1}, screw{ID: "b", Size: 2}, screw{ID: "c", Size: 3}},
				})
				wantIDs(t, idsOf(all(t, db, uses.ChildrenOf("g")), id), test.want)

				var loaded []loadedDoc
				cur, err := db.Collection("gadgets").Aggregate(t.Context(), uses.Load(bson.D{{Key: "_id", Value: "g"}}).Pipeline)
				if err != nil {
					t.Fatal(err)
				}
				if err := cur.All(t.Context(), &loaded); err != nil {
					t.Fatal(err)
				}
				if len(loaded) != 1 {
					t.Fatalf("Load gave %d documents, want one", len(loaded))
				}
				wantIDs(t, idsOf(loaded[0].Children, id), test.want)
				if diff := modeltest.Diff(test.parent, loaded[0].Parent); diff != "" {
					t.Errorf("the parent itself:\n%s", diff)
				}
			})
		}
	})
}

// loadedDoc is relate.Loaded with a parent of any form.
type loadedDoc struct {
	Parent   bson.D  `bson:"parent"`
	Children []screw `bson:"children"`
}

func TestChildRefsReads(t *testing.T) {
	parallel(t)
	id := func(s screw) string { return s.ID }
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		g := gadget{ID: "g", Name: "first", Screws: []string{"b", "a", "b", "nobody"}}
		seed(t, db, docs{
			"gadgets": {g, gadget{ID: "h", Screws: []string{"a"}}, gadget{ID: "i"}},
			"screws":  {screw{ID: "a"}, screw{ID: "b"}, screw{ID: "c"}},
		})

		t.Run("ids are read as they are stored", func(t *testing.T) {
			wantIDs(t, uses.IDs(&g), []string{"b", "a", "b", "nobody"})
			wantIDs(t, uses.IDs(&gadget{}), nil)
			wantIDs(t, uses.IDs(nil), nil)
			wantIDs(t, holds.IDs(&folio{Holdings: []holding{{9, 1}, {8, 1}, {9, 2}}}), []int64{9, 8, 9})
		})
		t.Run("children of a document in hand come once", func(t *testing.T) {
			wantIDs(t, idsOf(all(t, db, uses.Children(&g).Sorted(bson.D{{Key: "_id", Value: 1}})), id), []string{"a", "b"})
		})
		t.Run("a condition narrows them", func(t *testing.T) {
			wantIDs(t, idsOf(all(t, db, uses.Children(&g).Where(bson.D{{Key: "_id", Value: "a"}})), id), []string{"a"})
		})
		t.Run("of a document without any, there are none", func(t *testing.T) {
			wantIDs(t, idsOf(all(t, db, uses.Children(&gadget{ID: "g"})), id), nil)
		})
		t.Run("of no document, the query is refused", func(t *testing.T) {
			_, err := uses.Children(nil).All(t.Context(), db)
			wantError(t, err, errRefused)
		})
		t.Run("of a document that holds an empty id, the query is refused", func(t *testing.T) {
			_, err := uses.Children(&gadget{Screws: []string{""}}).All(t.Context(), db)
			wantError(t, err, errRefused)
		})
		t.Run("of a parent that isn't there, there are none", func(t *testing.T) {
			wantIDs(t, idsOf(all(t, db, uses.ChildrenOf("nobody")), id), nil)
		})
		t.Run("of an empty id, the pipeline is refused", func(t *testing.T) {
			_, err := uses.ChildrenOf("").All(t.Context(), db)
			wantError(t, err, errRefused)
		})
		t.Run("parents of a child", func(t *testing.T) {
			name := func(g gadget) string { return g.ID }
			wantIDs(t, idsOf(all(t, db, uses.ParentsOf("a").Sorted(bson.D{{Key: "_id", Value: 1}})), name), []string{"g", "h"})
			wantIDs(t, idsOf(all(t, db, uses.ParentsOf("c")), name), nil)
			_, err := uses.ParentsOf("").All(t.Context(), db)
			wantError(t, err, errRefused)
		})
		t.Run("a filter of nil loads every parent", func(t *testing.T) {
			got := map[string][]string{}
			for _, l := range all(t, db, uses.Load(nil)) {
				got[l.Parent.ID] = idsOf(l.Children, id)
			}
			if diff := modeltest.Diff(map[string][]string{"g": {"b", "a", "b"}, "h": {"a"}, "i": {}}, got); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("the stage joins in a pipeline of one's own", func(t *testing.T) {
			type joined struct {
				ID   string  `bson:"_id"`
				Docs []screw `bson:"docs"`
			}
			var got []joined
			cur, err := db.Collection("gadgets").Aggregate(t.Context(), mongo.Pipeline{
				{{Key: "$match", Value: bson.D{{Key: "_id", Value: "h"}}}}, uses.Lookup("docs"), {{Key: "$project", Value: bson.D{{Key: "docs", Value: 1}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := cur.All(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
			if diff := modeltest.Diff([]joined{{"h", []screw{{ID: "a"}}}}, got); diff != "" {
				t.Error(diff)
			}
		})
	})
}

// Lists of elements are read as lists of ids are.
func TestChildRefsElementReads(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		f := folio{oid(1), []holding{{9, 1}, {7, 2}, {9, 3}, {5, 4}}}
		seed(t, db, docs{
			"folios": {f, bson.D{{Key: "_id", Value: oid(2)}, {Key: "holdings", Value: bson.A{bson.D{{Key: "number", Value: 1}}, bson.D{{Key: "shareId", Value: int32(7)}}}}}},
			"shares": {share{7, "seven"}, share{8, "eight"}, share{9, "nine"}},
		})
		id := func(s share) int64 { return s.ID }
		wantIDs(t, idsOf(all(t, db, holds.ChildrenOf(oid(1))), id), []int64{9, 7, 9})
		wantIDs(t, idsOf(all(t, db, holds.ChildrenOf(oid(2))), id), []int64{7})
		loaded := all(t, db, holds.Load(bson.D{{Key: "_id", Value: oid(1)}}))
		if diff := modeltest.Diff([]relate.Loaded[folio, share]{{Parent: f, Children: []share{{9, "nine"}, {7, "seven"}, {9, "nine"}}}}, loaded); diff != "" {
			t.Error(diff)
		}
		loaded = all(t, db, holds.Load(bson.D{{Key: "_id", Value: oid(2)}}))
		wantIDs(t, idsOf(loaded[0].Children, id), []int64{7})
		wantIDs(t, idsOf(all(t, db, holds.ParentsOf(7).Sorted(bson.D{{Key: "_id", Value: 1}})), func(f folio) bson.ObjectID { return f.ID }), []bson.ObjectID{oid(1), oid(2)})
	})
}

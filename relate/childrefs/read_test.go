package childrefs_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// Children by a parent's id come in stored order.
func TestChildRefsStoredOrder(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	testkit.Parallel(t)
	tests := []struct {
		reason string
		parent any // the stored document of g
		want   []string
	}{
		{
			"in stored order, not in that of their ids", gadget{ID: "g", Screws: []string{"c", "a", "b"}},
			[]string{"c", "a", "b"},
		},
		{"duplicates are kept", gadget{ID: "g", Screws: []string{"b", "a", "b"}}, []string{"b", "a", "b"}},
		{
			"an id that leads nowhere is passed over", gadget{ID: "g", Screws: []string{"b", "nobody", "a"}},
			[]string{"b", "a"},
		},
		{"only ids that lead nowhere", gadget{ID: "g", Screws: []string{"nobody"}}, nil},
		{"no list", gadget{ID: "g"}, nil},
		{"an empty list", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{}}}, nil},
		{"a list that is null", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: nil}}, nil},
		{
			"a null among the ids", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{"a", nil, "b"}}},
			[]string{"a", "b"},
		},
		{
			"an id of another type", bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{1, "b"}}},
			[]string{"b"},
		},
	}
	id := func(s screw) string { return s.ID }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.reason, func(t *testing.T) {
				testkit.SeedAlone(t, db, testkit.Docs{
					"gadgets": {test.parent, gadget{ID: "other", Screws: []string{"a"}}},
					"screws":  {screw{ID: "a", Size: 1}, screw{ID: "b", Size: 2}, screw{ID: "c", Size: 3}},
				})
				testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, uses.ChildrenOf("g")), id), test.want)
			})
		}
	})
}

func TestChildRefsReads(t *testing.T) {
	testkit.Parallel(t)
	id := func(s screw) string { return s.ID }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		g := gadget{ID: "g", Name: "first", Screws: []string{"b", "a", "b", "nobody"}}
		testkit.SeedAlone(t, db, testkit.Docs{
			"gadgets": {g, gadget{ID: "h", Screws: []string{"a"}}, gadget{ID: "i"}},
			"screws":  {screw{ID: "a"}, screw{ID: "b"}, screw{ID: "c"}},
		})

		t.Run("ids are read as they are stored", func(t *testing.T) {
			for find, want := range map[*model.Find[screw]]string{
				uses.Children(&g): "['b', 'a', 'b', 'nobody']", uses.Children(&gadget{}): "[]",
			} {
				if got := find.String(); got != "db.screws.find({_id: {$in: "+want+"}})" {
					t.Errorf("%s, want %s", got, want)
				}
			}
			if got := holds.Children(
				&folio{Holdings: []holding{{9, 1}, {8, 1}, {9, 2}}},
			).String(); !strings.Contains(got, "[Long('9'), Long('8'), Long('9')]") {
				t.Error(got)
			}
		})
		t.Run("children of a document in hand come once", func(t *testing.T) {
			testkit.WantList(
				t, testkit.IDsOf(testkit.All(t, db, uses.Children(&g).Sorted(bson.D{{Key: "_id", Value: 1}})), id),
				[]string{"a", "b"},
			)
		})
		t.Run("a condition narrows them", func(t *testing.T) {
			testkit.WantList(
				t, testkit.IDsOf(testkit.All(t, db, uses.Children(&g).Where(bson.D{{Key: "_id", Value: "a"}})), id),
				[]string{"a"},
			)
		})
		t.Run("of a document without any, there are none", func(t *testing.T) {
			testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, uses.Children(&gadget{ID: "g"})), id), nil)
		})
		t.Run("of no document, the query is refused", func(t *testing.T) {
			_, err := uses.Children(nil).All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		})
		t.Run("of a document that holds an empty id, the query is refused", func(t *testing.T) {
			_, err := uses.Children(&gadget{Screws: []string{""}}).All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		})
		t.Run("of a parent that isn't there, there are none", func(t *testing.T) {
			testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, uses.ChildrenOf("nobody")), id), nil)
		})
		t.Run("of an empty id, the pipeline is refused", func(t *testing.T) {
			_, err := uses.ChildrenOf("").All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		})
		t.Run("parents of a child", func(t *testing.T) {
			name := func(g gadget) string { return g.ID }
			testkit.WantList(
				t, testkit.IDsOf(testkit.All(t, db, uses.ParentsOf("a").Sorted(bson.D{{Key: "_id", Value: 1}})), name),
				[]string{"g", "h"},
			)
			testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, uses.ParentsOf("c")), name), nil)
			_, err := uses.ParentsOf("").All(t.Context(), db)
			testkit.WantError(t, err, testkit.ErrRefused)
		})
	})
}

// Lists of elements are read as lists of ids are.
func TestChildRefsElementReads(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		f := folio{testkit.OID(1), []holding{{9, 1}, {7, 2}, {9, 3}, {5, 4}}}
		testkit.SeedAlone(t, db, testkit.Docs{
			"folios": {f, bson.D{
				{Key: "_id", Value: testkit.OID(2)},
				{
					Key:   "holdings",
					Value: bson.A{bson.D{{Key: "number", Value: 1}}, bson.D{{Key: "shareId", Value: int32(7)}}},
				},
			}},
			"shares": {share{7, "seven"}, share{8, "eight"}, share{9, "nine"}},
		})
		id := func(s share) int64 { return s.ID }
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, holds.ChildrenOf(testkit.OID(1))), id), []int64{9, 7, 9})
		testkit.WantList(t, testkit.IDsOf(testkit.All(t, db, holds.ChildrenOf(testkit.OID(2))), id), []int64{7})
		testkit.WantList(
			t,
			testkit.IDsOf(
				testkit.All(t, db, holds.ParentsOf(7).Sorted(bson.D{{Key: "_id", Value: 1}})),
				func(f folio) bson.ObjectID { return f.ID },
			),
			[]bson.ObjectID{testkit.OID(1), testkit.OID(2)},
		)
	})
}

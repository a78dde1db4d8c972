package childrefs_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// lists is one gadget that lists screws.
func lists(ids ...string) testkit.Docs {
	return testkit.Docs{"gadgets": {gadget{ID: "g", Screws: ids}}}
}

func TestChildRefsAdd(t *testing.T) {
	testkit.Parallel(t)
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "one id to a document without a list", Before: lists(),
			Plan: model.NewPlan(uses.Add("g", "a")), After: lists("a"),
			Status: model.Applied, Again: model.Applied},
		{Reason: "several ids, in the order given", Before: lists("z"), Plan: model.NewPlan(
			uses.Add("g", "c", "a", "b"),
		), After: lists("z", "c", "a", "b"),
			Status: model.Applied, Again: model.Applied},
		{Reason: "an id that is there stays where it is", Before: lists("a", "b"), Plan: model.NewPlan(
			uses.Add("g", "c", "a"),
		), After: lists("a", "b", "c"),
			Status: model.Applied, Again: model.Applied},
		{Reason: "the same id twice is added once", Before: lists(), Plan: model.NewPlan(
			uses.Add("g", "a", "a"),
		), After: lists("a"),
			Status: model.Applied, Again: model.Applied},
		{
			Reason: "a missing parent is told", Before: testkit.Docs{"gadgets": {}},
			Plan: model.NewPlan(uses.Add("g", "a")), Err: model.ErrNotFound,
		},
		{Reason: "no id", Before: lists("a"), Plan: model.NewPlan(uses.Add("g")), Err: testkit.ErrRefused},
		{
			Reason: "an empty id among others: none is added", Before: lists(),
			Plan: model.NewPlan(uses.Add("g", "a", "")), Err: testkit.ErrRefused,
		},
		{
			Reason: "an empty parent id", Before: lists(), Plan: model.NewPlan(uses.Add("", "a")),
			Err: testkit.ErrRefused,
		},
	})
}

func TestChildRefsInsertAt(t *testing.T) {
	testkit.Parallel(t)
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "at the front", Before: lists("a", "b"), Plan: model.NewPlan(
			uses.InsertAt("g", 0, "x"),
		), After: lists("x", "a", "b"),
			Status: model.Applied, Again: model.Already},
		{Reason: "in the middle", Before: lists("a", "b"), Plan: model.NewPlan(
			uses.InsertAt("g", 1, "x"),
		), After: lists("a", "x", "b"),
			Status: model.Applied, Again: model.Already},
		{Reason: "beyond the end is the end", Before: lists("a", "b"), Plan: model.NewPlan(
			uses.InsertAt("g", 9, "x"),
		), After: lists("a", "b", "x"),
			Status: model.Applied, Again: model.Already},
		{Reason: "a negative place counts from the end", Before: lists("a", "b"), Plan: model.NewPlan(
			uses.InsertAt("g", -1, "x"),
		), After: lists("a", "x", "b"),
			Status: model.Applied, Again: model.Already},
		{Reason: "before the front is the front", Before: lists("a", "b"), Plan: model.NewPlan(
			uses.InsertAt("g", -9, "x"),
		), After: lists("x", "a", "b"),
			Status: model.Applied, Again: model.Already},
		{Reason: "to a document without a list", Before: lists(), Plan: model.NewPlan(
			uses.InsertAt("g", 3, "x"),
		), After: lists("x"),
			Status: model.Applied, Again: model.Already},
		{Reason: "an id that is listed stays where it is", Before: lists("a", "x"), Plan: model.NewPlan(
			uses.InsertAt("g", 0, "x"),
		),
			Status: model.Already, Again: model.Already},
		{
			Reason: "a missing parent is told from a listed id", Before: testkit.Docs{"gadgets": {}},
			Plan: model.NewPlan(uses.InsertAt("g", 0, "x")), Err: model.ErrNotFound,
		},
		{
			Reason: "an empty id", Before: lists(), Plan: model.NewPlan(uses.InsertAt("g", 0, "")),
			Err: testkit.ErrRefused,
		},
	})
}

func TestChildRefsRemove(t *testing.T) {
	testkit.Parallel(t)
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "every occurrence", Before: lists("a", "b", "a"), Plan: model.NewPlan(
			uses.Remove("g", "a"),
		), After: lists("b"),
			Status: model.Applied, Again: model.Applied},
		{Reason: "several ids, others keep their order", Before: lists("c", "a", "d", "b"), Plan: model.NewPlan(
			uses.Remove("g", "a", "d"),
		), After: lists("c", "b"),
			Status: model.Applied, Again: model.Applied},
		{Reason: "an id that is not listed is passed over", Before: lists("a"), Plan: model.NewPlan(
			uses.Remove("g", "x"),
		),
			Status: model.Applied, Again: model.Applied},
		{Reason: "from a document without a list", Before: lists(), Plan: model.NewPlan(uses.Remove("g", "x")),
			Status: model.Applied, Again: model.Applied},
		{
			Reason: "a missing parent is told", Before: testkit.Docs{"gadgets": {}},
			Plan: model.NewPlan(uses.Remove("g", "a")), Err: model.ErrNotFound,
		},
		{Reason: "no id", Before: lists("a"), Plan: model.NewPlan(uses.Remove("g")), Err: testkit.ErrRefused},
		{Reason: "out of every list, and no other", Plan: model.NewPlan(
			uses.RemoveEverywhere("a"),
		), Before: testkit.Docs{
			"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"b"}}, gadget{
				ID: "i", Screws: []string{"c", "a", "a"},
			}, gadget{ID: "j"}},
		}, After: testkit.Docs{
			"gadgets": {gadget{
				ID: "g", Screws: []string{"b"},
			}, gadget{ID: "h", Screws: []string{"b"}}, gadget{ID: "i", Screws: []string{"c"}}, gadget{ID: "j"}},
		}, Status: model.Applied, Again: model.Applied},
		{
			Reason: "an empty id out of every list", Before: lists("a"), Plan: model.NewPlan(uses.RemoveEverywhere("")),
			Err: testkit.ErrRefused,
		},
	})
}

func TestChildRefsReorder(t *testing.T) {
	testkit.Parallel(t)
	abc, cab := []string{"a", "b", "c"}, []string{"c", "a", "b"}
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "another order", Before: lists(abc...), Plan: model.NewPlan(
			uses.Reorder("g", abc, cab),
		), After: lists(cab...),
			Status: model.Applied, Again: model.Already},
		{Reason: "the same order", Before: lists(abc...), Plan: model.NewPlan(uses.Reorder("g", abc, abc)),
			Status: model.Applied, Again: model.Applied},
		{Reason: "another list", Before: lists(abc...), Plan: model.NewPlan(
			uses.Reorder("g", abc, []string{"x"}),
		), After: lists("x"),
			Status: model.Applied, Again: model.Already},
		{
			Reason: "somebody else added an id", Before: lists("a", "b", "c", "d"),
			Plan: model.NewPlan(uses.Reorder("g", abc, cab)), Err: model.ErrStale,
		},
		{
			Reason: "somebody else reordered", Before: lists("b", "a", "c"),
			Plan: model.NewPlan(uses.Reorder("g", abc, cab)), Err: model.ErrStale,
		},
		{
			Reason: "the parent is gone", Before: testkit.Docs{"gadgets": {}},
			Plan: model.NewPlan(uses.Reorder("g", abc, cab)), Err: model.ErrNotFound,
		},
		{Reason: "an empty list that is missing", Before: lists(), Plan: model.NewPlan(
			uses.Reorder("g", nil, abc),
		), After: lists(abc...),
			Status: model.Applied, Again: model.Already},
		{Reason: "an empty list that is stored", Before: testkit.Docs{
			"gadgets": {bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{}}}},
		},
			Plan: model.NewPlan(uses.Reorder("g", []string{}, abc)), After: lists(abc...),
			Status: model.Applied, Again: model.Already},
		{
			Reason: "a list that is no longer empty", Before: lists("x"),
			Plan: model.NewPlan(uses.Reorder("g", nil, abc)), Err: model.ErrStale,
		},
		{Reason: "to nothing", Before: lists(abc...), Plan: model.NewPlan(uses.Reorder("g", abc, nil)),
			After:  testkit.Docs{"gadgets": {bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{}}}}},
			Status: model.Applied, Again: model.Already},
		{
			Reason: "an empty id in the new list", Before: lists(abc...),
			Plan: model.NewPlan(uses.Reorder("g", abc, []string{""})), Err: testkit.ErrRefused,
		},
	})
}

// held is one folio that holds shares.
func storeHoldings(h ...holding) testkit.Docs {
	return testkit.Docs{"folios": {folio{ID: testkit.OID(1), Holdings: h}}}
}

func TestChildRefsElements(t *testing.T) {
	testkit.Parallel(t)
	h7, h8, h9 := holding{7, 70}, holding{8, 80}, holding{9, 90}
	listed := storeHoldings(h7, h8)
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{Reason: "an element with its fields", Before: storeHoldings(h7), Plan: model.NewPlan(
			holds.AddElement(testkit.OID(1), h8),
		), After: listed,
			Status: model.Applied, Again: model.Already},
		{Reason: "by pointer", Before: storeHoldings(), Plan: model.NewPlan(
			holds.AddElement(testkit.OID(1), &h8),
		), After: storeHoldings(h8),
			Status: model.Applied, Again: model.Already},
		{Reason: "an id that is listed keeps its element", Before: listed, Plan: model.NewPlan(
			holds.AddElement(testkit.OID(1), holding{8, 1}),
		),
			Status: model.Already, Again: model.Already},
		{Reason: "the id alone", Before: storeHoldings(h7), Plan: model.NewPlan(
			holds.Add(testkit.OID(1), 8),
		), After: storeHoldings(h7, holding{ShareID: 8}),
			Status: model.Applied, Again: model.Already},
		{Reason: "zero is an id, if ids are numbers", Before: storeHoldings(h7), Plan: model.NewPlan(
			holds.Add(testkit.OID(1), 0),
		), After: storeHoldings(h7, holding{}),
			Status: model.Applied, Again: model.Already},
		{Reason: "the id at a place", Before: listed, Plan: model.NewPlan(
			holds.InsertAt(testkit.OID(1), 1, 9),
		), After: storeHoldings(h7, holding{ShareID: 9}, h8),
			Status: model.Applied, Again: model.Already},
		{Reason: "elements go by their ids", Before: storeHoldings(h7, h8, h9, holding{8, 1}), Plan: model.NewPlan(
			holds.Remove(testkit.OID(1), 8, 9),
		), After: storeHoldings(h7),
			Status: model.Applied, Again: model.Applied},
		{Reason: "out of every list", Before: testkit.Docs{
			"folios": {folio{
				testkit.OID(1), []holding{h7, h8},
			}, folio{testkit.OID(2), []holding{h8}}, folio{ID: testkit.OID(3)}},
		},
			Plan: model.NewPlan(holds.RemoveEverywhere(8)),
			After: testkit.Docs{
				"folios": {folio{testkit.OID(1), []holding{h7}}, bson.D{
					{Key: "_id", Value: testkit.OID(2)}, {Key: "holdings", Value: bson.A{}},
				}, folio{ID: testkit.OID(3)}},
			},
			Status: model.Applied, Again: model.Applied},
		{
			Reason: "a missing parent is told from a listed id", Before: testkit.Docs{"folios": {}},
			Plan: model.NewPlan(holds.AddElement(testkit.OID(1), h8)), Err: model.ErrNotFound,
		},
		{
			Reason: "several ids are several writes", Before: storeHoldings(),
			Plan: model.NewPlan(holds.Add(testkit.OID(1), 8, 9)), Err: testkit.ErrRefused,
		},
		{
			Reason: "a zero ObjectID is no parent", Before: storeHoldings(),
			Plan: model.NewPlan(holds.Add(bson.ObjectID{}, 8)),
			Err:  testkit.ErrRefused,
		},
		{
			Reason: "elements are not reordered by id", Before: listed,
			Plan: model.NewPlan(holds.Reorder(testkit.OID(1), []int64{7}, []int64{8})), Err: testkit.ErrRefused,
		},
		{
			Reason: "no element", Before: storeHoldings(), Plan: model.NewPlan(holds.AddElement(testkit.OID(1), nil)),
			Err: testkit.ErrRefused,
		},
		{
			Reason: "a nil pointer to an element", Before: storeHoldings(),
			Plan: model.NewPlan(holds.AddElement(testkit.OID(1), (*holding)(nil))), Err: testkit.ErrRefused,
		},
		{
			Reason: "a bare id is no element", Before: storeHoldings(),
			Plan: model.NewPlan(holds.AddElement(testkit.OID(1), int64(8))), Err: testkit.ErrRefused,
		},
		{
			Reason: "an element of another type", Before: storeHoldings(),
			Plan: model.NewPlan(holds.AddElement(testkit.OID(1), share{ID: 8})), Err: testkit.ErrRefused,
		},
		{
			Reason: "a list of bare ids takes no elements", Before: lists(),
			Plan: model.NewPlan(uses.AddElement("g", holding{ShareID: 8})), Err: testkit.ErrRefused,
		},
	})
}

package relate_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// lists is one gadget that lists screws.
func lists(ids ...string) docs { return docs{"gadgets": {gadget{ID: "g", Screws: ids}}} }

func TestChildRefsAdd(t *testing.T) {
	parallel(t)
	runWriteCases(t, []writeCase{
		{reason: "one id to a document without a list", before: lists(), plan: one(uses.Add("g", "a")), after: lists("a"),
			status: model.Applied, again: model.Applied},
		{reason: "several ids, in the order given", before: lists("z"), plan: one(uses.Add("g", "c", "a", "b")), after: lists("z", "c", "a", "b"),
			status: model.Applied, again: model.Applied},
		{reason: "an id that is there stays where it is", before: lists("a", "b"), plan: one(uses.Add("g", "c", "a")), after: lists("a", "b", "c"),
			status: model.Applied, again: model.Applied},
		{reason: "the same id twice is added once", before: lists(), plan: one(uses.Add("g", "a", "a")), after: lists("a"),
			status: model.Applied, again: model.Applied},
		{reason: "a missing parent is told", before: docs{"gadgets": {}}, plan: one(uses.Add("g", "a")), err: model.ErrStale},
		{reason: "no id", before: lists("a"), plan: one(uses.Add("g")), err: errRefused},
		{reason: "an empty id among others: none is added", before: lists(), plan: one(uses.Add("g", "a", "")), err: errRefused},
		{reason: "an empty parent id", before: lists(), plan: one(uses.Add("", "a")), err: errRefused},
	})
}

func TestChildRefsInsertAt(t *testing.T) {
	parallel(t)
	runWriteCases(t, []writeCase{
		{reason: "at the front", before: lists("a", "b"), plan: one(uses.InsertAt("g", 0, "x")), after: lists("x", "a", "b"),
			status: model.Applied, again: model.Already},
		{reason: "in the middle", before: lists("a", "b"), plan: one(uses.InsertAt("g", 1, "x")), after: lists("a", "x", "b"),
			status: model.Applied, again: model.Already},
		{reason: "beyond the end is the end", before: lists("a", "b"), plan: one(uses.InsertAt("g", 9, "x")), after: lists("a", "b", "x"),
			status: model.Applied, again: model.Already},
		{reason: "a negative place counts from the end", before: lists("a", "b"), plan: one(uses.InsertAt("g", -1, "x")), after: lists("a", "x", "b"),
			status: model.Applied, again: model.Already},
		{reason: "before the front is the front", before: lists("a", "b"), plan: one(uses.InsertAt("g", -9, "x")), after: lists("x", "a", "b"),
			status: model.Applied, again: model.Already},
		{reason: "to a document without a list", before: lists(), plan: one(uses.InsertAt("g", 3, "x")), after: lists("x"),
			status: model.Applied, again: model.Already},
		{reason: "an id that is listed stays where it is", before: lists("a", "x"), plan: one(uses.InsertAt("g", 0, "x")),
			status: model.Already, again: model.Already},
		{reason: "a missing parent is told from a listed id", before: docs{"gadgets": {}}, plan: one(uses.InsertAt("g", 0, "x")), err: model.ErrStale},
		{reason: "an empty id", before: lists(), plan: one(uses.InsertAt("g", 0, "")), err: errRefused},
	})
}

func TestChildRefsRemove(t *testing.T) {
	parallel(t)
	runWriteCases(t, []writeCase{
		{reason: "every occurrence", before: lists("a", "b", "a"), plan: one(uses.Remove("g", "a")), after: lists("b"),
			status: model.Applied, again: model.Applied},
		{reason: "several ids, others keep their order", before: lists("c", "a", "d", "b"), plan: one(uses.Remove("g", "a", "d")), after: lists("c", "b"),
			status: model.Applied, again: model.Applied},
		{reason: "an id that is not listed is passed over", before: lists("a"), plan: one(uses.Remove("g", "x")),
			status: model.Applied, again: model.Applied},
		{reason: "from a document without a list", before: lists(), plan: one(uses.Remove("g", "x")),
			status: model.Applied, again: model.Applied},
		{reason: "a missing parent is told", before: docs{"gadgets": {}}, plan: one(uses.Remove("g", "a")), err: model.ErrStale},
		{reason: "no id", before: lists("a"), plan: one(uses.Remove("g")), err: errRefused},
		{reason: "out of every list, and no other", plan: one(uses.RemoveEverywhere("a")), before: docs{
			"gadgets": {gadget{ID: "g", Screws: []string{"a", "b"}}, gadget{ID: "h", Screws: []string{"b"}}, gadget{ID: "i", Screws: []string{"c", "a", "a"}}, gadget{ID: "j"}},
		}, after: docs{
			"gadgets": {gadget{ID: "g", Screws: []string{"b"}}, gadget{ID: "h", Screws: []string{"b"}}, gadget{ID: "i", Screws: []string{"c"}}, gadget{ID: "j"}},
		}, status: model.Applied, again: model.Applied},
		{reason: "an empty id out of every list", before: lists("a"), plan: one(uses.RemoveEverywhere("")), err: errRefused},
	})
}

func TestChildRefsReorder(t *testing.T) {
	parallel(t)
	abc, cab := []string{"a", "b", "c"}, []string{"c", "a", "b"}
	runWriteCases(t, []writeCase{
		{reason: "another order", before: lists(abc...), plan: one(uses.Reorder("g", abc, cab)), after: lists(cab...),
			status: model.Applied, again: model.Already},
		{reason: "the same order", before: lists(abc...), plan: one(uses.Reorder("g", abc, abc)),
			status: model.Applied, again: model.Applied},
		{reason: "another list", before: lists(abc...), plan: one(uses.Reorder("g", abc, []string{"x"})), after: lists("x"),
			status: model.Applied, again: model.Already},
		{reason: "somebody else added an id", before: lists("a", "b", "c", "d"), plan: one(uses.Reorder("g", abc, cab)), err: model.ErrStale},
		{reason: "somebody else reordered", before: lists("b", "a", "c"), plan: one(uses.Reorder("g", abc, cab)), err: model.ErrStale},
		{reason: "the parent is gone", before: docs{"gadgets": {}}, plan: one(uses.Reorder("g", abc, cab)), err: model.ErrStale},
		{reason: "an empty list that is missing", before: lists(), plan: one(uses.Reorder("g", nil, abc)), after: lists(abc...),
			status: model.Applied, again: model.Already},
		{reason: "an empty list that is stored", before: docs{"gadgets": {bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{}}}}},
			plan: one(uses.Reorder("g", []string{}, abc)), after: lists(abc...), status: model.Applied, again: model.Already},
		{reason: "a list that is no longer empty", before: lists("x"), plan: one(uses.Reorder("g", nil, abc)), err: model.ErrStale},
		{reason: "to nothing", before: lists(abc...), plan: one(uses.Reorder("g", abc, nil)),
			after: docs{"gadgets": {bson.D{{Key: "_id", Value: "g"}, {Key: "screws", Value: bson.A{}}}}}, status: model.Applied, again: model.Already},
		{reason: "an empty id in the new list", before: lists(abc...), plan: one(uses.Reorder("g", abc, []string{""})), err: errRefused},
	})
}

// held is one folio that holds shares.
func held(h ...holding) docs { return docs{"folios": {folio{ID: oid(1), Holdings: h}}} }

func TestChildRefsElements(t *testing.T) {
	parallel(t)
	h7, h8, h9 := holding{7, 70}, holding{8, 80}, holding{9, 90}
	listed := held(h7, h8)
	runWriteCases(t, []writeCase{
		{reason: "an element with its fields", before: held(h7), plan: one(holds.AddElement(oid(1), h8)), after: listed,
			status: model.Applied, again: model.Already},
		{reason: "by pointer", before: held(), plan: one(holds.AddElement(oid(1), &h8)), after: held(h8),
			status: model.Applied, again: model.Already},
		{reason: "an id that is listed keeps its element", before: listed, plan: one(holds.AddElement(oid(1), holding{8, 1})),
			status: model.Already, again: model.Already},
		{reason: "the id alone", before: held(h7), plan: one(holds.Add(oid(1), 8)), after: held(h7, holding{ShareID: 8}),
			status: model.Applied, again: model.Already},
		{reason: "zero is an id, if ids are numbers", before: held(h7), plan: one(holds.Add(oid(1), 0)), after: held(h7, holding{}),
			status: model.Applied, again: model.Already},
		{reason: "the id at a place", before: listed, plan: one(holds.InsertAt(oid(1), 1, 9)), after: held(h7, holding{ShareID: 9}, h8),
			status: model.Applied, again: model.Already},
		{reason: "elements go by their ids", before: held(h7, h8, h9, holding{8, 1}), plan: one(holds.Remove(oid(1), 8, 9)), after: held(h7),
			status: model.Applied, again: model.Applied},
		{reason: "out of every list", before: docs{"folios": {folio{oid(1), []holding{h7, h8}}, folio{oid(2), []holding{h8}}, folio{ID: oid(3)}}},
			plan:   one(holds.RemoveEverywhere(8)),
			after:  docs{"folios": {folio{oid(1), []holding{h7}}, bson.D{{Key: "_id", Value: oid(2)}, {Key: "holdings", Value: bson.A{}}}, folio{ID: oid(3)}}},
			status: model.Applied, again: model.Applied},
		{reason: "a missing parent is told from a listed id", before: docs{"folios": {}}, plan: one(holds.AddElement(oid(1), h8)), err: model.ErrStale},
		{reason: "several ids are several writes", before: held(), plan: one(holds.Add(oid(1), 8, 9)), err: errRefused},
		{reason: "a zero ObjectID is no parent", before: held(), plan: one(holds.Add(bson.ObjectID{}, 8)), err: errRefused},
		{reason: "elements are not reordered by id", before: listed, plan: one(holds.Reorder(oid(1), []int64{7}, []int64{8})), err: errRefused},
		{reason: "no element", before: held(), plan: one(holds.AddElement(oid(1), nil)), err: errRefused},
		{reason: "a nil pointer to an element", before: held(), plan: one(holds.AddElement(oid(1), (*holding)(nil))), err: errRefused},
		{reason: "a bare id is no element", before: held(), plan: one(holds.AddElement(oid(1), int64(8))), err: errRefused},
		{reason: "an element of another type", before: held(), plan: one(holds.AddElement(oid(1), share{ID: 8})), err: errRefused},
		{reason: "a list of bare ids takes no elements", before: lists(), plan: one(uses.AddElement("g", holding{ShareID: 8})), err: errRefused},
	})
}

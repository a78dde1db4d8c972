package relate_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The indexes that relations of two sides declare serve their queries and writes, among thousands of documents.
func TestTwoWayIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := docs{}
		for i := range 500 {
			owner := bareOwner{ID: fmt.Sprint("o", i)}
			for j := range 4 {
				item := fmt.Sprint("i", i, "_", j)
				owner.Items = append(owner.Items, item)
				all["items"] = append(all["items"], bareItem{ID: item, Owner: owner.ID})
			}
			all["owners"] = append(all["owners"], owner)
		}
		seed(t, db, all)
		wantIndexes(t, db, bareWay)
		taken := &bareItem{ID: "i7_1", Owner: "o7"}
		indexedCases(t, db, []indexedCase{
			{"the items of an owner", bareWay.ItemsOf("o7"), "owner_1__id_1"},
			{"the items of an owner in hand", bareWay.Items(&bareOwner{ID: "o7", Items: []string{"i7_0", "i7_1"}}), model.IDIndex},
			{"the owners that list an item", bareWay.OwnersListing("i7_1"), "items_1"},
			{"its new owner's list", bareWay.Assign(taken, "o8", bson.NilObjectID).Steps[0], model.IDIndex},
			{"its old owner's list", bareWay.Assign(taken, "o8", bson.NilObjectID).Steps[1], model.IDIndex},
			{"an item's new owner", bareWay.Assign(taken, "o8", bson.NilObjectID).Steps[2], "owner_1__id_1"},
		})
	})
}

func TestManyToManyIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := docs{}
		for i := range 1000 {
			all["lefts"] = append(all["lefts"], peer(fmt.Sprint("l", i), fmt.Sprint("r", i), fmt.Sprint("r", (i+1)%1000)))
			all["rights"] = append(all["rights"], peer(fmt.Sprint("r", i), fmt.Sprint("l", i), fmt.Sprint("l", (i+999)%1000)))
		}
		seed(t, db, all)
		wantIndexes(t, db, barePeers)
		l := peer("l7", "r7", "r8")
		indexedCases(t, db, []indexedCase{
			{"the rights of a left", barePeers.RightsOf("l7"), "peers_1"},
			{"the lefts of a right", barePeers.LeftsOf("r7"), "peers_1"},
			{"the rights of a left in hand", barePeers.Rights(&l), model.IDIndex},
			{"one side of a new pair", barePeers.Link(&l, "r9", bson.NilObjectID).Steps[0], model.IDIndex},
			{"the other side", barePeers.Link(&l, "r9", bson.NilObjectID).Steps[1], model.IDIndex},
			{"one side of a pair taken apart", barePeers.Unlink(&l, "r7", bson.NilObjectID).Steps[0], model.IDIndex},
		})
	})
}

// A document is mended by its _id. The documents that hold some ids are found by the index of the reference.
func TestDanglingIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := docs{}
		for i := range 2000 {
			all["crates"] = append(all["crates"], crate{ID: fmt.Sprint("c", i), Main: fmt.Sprint("t", i%50), Tags: []string{fmt.Sprint("t", i%40)}})
		}
		seed(t, db, all)
		main := relate.NewDangling(crates, "main", tags, relate.DanglingSpec{Repair: relate.DetachIDs})
		listed := relate.NewDangling(crates, "tags", tags, relate.DanglingSpec{Repair: relate.DetachIDs})
		wantIndexes(t, db, main, listed)
		single, lists := main.Checks()[0], listed.Checks()[0]
		holds := func(path, id string) bson.D {
			return bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: bson.A{id}}}}}
		}
		indexedCases(t, db, []indexedCase{
			{"in one document", single.In(bson.D{{Key: "_id", Value: "c7"}}).Find(), model.IDIndex},
			{"in the documents that hold an id", single.In(holds("main", "t7")).Find(), "main_1"},
			{"in the lists that hold an id", lists.In(holds("tags", "t7")).Find(), "tags_1"},
			{"a single id taken away", single.Mend(foundAs(t, single, danglingRow("c7", "t7"))).Steps[0], model.IDIndex},
			{"ids taken out of a list", lists.Mend(foundAs(t, lists, danglingRow("c7", "t7"))).Steps[0], model.IDIndex},
		})
	})
}

type indexedCase struct {
	reason string
	query  any
	index  string
}

func indexedCases(t *testing.T, db *mongo.Database, cases []indexedCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, c.query, c.index) })
	}
}

func wantIndexes(t *testing.T, db *mongo.Database, techniques ...model.Technique) {
	t.Helper()
	if err := model.Indexes(techniques...).Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

package twosided_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The indexes that relations of two sides declare serve their queries and writes, among thousands of documents.
func TestTwoWayIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := testkit.Docs{}
		for i := range 500 {
			owner := bareOwner{ID: fmt.Sprint("o", i)}
			for j := range 4 {
				item := fmt.Sprint("i", i, "_", j)
				owner.Items = append(owner.Items, item)
				all["items"] = append(all["items"], bareItem{ID: item, Owner: owner.ID})
			}
			all["owners"] = append(all["owners"], owner)
		}
		testkit.SeedAlone(t, db, all)
		testkit.EnsureIndexes(t, db, bareWay)
		testkit.WantAllIndexed(t, db, []testkit.IndexedCase{
			{Reason: "the items of an owner", Query: bareWay.Left.Others("o7"), Index: "owner_1__id_-1"},
			{
				Reason: "the items of an owner in hand",
				Query:  bareWay.Left.Listed(&bareOwner{ID: "o7", Items: []string{"i7_0", "i7_1"}}),
				Index:  model.IDIndex,
			},
			{Reason: "the owners that list an item", Query: bareWay.Right.Others("i7_1"), Index: "items_1"},
		})
	})
}

func TestManyToManyIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := testkit.Docs{}
		for i := range 1000 {
			all["lefts"] = append(all["lefts"],
				peer(fmt.Sprint("l", i), fmt.Sprint("r", i), fmt.Sprint("r", (i+1)%1000)))
			all["rights"] = append(all["rights"],
				peer(fmt.Sprint("r", i), fmt.Sprint("l", i), fmt.Sprint("l", (i+999)%1000)))
		}
		testkit.SeedAlone(t, db, all)
		testkit.EnsureIndexes(t, db, barePeers)
		l := peer("l7", "r7", "r8")
		testkit.WantAllIndexed(t, db, []testkit.IndexedCase{
			{Reason: "the rights of a left", Query: barePeers.Left.Others("l7"), Index: "peers_1"},
			{Reason: "the lefts of a right", Query: barePeers.Right.Others("r7"), Index: "peers_1"},
			{Reason: "the rights of a left in hand", Query: barePeers.Left.Listed(&l), Index: model.IDIndex},
		})
	})
}

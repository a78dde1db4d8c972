package migrate_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// sentRead is the last find that a client has sent on a collection with a condition on the path, as explain takes it,
// or nil.
func sentRead(t *testing.T, m *mongotest.Monitor, collection, path string) (last bson.D) {
	for _, c := range m.Commands() {
		if c.Collection != collection || c.Name != "find" {
			continue
		}
		if filter, ok := c.Body.Lookup("filter").DocumentOK(); ok {
			if first, err := filter.IndexErr(0); err == nil && first.Key() == path {
				last = testkit.AsSent(t, c)
			}
		}
	}
	return last
}

// What a batch of a pass reads beside its documents, it finds by the indexes that its migration declares.
func TestPassesIndexed(t *testing.T) {
	testkit.Parallel(t)
	owners, elements := model.NewCollection[bson.D, string]("q"), model.NewCollection[bson.D, int]("e")
	toRefs := newInvert(migrate.InvertSpec{Order: "at", Overwrite: true})
	toLists := newInvert(migrate.InvertSpec{Order: "at", Overwrite: true, ToLists: true})
	extract := migrate.NewExtract(
		owners, "list", elements, migrate.ExtractSpec[string, int]{Key: "id", Refs: "ids", Overwrite: true},
	)
	withRefs := migrate.NewAbsorb(owners, "list", elements, migrate.AbsorbSpec{Refs: "ids", Key: "id", Overwrite: true})
	withParent := migrate.NewAbsorb(
		owners, "list", elements, migrate.AbsorbSpec{Parent: "post", Order: "at", Key: "id", Overwrite: true},
	)
	m, stop := mongotest.NewMonitor(), errors.New("enough")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := testkit.Docs{}
		for i := range 1500 {
			id, parent := int32(i), fmt.Sprintf("p%04d", i)
			all["p"] = append(all["p"], bson.D{{Key: "_id", Value: parent}, {Key: "list", Value: bson.A{id}}})
			all["c"] = append(
				all["c"],
				bson.D{
					{Key: "_id", Value: id}, {Key: "of", Value: bson.D{{Key: "parent", Value: parent}}},
					{Key: "at", Value: int32(0)},
				},
			)
			owner := bson.D{
				{Key: "_id", Value: parent},
				{Key: "list", Value: bson.A{bson.D{{Key: "id", Value: id}, {Key: "t", Value: "x"}}}},
			}
			if i < 8 { // whose references are dropped in two batches, before documents are
				owner = append(owner, bson.E{Key: "ids", Value: bson.A{id}})
			}
			all["q"] = append(all["q"], owner)
			all["e"] = append(
				all["e"],
				bson.D{
					{Key: "_id", Value: id}, {Key: "t", Value: "x"}, {Key: "post", Value: parent},
					{Key: "at", Value: int32(0)},
				},
			)
		}
		testkit.SeedAlone(t, db, all)
		testkit.EnsureIndexes(t, db, toRefs, extract, withRefs, withParent)
		var cases []testkit.IndexedCase
		// batches runs a pass until it has done so many, and notes the reads of a collection by a path.
		batches := func(reason string, pass model.Job, n int, collection, path, index string) {
			t.Helper()
			m.Reset()
			_, err := pass.Run(t.Context(), db, model.JobOptions{BatchSize: 5, Progress: func(p model.Progress) error {
				if p.Batches == n {
					return stop
				}
				return nil
			}})
			if !errors.Is(err, stop) {
				t.Fatalf("%s: %v", reason, err)
			}
			got := sentRead(t, m, collection, path)
			if got == nil {
				t.Fatalf("%s read nothing of %s by %s: %v", reason, collection, path, m.Commands())
			}
			cases = append(cases, testkit.IndexedCase{Reason: reason, Query: got, Index: index})
		}
		batches("to references: who lists the children", toRefs.Copy(), 1, "p", "list", "list_1")
		batches(
			"to references, dropped: the children of the parents", toRefs.Drop(), 1, "c", "of.parent",
			"of.parent_1_at_1__id_1",
		)
		batches("to lists: the children of the parents", toLists.Copy(), 1, "c", "of.parent", "of.parent_1_at_1__id_1")
		batches(
			"to lists, dropped: the children of the parents", toLists.Drop(), 1, "c", "of.parent",
			"of.parent_1_at_1__id_1",
		)
		batches("extracted: the documents there are", extract.Copy(), 1, "e", "_id", model.IDIndex)
		batches("absorbed: the documents of the ids", withRefs.Copy(), 1, "e", "_id", model.IDIndex)
		batches(
			"absorbed by their owner: the documents of the owners", withParent.Copy(), 1, "e", "post",
			"post_1_at_1__id_1",
		)
		batches("absorbed, dropped: who refers to a document", withRefs.Drop(), 3, "q", "ids", "ids_1")
		batches("absorbed, dropped: who embeds a document", withRefs.Drop(), 3, "q", "list.id", "list.id_1")
		testkit.WantAllIndexed(t, db, cases)
	}, m)
}

// What the parts of a migration cost that are no pass.
func TestMigrationPrices(t *testing.T) {
	testkit.Parallel(t)
	invert := newInvert(migrate.InvertSpec{Order: "at"})
	testkit.WantPricesAnew(t, testkit.Stored(testkit.Docs{
		"p":                   {testkit.D("_id", "a", "list", bson.A{1, 2}), testkit.D("_id", "b", "list", bson.A{2})},
		"c":                   {testkit.D("_id", 1), testkit.D("_id", 2)},
		"docmodel.migrations": {testkit.D("_id", "to refs: p.list > c.of.parent", "copying", true)},
	}),
		testkit.Reads("forms compared", 2, invert.Verify().Find()),
		testkit.Does("begun anew", 1, 1, 0, testkit.Doing(invert.Restart())),
	)
}

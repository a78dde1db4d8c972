package relate_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// sentReads are the finds and aggregates that a client has sent on a collection, as explain takes them; of finds those whose filter
// has a condition on the path.
func sentReads(m *modeltest.Monitor, collection, path string) (out []bson.D) {
	for _, c := range m.Commands() {
		if c.Collection != collection || c.Name != "find" && c.Name != "aggregate" {
			continue
		}
		if filter, ok := c.Body.Lookup("filter").DocumentOK(); ok && path != "" {
			first, err := filter.IndexErr(0)
			if err != nil || first.Key() != path {
				continue
			}
		}
		var command bson.D
		elements, _ := c.Body.Elements()
		for _, e := range elements {
			switch e.Key() {
			case "lsid", "$db", "$clusterTime", "txnNumber", "$readPreference":
			default:
				command = append(command, bson.E{Key: e.Key(), Value: e.Value()})
			}
		}
		out = append(out, command)
	}
	return out
}

// A join reads its children by _id, in every way there is: its queries, what Load sends, with a filter twice, its pipeline, and the
// levels below it by what each level's technique declares.
func TestJoinIndexed(t *testing.T) {
	parallel(t)
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := docs{}
		for i := range 2000 {
			main := int64(i % 500)
			all["kids"] = append(all["kids"], joinKid{ID: int64(i), Group: int32(i % 2), Name: "k"})
			all["parents"] = append(all["parents"], joinParent{ID: int64(i), Kids: []int64{int64(i), int64(i + 1)}, Main: &main})
		}
		seed(t, db, all)
		ofMain := relate.NewParentRef(joinParents, "main", joinKids)
		wantIndexes(t, db, ofMain)
		parents := []joinParent{{ID: 1, Kids: []int64{1, 2}}, {ID: 7, Kids: []int64{2, 7777}}}
		join := relate.NewJoin(joinParents, "kids", joinKids)
		filtered := relate.NewJoin(joinParents, "kids", joinKids, relate.JoinSpec{Filter: bson.D{{Key: "group", Value: 1}}, Sort: bson.D{{Key: "name", Value: 1}, {Key: "_id", Value: 1}}})
		one := bson.D{{Key: "_id", Value: int64(7)}}
		cases := []indexedCase{
			{"Queries", join.Queries(parents)[0], model.IDIndex},
			{"Queries with a filter", filtered.Queries(parents)[0], model.IDIndex},
			{"Pipeline", join.Pipeline(one), model.IDIndex},
			{"Pipeline with a filter", filtered.Pipeline(one), model.IDIndex},
		}
		sent := func(reason, collection, index string, reads int, f func() error) {
			t.Helper()
			m.Reset()
			if err := f(); err != nil {
				t.Fatal(err)
			}
			got := sentReads(m, collection, "")
			if len(got) != reads {
				t.Errorf("%s sent %d reads, want %d", reason, len(got), reads)
			}
			for i, command := range got {
				cases = append(cases, indexedCase{fmt.Sprint(reason, " ", i+1), command, index})
			}
		}
		sent("Load", "kids", model.IDIndex, 1, func() error { _, err := join.Load(t.Context(), db, parents); return err })
		sent("Load with a filter", "kids", model.IDIndex, 2, func() error { _, err := filtered.Load(t.Context(), db, parents); return err })
		levels := func() error {
			_, err := relate.Then(join, ofMain.Loader(1)).Load(t.Context(), db, parents)
			return err
		}
		sent("Levels", "kids", model.IDIndex, 2, levels) // the join, and the loader's pipeline over the same collection
		looked := joinParents.Find(bson.D{{Key: "main", Value: int64(7)}}).Sorted(bson.D{{Key: "_id", Value: -1}})
		indexedCases(t, db, append(cases, indexedCase{"what the next level looks up", looked, "main_1__id_-1"}))
	}, modeltest.WithMonitor(m))
}

// What a batch of a pass reads beside its documents, it finds by the indexes that its migration declares.
func TestPassesIndexed(t *testing.T) {
	parallel(t)
	owners, elements := anyParents.Named("q"), anyChildren.Named("e")
	invert := newInvert(relate.InvertSpec{Order: "at", BatchSize: 5, Overwrite: true})
	extract := relate.NewExtract(owners, "list", elements, relate.ExtractSpec[string, int]{Key: "id", Refs: "ids", BatchSize: 5, Overwrite: true})
	withRefs := relate.NewAbsorb(owners, "list", elements, relate.AbsorbSpec{Refs: "ids", Key: "id", BatchSize: 5, Overwrite: true})
	withParent := relate.NewAbsorb(owners, "list", elements, relate.AbsorbSpec{Parent: "post", Order: "at", Key: "id", BatchSize: 5, Overwrite: true})
	m, stop := modeltest.NewMonitor(), errors.New("enough")
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		all := docs{}
		for i := range 1500 {
			id, parent := int32(i), fmt.Sprintf("p%04d", i)
			all["p"] = append(all["p"], bson.D{{Key: "_id", Value: parent}, {Key: "list", Value: bson.A{id}}})
			all["c"] = append(all["c"], bson.D{{Key: "_id", Value: id}, {Key: "of", Value: bson.D{{Key: "parent", Value: parent}}}, {Key: "at", Value: int32(0)}})
			owner := bson.D{{Key: "_id", Value: parent}, {Key: "list", Value: bson.A{bson.D{{Key: "id", Value: id}, {Key: "t", Value: "x"}}}}}
			if i < 8 { // whose references are dropped in two batches, before documents are
				owner = append(owner, bson.E{Key: "ids", Value: bson.A{id}})
			}
			all["q"] = append(all["q"], owner)
			all["e"] = append(all["e"], bson.D{{Key: "_id", Value: id}, {Key: "t", Value: "x"}, {Key: "post", Value: parent}, {Key: "at", Value: int32(0)}})
		}
		seed(t, db, all)
		wantIndexes(t, db, invert, extract, withRefs, withParent)
		var cases []indexedCase
		// batches runs a pass until it has done so many, and notes the reads of a collection by a path.
		batches := func(reason string, pass relate.Pass, n int, collection, path, index string) {
			t.Helper()
			m.Reset()
			_, err := pass.Run(t.Context(), db, model.JobOptions{Progress: func(p model.Progress) error {
				if p.Batches == n {
					return stop
				}
				return nil
			}})
			if !errors.Is(err, stop) {
				t.Fatalf("%s: %v", reason, err)
			}
			got := sentReads(m, collection, path)
			if len(got) == 0 {
				t.Fatalf("%s read nothing of %s by %s: %v", reason, collection, path, m.Commands())
			}
			cases = append(cases, indexedCase{reason, got[len(got)-1], index})
		}
		batches("to references: who lists the children", invert.ToRefs().Copy(), 1, "p", "list", "list_1")
		batches("to references, dropped: the children of the parents", invert.ToRefs().Drop(), 1, "c", "of.parent", "of.parent_1_at_1__id_1")
		batches("to lists: the children of the parents", invert.ToLists().Copy(), 1, "c", "of.parent", "of.parent_1_at_1__id_1")
		batches("to lists, dropped: the children of the parents", invert.ToLists().Drop(), 1, "c", "of.parent", "of.parent_1_at_1__id_1")
		batches("extracted: the documents there are", extract.Copy(), 1, "e", "_id", model.IDIndex)
		batches("absorbed: the documents of the ids", withRefs.Copy(), 1, "e", "_id", model.IDIndex)
		batches("absorbed by their owner: the documents of the owners", withParent.Copy(), 1, "e", "post", "post_1_at_1__id_1")
		batches("absorbed, dropped: who refers to a document", withRefs.Drop(), 3, "q", "ids", "ids_1")
		batches("absorbed, dropped: who embeds a document", withRefs.Drop(), 3, "q", "list.id", "list.id_1")
		indexedCases(t, db, cases)
	}, modeltest.WithMonitor(m))
}

package parentref_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Entries hold the id of their server.
type (
	server struct {
		ID   string `bson:"_id"`
		Rack string `bson:"rack,omitempty"`
	}
	entry struct {
		ID     int       `bson:"_id"`
		Server string    `bson:"server,omitempty"`
		At     time.Time `bson:"at"`
	}
)

var (
	servers = model.NewCollection[server, string]("servers")
	entries = model.NewCollection[entry, int]("entries")

	writes  = parentref.New(entries, "server", servers, parentref.Spec{By: "at"})
	ordered = parentref.New(entries, "server", servers, parentref.Spec{})
	byID    = parentref.New(entries.Named("entriesById"), "server", servers, parentref.Spec{})
)

// at is a time some minutes after noon.
func timeAt(minutes int) time.Time { return time.Date(2014, 3, 28, 12, minutes, 0, 0, time.UTC) }

// fill stores some thousand documents of each kind, of which a query by reference matches few.
func fill(t *testing.T, db *mongo.Database) {
	t.Helper()
	const n = 4000
	d := testkit.Docs{}
	for i := range n {
		d["servers"] = append(d["servers"], server{ID: fmt.Sprint("s", i)})
		d["entries"] = append(d["entries"], entry{i, fmt.Sprint("s", i%400), timeAt(i)})
	}
	d["entriesById"] = d["entries"]
	if err := testkit.Store(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
}

// What each operation costs is what its value says, and what its documentation says: commands and documents written.
func TestParentRefCosts(t *testing.T) {
	testkit.Parallel(t)
	before := testkit.Docs{
		"servers": log["servers"], "entries": log["entries"],
	}
	tests := []testkit.CostCase{
		testkit.CostOf("MoveAll writes each child", model.NewPlan(writes.MoveAll("a", "b")), 1, 7),
		testkit.CostOfRead("Children of a parent", writes.Children("a"), 7),
		testkit.CostOfRead("Newest", writes.Children("a").Limited(3), 3),
		testkit.CostOfRead("Load with the newest", writes.Load(nil, 2), 3),
		testkit.CostOfRead("Counts", writes.Counts("a", "b", "c"), 2),
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range tests {
			t.Run(test.Reason, func(t *testing.T) { test.Check(t, m, db, before) })
		}
	}, m)
}

// The indexes that it declares serve its queries, among thousands of documents.
func TestParentRefIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		fill(t, db)
		testkit.EnsureIndexes(t, db, writes, byID)
		few := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{"s1", "s2"}}}}}
		testkit.WantAllIndexed(t, db, []testkit.IndexedCase{
			{Reason: "children of a parent", Query: writes.Children("s1"), Index: "server_1_at_-1__id_-1"},
			{Reason: "newest children", Query: writes.Children("s1").Limited(5), Index: "server_1_at_-1__id_-1"},
			{
				Reason: "the next page", Query: writes.Children("s1").Limited(5).After(timeAt(1), 77),
				Index: "server_1_at_-1__id_-1",
			},
			{Reason: "newest children by _id", Query: byID.Children("s1").Limited(5), Index: "server_1__id_-1"},
			{Reason: "counts", Query: writes.Counts("s1", "s2"), Index: "server_1_at_-1__id_-1"},
			{Reason: "parents with their newest children", Query: writes.Load(few, 2), Index: model.IDIndex},
			{Reason: "every child of a parent", Query: writes.MoveAll("s1", "s2"), Index: "server_1_at_-1__id_-1"},
		})
	})
}

package parentref_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An entry that an embed.Versioned guards.
type counted struct {
	ID     int    `bson:"_id"`
	Server string `bson:"server,omitempty"`
	Rev    int64  `bson:"rev"`
}

var (
	countedEntries = model.NewCollection[counted, int]("entries")
	counting       = parentref.New(countedEntries, "server", servers, parentref.Spec{CountUp: "rev"})
)

// Each write of the reference counts the version up once, however often it is run.
func TestParentRefCountsUp(t *testing.T) {
	testkit.Parallel(t)
	one := func(server string, rev int64) testkit.Docs {
		return testkit.Docs{"entries": {counted{1, server, rev}}}
	}
	testkit.RunPlanCases(t, []testkit.PlanCase{
		{
			Reason: "all moved", Before: one("a", 3), Plan: model.NewPlan(counting.MoveAll("a", "b")),
			After: one("b", 4), Status: model.Applied, Again: model.Applied,
		},
		{
			Reason: "all moved to where they are", Before: one("a", 3), Plan: model.NewPlan(counting.MoveAll("a", "a")),
			After: one("a", 3), Status: model.Applied, Again: model.Applied,
		},
	})
}

// A store counts up too, once, with and without an embed.Versioned in the model.
func TestParentRefCountsUpInStores(t *testing.T) {
	versioned := embed.NewVersioned(countedEntries, embed.VersionedSpec{Version: "rev"})
	for _, techniques := range [][]model.Technique{{counting}, {counting, versioned}} {
		store := model.NewStore(model.New("entries", techniques...), countedEntries)
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			s, _, err := store.Insert(counted{ID: 1, Server: "a"}).Run(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			first := s.Doc.Rev
			if s, _, err = store.Set(1, bson.D{{Key: "server", Value: "b"}}).Run(t.Context(), db); err != nil ||
				s.Doc.Rev != first+1 {
				t.Errorf("%+v after version %d, %v", s.Doc, first, err)
			}
		})
	}
}

func TestParentRefCountUpDeclarations(t *testing.T) {
	declare := func(path string) func() {
		return func() { parentref.New(odds, "server", servers, parentref.Spec{CountUp: path}) }
	}
	testkit.WantDeclarationErrors(t,
		testkit.Wrong("a path that isn't there", declare("revision"), "revision", "odds", "name a path"),
		testkit.Wrong("a list", declare("stamps"), "stamps", "parentref.New", ""),
		testkit.Wrong("a text", declare("pointer"), "CountUp", "parentref.New", "embed.Versioned"),
		testkit.Wrong("the reference", declare("server"), "CountUp", "parentref.New", ""),
		testkit.Wrong("the _id", declare("_id"), "_id", "parentref.New", "name another field"),
	)
}

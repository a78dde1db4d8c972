package twosided_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// odd holds what only declarations are tried with.
type odd struct {
	ID     int      `bson:"_id"`
	Names  []string `bson:"names,omitempty"`
	Stamps []int    `bson:"stamps,omitempty"`
	Name   string   `bson:"name"`
	Stamp  int      `bson:"stamp"`
}

var odds = model.NewCollection[odd, int]("odds")

func TestTwoWayDeclarations(t *testing.T) {
	testkit.Parallel(t)
	declare := func(list, ref string) func() {
		return func() { twosided.NewTwoWay(odds, list, odds, ref, twosided.TwoWaySpec{}) }
	}
	for reason, declare := range map[string]func(){
		"no such list":                declare("stmps", "stamp"),
		"no such reference":           declare("stamps", "stmp"),
		"no list":                     declare("_id", "stamp"),
		"a list as reference":         declare("stamps", "stamps"),
		"a list of another type":      declare("names", "stamp"),
		"a reference of another type": declare("stamps", "name"),
		"a negative bound": func() {
			twosided.NewTwoWay(odds, "stamps", odds, "stamp", twosided.TwoWaySpec{Max: -1})
		},
		"no owners": func() {
			twosided.NewTwoWay(&model.Collection[odd, int]{}, "stamps", odds, "stamp", twosided.TwoWaySpec{})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(declare); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}

// A numberedDoc has an id of any type, and links to others.
type numberedDoc struct {
	ID    any   `bson:"_id"`
	Bare  []any `bson:"bare,omitempty"`
	Owner any   `bson:"owner,omitempty"`
}

var (
	numberedLefts  = model.NewCollection[numberedDoc, any]("lefts")
	numberedRights = model.NewCollection[numberedDoc, any]("rights")
)

// TestTwoSidedSameID: int32 1 and int64 1 are one id, as they are to the server.
func TestTwoSidedSameID(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.SeedAlone(t, db, testkit.Docs{
			"lefts":  {numberedDoc{ID: int64(1), Bare: []any{"i"}}},
			"rights": {numberedDoc{ID: "i", Owner: int32(1)}},
		})
		way := twosided.NewTwoWay(numberedLefts, "bare", numberedRights, "owner", twosided.TwoWaySpec{})
		testkit.WantNothingFound(t, db, way.Checks())
		store := model.NewStore(model.New("way", way), numberedRights)
		if _, _, err := store.Set("i", bson.D{{Key: "owner", Value: int64(1)}}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		wantStored(t, db, testkit.Docs{"lefts": {numberedDoc{ID: int64(1), Bare: []any{"i"}}}})
	})
}
